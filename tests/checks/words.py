"""Nothing unfinished and nothing of one machine is committed: no marks for later, no paths of a home, no hosts."""

import re

import tree

# Each pattern is broken up so that this file does not hold what it looks for.
LATER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b|\b[Ff]or " r"now\b|\b[Pp]lace" r"holder\b")
MACHINE = re.compile(r"(?<![\w.])/(?:ho" r"me|ro" r"ot|Us" r"ers|wo" r"rk|mn" r"t)/[\w.]|\.\./sha" r"red")
HOST = re.compile(r"(?:py" r"pi|deb\.deb" r"ian|pythonh" r"osted|np" r"mjs|crates)\.(?:org|io|com)|local" r"host:\d", re.I)
CHECKS = [(LATER, "unfinished: do it or file an issue"), (MACHINE, "a path of one machine"), (HOST, "a host name")]


def main():
    faults, names = [], [n for n in tree.files() if not n.startswith("tests/data/")]
    for name in names:
        for number, line in enumerate(tree.read(name).split("\n"), 1):
            faults += [f"{name}:{number}: {what}: {line.strip()[:80]}" for pattern, what in CHECKS if pattern.search(line)]
    tree.finish("words", faults, f"{len(names)} files")


if __name__ == "__main__":
    main()
