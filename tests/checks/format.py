"""All C and C++ sources stand as clang-format 14 sets them. `--fix` sets them."""

import argparse
import os
import subprocess

import tree


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    mode = ["-i"] if parser.parse_args().fix else ["--dry-run", "-Werror"]
    names = [n for n in tree.files(".h", ".hpp", ".c", ".cpp", ".cu", ".cuh") if not n.startswith("tests/data/")]
    command = ["clang-format", *mode, *[os.path.join(tree.ROOT, name) for name in names]]
    result = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in result.stderr.split("\n") if ": error:" in line or ": warning:" in line]
    wrong = sorted({os.path.relpath(line.split(":")[0], tree.ROOT) for line in lines})
    faults = [f"{name}: not formatted; run tests/checks/format.py --fix" for name in wrong]
    if result.returncode and not faults:
        faults = [result.stderr.strip()]
    tree.finish("format", faults, f"{len(names)} files")


if __name__ == "__main__":
    main()
