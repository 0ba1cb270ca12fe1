"""A Python environment of their own for the peers, so that nothing of theirs touches the system's."""

import pathlib
import subprocess
import sys


def python_with(folder: pathlib.Path, packages: list[str]) -> pathlib.Path:
    """Path of a Python that has `packages` (PyPI names with versions), made on first use in `folder`."""
    python = folder / "bin" / "python"
    stamp = folder / "installed.txt"
    wanted = "\n".join(packages)
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing {', '.join(packages)} in {folder} (several GB on first use)", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
    stamp.write_text(wanted)
    return python
