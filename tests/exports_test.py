#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libmxnet.so shows only the C ABI (MX*, NN*) and the C++ names shared with the plug-ins (mxnet::*); it is found under
the name that programs of the 1.x line load, and needs no library that an install of it does not bring."""

import re
import subprocess
import sys

ALLOWED = re.compile(r"^(MX|NN)\w+$|^_Z(T[VIS]|N|NK)N?5mxnet")
# What a wheel may rely on: the C and C++ run time of any Linux, and what cmake/Install.cmake brings along.
NEEDED = re.compile(r"^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp|fmt|jpeg|png16|dnnl|scipy_openblas|openblas)|ld-linux[\w-]*)\.so")


def lines(*command: str) -> list:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main(library: str) -> int:
    exported = [line.split()[-1] for line in lines("nm", "--dynamic", "--defined-only", library)]
    dynamic = lines("readelf", "--dynamic", "--wide", library)
    value = re.compile(r"\((SONAME|NEEDED)\).*\[(.+)\]")
    entries = [match.groups() for line in dynamic if (match := value.search(line))]
    needed = [name for kind, name in entries if kind == "NEEDED"]
    soname = [name for kind, name in entries if kind == "SONAME"]

    problems = [f"exports {name}" for name in exported if not ALLOWED.match(name.split("@")[0])]
    problems += [f"needs {name}" for name in needed if not NEEDED.match(name)]
    if soname != ["libmxnet.so"]:
        problems.append(f"soname is {soname}, expected libmxnet.so")
    for problem in problems:
        print(f"{library}: {problem}")
    print(f"exports: {len(exported)} names, {len(needed)} needed libraries, {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
