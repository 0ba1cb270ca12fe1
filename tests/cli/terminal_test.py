"""The command on a terminal: progress is shown there and nowhere else, and Ctrl-C ends it without a word."""

import os
import pathlib
import pty
import signal
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop()
CALLS = pathlib.Path(__file__).parent.parent / "data" / "golden_ops.json.gz"
LONG = ["layout", "f32[131072]@S(0)", "--mesh", "x=131072", "--json"]


def read_all(descriptor):
    """A terminal ends with an error instead of an end of file."""
    data = b""
    try:
        while chunk := os.read(descriptor, 65536):
            data += chunk
    except OSError:
        pass
    return data


def run_on_terminal(*arguments):
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        data = read_all(ours)
    os.close(ours)
    return data


class Terminal(unittest.TestCase):
    def test_progress_is_shown_and_wiped(self):
        data = run_on_terminal("call", "--calls", str(CALLS))
        self.assertIn(b"call 64 of ", data)
        self.assertTrue(data.endswith(b"\r\x1b[K"), data[-80:])

    def test_quiet_shows_none(self):
        self.assertEqual(run_on_terminal("-q", "call", "--calls", str(CALLS)), b"")

    def test_a_pipe_gets_none(self):
        result = subprocess.run([PROGRAM, "call", "--calls", str(CALLS)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.stderr, b"")

    def test_ctrl_c_ends_by_the_signal_without_a_word(self):
        with subprocess.Popen([PROGRAM, *LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.read(1), b"{")  # it writes and cannot end before it is read
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate()
        self.assertEqual((process.returncode, errors), (-signal.SIGINT, b""))


if __name__ == "__main__":
    unittest.main()
