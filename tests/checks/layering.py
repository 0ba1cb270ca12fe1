"""Arrows only point down: tools -> core -> plugin_api <- plugins; inside core each floor sees only those above it.

core names no op. The ops are those that the built command lists (`--command`) and the schemas that stand in plugins/. A base name that is also a plain word of the field (`sum`, `any`) counts only with its overload.
"""

import argparse
import json
import re
import subprocess

import cpp_text
import tree

FLOORS = ["base", "tensor", "layout", "pack", "cost", "redistribute", "select", "validate", "graph", "solve", "plan", "exec"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
FLOOR_LINE = re.compile(r"^onedim_floor\((\w+)([^)]*)\)", re.M)
SCHEMA = re.compile(r'"([A-Za-z_][\w.]*)\([^"]*\)\s*->')
PLAIN_WORDS = {"view", "to", "sum", "avg", "max", "min", "product", "any", "all", "mean", "eq", "lt", "t", "positive", "index", "alias", "slice", "cat"}


def include_fault(name, quoted, target):
    top = name.split("/")[0]
    if top == "plugins" and (target.startswith(("core/", "tools/")) or "../" in target):
        return "plugins include only <onedim/...>, their own files and libraries"
    if top == "plugin_api" and (quoted or not target.startswith("onedim/")) and "/" in target:
        return "plugin_api depends on nothing"
    if top != "core":
        return None
    if target.startswith(("plugins/", "tools/", "tests/")):
        return "core depends only on plugin_api"
    if quoted and not target.startswith("core/"):
        return 'write "core/floor/file.hpp", from the root'
    if target.startswith("core/"):
        mine, theirs = FLOORS.index(name.split("/")[1]), FLOORS.index(target.split("/")[1])
        if theirs > mine:
            return f"floor {FLOORS[mine]} may not see {FLOORS[theirs]}"
    return None


def include_faults(names):
    for name in names:
        source = cpp_text.without_comments(tree.read(name))
        for match in INCLUDE.finditer(source):
            fault = include_fault(name, match.group(1) == '"', match.group(2))
            if fault:
                yield f"{name}:{source.count(chr(10), 0, match.start()) + 1}: includes {match.group(2)}: {fault}"


def link_faults():
    """The link graph says the same: a floor links only floors above it."""
    for match in FLOOR_LINE.finditer(tree.read("core/CMakeLists.txt")):
        mine = match.group(1)
        for theirs in re.findall(r"onedim_(\w+)", match.group(2)):
            if theirs in FLOORS and FLOORS.index(theirs) >= FLOORS.index(mine):
                yield f"core/CMakeLists.txt: floor {mine} links {theirs}, which is not above it"


def op_names(command):
    names = {m for name in tree.files(".cpp", ".hpp") if name.startswith("plugins/")
             for m in SCHEMA.findall(tree.read(name))}
    if command:
        listing = subprocess.run([command, "ops", "--json"], capture_output=True, check=True).stdout
        names |= {op["name"] for op in json.loads(listing)["ops"]}
    return names | {name.split(".")[0] for name in names} - PLAIN_WORDS


def op_faults(names, ops):
    """A literal that is an op name or opens with one as a schema does; a longer name also inside a text."""
    telling = sorted((op for op in ops if re.search(r"[._]\w", op)), key=len, reverse=True)
    inside = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, telling)) + r")(?![\w.])") if telling else None
    for name in names:
        for line, text in cpp_text.string_literals(tree.read(name)):
            head = text.split("(")[0]
            match = head if head in ops - PLAIN_WORDS else inside and inside.search(text)
            if match:
                found = match if isinstance(match, str) else match.group(1)
                yield f"{name}:{line}: names the op `{found}`: core knows no op, ask the registry"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", help="the built `onedim`")
    ops = op_names(parser.parse_args().command)
    sources = [n for n in tree.files(".h", ".hpp", ".c", ".cpp", ".cu", ".cuh") if not n.startswith("tests/")]
    core = [n for n in sources if n.startswith("core/")]
    faults = [*include_faults(sources), *link_faults(), *op_faults(core, ops)]
    tree.finish("layering", faults, f"{len(sources)} files, {len(ops)} op names")


if __name__ == "__main__":
    main()
