"""The tracked files of the project, and how a check reports: one line a fault, exit 1 if there are any."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files(*suffixes):
    """Paths from the root of all files that git tracks or would track (all files where there is no git tree)."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
        names = sorted(set(listing.split("\0")) - {""})
    except (OSError, subprocess.CalledProcessError):
        names = sorted(walk())
    return [name for name in names if name.endswith(suffixes or "") and os.path.isfile(os.path.join(ROOT, name))]


def walk():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in (".git", "__pycache__") and not f.startswith("build")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def finish(check, faults, looked_at):
    for fault in faults:
        print(fault)
    print(f"{check}: {len(faults)} faults in {looked_at}" if faults else f"{check}: fine, {looked_at}")
    sys.exit(1 if faults else 0)
