"""Every header compiles by itself. One that passed is not compiled again until it or a file it includes changes."""

import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
ROOTS = ["", "plugin_api/include/"]


def closure(name, seen):
    """The header and all files of the project that it includes."""
    if name in seen:
        return seen
    seen.add(name)
    for target in INCLUDE.findall(tree.read(name)):
        candidates = [root + target for root in ROOTS] + [os.path.join(os.path.dirname(name), target)]
        for candidate in candidates:
            if os.path.isfile(os.path.join(tree.ROOT, candidate)):
                closure(os.path.normpath(candidate), seen)
                break
    return seen


def key(name, compiler):
    digest = hashlib.sha256(compiler.encode())
    for part in sorted(closure(name, set())):
        digest.update(part.encode() + tree.read(part).encode())
    return digest.hexdigest()


def compile_alone(name, compiler):
    folders = ["-I" + os.path.join(tree.ROOT, root) for root in ROOTS]
    command = [compiler, "-x", "c++", "-std=c++20", "-fsyntax-only", "-w", *folders, os.path.join(tree.ROOT, name)]
    result = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in result.stderr.split("\n") if "error" in line]
    return None if result.returncode == 0 else f"{name}: does not compile alone: {(lines or ['?'])[0].strip()}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stamps", required=True, help="file that remembers which headers passed")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    options = parser.parse_args()
    passed = set(open(options.stamps).read().split()) if os.path.isfile(options.stamps) else set()
    keys = {name: key(name, options.compiler) for name in tree.files(".h", ".hpp")}
    todo = [name for name, stamp in keys.items() if stamp not in passed]
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        faults = dict(zip(todo, pool.map(lambda name: compile_alone(name, options.compiler), todo)))
    with open(options.stamps, "w", encoding="utf-8") as file:
        file.write("\n".join(stamp for name, stamp in keys.items() if not faults.get(name)))
    tree.finish("headers alone", [f for f in faults.values() if f], f"{len(keys)} headers, {len(todo)} compiled now")


if __name__ == "__main__":
    main()
