"""A pack resolves every name by the libraries that it links: nothing is left to the host, least of all the host's
own symbols."""

import argparse
import glob
import os
import subprocess
import sys


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.split("\n")


def faults_of(pack, sanitized):
    for line in output("nm", "-D", "--undefined-only", pack):
        if "onedim" in line:
            yield f"{pack}: wants {line.split()[-1]} of the host: packs include only <onedim/...>"
    for line in [] if sanitized else output("ldd", "-r", pack):
        if "undefined symbol" in line:
            yield f"{pack}: {line.strip()}: link the library that defines it"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sanitized", default="", help="not empty: sanitizer runtimes are resolved in the host")
    parser.add_argument("folder", help="where the packs are")
    arguments = parser.parse_args()
    packs = sorted(glob.glob(os.path.join(arguments.folder, "*.so")))
    faults = [fault for pack in packs for fault in faults_of(pack, arguments.sanitized)]
    print("\n".join(faults) if packs else "no pack found")
    sys.exit(1 if faults or not packs else 0)


if __name__ == "__main__":
    main()
