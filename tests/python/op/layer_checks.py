# SPDX-License-Identifier: Apache-2.0
"""What tests of normalisation, softmax and losses have in common: numbers, bounds and gradients by differences."""

import numpy as np

from op_calls import ADD

TOLERANCE = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-12}


def agree(got, want, dtype="float64", scale=1.0):
    """`scale`: how large the numbers are out of which results are differences."""
    limit = TOLERANCE[dtype]
    np.testing.assert_allclose(got.astype("float64"), want, rtol=limit, atol=limit * scale)


def normal(rng, shape, dtype="float64"):
    return rng.normal(size=shape).astype(dtype)


def check_gradients(mx, rng, name, arrays, wanted, head_of=0, step=1e-5, limit=1e-6, **attrs):
    """Gradients of a random weighting of one result, in float64, against central differences; then added to a buffer."""
    result = mx.run(name, *arrays, **attrs)
    head = rng.normal(size=result[head_of].shape)
    heads = [head if i == head_of else None for i in range(len(result))]
    got = mx.gradients(name, arrays, heads, wanted=wanted, **attrs)
    added = mx.gradients(name, arrays, heads, wanted=wanted, request=ADD, start=0.5, **attrs)
    for i in wanted:
        want = np.zeros_like(arrays[i])
        for at in np.ndindex(*arrays[i].shape):
            sides = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[i][at] += sign * step
                sides.append(np.sum(mx.run(name, *moved, **attrs)[head_of] * head))
            want[at] = (sides[0] - sides[1]) / (2 * step)
        np.testing.assert_allclose(got[i], want, rtol=limit, atol=limit * max(1, np.abs(want).max()))
        np.testing.assert_allclose(added[i], got[i] + 0.5, rtol=1e-12, atol=1e-12)


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)
