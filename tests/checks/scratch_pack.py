"""A new pack is a new folder and nothing else: no tracked file changes, and `onedim packs` shows it."""

import argparse
import json
import os
import shutil
import subprocess
import tempfile

import tree

CMAKE = "onedim_add_pack(scratch scratch.cpp)\n"


def copy_project(folder):
    for name in tree.files():
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(tree.ROOT, name), target)


def add_pack(folder):
    """The template under another name, so that it clashes with no pack that is there."""
    pack = os.path.join(folder, "plugins", "scratch")
    os.mkdir(pack)
    sources = [n for n in tree.files(".cpp") if n.startswith("plugin_api/template/")]
    text = "".join(tree.read(name) for name in sources)
    with open(os.path.join(pack, "scratch.cpp"), "w", encoding="utf-8") as file:
        file.write(text.replace("mypack", "scratch"))
    with open(os.path.join(pack, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(CMAKE)


def build(source, folder):
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    options = ["-DONEDIM_BUILD_TESTS=OFF", "-DONEDIM_BUILD_BENCH=OFF", "-G", "Ninja"]
    subprocess.run(["cmake", "-S", source, "-B", folder, *options], **quiet)
    subprocess.run(["cmake", "--build", folder, "--target", "scratch"], **quiet)


def changed(folder):
    return [name for name in tree.files() if open(os.path.join(tree.ROOT, name), "rb").read()
            != open(os.path.join(folder, name), "rb").read()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", help="the built `onedim`")
    command = os.path.abspath(parser.parse_args().command)
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "onedim"), os.path.join(folder, "build")
        copy_project(source)
        add_pack(source)
        build(source, binary)
        faults = [f"{name}: changed by adding a pack" for name in changed(source)]
        environment = {**os.environ, "ONEDIM_PACK_PATH": os.path.join(binary, "tools", "packs")}
        listing = subprocess.run([command, "packs", "--json"], env=environment, capture_output=True, text=True)
    packs = json.loads(listing.stdout)["packs"]
    if not any(pack["name"] == "scratch" and pack["status"] == "loaded" for pack in packs):
        faults.append(f"`onedim packs` does not show the new pack as loaded: {packs}")
    tree.finish("scratch pack", faults, f"{len(packs)} packs")


if __name__ == "__main__":
    main()
