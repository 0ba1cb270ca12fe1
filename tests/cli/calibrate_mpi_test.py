"""`onedim calibrate --mpi`: two ranks of MPI where MPI is found, and an mpirun that fails in every way elsewhere, too."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop())
MEASURE = PROGRAM.with_name("onedim-mpi-measure")
COLLECTIVES = ["all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast"]

OUTPUT = """#  Rank  0 Group  0 Pid 1 on host device 0 [cpu]
#  Rank  1 Group  0 Pid 2 on host device 1 [cpu]
# Collective test starting: all_reduce_perf
# size count type redop root time algbw busbw #wrong time algbw busbw #wrong
64 16 float sum -1 {time} 1 1 {wrong} 5.0 1 1 0
1024 256 float sum -1 9.0 1 1 0 6.0 1 1 0
# all is measured
"""


def calibrate(program, *arguments, **environment):
    return subprocess.run([program, "calibrate", *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment}, check=False)


def processes_with(argument, program):
    """The ids of the processes of `program` that were given `argument`."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has just ended
            continue
        if argument in words and words[0].endswith(program):
            found.append(int(file.parent.name))
    return found


@unittest.skipUnless(MEASURE.exists() and shutil.which("mpirun"), "no MPI was found here")
class TwoRanks(unittest.TestCase):
    def test_every_collective_is_measured_and_fitted(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/here.toml"
            result = calibrate(PROGRAM, "--mpi", "2", "--largest", "4KiB", "--json", "--out", file)
            self.assertEqual(result.returncode, 0, result.stderr)
            found = json.loads(result.stdout)
            for name in COLLECTIVES:
                rows = [row for row in found["rows"] if row["collective"] == name]
                self.assertEqual([row["bytes"] for row in rows], [64, 256, 1024, 4096], name)
                for row in rows:
                    self.assertEqual((row["nodes"], row["ranks_per_node"]), (1, 2))
                    self.assertGreater(row["us"], 0)
            self.assertIn("mpi fitted to 2 ranks of MPI", found["toml"])
            self.assertEqual(pathlib.Path(file).read_text(), found["toml"])
            move = ["redistribute", "f32[64]", "--mesh", "a=2", "--from", "P(sum)", "--to", "R", "--cluster", file, "--json"]
            plan = json.loads(subprocess.run([PROGRAM, *move], capture_output=True, text=True, check=True).stdout)
            self.assertGreater(plan["cost_us"], 0)

    def test_three_ranks_need_no_three_cores(self):
        result = calibrate(PROGRAM, "--mpi", "3", "--largest", "1KiB", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual({row["ranks_per_node"] for row in rows}, {3})
        self.assertEqual({row["bytes"] % 12 for row in rows}, {0})  # a float or more for each rank

    def test_ranks_keep_the_deadline(self):
        result = calibrate(PROGRAM, "--mpi", "2", "--largest", "512MiB", "--deadline", "1")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stderr, r"^onedim: .*mpirun was not done after 1 s; --deadline gives more\n$")

    def test_ranks_end_with_their_mpirun(self):
        largest = str(300_000_000 + os.getpid())  # tells these ranks from others
        folder = tempfile.TemporaryDirectory()  # for what a killed mpirun leaves behind
        self.addCleanup(folder.cleanup)
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMPI_MCA_btl_vader_backing_directory": folder.name, "OMPI_MCA_orte_tmpdir_base": folder.name}
        command = ["mpirun", "-n", "2", MEASURE, "--largest", largest]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as mpirun:
            while "perf" not in mpirun.stdout.readline():
                pass
            self.assertEqual(len(processes_with(largest, MEASURE.name)), 2)
            mpirun.kill()
        for _ in range(100):
            if not processes_with(largest, MEASURE.name):
                break
            time.sleep(0.1)
        self.assertEqual(processes_with(largest, MEASURE.name), [])

    def test_one_rank_alone_measures_nothing(self):
        result = subprocess.run([MEASURE], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "onedim-mpi-measure: one rank alone; run it by mpirun -n N, N 2 or more\n")


class MadeUpMpirun(unittest.TestCase):
    """The command in a folder of its own, beside a program that is never run: mpirun is a script of the test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.home = pathlib.Path(self.folder.name)
        self.program = self.home / "onedim"
        shutil.copy2(PROGRAM, self.program)
        self.script("onedim-mpi-measure", "exit 1")

    def script(self, name, text):
        path = self.home / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def output(self, **values):
        (self.home / "output.txt").write_text(OUTPUT.format(**{"time": "8.0", "wrong": "0", **values}))
        return f"cat '{self.home}/output.txt'"

    def with_mpirun(self, text, *arguments):
        return calibrate(self.program, "--mpi", "2", "--mpirun", self.script("mpirun", text), *arguments)

    def check_fails(self, result, part):
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(part, result.stderr)

    def test_what_it_prints_is_fitted(self):
        result = self.with_mpirun(self.output(), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([(row["collective"], row["bytes"], row["us"]) for row in rows],
                         [("all_reduce", 64, 8.0), ("all_reduce", 1024, 9.0)])
        rows = json.loads(self.with_mpirun(self.output(), "--json", "--in-place").stdout)["rows"]
        self.assertEqual([row["us"] for row in rows], [5.0, 6.0])

    def test_a_broken_property_is_printed(self):
        result = self.with_mpirun(self.output(time="18.0"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("breaks monotone: all_reduce on 1x2 of 1024 bytes takes 9 us, less than 64 bytes with 18 us",
                      result.stdout)

    def test_how_it_is_started(self):
        result = self.with_mpirun(f'printf "%s " "$@" $OMPI_ALLOW_RUN_AS_ROOT > "{self.home}/started"; {self.output()}',
                                  "--largest", "8KiB", "--deadline", "7")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.home / "started").read_text(),
                         f"-n 2 {self.home}/onedim-mpi-measure --largest 8192 --deadline 7 1 ")

    def test_files_are_fitted_with_it(self):
        table = self.home / "table"
        table.write_text("Group Group Size Collective 1KB (us) 1MB (us)\n1 8 all_reduce 20 34\n")
        rows = json.loads(calibrate(self.program, str(table), "--mpi", "2", "--mpirun",
                                    self.script("mpirun", self.output()), "--json").stdout)["rows"]
        self.assertEqual([row["ranks_per_node"] for row in rows], [2, 2, 8, 8])

    def test_no_mpirun(self):
        self.check_fails(calibrate(self.program, "--mpi", "2", PATH=str(self.home)), 'there is no program "mpirun"')
        self.check_fails(calibrate(self.program, "--mpi", "2", "--mpirun", "/nonexistent/mpirun"), "--mpirun PATH")

    def test_no_measuring_program(self):
        (self.home / "onedim-mpi-measure").unlink()
        self.check_fails(self.with_mpirun(self.output()), "it is built where CMake finds MPI")

    def test_an_mpirun_that_fails(self):
        self.check_fails(self.with_mpirun("exit 7"), "ended with code 7 before the measurements were complete")

    def test_output_that_is_cut_short(self):
        self.check_fails(self.with_mpirun(self.output() + " | head -n 5"), "before the measurements were complete")

    def test_an_mpirun_that_hangs(self):
        result = self.with_mpirun(f"sleep 600 & echo $! > '{self.home}/pid'; wait", "--deadline", "1")
        self.check_fails(result, "was not done after 1 s; --deadline gives more")
        pid = int((self.home / "pid").read_text())
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
        self.assertIn(state.strip()[:1], ("", "Z"), "what it started is left behind")

    def test_wrong_results(self):
        self.check_fails(self.with_mpirun(self.output(wrong="3")), "3 wrong values in the results; expected 0")


if __name__ == "__main__":
    unittest.main(verbosity=0)
