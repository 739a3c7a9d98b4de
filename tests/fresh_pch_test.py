#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cmake/fresh_pch.sh takes away before it runs a command: a precompiled header that this makes, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "cmake" / "fresh_pch.sh"


def left_by(*words: str) -> list:
    """What the command sees in a folder that holds an old header and its dependencies."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in ("a.hxx", "a.hxx.gch", "a.hxx.gch.d"):
            (folder / file).touch()
        look = [sys.executable, "-c", "import os; print(*sorted(os.listdir()))"]
        return subprocess.run([SCRIPT, *look, *words], cwd=folder, capture_output=True, text=True, check=True).stdout.split()


def test_what_is_made_is_taken_away() -> None:
    assert left_by("-MF", "a.hxx.gch.d", "-o", "a.hxx.gch") == ["a.hxx", "a.hxx.gch.d"]


def test_what_is_used_stays() -> None:
    assert left_by("-include", "a.hxx", "-o", "a.o") == ["a.hxx", "a.hxx.gch", "a.hxx.gch.d"]


def test_the_status_is_the_command_s() -> None:
    assert subprocess.run([SCRIPT, "sh", "-c", "exit 3"], check=False).returncode == 3


if __name__ == "__main__":
    for test in [value for name, value in sorted(globals().items()) if name.startswith("test_")]:
        test()
