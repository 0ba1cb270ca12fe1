#!/usr/bin/env python3
"""Holds the packs' CPU kernels against PyTorch's on fresh random samples, op by op, and prints the differences.

Each sample call of each op is drawn `--draws` times by its text (dtypes, shapes, value domains), run by PyTorch,
and compared by `onedim call --compare`. Ops that PyTorch's CPU lacks, and calls that it refuses, are listed.

  bench/peers/kernels.py BUILD/tools/onedim [--ops mm,add.Tensor] [--draws 3] [--seed 1] [-p PACK_FOLDER]
                         [--save CALLS.json.gz]
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

from environment import python_with

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ["torch==2.15.0", "numpy"]


def run_onedim(command: list[str]) -> dict:
    result = subprocess.run([*command, "--json"], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip()}")
    return json.loads(result.stdout)


def torch_calls(python: pathlib.Path, ops: list[dict], draws: int, seed: int, folder: str) -> dict:
    wanted = pathlib.Path(folder) / "ops.json"
    wanted.write_text(json.dumps({"ops": ops, "draws": draws, "seed": seed}))
    made = pathlib.Path(folder) / "calls.json"
    command = [str(python), str(HERE / "kernels_torch.py"), str(wanted), str(made)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return json.loads(made.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("onedim", help="the built command")
    parser.add_argument("--ops", default="", help="names, comma between; all by default")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", default="", help="a file for the calls, such as tests/data holds")
    parser.add_argument("-p", "--packs", default="", help="a pack folder, as the command's -p")
    parser.add_argument("--environment", default=f"{tempfile.gettempdir()}/onedim-peers")
    arguments = parser.parse_args()
    onedim = [arguments.onedim] + (["-p", arguments.packs] if arguments.packs else [])
    names = arguments.ops.split(",") if arguments.ops else []
    ops = run_onedim([*onedim, "ops", *names])["ops"]
    python = python_with(pathlib.Path(arguments.environment), PACKAGES)
    with tempfile.TemporaryDirectory() as folder:
        made = torch_calls(python, ops, arguments.draws, arguments.seed, folder)
        compared = pathlib.Path(folder) / "compare.json"
        source = f"PyTorch {made['torch']}, CPU, samples of the packs"
        calls = json.dumps({"format": "onedim.golden_ops/1", "source": source, "calls": made["calls"]})
        compared.write_text(calls)
        if arguments.save:
            pathlib.Path(arguments.save).write_bytes(gzip.compress(calls.encode(), mtime=0))
        result = subprocess.run([*onedim, "call", "--calls", str(compared), "--compare"], capture_output=True, text=True)
    for name, why in made["skipped"]:
        print(f"not tried: {name}: {why}")
    print(result.stdout + result.stderr, end="")
    counts = collections.Counter(call["op"] for call in made["calls"])
    print(f"{len(counts)} of {len(ops)} ops tried, {sum(counts.values())} calls, PyTorch {made['torch']}")


if __name__ == "__main__":
    main()
