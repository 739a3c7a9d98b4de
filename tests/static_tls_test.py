#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libmxnet.so can be loaded late, into a process that other libraries have left little static TLS in. Its variables of
threads lie there, all together, since one of them (storage/lane_set.h) is read without a call; large ones are pointers."""

import os
import re
import subprocess
import sys

MOST_BYTES = 864
# Glibc sets 512 bytes aside for libraries that are loaded late, beyond what its own need; others may have half of that.
ROOM_LEFT = 256


def lines(*command: str) -> list:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def own_bytes(library: str) -> int:
    """Size of the segment of variables that each thread has of its own."""
    segments = [line.split() for line in lines("readelf", "--segments", "--wide", library)]
    return sum(int(words[5], 16) for words in segments if words[:1] == ["TLS"])


def largest(library: str) -> list:
    symbols = [line.split() for line in lines("readelf", "--symbols", "--wide", library)]
    sizes = {(int(words[2]), words[7]) for words in symbols if len(words) > 7 and words[3] == "TLS" and words[6] != "UND"}
    return [f"{size} {name}" for size, name in sorted(sizes, reverse=True)[:8]]


def loading(library: str) -> str:
    """What the loader says where little room is left; nothing if it is enough."""
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    tunables = f"glibc.rtld.optional_static_tls={ROOM_LEFT}"
    done = subprocess.run(
        [sys.executable, "-c", code, library],
        env={**os.environ, "GLIBC_TUNABLES": tunables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else re.sub(r"\s+", " ", done.stderr)[-300:] or f"exit status {done.returncode}"


def main(library: str) -> int:
    library = os.path.abspath(library)
    size, complaint = own_bytes(library), loading(library)
    problems = [f"cannot be loaded with {ROOM_LEFT} bytes of room: {complaint}"] if complaint else []
    if size > MOST_BYTES:
        problems.append(f"has {size} bytes of variables of threads, at most {MOST_BYTES}: " + "; ".join(largest(library)))
    for problem in problems:
        print(f"{library}: {problem}")
    print(f"static tls: {size} bytes, {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
