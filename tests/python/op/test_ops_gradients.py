# SPDX-License-Identifier: Apache-2.0
"""Gradients over the registry: every operator that takes generated inputs, against differences of its own values in
float64. Operators that need particular shapes or parameters are called as CALLS says; those whose gradient is not the
slope of their value, by definition, are named with the reason."""
import numpy as np
from op_calls import Failure
from op_registry import CALLS, calls, golden_calls

SEED = 20261120
STEP = 1e-5

# Operators that compute in float32, whatever they are given: their differences need a longer step.
IN_FLOAT = {"_contrib_fft": 1e-2, "_contrib_ifft": 1e-2}


def slopes(mx, name, arrays, heads, attrs, step):
    """Differences of sum(outputs * heads)."""

    def value(inputs):
        return sum(float(np.sum(out * head)) for out, head in zip(mx.run(name, *inputs, **attrs), heads))

    results = []
    for which, array in enumerate(arrays):
        slope = np.empty_like(array)
        for at in np.ndindex(array.shape):
            sides = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[which][at] += sign * step
                sides.append(value(moved))
            slope[at] = (sides[0] - sides[1]) / (2 * step)
        results.append(slope)
    return results


def test_gradients_are_the_slopes_of_the_values(mx, rng):
    checked, wrong = [], []
    for name, arrays, attrs in calls(mx, rng):
        try:
            outputs = mx.run(name, *arrays, **attrs)
            heads = [rng.uniform(0.5, 1.5, out.shape) for out in outputs]
            if any(out.dtype != "float64" for out in outputs):
                continue  # a predicate, positions or the like
            found = mx.gradients(name, arrays, heads, **attrs)
        except Failure:
            assert name not in CALLS, f"{name} fails as CALLS has it"
            continue  # has no gradient, or takes no such arrays
        step = IN_FLOAT.get(name, STEP)
        expected = slopes(mx, name, arrays, heads, attrs, step)
        tolerance = 1e-2 if name in IN_FLOAT else 1e-4
        checked.append(name)
        for i, (a, b) in enumerate(zip(found, expected)):
            if not np.allclose(a, b, rtol=tolerance, atol=tolerance / 100):
                wrong.append(f"{name}: gradient of input {i} is {a.ravel()[:4]}, slope {b.ravel()[:4]}")
    assert not wrong, "\n".join(wrong)
    assert len(checked) > 250, f"only {len(checked)} operators took part"


def first_gradients(mx, name, arrays, attrs, create_graph):
    """Gradients of the floating arrays: plain ones, or such as can be differentiated again."""
    heads = [np.random.default_rng(SEED).uniform(0.5, 1.5, out.shape).astype(out.dtype) for out in mx.run(name, *arrays, **attrs)]
    return mx.first_gradients(name, arrays, [head if head.dtype.kind == "f" else None for head in heads], create_graph, **attrs)


def drawn_arrays(inputs, rng):
    return [rng.uniform(0.2, 0.9, shape).astype(dtype) for shape, dtype in inputs]


def test_gradients_that_can_be_differentiated_are_the_plain_ones(mx, rng):
    """What an operator has no second order for is refused when somebody asks for it, not before."""
    of_vectors = [(name, drawn_arrays(inputs, rng), attrs) for name, inputs, attrs, works in golden_calls() if works]
    tolerances = {"float64": 1e-10, "float32": 2e-5, "float16": 4e-3}
    checked, wrong = set(), []
    for name, arrays, attrs in [*calls(mx, rng), *of_vectors]:
        if not any(a.dtype.kind == "f" for a in arrays):
            continue
        try:
            plain = first_gradients(mx, name, arrays, attrs, False)
        except Failure:
            continue  # has no gradient, or takes no such arrays
        checked.add(name)
        try:
            graph = first_gradients(mx, name, arrays, attrs, True)
        except Failure as refusal:
            wrong.append(f"{name} {attrs}: {refusal}")
            continue
        for i, (a, b) in enumerate(zip(plain, graph)):
            tolerance = tolerances[a.dtype.name]
            numbers = np.abs(a[np.isfinite(a)], dtype="float64") if a.size else np.zeros(1)
            if not np.allclose(a.astype("float64"), b.astype("float64"), tolerance, tolerance * max(numbers, default=0), equal_nan=True):
                wrong.append(f"{name} {attrs}: gradient {i} is {b.ravel()[:4]}, not {a.ravel()[:4]}")
    assert not wrong, "\n".join(wrong)
    assert len(checked) > 350, f"only {len(checked)} operators took part"
