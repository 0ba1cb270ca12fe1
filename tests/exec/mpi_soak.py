"""Runs ranks on MPI again and again with a fault drawn at random: each must end as it should, soon, and leave nothing.

mpi_soak.py [--seconds N] [--seed N] COMMAND
"""

import argparse
import pathlib
import random
import re
import sys
import tempfile
import time

from mpi_launch import mpirun, told, wait_for_end_of

MOVES = """f32[10,7]: S(0),R -> R,S(1)
bf16[6,6]: P(sum),R -> S(0),S(1) outermost(1)
i64[5,9]: S(0),S(1) -> S(1),S(0)
f64[12]: P(max),S(0) -> R,R
bool[7,3]: S(0),S(0) -> R,S(1)
"""
CALLS = 4  # that every rank has at least
DEADLINE = 1.5
KINDS = ["none", "delay", "stop", "kill", "corrupt"]


def draw_fault(rng):
    kind, rank, call = rng.choice(KINDS), rng.randrange(4), rng.randint(1, CALLS)
    if kind == "none":
        return kind, rank, []
    return kind, rank, ["--fault", f"{kind}@{rank}:{call}" + (f":{rng.randrange(400)}" if kind == "delay" else "")]


def fault_of(kind, rank, result, seconds):
    """What is not as it should be; "" if all is."""
    told_line = (told(result) or [""])[0]
    if seconds > DEADLINE + 15:  # a machine that is busy starts slowly
        return f"it took {seconds:.1f} s"
    if kind in ("none", "delay"):
        return "" if result.returncode == 0 else f"code {result.returncode}"
    if kind == "corrupt":
        return "" if result.returncode == 1 and "not right" in result.stdout else f"code {result.returncode}"
    if result.returncode == 0:
        return "code 0"
    word = "gone" if kind == "kill" else "stopped"
    named = re.search(rf"rank {rank} at \[\d,\d\] is behind: its process \d+ is {word}", told_line)
    return "" if named else f"told {told_line!r}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("command")
    flags = parser.parse_args()
    rng = random.Random(flags.seed)
    end, runs, counts = time.monotonic() + flags.seconds, 0, dict.fromkeys(KINDS, 0)
    with tempfile.TemporaryDirectory() as folder:
        moves = pathlib.Path(folder) / "moves"
        moves.write_text(MOVES)
        while time.monotonic() < end:
            kind, rank, fault = draw_fault(rng)
            record = f"{folder}/record-{runs}"
            begin = time.monotonic()
            result = mpirun((4, flags.command, "run", "--backend", "mpi", "--mesh", "a=2,b=2", "--policy", "any", "--plans",
                             moves, "--deadline", DEADLINE, "--record", record, *fault))
            wrong = fault_of(kind, rank, result, time.monotonic() - begin)
            left = wait_for_end_of(record)
            if wrong or left:
                print(f"seed {flags.seed}, run {runs}, {' '.join(fault) or 'no fault'}: {wrong or 'processes are left'}")
                print(result.stdout, result.stderr, sep="\n")
                sys.exit(1)
            runs += 1
            counts[kind] += 1
    print(f"seed {flags.seed}: {runs} runs ended as they should: {counts}")


if __name__ == "__main__":
    main()
