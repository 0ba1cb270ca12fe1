#!/usr/bin/env python3
"""Solves the same cost networks with `onedim solve`, toulbar2 and CBC (Debian: toulbar2, coinor-cbc), and compares.

toulbar2 gets the network without its memory limit (a cost function network, .wcsp), CBC the whole of it: the linear
program over pairs of values that is tight on trees, one row a point in time at which memory may be too much. Every
answer is checked here, apart from all three. Usage: solve.py ONEDIM INSTANCE.json[.gz]... [--seconds 60]
"""

import argparse
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

INFINITE = 10**18


def load(path):
    open_file = gzip.open if path.endswith(".gz") else open
    with open_file(path, "rt") as file:
        return json.load(file)["problem"]


def judge(problem, values, with_limit):
    """The cost of an assignment, or what is wrong with it."""
    nodes, edges = problem["nodes"], problem["edges"]
    cost = sum(costs[value] for costs, value in zip(nodes["costs"], values, strict=True))
    for (a, b), cells in zip(edges["nodes"], edges["costs"], strict=True):
        cost += cells[values[a] * len(nodes["costs"][b]) + values[b]]
    if with_limit and problem.get("usage_limit") is not None:
        change = {}
        for (begin, end), usages, value in zip(nodes["intervals"], nodes["usages"], values, strict=True):
            if begin < end:
                change[begin] = change.get(begin, 0) + usages[value]
                change[end] = change.get(end, 0) - usages[value]
        held = 0
        for at in sorted(change):
            held += change[at]
            if held > problem["usage_limit"]:
                return f"holds {held} at {at}"
    return cost


def onedim(command, path, seconds):
    start = time.time()
    run = subprocess.run([command, "solve", path, "--json", "--time-limit", str(seconds)], capture_output=True,
                         text=True)
    answer = json.loads(run.stdout)
    if "assignment" not in answer:
        return None, answer["refused"], time.time() - start
    proof = "optimal" if answer["optimal"] else f"at least {answer['lower_bound']}"
    return answer["assignment"], proof, time.time() - start


def merged_edges(problem):
    """One table for each pair of nodes, lower node first: {(a, b): [[cost]]}."""
    sizes = [len(costs) for costs in problem["nodes"]["costs"]]
    tables = {}
    for (a, b), cells in zip(problem["edges"]["nodes"], problem["edges"]["costs"], strict=True):
        rows = [cells[i * sizes[b]:(i + 1) * sizes[b]] for i in range(sizes[a])]
        if a > b:
            a, b, rows = b, a, [list(column) for column in zip(*rows)]
        old = tables.get((a, b))
        tables[a, b] = rows if old is None else [[x + y for x, y in zip(r, s)] for r, s in zip(old, rows)]
    return tables


def write_wcsp(problem, path):
    costs, tables = problem["nodes"]["costs"], merged_edges(problem)
    top = 1 + sum(max((c for c in list_ if c < INFINITE), default=0) for list_ in costs)
    top += sum(max((c for row in rows for c in row if c < INFINITE), default=0) for rows in tables.values())
    with open(path, "w") as out:
        out.write(f"network {len(costs)} {max(map(len, costs))} {len(costs) + len(tables)} {top}\n")
        out.write(" ".join(str(len(list_)) for list_ in costs) + "\n")
        for node, list_ in enumerate(costs):
            out.write(f"1 {node} 0 {len(list_)}\n")
            out.writelines(f"{value} {min(cost, top)}\n" for value, cost in enumerate(list_))
        for (a, b), rows in tables.items():
            out.write(f"2 {a} {b} 0 {len(rows) * len(rows[0])}\n")
            for i, row in enumerate(rows):
                out.writelines(f"{i} {j} {min(cost, top)}\n" for j, cost in enumerate(row))


def toulbar2(problem, folder, seconds):
    network = folder / "network.wcsp"
    write_wcsp(problem, network)
    start = time.time()
    run = subprocess.run(["toulbar2", str(network), f"-timer={seconds}", "-s=1"], capture_output=True, text=True)
    solutions = [line.split() for line in run.stdout.splitlines() if re.fullmatch(r"\s*\d+( \d+)*\s*", line)]
    solutions = [[int(value) for value in line] for line in solutions if len(line) == len(problem["nodes"]["costs"])]
    proof = "optimal" if "Optimum:" in run.stdout else "no proof"
    return (solutions[-1] if solutions else None), proof, time.time() - start


def terms(pairs):
    """`+3 x +4 y` in lines that readers of the LP format take."""
    text, line = [], 0
    for factor, name in pairs:
        term = f" {'+' if factor >= 0 else '-'}{abs(factor)} {name}"
        line += len(term)
        if line > 200:
            text.append("\n")
            line = len(term)
        text.append(term)
    return "".join(text)


def write_lp(problem, path):
    nodes, tables = problem["nodes"], merged_edges(problem)
    objective, rows, binaries = [], [], []
    for node, costs in enumerate(nodes["costs"]):
        names = [f"x{node}_{value}" for value in range(len(costs))]
        binaries += names
        rows.append((terms((1, name) for name in names), "= 1"))
        for name, cost in zip(names, costs):
            if cost >= INFINITE:
                rows.append((terms([(1, name)]), "= 0"))
            elif cost:
                objective.append((cost, name))
    for (a, b), table in tables.items():
        by_row, by_column = {}, {}
        for i, row in enumerate(table):
            for j, cost in enumerate(row):
                if cost >= INFINITE:
                    continue
                name = f"y{a}_{b}_{i}_{j}"
                by_row.setdefault(i, []).append(name)
                by_column.setdefault(j, []).append(name)
                if cost:
                    objective.append((cost, name))
        for node, size, sums in ((a, len(table), by_row), (b, len(table[0]), by_column)):
            for value in range(size):
                pairs = [(1, name) for name in sums.get(value, [])]
                rows.append((terms([*pairs, (-1, f"x{node}_{value}")]), "= 0"))
    rows += memory_rows(problem)
    with open(path, "w") as out:
        out.write("Minimize\n obj:" + terms(objective) + "\nSubject To\n")
        out.writelines(f" c{i}:{text} {rest}\n" for i, (text, rest) in enumerate(rows))
        out.write("Binary\n" + "\n".join(binaries) + "\nEnd\n")


def memory_rows(problem):
    if problem.get("usage_limit") is None:
        return []
    nodes, rows, seen = problem["nodes"], [], set()
    for time_point in sorted({begin for begin, end in nodes["intervals"] if begin < end}):
        live = tuple(node for node, (begin, end) in enumerate(nodes["intervals"]) if begin <= time_point < end)
        if live in seen or sum(max(nodes["usages"][node]) for node in live) <= problem["usage_limit"]:
            continue
        seen.add(live)
        pairs = [(usage, f"x{node}_{value}") for node in live
                 for value, usage in enumerate(nodes["usages"][node]) if usage]
        rows.append((terms(pairs), f"<= {problem['usage_limit']}"))
    return rows


def cbc(problem, folder, seconds):
    program, answer = folder / "network.lp", folder / "answer.txt"
    write_lp(problem, program)
    start = time.time()
    subprocess.run(["cbc", str(program), "sec", str(seconds), "solve", "solu", str(answer)], capture_output=True,
                   text=True)
    lines = answer.read_text().splitlines() if answer.exists() else []
    values = [None] * len(problem["nodes"]["costs"])
    for line in lines[1:]:
        match = re.match(r"\s*(?:\*\*)?\s*\d+\s+x(\d+)_(\d+)\s+(\S+)", line)
        if match and float(match.group(3)) > 0.5:
            values[int(match.group(1))] = int(match.group(2))
    proof = "optimal" if lines and lines[0].startswith("Optimal") else "no proof"
    return (None if None in values else values), proof, time.time() - start


def without_limit(problem, folder):
    path = folder / "without_limit.json"
    path.write_text(json.dumps({"problem": {k: v for k, v in problem.items() if k != "usage_limit"}}))
    return str(path)


def row(name, solver, problem, result, with_limit):
    values, proof, seconds = result
    cost = "none" if values is None else judge(problem, values, with_limit)
    print(f"{name:28} {'with' if with_limit else 'without':8} {solver:9} {cost!s:>20} {seconds:8.2f} s  {proof}", flush=True)
    return cost if proof == "optimal" else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("onedim")
    parser.add_argument("instances", nargs="+")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    faults = 0
    print(f"{'instance':28} {'limit':8} {'solver':9} {'cost':>20} {'time':>8}")
    for path in options.instances:
        problem, name = load(path), pathlib.Path(path).name.split(".")[0]
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            proved = {}
            for with_limit in (True, False):
                file = path if with_limit else without_limit(problem, folder)
                results = {"onedim": onedim(options.onedim, file, options.seconds)}
                if with_limit and shutil.which("cbc"):
                    results["cbc"] = cbc(problem, folder, options.seconds)
                if not with_limit and shutil.which("toulbar2"):
                    results["toulbar2"] = toulbar2(problem, folder, options.seconds)
                costs = {row(name, solver, problem, result, with_limit) for solver, result in results.items()}
                proved[with_limit] = costs - {None}
            for costs in proved.values():
                if len(costs) > 1:
                    faults += 1
                    print(f"{name}: proved optima differ: {sorted(map(str, costs))}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
