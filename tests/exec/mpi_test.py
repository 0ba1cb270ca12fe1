"""`onedim run --backend mpi`: ranks that are processes of Open MPI, against `sim`, and what they make of ranks that fail.

mpi_test.py COMMAND RANKS_PROGRAM STUCK_MODULE
"""

import json
import os
import pathlib
import random
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import unittest

from mpi_launch import InFolder, mpirun, told, wait_for_end_of

STUCK = sys.argv.pop()
RANKS = sys.argv.pop()
PROGRAM = pathlib.Path(sys.argv.pop())
MODULE = PROGRAM.parent / "modules" / "libonedim_mpi.so"
NO_MPI = not (MODULE.exists() and shutil.which("mpirun"))

LAUNCHERS = ("OMPI_", "PMI", "SLURM_", "RANK", "WORLD_SIZE")
MOVES = "f32[10,7]: S(0),R -> R,S(1)\nbf16[6,6]: P(sum),R -> S(0),S(1) outermost(1)\n"
MM = ["--op", "mm", "--inputs", "f32[6,4]@R,R; f32[4,6]@S(0),P(sum)", "--rules", "S(0) | S(0), R; S(1) | R, S(1)"]


def alone(*arguments, **variables):
    """The command without a launcher, but for `variables`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    return subprocess.run([PROGRAM, "run", *arguments], capture_output=True, text=True, timeout=60,
                          env={**environment, **variables}, check=False)


def on_mpi(ranks, *arguments, **variables):
    return mpirun((ranks, PROGRAM, "run", "--backend", "mpi", *arguments), **variables)


def draw_layout(rng, mesh_dims, ndim, dtype, may_be_partial):
    kinds = {"bool": ["max", "min"], "c64": ["sum", "product"]}.get(dtype, ["sum", "max", "min", "product"])
    kinds += ["avg"] if dtype[0] in "fb" and dtype != "bool" else []
    kind = rng.choice(kinds)
    choices = ["R"] + [f"S({dim})" for dim in range(ndim)] * 2 + [f"P({kind})"] * may_be_partial
    placements = [rng.choice(choices) for _ in range(mesh_dims)]
    cuts = [at for at, text in enumerate(placements) if text == "S(0)"]
    if len(cuts) == 2 and rng.random() < 0.3:
        names = "abc"
        placements[cuts[0]] += f"[{names[cuts[1]]},{names[cuts[0]]}]"
    elif len(cuts) == 1 and rng.random() < 0.2:
        placements[cuts[0]] = "SS(0,2)"
    return ",".join(placements)


def draw_moves(seed, count, mesh_dims):
    rng = random.Random(seed)
    lines = []
    for _ in range(count):
        dtype = rng.choice(["f32", "f64", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool", "c64"])
        shape = [rng.choice([1, 2, 3, 4, 5, 7, 8, 12]) for _ in range(rng.choice([1, 2, 2, 3]))]
        source = draw_layout(rng, mesh_dims, len(shape), dtype, True)
        target = draw_layout(rng, mesh_dims, len(shape), dtype, False)
        order = f" outermost({len(shape) - 1})" if rng.random() < 0.2 else ""
        lines.append(f"{dtype}[{','.join(map(str, shape))}]: {source} -> {target}{order}\n")
    return "".join(lines)


@unittest.skipIf(NO_MPI, "no MPI was found here")
class SameAsSim(InFolder):
    def check_moves(self, ranks, mesh, count, *arguments):
        moves = self.file("moves", draw_moves(ranks, count, mesh.count("=")))
        result = on_mpi(ranks, "--mesh", mesh, "--policy", "any", "--plans", moves, *arguments)
        expected = f"{count} plans on {mesh}, {ranks} ranks on mpi: every rank holds what the index map gives it\n"
        self.assertEqual((result.stdout, result.returncode), (expected, 0), result.stderr)

    def test_every_collective_dtype_and_reduction_on_two_ranks(self):
        result = mpirun((2, RANKS, "a=2", 2**31 - 1, MODULE))
        self.assertRegex(result.stdout, r"^\d+ calls are as on sim\n$", result.stderr)

    def test_the_same_in_chunks_on_four_ranks_in_teams(self):
        result = mpirun((4, RANKS, "a=2,b=2", 1000, MODULE))
        self.assertRegex(result.stdout, r"^\d+ calls are as on sim\n$", result.stderr)

    def test_random_plans_on_four_ranks(self):
        self.check_moves(4, "a=2,b=2", 400)

    def test_random_plans_on_three_mesh_dims(self):
        self.check_moves(4, "a=2,b=1,c=2", 100, "--mpi-largest", "16")

    def test_an_op_with_moves(self):
        trace = self.folder / "trace.json"
        result = on_mpi(4, "--mesh", "a=2,b=2", *MM, "--trace", trace, "--record", self.folder / "record")
        self.assertEqual(result.returncode, 0, result.stderr)
        sim = alone("--mesh", "a=2,b=2", *MM).stdout
        self.assertEqual(result.stdout, sim.replace(" on sim", " on mpi"))
        for rank in (1, 2, 3):  # what others have to say is in files
            self.assertEqual((self.folder / "record" / f"rank-{rank}.out").read_text(), result.stdout)
        events = json.loads(trace.read_text())["traceEvents"]
        for rank in range(4):
            names = [event["name"] for event in events if event["ph"] == "X" and event["pid"] == rank]
            self.assertEqual(names[:4], ["slice", "reduce_scatter", "all_gather", "mm"])

    def test_a_joint_state(self):
        result = on_mpi(2, "--mesh", "a=2", "--op", "custom.logsumexp", "--inputs", "f64[3,8]@S(1)", "--attr", "dim=1",
                        "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(json.loads(result.stdout)["equal"])


@unittest.skipIf(NO_MPI, "no MPI was found here")
class StartedByTorchrun(InFolder):
    def start(self, *arguments):
        """Two processes with torchrun's variables; (exit code, stdout) of each."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        environment = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
        command = [PROGRAM, "run", "--backend", "mpi", "--mesh", "a=2", "--plans", self.file("moves", "f32[5]: S(0) -> R\n")]
        ranks = []
        for rank in (1, 0):  # in any order
            variables = {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            ranks.append(subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                          env={**environment, **variables}))
        return [(out, rank.returncode) for rank, (out, _) in [(rank, rank.communicate(timeout=60)) for rank in ranks]]

    def test_rank_0_alone_writes_and_all_end_alike(self):
        expected = "1 plans on a=2, 2 ranks on mpi: every rank holds what the index map gives it\n"
        self.assertEqual(self.start("--policy", "any"), [("", 0), (expected, 0)])
        other, first = self.start("--policy", "any", "--fault", "corrupt@1:1")
        self.assertEqual((other, first[1]), (("", 1), 1))
        self.assertIn("1 are not right", first[0])


@unittest.skipIf(NO_MPI, "no MPI was found here")
class RanksThatDiffer(InFolder):
    def run_two(self, first, second):
        command = [PROGRAM, "run", "--backend", "mpi", "--mesh", "a=2"]
        return mpirun((1, *command, *first), (1, *command, *second))

    def test_another_plan_on_one_rank(self):
        first = ["--plans", self.file("first", "f32[4]: S(0) -> R\nf32[8]: R -> S(0)\n")]
        second = ["--plans", self.file("second", "f32[4]: S(0) -> R\nf32[8]: P(sum) -> S(0)\n")]
        result = self.run_two(first, second)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stdout, "")
        self.assertRegex(told(result)[0], r"the ranks of a=2 do not run the same: the plan of line 2: "
                                          r"rank 0 has R -> S\(0\); slice.*; rank 1 has P\(sum\) -> S\(0\); reduce_scatter")

    def test_another_pack_on_one_rank(self):
        pack = self.folder / "matrix.so"
        pack.write_bytes((PROGRAM.parent / "packs" / "matrix.so").read_bytes() + b"\0")
        op = ["--op", "mm", "--inputs", "f32[4,4]@S(0); f32[4,4]@R", "--quiet"]
        result = self.run_two(op, ["-p", str(pack), *op])
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(told(result)[0], "do not run the same: the pack matrix: rank 0 has a file of .*; rank 1 has")

    def test_another_shape_on_one_rank(self):
        result = self.run_two(["--plans", self.file("first", "f32[4]: S(0) -> R\n")],
                              ["--plans", self.file("second", "f32[6]: S(0) -> R\n")])
        self.assertRegex(told(result)[0], r"the tensor of line 1: rank 0 has f32\[4\]; rank 1 has f32\[6\]")


@unittest.skipIf(NO_MPI, "no MPI was found here")
class RanksThatFail(InFolder):
    def run_with(self, fault, deadline="2", **variables):
        self.record = self.folder / "record"
        moves = self.file("moves", MOVES)
        return on_mpi(4, "--mesh", "a=2,b=2", "--plans", moves, "--deadline", deadline, "--record", self.record,
                      *fault, **variables)

    def check_nothing_is_left(self):
        self.assertEqual(wait_for_end_of(str(self.record)), [])

    def check_post_mortem(self, line):
        result = alone("--post-mortem", str(self.record))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split("\n")[0], line)
        self.assertRegex(result.stdout, r"\nrank 3 at \[1,1\], process \d+: ")

    def test_a_killed_rank_is_named_with_where_it_was(self):
        result = self.run_with(["--fault", "kill@3:2"], deadline="20")
        self.assertNotEqual(result.returncode, 0)
        line = told(result)[0].removeprefix("onedim: ")
        self.assertRegex(line, r"^rank 3 at \[1,1\] is behind: its process \d+ is gone, it was last in line 1: all_gather "
                               r"over a, S\(0\),S\(1\) -> R,S\(1\) \(call 1\)")
        self.check_post_mortem(line)
        self.check_nothing_is_left()

    def test_a_stopped_rank_is_named_at_the_deadline(self):
        result = self.run_with(["--fault", "stop@1:1"])
        self.assertEqual(result.returncode, 3)
        line = told(result)[0].removeprefix("onedim: ")
        self.assertRegex(line, r"^rank 1 at \[0,1\] is behind: its process \d+ is stopped, it has come to no collective; "
                               r"rank 3 at \[1,1\] has waited 2\.\d s for it in line 1: all_gather over a")
        self.assertEqual(len([line for line in told(result) if "behind" in line]), 1)
        self.check_post_mortem(line)
        self.check_nothing_is_left()

    def test_ranks_inside_of_mpi_end_by_the_watchdog(self):
        begin = time.monotonic()
        result = self.run_with(["--mpi-module", STUCK], ONEDIM_TEST_MODULE=str(MODULE), ONEDIM_TEST_STUCK="1")
        self.assertEqual(result.returncode, 3)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertRegex(told(result)[0], r"line 1: all_gather over a, S\(0\),S\(1\) -> R,S\(1\) \(call 1\)")
        self.check_nothing_is_left()

    def test_a_late_rank_is_waited_for(self):
        result = self.run_with(["--fault", "delay@2:1:300"], deadline="20")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_corrupt_bytes_are_found(self):
        result = self.run_with(["--fault", "corrupt@1:1"], deadline="20")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"^line 1: .*: the part is not the index map's at coordinate \[0,1\]\n")


@unittest.skipIf(NO_MPI, "no MPI was found here")
class EveryFaultInEveryCollective(unittest.TestCase):
    """Of ranks that stop or are killed, or that call something else, each takes a launch: see mpi_faults.py."""

    def test_late_and_corrupt_bytes(self):
        names = ["all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast"]
        late, corrupt = [f"{name}=delay@1:1:20" for name in names], [f"{name}=corrupt@1:1" for name in names]
        result = mpirun((3, RANKS, "a=3", 2**31 - 1, MODULE, *late, *corrupt))
        expected = [f"{fault}: right right right" for fault in late] + [f"{fault}: right wrong right" for fault in corrupt]
        self.assertEqual((result.stdout.split("\n")[:-1], result.returncode), (expected, 0), result.stderr)


class WrongUse(InFolder):
    def check_fails(self, result, code, line):
        self.assertEqual((result.returncode, result.stdout), (code, ""))
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertRegex(result.stderr, line)

    def test_no_launcher(self):
        self.check_fails(alone("--backend", "mpi", "--mesh", "a=2", "--plans", self.file("moves", "")), 2,
                         "not one of several; start it by mpirun -n N onedim run")

    def test_torchrun_without_an_address(self):
        result = alone("--backend", "mpi", "--mesh", "a=2", "--plans", self.file("moves", ""), RANK="0", WORLD_SIZE="2")
        self.check_fails(result, 2, 'MASTER_ADDR is "" and MASTER_PORT "": expected an address and a port')

    def test_torchrun_on_several_machines(self):
        result = alone("--backend", "mpi", "--mesh", "a=2", "--plans", self.file("moves", ""), RANK="0", WORLD_SIZE="2",
                       MASTER_ADDR="127.0.0.1", MASTER_PORT="29500", LOCAL_WORLD_SIZE="1")
        self.check_fails(result, 2, "torchrun has 1 of 2 ranks on this machine")

    def test_variables_that_say_nothing_whole(self):
        result = alone("--backend", "mpi", "--mesh", "a=2", "--plans", self.file("moves", ""), PMI_RANK="3", PMI_SIZE="2")
        self.check_fails(result, 2, "PMI_RANK is 3, but PMI_SIZE is 2")

    def test_no_module(self):
        result = alone("--backend", "mpi", "--mesh", "a=1", "--plans", self.file("moves", ""), "--mpi-module", "/no.so",
                       PMI_RANK="0", PMI_SIZE="1")
        self.check_fails(result, 3, "there is no /no.so; it is built where CMake finds MPI")

    def test_a_fault_that_is_none(self):
        result = alone("--mesh", "a=2", "--plans", self.file("moves", "f32[2]: R -> R\n"), "--fault", "burn@1:1")
        self.check_fails(result, 2, '--fault: "burn@1:1" is no fault; expected delay@RANK')

    def test_no_records(self):
        self.check_fails(alone("--post-mortem", str(self.folder)), 2, "there is no flight record of rank 0")
        self.file("rank-0.flight", "garbage")
        self.check_fails(alone("--post-mortem", str(self.folder)), 3, "it is no flight record")

    def test_nothing_else_is_linked_with_mpi(self):
        for file in [PROGRAM, *(PROGRAM.parent / "packs").glob("*.so")]:
            text = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
            self.assertEqual(re.findall(r"\[(libmpi[^]]*|libopen-[^]]*)\]", text), [], file)

    @unittest.skipIf(NO_MPI, "no MPI was found here")
    def test_another_number_of_ranks(self):
        result = on_mpi(2, "--mesh", "a=4", "--plans", self.file("moves", "f32[4]: S(0) -> R\n"))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("a=4 has 4 ranks, MPI was started with 2; give mpirun -n 4, or another mesh", result.stderr)

    @unittest.skipIf(NO_MPI, "no MPI was found here")
    def test_what_all_ranks_find_wrong_is_told_once(self):
        """Whether it is found in the command line, in a file, by the packs or by all ranks together."""
        wrong = [(["--frobnicate"], "frobnicate"), (["--mesh", "a=2,a=1", "--plans", "x"], "a=2,a=1"),
                 (["--mesh", "a=2", "--plans", "/no.moves"], "/no.moves"),
                 (["--mesh", "a=2", "--op", "no_such_op", "--inputs", "f32[2]@R"], "no_such_op")]
        calls = " ; ".join(shlex.join([str(PROGRAM), "run", "--backend", "mpi", *arguments]) for arguments, _ in wrong)
        result = mpirun((3, "sh", "-c", f"{calls} ; {calls}"))  # as often as the command is called
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(len(told(result)), 2 * len(wrong), result.stderr)
        for _, word in wrong:
            self.assertEqual(sum(word in line for line in told(result)), 2, result.stderr)

    @unittest.skipIf(NO_MPI, "no MPI was found here")
    def test_what_one_rank_alone_finds_wrong_is_told_too(self):
        command = [PROGRAM, "run", "--backend", "mpi", "--mesh", "a=2", "--plans"]
        result = mpirun((1, *command, self.file("moves", "f32[4]: R -> R\n")), (1, *command, "/no.moves"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("/no.moves", told(result)[0])


if __name__ == "__main__":
    unittest.main(verbosity=0)
