"""A command that runs with more rights than its caller has takes no settings and no packs from the caller."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()
NOBODY = 65534


def can_raise():
    """Only root can make a program of another user; a file system may forbid its effect."""
    return os.geteuid() == 0 and not os.statvfs(tempfile.gettempdir()).f_flag & os.ST_NOSUID


@unittest.skipUnless(can_raise(), "needs root and a file system that honours set-user-id programs")
class Privileged(unittest.TestCase):
    def run_in(self, folder, **environment):
        """`ops` without packs: 3 if all was ignored, 2 if the bad settings were read."""
        program = pathlib.Path(folder) / "program"
        if not program.exists():
            shutil.copy2(PROGRAM, program)
            os.chown(program, NOBODY, -1)
            program.chmod(0o4755)
        os.chmod(folder, 0o755)
        kept = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CONFIG_HOME")}
        return subprocess.run([program, "ops"], cwd=folder, env={**kept, **environment}, capture_output=True, text=True,
                              check=False)

    def check_ignored(self, place, **environment):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("nonsense = 1\n")
            environment = {key: value.format(folder) for key, value in environment.items()}
            result = self.run_in(folder, **environment)
            self.assertEqual((result.returncode, "nonsense" in result.stderr), (3, False), result.stderr)
            os.chown(pathlib.Path(folder) / "program", 0, -1)
            (pathlib.Path(folder) / "program").chmod(0o755)
            result = self.run_in(folder, **environment)
            self.assertEqual((result.returncode, "nonsense" in result.stderr), (2, True), result.stderr)

    def test_not_from_the_current_folder(self):
        self.check_ignored("onedim.toml")

    def test_not_from_the_home_folder(self):
        self.check_ignored(".config/onedim/onedim.toml", HOME="{}")

    def test_not_from_the_settings_folder(self):
        self.check_ignored("onedim/onedim.toml", XDG_CONFIG_HOME="{}")


if __name__ == "__main__":
    unittest.main()
