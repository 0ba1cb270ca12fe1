"""`onedim run GRAPH --backend mpi`: what ranks that are processes make of a graph, against `sim`.

mpi_graph_test.py COMMAND LLAMA_GRAPH
"""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from mpi_launch import InFolder, mpirun, told, wait_for_end_of

LLAMA = sys.argv.pop()
PROGRAM = pathlib.Path(sys.argv.pop())
NO_MPI = not ((PROGRAM.parent / "modules" / "libonedim_mpi.so").exists() and shutil.which("mpirun"))

SIZES = "128256=96,14336=48,8192=16,4096=64,1024=16,128=4,64=2,32=16,16=8,8=4"
MEGATRON = """primals_23: S(0),R
tangents_1: S(0),S(2)
tok_embeddings.weight: R,S(0)
layers.*.attention.w[qkv].weight: R,S(0)
layers.*.attention.wo.weight: R,S(1)
layers.*.feed_forward.w[13].weight: R,S(0)
layers.*.feed_forward.w2.weight: R,S(1)
output.weight: R,S(0)
*tok_embeddings/embedding: S(0),R
layers.?/add.Tensor: S(0),R
"""


def value(shape, kind, path=None):
    strides = [shape[1], 1]
    return {"shape": shape, "strides": strides, "dtype": "f32", "kind": kind, **({"path": path} if path else {})}


TWO = {"format": "onedim.graph/1", "name": "two", "outputs": ["z"],
       "values": {"w": value([4, 6], "param", "layer.w"), "x": value([2, 4], "input"), "y": value([2, 6], "intermediate"),
                  "z": value([2, 6], "intermediate")},
       "nodes": [{"name": "y", "op": "mm", "inputs": {"self": "x", "mat2": "w"}, "attributes": {}, "outputs": ["y"],
                  "phase": "forward"},
                 {"name": "z", "op": "relu", "inputs": {"self": "y"}, "attributes": {}, "outputs": ["z"], "phase": "forward"}]}


def alone(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=100, check=False)


def on_mpi(ranks, *arguments):
    return mpirun((ranks, PROGRAM, "run", "--backend", "mpi", "--no-probe", *arguments))


def untimed(text):
    document = json.loads(text)
    document.pop("seconds")
    document.pop("backend")
    for collective in document["collectives"]:
        collective.pop("measured_us")
    return document


class OnMpi(InFolder):
    def place_two(self, name, lines):
        """The small graph, and its plan on two ranks under `lines`."""
        graph, plan = self.file("two.json", json.dumps(TWO)), str(self.folder / name)
        sim = alone("run", graph, "--mesh", "a=2", "--place", self.file("lines", lines), "--save-plan", plan)
        self.assertEqual(sim.returncode, 0, sim.stderr)
        return graph, plan


@unittest.skipIf(NO_MPI, "no MPI was found here")
class GraphsOnMpi(OnMpi):
    def check_llama(self, ranks, mesh):
        graph, plan = str(self.folder / "small.json"), str(self.folder / "plan.json")
        alone("graph", LLAMA, "--shrink", SIZES, "--out", graph)
        sim = alone("run", graph, "--mesh", mesh, "--place", self.file("lines", MEGATRON), "--save-plan", plan, "--json")
        mpi = on_mpi(ranks, graph, plan, "--json")
        self.assertEqual((sim.returncode, mpi.returncode), (0, 0), sim.stderr + mpi.stderr)
        self.assertTrue(untimed(mpi.stdout)["equal"])
        self.assertEqual(untimed(mpi.stdout), untimed(sim.stdout))

    def test_two_layers_of_llama_on_four_ranks(self):
        self.check_llama(4, "dp=2,tp=2")

    def test_two_layers_of_llama_on_eight_ranks(self):
        self.check_llama(8, "dp=2,tp=4")

    def test_what_is_told_is_told_by_rank_0(self):
        graph, plan = self.place_two("plan.json", "x: S(1)\nlayer.*: S(0)\n")
        trace, record, again = self.folder / "trace.json", self.folder / "record", self.folder / "again.json"
        mpi = on_mpi(2, graph, plan, "--check-dtype", "f64", "--trace", trace, "--record", record, "--save-plan", again)
        sim = alone("run", graph, plan, "--check-dtype", "f64")
        self.assertEqual((mpi.stdout, mpi.returncode), (sim.stdout.replace(" on sim", " on mpi"), 0), mpi.stderr)
        self.assertIn("\nin f64: each is bit equal to its op", mpi.stdout)
        self.assertEqual((record / "rank-1.out").read_text(), mpi.stdout)
        self.assertEqual(again.read_text(), pathlib.Path(plan).read_text())
        events = json.loads(trace.read_text())["traceEvents"]
        for rank in range(2):
            names = [event["name"] for event in events if event["ph"] == "X" and event["pid"] == rank]
            self.assertEqual(names, ["mm", "reduce_scatter", "relu"])
        report = on_mpi(2, graph, plan, "--report").stdout.split("\n")
        self.assertEqual([line.split("  ")[0] for line in report[2:6]], ["step", "mm", "reduce_scatter", "relu"])


@unittest.skipIf(NO_MPI, "no MPI was found here")
class GraphsThatFail(OnMpi):
    def run_two(self, first, second):
        command = [PROGRAM, "run", "--backend", "mpi"]
        return mpirun((1, *command, *first), (1, *command, *second))

    def test_another_plan_or_seed_on_one_rank(self):
        graph, plan = self.place_two("plan.json", "x: S(1)\nlayer.*: S(0)\n")
        _, other = self.place_two("other.json", "x: S(0)\nlayer.*: R\n")
        result = self.run_two([graph, plan], [graph, other])
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertRegex(told(result)[0], r"the ranks of a=2 do not run the same: the value w: "
                                          r"rank 0 has f32\[4,6\] S\(0\); rank 1 has f32\[4,6\] R")
        result = self.run_two([graph, plan], [graph, plan, "--seed", "2"])
        self.assertRegex(told(result)[0], "do not run the same: the seed: rank 0 has 1; rank 1 has 2")

    def test_a_killed_rank_is_named_with_its_node(self):
        graph, plan = self.place_two("plan.json", "x: S(1)\nlayer.*: S(0)\n")
        record = self.folder / "record"
        result = on_mpi(2, graph, plan, "--fault", "kill@1:1", "--record", record, "--deadline", "20")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex("\n".join(told(result)), r"rank 1 at \[1\] is behind: its process \d+ is gone")
        self.assertEqual(wait_for_end_of(str(record)), [])
        post_mortem = alone("run", "--post-mortem", record).stdout
        self.assertIn("z, input 0: reduce_scatter over a, P(sum) -> S(0)", post_mortem)

    def test_corrupt_bytes_are_judged(self):
        graph, plan = self.place_two("plan.json", "x: S(0)\nlayer.*: R\nz: R\n")  # what only moves has no rounding
        result = on_mpi(2, graph, plan, "--fault", "corrupt@1:1")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, r"\nthe move of output z to R on rank 1 at \[1\], at \[0,0\]: it is ")
        sim = alone("run", graph, plan, "--fault", "corrupt@1:1")
        self.assertEqual(result.stdout, sim.stdout.replace(" on sim", " on mpi"))

    def test_a_step_that_cannot_be_done_is_a_finding(self):
        graph, plan = self.place_two("plan.json", "x: S(1)\nlayer.*: S(0)\n")
        bad = self.file("bad.json", pathlib.Path(plan).read_text().replace('"reduce_scatter"', '"all_gather"'))
        sim, mpi = alone("run", graph, bad), on_mpi(2, graph, bad)
        self.assertEqual((sim.returncode, mpi.returncode), (1, 1))
        self.assertRegex(told(mpi)[0], r'node "z" \(relu\): z, input 0: step all_gather over a P\(sum\) -> S\(0\)')


if __name__ == "__main__":
    unittest.main(verbosity=0)
