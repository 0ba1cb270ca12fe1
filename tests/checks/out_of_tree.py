"""The way of a user: install, build the template against the installed package, drop it in the folder, prove it."""

import argparse
import json
import os
import shutil
import subprocess
import tempfile

import tree


def run(*command, expect=0):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != expect:
        tree.finish("out of tree", [f"{' '.join(command)}: exit {result.returncode}, expected {expect}",
                                    result.stdout[-2000:], result.stderr[-2000:]], "one template")
    return result.stdout


def build_template(folder, prefix):
    """The installed copy, so that what is installed is what works; the packs it makes."""
    source, binary = os.path.join(folder, "template"), os.path.join(folder, "template-build")
    shutil.copytree(os.path.join(prefix, "share/onedim/template"), source)
    run("cmake", "-S", source, "-B", binary, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", binary)
    run("cmake", "--install", binary, "--prefix", prefix)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", help="the build folder")
    build = parser.parse_args().build
    os.environ.pop("ONEDIM_PACK_PATH", None)
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "prefix")
        command = os.path.join(prefix, "bin", "onedim")
        run("cmake", "--install", build, "--prefix", prefix)
        before = {pack["name"] for pack in json.loads(run(command, "packs", "--json"))["packs"]}
        build_template(folder, prefix)
        packs = json.loads(run(command, "packs", "--json"))["packs"]
        added = [pack for pack in packs if pack["name"] not in before]
        ops = [op["name"] for op in json.loads(run(command, "ops", "--json"))["ops"]
               if op["pack"] in {pack["name"] for pack in added}]
        faults = [f"{pack['path']}: {pack['status']}: {pack['reason']}" for pack in packs if pack["status"] != "loaded"]
        if len(added) != 1 or not ops:
            faults.append(f"the template should add one pack with ops, but added {added} with {ops}")
        else:
            run(command, "validate", *ops)
        stray = [line for line in run("ldd", command).split("\n") if "not found" in line]
        faults += [f"the installed command does not find {line.strip()}" for line in stray]
    tree.finish("out of tree", faults, f"{len(before)} packs installed, the template added")


if __name__ == "__main__":
    main()
