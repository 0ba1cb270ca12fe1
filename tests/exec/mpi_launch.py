"""Starts the command's ranks by mpirun, and sees what they leave behind."""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

TEMPORARY = tempfile.TemporaryDirectory()  # for records of runs that fail
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
               "TMPDIR": TEMPORARY.name}


class InFolder(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)


def mpirun(*parts, **variables):
    """Each part is (ranks, program, argument ...)."""
    words = []
    for ranks, *command in parts:
        words += [":"] * bool(words) + ["-n", str(ranks), *map(str, command)]
    return subprocess.run(["mpirun", *words], capture_output=True, text=True, timeout=120,
                          env={**ENVIRONMENT, **variables}, check=False)


def told(result):
    """What the command itself has on stderr, without mpirun's words."""
    return [line for line in result.stderr.split("\n") if line.startswith("onedim: ")]


def processes_with(text):
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has just ended
            continue
        if any(text in word for word in words):
            found.append(int(file.parent.name))
    return found


def wait_for_end_of(text, seconds=5):
    """The processes with that word in their command line that do not end."""
    end = time.monotonic() + seconds
    while processes_with(text) and time.monotonic() < end:
        time.sleep(0.1)
    return processes_with(text)
