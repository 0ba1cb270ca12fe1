"""Times PyTorch's strategy validator sample by sample; run by validate.py inside its environment.

Prints one JSON line a sample: the ATen call, the (input, output) placement pairs judged, the seconds.
"""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.tensor._ops import strategy_validation as peer

DTYPES = {torch.float32: "f32", torch.float64: "f64"}


def tensor_text(value) -> str:
    shape = ",".join(str(size) for size in value.shape)
    return f"{DTYPES[value.dtype]}[{shape}]"


def call_text(args, kwargs) -> tuple[list[str], dict]:
    inputs = [tensor_text(value) for value in args if isinstance(value, torch.Tensor)]
    return inputs, {name: value for name, value in kwargs.items() if not isinstance(value, torch.Tensor)}


def main() -> None:
    op_name, world, max_samples = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for module in (peer.opinfo_core, peer.common_ops):  # the sizes that its own command sets
        module.L, module.M, module.S, module.XS = 24, 12, 4, 2
    validate_sample = peer._validate_aten_op_for_sample

    def timed(func, args, kwargs, *rest):
        begin = time.perf_counter()
        samples, pairs = validate_sample(func, args, kwargs, *rest)
        seconds = time.perf_counter() - begin
        inputs, attributes = call_text(args, kwargs)
        name = str(func).removeprefix("aten.").removesuffix(".default")
        row = {"op": name, "inputs": inputs, "attributes": attributes, "pairs": pairs, "seconds": seconds}
        print(json.dumps(row), flush=True)
        return samples, pairs

    peer._validate_aten_op_for_sample = timed
    torch.set_num_threads(1)
    peer.compare_operator(op_name, "cpu", torch.float32, world, max_samples)


if __name__ == "__main__":
    dist.init_process_group("fake", rank=0, world_size=int(sys.argv[2]))
    main()
