"""A name stands for one type in all that is linked together: two types of one name, each in a file of its own, are no
error to a linker, which keeps the functions of one of them for both.
"""

import collections
import re

import cpp_text
import tree

OPENS = re.compile(r"^(inline )?namespace( [\w:]+)? \{")
CLOSES = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|union|enum(?: class)?)(?: alignas\(\w+\))? ([\w:]+)(?: final)?(?: *:[^;{]*)? *\{")


def program(name):
    """What is linked together: core and tools with the command; a pack; a test's own files come on top."""
    parts = name.split("/")
    if parts[0] == "plugins":
        return "/".join(parts[:2])
    return "onedim" if parts[0] in ("core", "tools") else None


def types(source):
    """(qualified name, line) of each type that other files could name too; the format puts them at a line's start."""
    scopes, lines = [], source.split("\n")
    code = cpp_text.code_only(source).split("\n")
    for number, (line, bare) in enumerate(zip(lines, code), 1):
        if CLOSES.match(line) and scopes:
            scopes.pop()
        elif match := OPENS.match(bare):
            if "}" not in bare[match.end():]:
                scopes.append((match.group(2) or "").strip())
        elif (match := TYPE.match(bare)) and "" not in scopes:
            yield "::".join([*scopes, match.group(1)]), number


def faults_of(sources):
    """`sources`: (file, text) of what is linked together."""
    places = collections.defaultdict(list)
    for name, source in sources:
        for qualified, line in types(source):
            places[qualified].append(f"{name}:{line}")
    for qualified, found in sorted(places.items()):
        if len(found) > 1:
            yield f"{found[1]}: {qualified} is another type at {found[0]}: give one of them a name of its own"


def main():
    programs = collections.defaultdict(list)
    names = [n for n in tree.files(".hpp", ".cpp", ".cu", ".cuh") if not n.startswith("tests/")]
    for name in names:
        if program(name):
            programs[program(name)].append((name, tree.read(name)))
    for name in tree.files(".hpp"):
        if name.startswith("tests/"):
            programs["onedim"].append((name, tree.read(name)))
    faults = [fault for files in programs.values() for fault in faults_of(files)]
    tree.finish("one_definition", faults, f"{len(names)} files, {len(programs)} programs")


if __name__ == "__main__":
    main()
