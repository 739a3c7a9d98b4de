# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, against NumPy on random shapes; their gradients against the adjoint identity.

Each is linear: for y = A x and any head h, <h, A x> = <A' h, x>. Integer-valued inputs make both sides exact.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_shape.py
"""
import numpy as np
import pytest

from drawn import Draw
from op_calls import ADD, DTYPES

SEED = 20240608
ROUNDS = 25


def transpose(d):
    shape = d.shape()
    axes = d.axes(len(shape), len(shape))
    return "_np_transpose", [shape], {"axes": axes}, lambda x: x.transpose(axes)


def swap(d):
    shape = d.shape()
    a, b = d.axis(len(shape)), d.axis(len(shape))
    return "SwapAxis", [shape], {"dim1": a, "dim2": b}, lambda x: x.swapaxes(a, b)


def move(d):
    shape = d.shape()
    count = d.int(0, len(shape))
    source, to = d.axes(len(shape), count), d.axes(len(shape), count)
    return "_np_moveaxis", [shape], {"source": source, "destination": to}, lambda x: np.moveaxis(x, source, to)


def flip(d):
    shape = d.shape()
    axes = d.axes(len(shape))
    return "reverse", [shape], {"axis": axes}, lambda x: np.flip(x, axes)


def rot90(d):
    shape = d.shape(low=2)
    axes, k = d.axes(len(shape), 2), d.int(-5, 5)
    return "_npi_rot90", [shape], {"k": k, "axes": axes}, lambda x: np.rot90(x, k, axes)


def roll(d):
    shape = d.shape()
    axes = d.axes(len(shape), d.int(1, len(shape)))
    shift = tuple(d.int(-7, 7) for _ in axes)
    return "_np_roll", [shape], {"shift": shift, "axis": axes}, lambda x: np.roll(x, shift, axes)


def broadcast(d):
    out = d.shape(low=0)
    small = tuple(1 if d.int(0, 1) else n for n in out)[d.int(0, len(out)):]
    return "_npi_broadcast_to", [small], {"shape": out}, lambda x: np.broadcast_to(x, out)


def tile(d):
    shape, reps = d.shape(low=0, high=3), tuple(d.int(0 if d.int(0, 9) == 0 else 1, 3) for _ in range(d.int(0, 4)))
    return "tile", [shape], {"reps": reps}, lambda x: np.tile(x, reps)


def repeat(d):
    shape, count = d.shape(), d.int(0, 4)
    axis = d.axis(len(shape)) if d.int(0, 2) else None
    return "repeat", [shape], {"repeats": count, "axis": axis}, lambda x: np.repeat(x, count, axis)


def concat(d):
    shape = d.shape()
    axis, count = d.axis(len(shape)), d.int(1, 5)
    shapes = [tuple(d.int(0, 4) if i == axis % len(shape) else n for i, n in enumerate(shape)) for _ in range(count)]
    return "Concat", shapes, {"num_args": count, "dim": axis}, lambda *x: np.concatenate(x, axis)


def stack(d):
    shape, count = d.shape(low=0), d.int(1, 5)
    axis = d.axis(len(shape) + 1)
    return "stack", [shape] * count, {"num_args": count, "axis": axis}, lambda *x: np.stack(x, axis)


def stack_by_length(d):
    # stack(arange(n), column of n): the first array's shape counts, of the others their lengths do.
    shape, count = d.shape(low=0), d.int(2, 5)
    axis = d.axis(len(shape) + 1)
    forms = [shape[::-1], (1, *shape), (*shape, 1), (int(np.prod(shape)),)]
    shapes = [shape] + [forms[d.int(0, len(forms) - 1)] for _ in range(1, count)]
    return "stack", shapes, {"num_args": count, "axis": axis}, lambda *x: np.stack([a.reshape(shape) for a in x], axis)


def vstack(d):
    shape, count = d.shape(low=0), d.int(1, 4)
    return "_npi_vstack", [shape] * count, {"num_args": count}, lambda *x: np.vstack(x)


def hstack(d):
    shape, count = d.shape(low=0), d.int(1, 4)
    return "_npi_hstack", [shape] * count, {"num_args": count}, lambda *x: np.hstack(x)


def dstack(d):
    shape, count = d.shape(low=0), d.int(1, 4)
    return "_npi_dstack", [shape] * count, {"num_args": count}, lambda *x: np.dstack(x)


def column_stack(d):
    rows = d.int(1, 5)
    shapes = [(rows,) if d.int(0, 1) else (rows, d.int(0, 3)) for _ in range(d.int(1, 4))]
    return "_npi_column_stack", shapes, {"num_args": len(shapes)}, lambda *x: np.column_stack(x)


def split(d):
    shape = d.shape()
    axis = d.axis(len(shape))
    cuts = d.cuts(shape[axis])
    return "_split_v2", [shape], {"indices": cuts, "axis": axis}, lambda x: np.split(x, cuts[1:], axis)


def sections(d):
    shape, count = d.shape(), d.int(1, 4)
    attrs = {"indices": "()", "axis": 0, "sections": count}
    return "_split_v2", [shape], attrs, lambda x: np.array_split(x, count)


def hsplit(d):
    shape = d.shape()
    cuts = d.cuts(shape[min(1, len(shape) - 1)])
    return "_npi_hsplit", [shape], {"indices": cuts}, lambda x: np.hsplit(x, cuts[1:])


def dsplit(d):
    shape = d.shape(low=3)
    cuts = d.cuts(shape[2])
    return "_npi_dsplit", [shape], {"indices": cuts}, lambda x: np.dsplit(x, cuts[1:])


def slice_channel(d):
    count, shape = d.int(1, 4), list(d.shape())
    axis = d.axis(len(shape))
    squeeze = bool(d.int(0, 1))
    shape[axis] = count if squeeze else count * d.int(0, 3)

    def expected(x):
        return [p.squeeze(axis) if squeeze else p for p in np.split(x, count, axis)]
    return "SliceChannel", [tuple(shape)], {"num_outputs": count, "axis": axis, "squeeze_axis": squeeze}, expected


def diagonal(d):
    shape = d.shape(low=2)
    a, b = d.axes(len(shape), 2)
    k = d.int(-6, 6)
    return "_np_diagonal", [shape], {"offset": k, "axis1": a, "axis2": b}, lambda x: np.diagonal(x, k, a, b)


def trace(d):
    shape = d.shape(low=2)
    a, b = d.axes(len(shape), 2)
    k = d.int(-6, 6)
    return "_np_trace", [shape], {"offset": k, "axis1": a, "axis2": b}, lambda x: np.trace(x, k, a, b).astype(x.dtype)


def diag(d):
    shape, k = d.shape(high=2), d.int(-3, 3)
    return "_np_diag", [shape], {"k": k}, lambda x: np.diag(x, k)


def diagflat(d):
    shape, k = d.shape(low=0, high=3, longest=3), d.int(-3, 3)
    return "_np_diagflat", [shape], {"k": k}, lambda x: np.diagflat(x, k)


def tril(d):
    shape, k = d.shape(), d.int(-5, 5)
    return "_npi_tril", [shape], {"k": k}, lambda x: np.tril(x, k)


def pad(mode):
    def case(d):
        shape = d.shape(zero=mode == "constant")
        widths = tuple((d.int(0, 7), d.int(0, 7)) for _ in shape)
        attrs = {"mode": mode, "pad_width": widths}
        return "_npi_pad", [shape], attrs, lambda x: np.pad(x, widths, mode)
    case.__name__ = "pad_" + mode
    return case


def squeeze(d):
    shape = tuple(1 if d.int(0, 1) else n for n in d.shape(low=0))
    ones = tuple(i for i, n in enumerate(shape) if n == 1 and d.int(0, 1))
    return "_np_squeeze", [shape], {"axis": ones}, lambda x: np.squeeze(x, ones)


def expand(d):
    shape = d.shape(low=0)
    axis = d.axis(len(shape) + 1)
    return "expand_dims", [shape], {"axis": axis}, lambda x: np.expand_dims(x, axis)


def atleast(d):
    n = d.int(1, 3)
    shapes = [d.shape(low=0) for _ in range(d.int(1, 3))]
    function = [np.atleast_1d, np.atleast_2d, np.atleast_3d][n - 1]
    return f"_np_atleast_{n}d", shapes, {"num_args": len(shapes)}, lambda *x: [function(a) for a in x]


def space_to_depth(d):
    b, n, c, h, w = d.int(1, 3), d.int(1, 2), d.int(1, 3), d.int(1, 3), d.int(1, 3)

    def expected(x):
        return x.reshape(n, c, h, b, w, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, b * b * c, h, w)
    return "space_to_depth", [(n, c, h * b, w * b)], {"block_size": b}, expected


def depth_to_space(d):
    b, n, c, h, w = d.int(1, 3), d.int(1, 2), d.int(1, 3), d.int(1, 3), d.int(1, 3)

    def expected(x):
        return x.reshape(n, b, b, c, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c, h * b, w * b)
    return "depth_to_space", [(n, b * b * c, h, w)], {"block_size": b}, expected


LINEAR = [transpose, swap, move, flip, rot90, roll, broadcast, tile, repeat, concat, stack, stack_by_length, vstack, hstack, dstack,
          column_stack, split, sections, hsplit, dsplit, slice_channel, diagonal, trace, diag, diagflat, tril,
          pad("constant"), pad("edge"), pad("reflect"), pad("symmetric"), squeeze, expand, atleast, space_to_depth,
          depth_to_space]
VALUES = LINEAR + [pad("maximum"), pad("minimum")]


def named(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.__name__)


def outputs_of(expected):
    return expected if isinstance(expected, (list, tuple)) else [expected]


@named(VALUES)
def test_values_are_numpys_for_random_shapes_and_types(mx, case):
    d = Draw(SEED)
    types = [t for t in DTYPES if t != "bool" or case is not trace]
    for _ in range(ROUNDS):
        name, shapes, attrs, reference = case(d)
        dtype = types[d.int(0, len(types) - 1)]
        arrays = [d.array(s, dtype) for s in shapes]
        got = mx.run(name, *arrays, **attrs)
        wanted = outputs_of(reference(*arrays))
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted):
            assert g.dtype == dtype
            np.testing.assert_array_equal(g, w, err_msg=f"{name} {shapes} {attrs} {dtype}, seed {SEED}")


@named(LINEAR)
def test_gradients_are_the_adjoint(mx, case):
    d = Draw(SEED + 1)
    for _ in range(ROUNDS):
        name, shapes, attrs, reference = case(d)
        arrays = [d.array(s) for s in shapes]
        outputs = outputs_of(reference(*arrays))
        heads = [d.array(np.shape(o)) for o in outputs]
        added = bool(d.int(0, 1))
        request = {"request": ADD, "start": 0.5} if added else {}
        grads = mx.gradients(name, arrays, heads, **request, **attrs)
        left = sum(float(np.vdot(h.astype("float64"), o.astype("float64"))) for h, o in zip(heads, outputs))
        right = sum(float(np.vdot(g.astype("float64") - 0.5 * added, a.astype("float64"))) for g, a in zip(grads, arrays))
        assert left == right, f"{name} {shapes} {attrs}, seed {SEED + 1}"


@named([case for case in LINEAR if case not in (broadcast, tril)])  # theirs end in the sum of another family
def test_gradients_can_be_differentiated(mx, case):
    d = Draw(SEED + 3)
    for _ in range(5):
        name, shapes, attrs, reference = case(d)
        arrays, directions = [d.array(s) for s in shapes], [d.array(s) for s in shapes]
        heads = [d.array(np.shape(o)) for o in outputs_of(reference(*arrays))]
        got = mx.adjoint_of_adjoint(name, arrays, heads, directions, **attrs)
        for g, w in zip(got, outputs_of(reference(*directions))):
            np.testing.assert_array_equal(g, w, err_msg=f"{name} {shapes} {attrs}, seed {SEED + 3}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", [(7,), (5, 3), (3, 2, 37), (64, 5, 33), (2, 3, 4, 5), (0, 3), (1, 1)])
def test_gradients_of_what_was_repeated_or_tiled(mx, rng, shape, dtype):
    a = rng.standard_normal(shape).astype(dtype)
    calls = [("repeat", {"repeats": n, "axis": axis}, lambda x, n=n, axis=axis: np.repeat(x, n, axis)) for n in (1, 2, 5) for axis in range(len(shape))]
    calls += [("tile", {"reps": reps}, lambda x, reps=reps: np.tile(x, reps)) for reps in ((3,), (2, 1), (2,) * len(shape), (4,) + (1,) * len(shape))]
    for name, attrs, peer in calls:
        place = peer(np.arange(a.size).reshape(shape))  # where each element of the result is from
        head = rng.standard_normal(place.shape).astype(dtype)
        want = np.bincount(place.ravel(), head.ravel().astype("float64"), a.size).reshape(shape)
        tolerance = 2e-3 if dtype == "float16" else 1e-6
        np.testing.assert_allclose(mx.gradients(name, [a], [head], **attrs)[0], want, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("shape", [(9, 2, 1111), (3, 5, 40), (2000, 3), (17, 7)])
@pytest.mark.parametrize("axis", [0, 1])
def test_means_of_halves_are_rounded_once(mx, rng, shape, axis):
    a = rng.integers(-8, 9, shape).astype("float16")  # whose sums are exact
    want = (a.astype("float32").sum(axis) / np.float32(shape[axis])).astype("float16")
    np.testing.assert_array_equal(mx.run("mean", a, axis=axis)[0], want)
