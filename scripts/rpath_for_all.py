#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the RUNPATH of ELF files, which is for what a file needs itself, an RPATH, which is also for what these libraries
need in turn: rpath_for_all.py FILE..."""

import struct
import sys

PT_DYNAMIC, DT_NULL, DT_RPATH, DT_RUNPATH = 2, 0, 15, 29


def dynamic_entries(data: bytes):
    """(offset, tag) of each entry of the dynamic section of a 64-bit little-endian file."""
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit("given a file that is no 64-bit little-endian ELF, expected one")
    headers, size, count = struct.unpack_from("<Q", data, 32) + struct.unpack_from("<HH", data, 54)
    for header in range(headers, headers + size * count, size):
        if struct.unpack_from("<I", data, header)[0] != PT_DYNAMIC:
            continue
        (at,) = struct.unpack_from("<Q", data, header + 8)
        while (tag := struct.unpack_from("<q", data, at)[0]) != DT_NULL:
            yield at, tag
            at += 16


for path in sys.argv[1:]:
    with open(path, "r+b") as file:
        for at, tag in dynamic_entries(file.read()):
            if tag == DT_RUNPATH:
                file.seek(at)
                file.write(struct.pack("<q", DT_RPATH))
