"""A new pack builds out of tree as it was written, loads, and its rules hold."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class NewPack(unittest.TestCase):
    def test_builds_loads_and_validates_as_it_stands(self):
        with tempfile.TemporaryDirectory() as folder:
            pack, build = os.path.join(folder, "my_ops"), os.path.join(folder, "build")
            for command in ([PROGRAM, "new-pack", "my_ops", "--in", folder], ["cmake", "-S", pack, "-B", build],
                            ["cmake", "--build", build]):
                result = run(*command)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            listing = run(PROGRAM, "packs", build, "--json")
            packs = json.loads(listing.stdout)["packs"]
            self.assertEqual([(pack["name"], pack["status"]) for pack in packs], [("my_ops", "loaded")])
            self.assertEqual(listing.returncode, 0)
            verdict = run(PROGRAM, "-p", build, "validate", "my_ops.*")
            self.assertEqual(verdict.returncode, 0, verdict.stdout + verdict.stderr)


if __name__ == "__main__":
    unittest.main()
