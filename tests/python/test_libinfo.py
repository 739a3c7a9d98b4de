# SPDX-License-Identifier: Apache-2.0
"""Which library is loaded, and where the headers are."""

import os
import pathlib
import shutil
import subprocess
import sys

import mxnet as mx
import pytest


def loaded_library():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if "libmxnet.so" in line}
    assert len(paths) == 1
    return paths.pop()


@pytest.fixture
def copied_library(tmp_path):
    """A copy in a package folder of its own, with the wheels whose libraries it finds by its own place beside it."""
    packages, lib = pathlib.Path(loaded_library()).parents[1], tmp_path / "lib"
    package = lib / "python" / "site-packages" / "mxnet"
    package.mkdir(parents=True)
    for wheel in packages.glob("scipy_openblas*"):
        (package.parent / wheel.name).symlink_to(wheel)
    for library in packages.parents[1].glob("libdnnl.so*"):
        (lib / library.name).symlink_to(library)
    return shutil.copy(loaded_library(), package / "libmxnet.so")


PRINT_LOADED = (
    "import mxnet\n"
    "print(*sorted({l.split(maxsplit=5)[5].strip() for l in open('/proc/self/maps') if 'libmxnet.so' in l}))\n"
)


def test_library_path_chooses_the_library(run_python, copied_library):
    done = run_python(PRINT_LOADED, env={"MXNET_LIBRARY_PATH": str(copied_library)})
    assert done.stdout.strip() == str(copied_library), done.stderr


@pytest.mark.parametrize("path, reason", [("libmxnet.so", "not an absolute path"), ("/no/such/libmxnet.so", "no such")])
def test_library_path_that_cannot_be_used_warns(run_python, path, reason):
    done = run_python(PRINT_LOADED, env={"MXNET_LIBRARY_PATH": path})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == loaded_library()
    assert "MXNET_LIBRARY_PATH" in done.stderr and reason in done.stderr


def test_find_lib_path_prefers_the_variable(monkeypatch, copied_library):
    monkeypatch.setenv("MXNET_LIBRARY_PATH", str(copied_library))
    assert mx.libinfo.find_lib_path() == [str(copied_library)]
    monkeypatch.setenv("MXNET_LIBRARY_PATH", "relative.so")
    with pytest.warns(RuntimeWarning, match="relative.so"):
        assert "relative.so" not in mx.libinfo.find_lib_path()


def test_find_lib_path_searches_ld_library_path_first(monkeypatch, copied_library):
    monkeypatch.delenv("MXNET_LIBRARY_PATH", raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", os.path.dirname(copied_library))
    assert mx.libinfo.find_lib_path()[0] == str(copied_library)


# As scripts/gpu_pack lays it out, for an interpreter that the native module was not made for.
def test_find_lib_path_knows_a_build_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("MXNET_LIBRARY_PATH", raising=False)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    package = tmp_path / "python" / "mxnet"
    package.mkdir(parents=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "libmxnet.so").touch()
    for name in ("libinfo.py", "_version.py"):
        shutil.copy(os.path.join(os.path.dirname(os.path.realpath(mx.libinfo.__file__)), name), package)
    (package / "__init__.py").touch()
    found = subprocess.run(
        [sys.executable, "-c", "from mxnet import libinfo; print(*libinfo.find_lib_path())"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == [str(tmp_path / "src" / "libmxnet.so")]


def test_find_lib_path_lists_where_it_looked():
    with pytest.raises(RuntimeError, match="libnothing.so"):
        mx.libinfo.find_lib_path("libnothing")


def test_headers_are_where_it_says(monkeypatch, tmp_path):
    monkeypatch.delenv("MXNET_INCLUDE_PATH", raising=False)
    assert os.path.isfile(os.path.join(mx.libinfo.find_include_path(), "mxnet", "c_api.h"))
    monkeypatch.setenv("MXNET_INCLUDE_PATH", str(tmp_path))
    assert mx.libinfo.find_include_path() == str(tmp_path)
    monkeypatch.setenv("MXNET_INCLUDE_PATH", "nowhere")
    with pytest.warns(RuntimeWarning, match="nowhere"):
        assert mx.libinfo.find_include_path() != "nowhere"
