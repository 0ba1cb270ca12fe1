"""Runs the text cases beside it: commands with the output and exit code that they must give.

A case file holds cases like this one, in any number; lines that begin with # are for the reader.

    $ onedim layout 'f32[4]' --mesh a=2
    ! onedim: "f32[4]" has no layout; expected TENSOR@LAYOUT, such as f32[10,7]@S(0),R
    = 2

`$` is run by bash in an empty folder, which the cases of one file share; lines with `!` are stderr, lines with
`=` the exit code (0 if there is none), all others stdout. An empty line ends a case; empty lines of output are
written `|`. `<...>` in an expected line matches anything.
`--update` rewrites the expectations of cases that fail.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def parse(text):
    """The cases of a file: (lines before it, command, expected lines), and the lines behind the last."""
    cases, lead, command, expected = [], [], None, []
    for line in text.split("\n") + [""]:
        ends_case = not line or line.startswith(("$ ", "#"))
        if command is not None and ends_case:
            cases.append((lead, command, expected))
            lead, command, expected = [], None, []
        if line.startswith("$ "):
            command = line[2:]
        elif command is None:
            lead.append(line)
        else:
            expected.append(line)
    return cases, lead[:-1]


def run(command, folder, environment):
    result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, timeout=120)
    lines = [line if line else "|" for line in split_lines(result.stdout)]
    lines += ["! " + line if line else "!" for line in split_lines(result.stderr)]
    code = 128 - result.returncode if result.returncode < 0 else result.returncode
    return lines + ([f"= {code}"] if code else [])


def split_lines(data):
    text = data.decode(errors="replace")
    return text[:-1].split("\n") if text.endswith("\n") else text.split("\n") if text else []


def matches(expected, actual):
    if len(expected) != len(actual):
        return False
    patterns = [".*".join(re.escape(part) for part in line.split("<...>")) for line in expected]
    return all(re.fullmatch(pattern, line) for pattern, line in zip(patterns, actual))


def run_file(path, environment, update):
    cases, tail = parse(path.read_text())
    failed, lines = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for lead, command, expected in cases:
            actual = run(command, folder, environment)
            if not matches(expected, actual):
                failed += 1
                print(f"{path.name}: $ {command}")
                sys.stdout.writelines(line + "\n" for line in difflib.ndiff(expected, actual))
                expected = actual if update else expected
            lines += lead + ["$ " + command] + expected
    if update:
        path.write_text("\n".join(lines + tail))
    return failed, len(cases)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", help="the onedim program")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="case files; all by default")
    parser.add_argument("--packs", type=pathlib.Path, default="packs", help="the folder of the tests' packs, as $PACKS")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_intermixed_args()
    program = pathlib.Path(options.program).resolve()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONEDIM_")}
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    environment["XDG_CONFIG_HOME"] = "/nonexistent"
    environment["PACKS"] = str(options.packs.resolve())
    environment["CASES"] = str(pathlib.Path(__file__).resolve().parent)
    files = options.files or sorted(pathlib.Path(__file__).parent.glob("*.txt"))
    results = [run_file(path, environment, options.update) for path in files]
    failed, count = (sum(column) for column in zip(*results))
    print(f"{count - failed} of {count} cases as expected")
    return 1 if failed and not options.update else 0


if __name__ == "__main__":
    sys.exit(main())
