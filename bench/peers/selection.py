#!/usr/bin/env python3
"""Times `onedim bench select` beside PyTorch DTensor's sharding decision on the same work.

The work is one uncached decision: op, shapes, mesh and random input layouts, drawn by onedim, are the same; every
earlier decision and plan is forgotten before each, and tables that depend on the mesh alone stay. onedim returns the
cheapest strategy with a plan for every input; PyTorch (`propagate_op_sharding_non_cached`, fake process group, one
rank) the strategy its own cost model finds cheapest, without plans; its priority-queue search is in 2.15, but nothing
calls it. Times are CPU times of one thread: the median over the draws, and for onedim the median of that over the runs.

  bench/peers/selection.py BUILD/tools/onedim [--ops mm,bmm] [--meshes '8; 8x8'] [--draws 20] [--environment DIR]
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

from environment import python_with

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ["torch==2.15.0", "numpy"]
MESHES = "8; 8x8; 2x8x8; 2x2x8x8; 2x2x2x4x8"
FEW_DRAWS = {4: 5, 5: 3}  # by mesh dims: PyTorch takes up to half a minute each


def own_run(onedim: str, op: str, mesh: str, draws: int, seed: int, out: pathlib.Path) -> dict:
    command = [onedim, "bench", "select", "--ops", op, "--meshes", mesh, "--draws", str(draws), "--seed", str(seed)]
    result = subprocess.run([*command, "--draws-out", str(out), "--json"], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip()}")
    return json.loads(result.stdout)["rows"][0]


def peer_run(python: pathlib.Path, work: dict) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [str(python), str(HERE / "selection_torch.py")]
    result = subprocess.run(command, input=json.dumps(work), capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip()[-2000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def compare(arguments, python: pathlib.Path, op: str, mesh: str) -> None:
    draws = min(arguments.draws, FEW_DRAWS.get(mesh.count("x") + 1, arguments.draws))
    with tempfile.TemporaryDirectory() as folder:
        drawn = pathlib.Path(folder) / "draws.json"
        runs = [own_run(arguments.onedim, op, mesh, draws, arguments.seed, drawn) for _ in range(arguments.repeat)]
        work = json.loads(drawn.read_text())["rows"][0]
    ours = statistics.median(run["uncached_us_p50"] for run in runs)
    peer = peer_run(python, work)
    theirs = 1e6 * statistics.median(peer["seconds"])
    slowest = 1e3 * max(peer["seconds"])
    print(f"{op:12} {mesh:12} {len(work['draws']):>6} {theirs / 1e3:>12.2f} {slowest:>12.2f} {ours:>14.1f} "
          f"{arguments.repeat:>5} {theirs / ours:>8.0f}x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("onedim", help="the built command")
    parser.add_argument("--ops", default="mm,bmm")
    parser.add_argument("--meshes", default=MESHES)
    parser.add_argument("--draws", type=int, default=20, help="layouts a row, at most; fewer on 4-D and 5-D meshes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5, help="runs of onedim; the median is printed")
    parser.add_argument("--environment", default=f"{tempfile.gettempdir()}/onedim-peers-select")
    arguments = parser.parse_args()
    python = python_with(pathlib.Path(arguments.environment), PACKAGES)
    load = os.getloadavg()[0]
    print(f"machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {load:.1f}; "
          f"{PACKAGES[0]}, seed {arguments.seed}", flush=True)
    print(f"{'op':12} {'mesh':12} {'draws':>6} {'torch ms p50':>12} {'max':>12} {'onedim us p50':>14} "
          f"{'runs':>5} {'ratio':>9}")
    for op in arguments.ops.split(","):
        for mesh in arguments.meshes.split(";"):
            compare(arguments, python, op.strip(), mesh.strip())


if __name__ == "__main__":
    sys.exit(main())
