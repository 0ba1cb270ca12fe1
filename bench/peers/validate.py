#!/usr/bin/env python3
"""Times `onedim validate` beside PyTorch's strategy validator on the same samples.

Both enumerate placements of the same calls, float32, on the same number of simulated ranks. PyTorch tries one
set of values a pair (two or four with its mitigations); onedim redraws values, so its draws are printed.
Time is compared per (input, output) placement pair judged.

  bench/peers/validate.py BUILD/tools/onedim [--ops mm,add,maximum] [--world 2] [--samples 3] [--repeat 5]
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile

from environment import python_with

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ["torch==2.15.0", "numpy", "expecttest", "hypothesis", "pytest"]


def peer_rows(python: pathlib.Path, op: str, world: int, samples: int) -> list[dict]:
    command = [str(python), str(HERE / "validate_torch.py"), op, str(world), str(samples)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def own_row(onedim: str, row: dict, world: int) -> dict:
    command = [onedim, "validate", row["op"], "--inputs", "; ".join(row["inputs"]), "--worlds", str(world)]
    for name, value in row["attributes"].items():
        command += ["--attr", f"{name}={json.dumps(value)}"]
    result = subprocess.run([*command, "-j", "1", "--json", "--times"], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip()}")
    return json.loads(result.stdout)["ops"][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("onedim", help="the built command")
    parser.add_argument("--ops", default="mm,add,maximum")
    parser.add_argument("--world", type=int, default=2)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5, help="runs of onedim; the median is printed")
    parser.add_argument("--environment", default=f"{tempfile.gettempdir()}/onedim-peers")
    arguments = parser.parse_args()
    python = python_with(pathlib.Path(arguments.environment), PACKAGES)
    load = os.getloadavg()[0]
    print(f"machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {load:.1f}")
    print(f"{'op':12} {'inputs':32} {'pairs':>7} {'torch us/pair':>14} {'onedim us/pair':>15} {'draws':>6} {'ratio':>8}")
    for op in arguments.ops.split(","):
        for row in peer_rows(python, op, arguments.world, arguments.samples):
            runs = [own_row(arguments.onedim, row, arguments.world) for _ in range(arguments.repeat)]
            seconds = statistics.median(run["seconds"] for run in runs)
            theirs = 1e6 * row["seconds"] / row["pairs"]
            ours = 1e6 * seconds / runs[0]["combinations"]
            inputs = "; ".join(row["inputs"])
            draws = runs[0].get("draws", "?")
            print(f"{row['op']:12} {inputs:32} {row['pairs']:7} {theirs:14.1f} {ours:15.2f} {draws:>6} {theirs / ours:8.0f}")


if __name__ == "__main__":
    main()
