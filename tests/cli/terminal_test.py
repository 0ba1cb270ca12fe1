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


def run_on_terminal(*arguments, kind="xterm", output=subprocess.DEVNULL):
    """What the terminal gets; `output` None sends the results there, too."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": kind}
    with subprocess.Popen([PROGRAM, *arguments], stdout=theirs if output is None else output, stderr=theirs,
                          env=environment) as process:
        os.close(theirs)
        data = read_all(ours)
    os.close(ours)
    return data


class Terminal(unittest.TestCase):
    def test_progress_is_shown_and_wiped(self):
        data = run_on_terminal("call", "--calls", str(CALLS))
        self.assertIn(b"call 64 of ", data)
        self.assertTrue(data.endswith(b"\r\x1b[K"), data[-80:])

    def test_results_do_not_stand_behind_it(self):
        data = run_on_terminal("validate", "relu", "neg", output=None)
        self.assertIn(b"validating 1/2", data)
        self.assertIn(b"\r\x1b[Krelu", data)
        self.assertNotIn(b"\x1b", data[data.index(b"\x1b[Krelu") + 3:])

    def test_a_terminal_that_moves_no_cursor_gets_none(self):
        for kind in ("dumb", ""):
            data = run_on_terminal("validate", "relu", "neg", kind=kind, output=None)
            self.assertTrue(data.startswith(b"neg") or data.startswith(b"relu"), data)
            self.assertNotIn(b"\x1b", data)

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
