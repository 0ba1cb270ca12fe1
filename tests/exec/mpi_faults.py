"""In each collective, a rank that stops, one that is killed and one that calls something else: who is told, and how soon.

mpi_faults.py RANKS_PROGRAM MODULE
"""

import re
import sys
import time

from mpi_launch import mpirun, wait_for_end_of

COLLECTIVES = ["all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast"]
BEHIND = r"rank 1 at \[1\] is behind: its process \d+ is "
TOLD = {"stop@1:1": BEHIND + "stopped", "kill@1:1": BEHIND + "gone", "differ@1": "the ranks do not agree on the dtype: rank 0"}
DEADLINE = 2  # of the program itself


def main():
    program, module = sys.argv[1:]
    for collective in COLLECTIVES:
        for fault, told in TOLD.items():
            begin = time.monotonic()
            result = mpirun((3, program, "a=3", 2**31 - 1, module, f"{collective}={fault}"))
            seconds = time.monotonic() - begin
            left = wait_for_end_of(f"{collective}={fault}")
            is_named = re.search(told, result.stderr) and collective in result.stderr
            if result.returncode == 0 or result.stdout or not is_named or left or seconds > DEADLINE + 15:
                print(f"{collective}={fault}: code {result.returncode}, {seconds:.1f} s, left: {left}, expected {told}")
                print(result.stdout, result.stderr, sep="\n")
                sys.exit(1)
    print(f"{len(COLLECTIVES)} collectives end as they should with each of {', '.join(TOLD)}")


if __name__ == "__main__":
    main()
