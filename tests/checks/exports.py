"""Each pack exports one name, `onedim_pack_v1`, and carries the note that the loader reads before it opens the file."""

import argparse
import glob
import os
import subprocess

import tree


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")


def faults_of(pack):
    names = [line.split()[-1] for line in lines("nm", "-D", "--defined-only", pack) if line.strip()]
    if names != ["onedim_pack_v1"]:
        yield f"{pack}: exports {names or 'nothing'}, expected onedim_pack_v1 alone: use onedim_add_pack()"
    if not any(".note.onedim" in line for line in lines("readelf", "-SW", pack)):
        yield f"{pack}: has no section .note.onedim: use ONEDIM_PACK"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="where the packs are")
    packs = sorted(glob.glob(os.path.join(parser.parse_args().folder, "*.so")))
    faults = [fault for pack in packs for fault in faults_of(pack)] if packs else ["no pack found"]
    tree.finish("exports", faults, f"{len(packs)} packs")


if __name__ == "__main__":
    main()
