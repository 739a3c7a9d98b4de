#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The binding on ctypes has every name of the native one: the package asks whichever is there for the same names."""

import os
import subprocess
import sys

LISTING = "import mxnet._core as core; print(*(name for name in dir(core) if not name.startswith('_')))"


def names(package: str, **switches: str) -> set:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MXNET_") or name == "MXNET_LIBRARY_PATH"}
    done = subprocess.run([sys.executable, "-c", LISTING], env={**kept, "PYTHONPATH": package, **switches}, check=True, stdout=subprocess.PIPE)
    return set(done.stdout.decode().split())


def main(package: str, library: str) -> int:
    os.environ["MXNET_LIBRARY_PATH"] = os.path.abspath(library)
    native, ctypes = names(package, MXNET_ENFORCE_CYTHON="1"), names(package, MXNET_ENABLE_CYTHON="0")
    missing = sorted(native - ctypes)
    for name in missing:
        print(f"python/mxnet/_ctypes has no {name}, which python/src has")
    print(f"binding names: {len(native)} of the native binding, {len(missing)} problem(s)")
    return 1 if missing or len(native) <= 50 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
