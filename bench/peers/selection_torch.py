"""Times PyTorch DTensor's uncached sharding decision on layouts that onedim drew.

Run by selection.py inside its environment. Reads one row of a file of `onedim bench select --draws-out` on stdin;
prints the CPU seconds of each decision as JSON.
"""

import json
import math
import re
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, _redistribute
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
from torch.distributed.tensor._op_schema import OpSchema
from torch.distributed.tensor.debug import _clear_sharding_prop_cache

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}
PLACEMENT = re.compile(r"R|S\((\d+)\)|P\((\w+)\)")


def operator(name):
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def tensor_meta(text):
    dtype, sizes = re.fullmatch(r"(\w+)\[([\d,]*)\]", text).groups()
    shape = torch.Size(int(size) for size in sizes.split(",") if size)
    return TensorMeta(shape, torch.empty(shape, device="meta").stride(), DTYPES[dtype])


def placement(text):
    shard, partial = PLACEMENT.fullmatch(text).groups()
    if partial:
        return Partial(partial)
    return Shard(int(shard)) if shard else Replicate()


def schema(op, mesh, metas, layouts):
    specs = [
        DTensorSpec(mesh, tuple(map(placement, layout.split(","))), tensor_meta=meta)
        for meta, layout in zip(metas, layouts)
    ]
    return OpSchema(op, tuple(specs), {})


def forget():
    """Every decision and every plan; what depends on the mesh alone stays, as on the other side."""
    _clear_sharding_prop_cache()
    _redistribute._gen_transform_infos.cache_clear()
    _redistribute.clear_redistribute_planner_cache()


def main():
    row = json.load(sys.stdin)
    torch.set_num_threads(1)
    dist.init_process_group("fake", rank=0, world_size=math.prod(row["mesh"]))
    propagator = DTensor._op_dispatcher.sharding_propagator
    op = operator(row["op"])
    metas = [tensor_meta(text) for text in row["inputs"]]
    # What is loaded on first use is no part of a decision.
    line = init_device_mesh("cpu", (math.prod(row["mesh"]),))
    for _ in range(3):
        forget()
        propagator.propagate_op_sharding_non_cached(schema(op, line, metas, ["S(0)"] * len(metas)))
    mesh = init_device_mesh("cpu", tuple(row["mesh"]))
    seconds = []
    for layouts in row["draws"]:
        asked = schema(op, mesh, metas, layouts)
        forget()
        begin = time.thread_time()
        propagator.propagate_op_sharding_non_cached(asked)
        seconds.append(time.thread_time() - begin)
    print(json.dumps({"torch": torch.__version__, "seconds": seconds}))


if __name__ == "__main__":
    main()
