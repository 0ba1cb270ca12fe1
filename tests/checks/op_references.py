"""Each op's results are held against something that is not ours: a call of a file in tests/data, or what
tests/data/op_references.txt states; and every overload that these calls and the graphs there use is offered."""

import fnmatch
import gzip
import json
import pathlib

import offered_ops
import tree

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def read_json(path):
    with gzip.open(path) as file:
        return json.load(file)


def names_in(pattern, key, entries, format):
    """{name: file} of the ops in all files that match and are of the format."""
    names = {}
    for path in sorted(DATA.glob(pattern)):
        document = read_json(path)
        if document.get("format") != format:
            continue
        for entry in document.get(entries, []):
            names.setdefault(entry[key], path.name)
    return names


def read_references(text):
    """{pattern: reference}; `likewise` is the one before."""
    references, before = {}, ""
    for line in text.splitlines():
        pattern, _, reference = line.partition(" ")
        if not pattern or pattern.startswith("#"):
            continue
        before = before if reference.strip() == "likewise" else reference.strip()
        references[pattern] = before
    return references


def faults_of(ops, golden, graphs, references):
    plain = {op["name"] for op in ops if not op["form_of"]}
    for name in sorted(plain - set(golden)):
        if not any(fnmatch.fnmatchcase(name, pattern) and reference for pattern, reference in references.items()):
            yield f"{name}: no golden call, and no reference in op_references.txt"
    for pattern in references:
        stated = fnmatch.filter(plain, pattern)
        if not stated or all(name in golden for name in stated):
            yield f"op_references.txt: {pattern} names no op that lacks a golden call"
    offered = {op["name"] for op in ops}
    for used in (golden, graphs):
        for name in sorted(set(used) - offered):
            yield f"{name}: is in {used[name]}, but no pack offers it"


def main():
    ops = offered_ops.offered_ops()
    golden = names_in("*_ops.json.gz", "op", "calls", "onedim.golden_ops/1")
    graphs = names_in("*.json.gz", "op", "nodes", "onedim.graph/1")
    references = read_references((DATA / "op_references.txt").read_text())
    faults = list(faults_of(ops, golden, graphs, references))
    tree.finish("op references", faults, f"{len(ops)} ops, {len(golden)} with golden calls, {len(graphs)} in graphs")


if __name__ == "__main__":
    main()
