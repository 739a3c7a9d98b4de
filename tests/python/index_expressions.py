# SPDX-License-Identifier: Apache-2.0
"""Random index expressions of all the kinds that NumPy knows, and the arrays that they are tried on."""

from math import prod

import numpy as np


def numbered(shape):
    return np.arange(prod(shape), dtype=np.float32).reshape(shape)


def random_shape(random, dims):
    return tuple(random.randint(1, 5) for _ in range(random.choice(dims)))


def random_places(random, size, shape):
    return np.array([random.randrange(-size, size) for _ in range(prod(shape))], np.int64).reshape(shape)


def random_slice(random, size):
    begin, end = (random.randint(-size - 2, size + 2) if random.randrange(2) else None for _ in range(2))
    return slice(begin, end, random.choice([None, 1, 2, 3, 6, -1, -2, -5]))


def random_key(random, shape):
    """Integers, slices, and in half of the keys arrays that broadcast; new axes, an ellipsis; or a mask."""
    if shape and random.randrange(6) == 0:
        dims = shape[: random.randint(1, len(shape))]
        return np.array([random.randrange(2) for _ in range(prod(dims))], bool).reshape(dims)
    together = tuple(random.randint(1, 3) for _ in range(random.randint(1, 2)))
    kinds = random.choice(["is", "isaa"])

    def part(size):
        kind = random.choice(kinds)
        if kind == "i":
            return random.randrange(-size, size)
        if kind == "s":
            return random_slice(random, size)
        places = random_places(random, size, random.choice([together, together, together[-1:]]))
        return places if random.randrange(4) else places.tolist()

    key = [part(size) for size in shape]
    first = random.randint(0, len(key))
    if random.randrange(2):
        key[first : random.randint(first, len(key))] = [...]
    elif random.randrange(2):
        del key[first:]
    for _ in range(random.choice([0, 0, 1, 2])):
        key.insert(random.randint(0, len(key)), None)
    return key[0] if len(key) == 1 and random.randrange(2) else tuple(key)
