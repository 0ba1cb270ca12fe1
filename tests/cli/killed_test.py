"""A command that is killed takes all the processes along that it started."""

import os
import signal
import subprocess
import sys
import time
import unittest

PACKS = sys.argv.pop()
PROGRAM = sys.argv.pop()
PATIENCE = 20  # seconds


def parents():
    """Of each process; one that ends meanwhile is left out."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            found[int(name)] = int(fields[1])
    return found


def descendants(process):
    of = parents()
    found, waiting = set(), [process]
    while waiting:
        parent = waiting.pop()
        children = {child for child, its_parent in of.items() if its_parent == parent} - found
        found |= children
        waiting += children
    return found


def runs_worker(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return b"validate-worker" in file.read().split(b"\0")
    except OSError:
        return False


def wait_for(what):
    end = time.monotonic() + PATIENCE
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


class Killed(unittest.TestCase):
    def run_and_end_by(self, number):
        command = [PROGRAM, "-p", os.path.join(PACKS, "misbehaves.so"), "validate", "misbehaves.spins"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            started = wait_for(lambda: any(map(runs_worker, descendants(process.pid))))
            time.sleep(0.3)  # so that the kernel spins
            family = descendants(process.pid)
            process.send_signal(number)
            process.wait(PATIENCE)
        self.assertTrue(started)
        self.assertEqual(process.returncode, -number)
        self.assertTrue(wait_for(lambda: not family & set(parents())), "some still run")

    def test_by_kill(self):
        self.run_and_end_by(signal.SIGKILL)

    def test_by_ctrl_c(self):
        self.run_and_end_by(signal.SIGINT)

    def test_by_a_polite_request(self):
        self.run_and_end_by(signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
