#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a fresh checkout tells the compiler: folders that are there. Of one that is made while others compile, ccache changes
the name then (./generated becomes generated), and finds nothing of what another checkout has compiled.
Usage: fresh_build_test.py [CMAKE]"""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CMAKE = sys.argv[1] if len(sys.argv) > 1 else "cmake"


def include_folders(build: pathlib.Path) -> set:
    """Those that the compilations of a build that has been configured are given."""
    result = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for word, behind in zip(words, words[1:]):
            if word.startswith("-I"):
                result.add(pathlib.Path(entry["directory"], word[2:] or behind))
            elif word == "-isystem":
                result.add(pathlib.Path(entry["directory"], behind))
    return result


def test_include_folders_are_there_when_the_first_file_is_compiled() -> None:
    with tempfile.TemporaryDirectory() as name:
        build = pathlib.Path(name)
        options = [f"-DMXNET_BUILD_{what}=OFF" for what in ("TESTS", "CUDA", "PYTHON")]
        done = subprocess.run([CMAKE, "-S", ROOT, "-B", build, "-G", "Ninja", *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        folders = include_folders(build)
        assert ROOT / "src" in folders
        lacking = sorted(str(folder) for folder in folders if not folder.is_dir())
        assert not lacking, f"made later: {lacking}"


if __name__ == "__main__":
    test_include_folders_are_there_when_the_first_file_is_compiled()
