"""The README's commands run as written and print what it shows.

A fenced block marked `console` holds commands behind `$ ` (continued behind `> `), each followed by its output. All
of them run in order in one shell, in a scratch folder that looks like a fresh clone built by the quickstart. A line
`...` stands for any lines, `...` inside a line for any text; in a block marked `console varies` a figure, with its unit,
stands for any figure. An output line of four spaces and an `onedim` command is a finding's: it is run too, and must
find it again. Blocks marked `sh` are not run: their first words must
be files that can be executed.
"""

import argparse
import os
import re
import subprocess
import tempfile

import tree

BLOCK = re.compile(r"^```(\w*(?: varies)?)\n(.*?)^```", re.M | re.S)
FIGURE = re.compile(r"-?\d+(?:\.\d+)?(?: (?:ms|s)\b)?")
FINDING = re.compile(r" {4}(onedim .*)")
MARK = "=== end of command"


def commands(block):
    """(command, expected lines) in order."""
    found = []
    for line in block.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") or line == ">":
            command, expected = found.pop()
            found.append((command + "\n" + line[2:], expected))
        elif found:
            found[-1][1].append(line)
    return found


def with_findings(wanted):
    """The commands, and behind each those that it prints, with None for what they print."""
    for command, expected, varies in wanted:
        yield command, expected, varies
        for found in filter(None, map(FINDING.fullmatch, expected)):
            yield found.group(1), None, varies


def text_pattern(text, varies):
    if not varies:
        return re.escape(text)
    literal = FIGURE.split(re.sub(r" {2,}", "  ", text))
    return FIGURE.pattern.join(re.escape(piece).replace(r"\ \ ", " +") for piece in literal)


def pattern(expected, varies=False):
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(text_pattern(piece, varies) for piece in line.rstrip().split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts) + r"\Z")


def lay_out(folder, build):
    """The clone's top level by links, and the build where the quickstart leaves it."""
    for name in {name.split("/")[0] for name in tree.files()}:
        os.symlink(os.path.join(tree.ROOT, name), os.path.join(folder, name))
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(os.path.abspath(build), os.path.join(folder, "build", "release"))


def run_all(script_commands, folder):
    """Of each command what it printed and its exit code, and a rest."""
    script = "".join(f"{command}\nprintf '\\n%s %s\\n' '{MARK}' $?\n" for command, *_ in script_commands)
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "CLICOLOR": "0"}
    for name in ("ONEDIM_PACK_PATH", "CMAKE_GENERATOR"):
        environment.pop(name, None)
    result = subprocess.run(["bash"], input=script, cwd=folder, env=environment, text=True, timeout=600,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    parts = re.split(rf"\n?^{MARK} (\d+)\n", result.stdout, flags=re.M)
    return [*zip(parts[0::2], map(int, parts[1::2])), (parts[-1], 0)]


def difference(command, expected, varies, printed, code=0):
    if expected is None:
        return None if code == 1 else f"README.md: the printed command `{command}` exits {code}, expected 1\n{printed}"
    printed = printed.strip("\n") + "\n" if printed.strip("\n") else ""
    if pattern(expected, varies).match(printed):
        return None
    return "\n".join([f"README.md: `{command}` prints another text", "--- README", *expected, "--- now", printed])


def script_faults(text):
    for kind, block in BLOCK.findall(text):
        for line in block.split("\n") if kind == "sh" else []:
            words = line.split("#")[0].split()
            if words and "/" in words[0] and not os.access(os.path.join(tree.ROOT, words[0]), os.X_OK):
                yield f"README.md: {words[0]} cannot be executed"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--readme", default="README.md")
    options = parser.parse_args()
    text = tree.read(options.readme)
    blocks = [(kind, block) for kind, block in BLOCK.findall(text) if kind.startswith("console")]
    wanted = [*with_findings((*pair, kind.endswith("varies")) for kind, block in blocks for pair in commands(block))]
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder, options.build)
        printed = run_all(wanted, folder)
    faults = [*script_faults(text)]
    if len(printed) != len(wanted) + 1:
        faults.append(f"README.md: {len(wanted)} commands, but {len(printed) - 1} ended")
    faults += filter(None, (difference(*entry, *result) for entry, result in zip(wanted, printed)))
    tree.finish("readme", faults, f"{len(wanted)} commands")


if __name__ == "__main__":
    main()
