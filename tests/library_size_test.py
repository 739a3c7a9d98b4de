#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libmxnet.so stays small. What grows by itself are templates that are compiled for one more type, so a library that is
too large says which families of functions make up its code."""

import collections
import os
import subprocess
import sys
import tempfile

# What gcc 12 makes, and 1 %. A reason to raise them is a feature, not a second copy of a loop.
MOST_BYTES = 17_110_000
MOST_STRIPPED = 13_730_000
SHOWN = 20


def stripped_bytes(library: str) -> int:
    with tempfile.NamedTemporaryFile() as bare:
        subprocess.run(["strip", "-o", bare.name, library], check=True)
        return os.path.getsize(bare.name)


def family(name: str) -> str:
    """A function's name without what stands in angle brackets and after the first round one."""
    depth, kept = 0, ""
    for letter in name.replace("operator<", "operator ").replace("->", "").replace("(anonymous namespace)", "{}"):
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter == "(":
            break
        if depth == 0 and letter != ">":
            kept += letter
    return kept


def families(library: str) -> list:
    """(bytes, number of functions, name), the largest first."""
    table = subprocess.run(["nm", "-S", "-C", library], check=True, capture_output=True, text=True).stdout
    sizes, counts = collections.Counter(), collections.Counter()
    for line in table.splitlines():
        words = line.split(maxsplit=3)
        if len(words) == 4 and words[2] in set("tTwW"):
            name = family(words[3])
            sizes[name] += int(words[1], 16)
            counts[name] += 1
    return [(size, counts[name], name) for name, size in sizes.most_common(SHOWN)]


def main(library: str, verbose: bool) -> int:
    figures = [("", os.path.getsize(library), MOST_BYTES), (" stripped", stripped_bytes(library), MOST_STRIPPED)]
    too_large = [f"{library}{what} has {size} bytes, at most {most}" for what, size, most in figures if size > most]
    for problem in too_large:
        print(problem)
    if too_large or verbose:
        for size, count, name in families(library):
            print(f"{size:9} bytes in {count:5} of {name}")
    print("size: " + ", ".join(f"{size}{what}" for what, size, _ in figures) + f", {len(too_large)} problem(s)")
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "-v" in sys.argv[2:]))
