# SPDX-License-Identifier: Apache-2.0
"""Damaged files: bytes of good ones, cut and changed at random; each is to be read, or refused by an error that names it."""

import collections
import os
import random
import resource
import time

SEED = int(os.environ.get("MXNET_TEST_SEED", 7))
# Values that lengths, counts and offsets go wrong by.
EXTREMES = [0, 1, -1, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]
MOST_SECONDS, MOST_MIB = 20, 400  # of one small file: of processors, since others may keep a machine busy


def _cut(rng, data):
    del data[rng.randrange(len(data)) :]


def _another_byte(rng, data):
    data[rng.randrange(len(data))] = rng.randrange(256)


def _another_bit(rng, data):
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _fewer(rng, data):
    place = rng.randrange(len(data))
    del data[place : place + rng.choice([1, 4, 16])]


def _more(rng, data):
    place = rng.randrange(len(data))
    data[place:place] = rng.randbytes(rng.choice([1, 4, 8]))


def _extreme(rng, data):
    place, width = rng.randrange(len(data)), rng.choice([1, 2, 4, 8])
    data[place : place + width] = (rng.choice(EXTREMES) % 256**width).to_bytes(width, "little")


def _moved(rng, data):
    begin, end, size = rng.randrange(len(data)), rng.randrange(len(data)), rng.choice([1, 8, 32])
    data[end : end + size] = data[begin : begin + size]


def _twice(rng, data):
    place = rng.randrange(len(data))
    data[place:place] = data[place : place + rng.choice([4, 64])]


_CHANGES = [_cut, _another_byte, _another_bit, _fewer, _more, _extreme, _moved, _twice]


def damaged(rng, content):
    """The bytes with one to three changes."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if data:
            rng.choice(_CHANGES)(rng, data)
    return bytes(data)


def _most_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def reads_or_refuses(read, path, contents, count, errors, change=damaged):
    """Calls `read` with a path at which a damaged one of `contents` lies, `count` times; `errors` must name that path. How often it
    returned what: `read`'s own text, or the name of the error's class."""
    rng, path, memory = random.Random(SEED), str(path), _most_memory()
    seen = collections.Counter()
    for number in range(count):
        with open(path, "wb") as file:
            file.write(change(rng, rng.choice(contents)))
        begin = time.process_time()
        try:
            seen[read(path)] += 1
        except errors as error:
            assert path in str(error), f"seed {SEED}, file {number}: {type(error).__name__}: {error} does not name {path}"
            seen[type(error).__name__] += 1
        took, grown = time.process_time() - begin, _most_memory() - memory
        assert took < MOST_SECONDS and grown < MOST_MIB, f"seed {SEED}, file {number}: {took:.1f} s, {grown} MiB"
    return seen
