# SPDX-License-Identifier: Apache-2.0
"""The libraries of examples/extensions, compiled as users do: one file each for a process, since names of operators that were loaded
stay taken in it, whichever test file comes first."""

import functools
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = shutil.which("g++") or shutil.which("clang++")
CACHE = [cache] if (cache := shutil.which("ccache")) else []  # these files are compiled for each binding and device


def compiled(source, library):
    """The library of a source file. Compilers' caches know no links, nor a file again whose folder has another name."""
    unit = library.with_suffix(".o")
    flags = ["-std=c++17", "-fPIC", "-O0", f"-I{ROOT / 'include'}"]
    subprocess.run([*CACHE, COMPILER, *flags, "-c", source.name, "-o", str(unit)], cwd=source.parent, check=True)
    subprocess.run([COMPILER, "-shared", str(unit), "-o", str(library)], check=True)
    return str(library)


# What an extension begins with, and what it ends with where it has nothing to set up.
HEADER = """
#include <mxnet/lib_api.h>
#include <algorithm>
#include <stdexcept>
using namespace mxnet::ext;
using Tensors = std::vector<MXTensor>;
"""
INITIALIZE = "MXReturnValue initialize(int) { return MX_SUCCESS; }\n"


def compiled_text(folder, name, text):
    """The library of the text of a source file."""
    source = folder / f"{name}.cc"
    source.write_text(text, encoding="utf-8")
    return compiled(source, folder / f"lib{name}.so")


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="extensions")


@functools.cache
def example(name):
    return compiled(ROOT / "examples" / "extensions" / f"{name}.cc", pathlib.Path(_folder().name) / f"lib{name}.so")
