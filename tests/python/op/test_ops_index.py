# SPDX-License-Identifier: Apache-2.0
"""Operators of indices, masks and creation against NumPy, on random shapes, types and positions.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_index.py
"""

import numpy as np
import pytest

from op_calls import ADD, Failure


SEED, SEEDS = 20261122, range(12)
DTYPES = ["float32", "float64", "float16", "int32", "int64", "int8", "uint8"]


def draw(rng, shape, dtype=None):
    return rng.integers(0, 100, shape).astype(dtype or rng.choice(DTYPES))


def draw_shape(rng, low=1, high=4, smallest=1):
    return tuple(int(d) for d in rng.integers(smallest, 7, rng.integers(low, high + 1)))


def equal(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape, f"{got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    np.testing.assert_array_equal(got, want)


def draw_slices(rng, shape):
    """Begin, end and step of some leading axes: as texts of the operator, and as a tuple of slices."""
    begin, end, step = [], [], []
    for size in shape[: rng.integers(1, len(shape) + 1)]:
        begin.append(rng.choice(["None", *map(str, range(-size - 1, size + 2))]))
        end.append(rng.choice(["None", *map(str, range(-size - 1, size + 2))]))
        step.append(rng.choice(["None", "1", "2", "-1", "-3"]))
    text = lambda items: "(" + ",".join(items) + ",)"
    number = lambda item: None if item == "None" else int(item)
    index = tuple(slice(*map(number, item)) for item in zip(begin, end, step))
    return {"begin": text(begin), "end": text(end), "step": text(step)}, index


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_take_is_numpys(mx, seed, mode):
    rng = np.random.default_rng(seed)
    data = draw(rng, draw_shape(rng))
    axis = int(rng.integers(-data.ndim, data.ndim))
    indices = rng.integers(-12, 12, draw_shape(rng, 0, 2, smallest=0)).astype(rng.choice(["int32", "int64", "float32"]))
    want = np.take(data, indices.astype("int64"), axis, mode=mode)
    equal(mx.run("take", data, indices, axis=axis, mode=mode)[0], want)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("width", [*range(1, 18), 20, 31, 32, 33, 63, 64, 65, 130])
def test_rows_of_every_width_are_taken_and_put(mx, rng, width, dtype):
    table = rng.integers(0, 200, (50, width)).astype(dtype)
    for count in (1, 3, 700):
        at = rng.integers(0, 50, count)
        equal(mx.run("take", table, at)[0], table[at])
        equal(mx.run("take", table, at.astype("float32"))[0], table[at])
        equal(mx.run("gather_nd", table.reshape(5, 10, width), np.stack([at // 10, at % 10]))[0], table[at])
        values = rng.integers(0, 200, (count, width)).astype(dtype)
        want = np.zeros_like(table)
        want[at] = values  # the last of several wins
        equal(mx.run("scatter_nd", values, at[None], shape=table.shape)[0], want)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_of_take_adds_up_at_repeated_positions(mx, seed):
    rng = np.random.default_rng(seed)
    data = draw(rng, draw_shape(rng), "float64")
    axis = int(rng.integers(0, data.ndim))
    indices = rng.integers(0, data.shape[axis], draw_shape(rng, 1, 2))
    head = draw(rng, np.take(data, indices, axis).shape, "float64")
    want = np.full_like(data, 0.5)
    flat = np.moveaxis(head.reshape(data.shape[:axis] + (-1,) + data.shape[axis + 1:]), axis, 0)
    np.add.at(np.moveaxis(want, axis, 0), indices.ravel(), flat)
    got = mx.gradients("take", [data, indices], [head], request=ADD, start=0.5, wanted=[0], axis=axis)
    equal(got[0], want)


def test_gradient_of_a_large_embedding_is_the_same_for_any_number_of_threads(mx):
    rng = np.random.default_rng(3)
    table, rows = rng.normal(size=(500, 64)).astype("float32"), rng.integers(0, 500, 20000)
    head = rng.integers(-8, 8, (20000, 64)).astype("float32")
    want = np.zeros_like(table)
    np.add.at(want, rows, head)
    got = mx.gradients("Embedding", [rows, table], [head], wanted=[1], input_dim=500, output_dim=64)
    equal(got[1], want)


def test_take_refuses_positions_out_of_range_if_told_so(mx):
    with pytest.raises(Failure, match="given index 9, expected one in"):
        mx.run("take", np.ones((4, 3), "float32"), np.array([0, 9]), mode="raise")


@pytest.mark.parametrize("seed", SEEDS)
def test_slices_are_numpys_and_so_are_assignments_to_them(mx, seed):
    rng = np.random.default_rng(seed)
    data = draw(rng, draw_shape(rng))
    attrs, index = draw_slices(rng, data.shape)
    want = data[index]
    equal(mx.run("slice", data, **attrs)[0], want)
    values, changed = draw(rng, want.shape, data.dtype), data.copy()
    changed[index] = values
    equal(mx.run("_slice_assign", data, values, **attrs)[0], changed)
    changed[index] = 7
    equal(mx.run("_slice_assign_scalar", data, scalar=7, **attrs)[0], changed)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "uint8", "bool"])
@pytest.mark.parametrize("shape, index", [
    ((300, 700), np.s_[1:299, 2:698]), ((300, 700), np.s_[::2, ::3]), ((300, 700), np.s_[::-1, ::-1]), ((300, 700), np.s_[250:10:-7]),
    ((300, 700), np.s_[5:5]), ((300, 700), np.s_[:]), ((300, 700), np.s_[299:]), ((1, 1, 900, 300), np.s_[:, :, 7:888:5, 1:2]), ((400000,), np.s_[3::7]),
    ((2, 200000), np.s_[1:, ::-2]), ((3, 0, 5), np.s_[1:]), ((1, 1), np.s_[:, ::-1]),
])
def test_assignments_to_slices_of_large_arrays(mx, rng, shape, index, dtype):
    """Array and box are written in parts."""
    data = rng.integers(0, 2, shape).astype(dtype)
    index = index if isinstance(index, tuple) else (index,)
    values = rng.integers(0, 2, data[index].shape).astype(dtype)
    attrs = {"begin": tuple(i.start for i in index), "end": tuple(i.stop for i in index), "step": tuple(i.step for i in index)}
    changed = data.copy()
    changed[index] = values
    equal(mx.run("_slice_assign", data, values, **attrs)[0], changed)
    number = data.copy()
    number[index] = 1
    equal(mx.run("_slice_assign_scalar", data, scalar=1, **attrs)[0], number)
    there, given = mx.array(data), mx.array(values)
    mx.invoke("_slice_assign", [there, given], out=[there], **attrs)  # in place
    equal(mx.numpy(there), changed)
    mx.free(there, given)


@pytest.mark.parametrize("step", ["None", " None ", "()"])
def test_no_steps_may_be_said_in_words(mx, step):
    """What Python sends for `step=None`: all of them are 1, however many places there are."""
    data = np.arange(60.0).reshape(3, 4, 5)
    for count in (1, 2, 3):
        attrs = {"begin": (0, 1, 2)[:count], "end": (2, 3, 4)[:count], "step": step}
        index = (np.s_[0:2], np.s_[1:3], np.s_[2:4])[:count]
        equal(mx.run("slice", data, **attrs)[0], data[index])
        changed = data.copy()
        changed[index] = 7
        equal(mx.run("_slice_assign_scalar", data, scalar=7, **attrs)[0], changed)
    with pytest.raises(Failure, match="given 0 begins, 1 ends"):
        mx.run("slice", data, begin="None", end=(2,))


def test_a_range_of_none_is_that_of_the_bins(mx):
    data, bins = np.array([0.5, 1.5, 1.5, 2.5]), np.array([0.0, 1.0, 2.0])
    equal(mx.run("_histogram", data, bins, range="None")[0], np.array([1, 2]))


def test_all_of_an_empty_axis_is_a_slice_of_it(mx):
    for end in (0, None):
        assert mx.run("slice_axis", np.ones((0, 3)), axis=0, begin=0, end=end)[0].shape == (0, 3)
    with pytest.raises(Failure, match="expected 0 <= begin < end <= 0"):
        mx.run("slice_axis", np.ones((0, 3)), axis=0, begin=0, end=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_of_a_slice_lies_where_the_slice_was(mx, seed):
    rng = np.random.default_rng(seed)
    data = draw(rng, draw_shape(rng), "float32")
    attrs, index = draw_slices(rng, data.shape)
    head, want = draw(rng, data[index].shape, "float32"), np.zeros_like(data)
    want[index] = head
    equal(mx.gradients("slice", [data], [head], **attrs)[0], want)


@pytest.mark.parametrize("seed", SEEDS)
def test_pick_and_gather_are_numpys(mx, seed):
    rng = np.random.default_rng(seed)
    data = draw(rng, draw_shape(rng))
    axis = int(rng.integers(0, data.ndim))
    index = rng.integers(0, data.shape[axis], data.shape[:axis] + data.shape[axis + 1:])
    want = np.take_along_axis(data, np.expand_dims(index, axis), axis)
    equal(mx.run("pick", data, index, axis=axis, keepdims=True)[0], want)
    depth = int(rng.integers(1, data.ndim + 1))
    columns = np.stack([rng.integers(-d, d, (3, 2)) for d in data.shape[:depth]])
    equal(mx.run("gather_nd", data, columns)[0], data[tuple(columns)])


# Positions are found a block of 512 at a time, of some by several threads.
@pytest.mark.parametrize("count", [1, 511, 512, 513, 1537, 70001])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_columns_of_any_number_and_depth(mx, count, dtype, depth):
    rng = np.random.default_rng(count + depth)
    for width in (1, 3):
        data = draw(rng, (5, 7, 3, width)[3 - depth:], "float32")
        extents = data.shape[:depth]
        columns = np.stack([rng.integers(-extent, extent, count) for extent in extents]).astype(dtype)
        at = tuple(columns.astype("int64"))
        equal(mx.run("gather_nd", data, columns)[0], data[at])
        want, values = np.zeros_like(data), draw(rng, data[at].shape, "float32")
        np.add.at(want, at, np.ones_like(values))
        equal(mx.run("_backward_gather_nd", np.ones_like(values), columns, shape=data.shape)[0], want)
        want = np.zeros_like(data)
        want[at] = values  # the last of those for one place
        equal(mx.run("scatter_nd", values, columns, shape=data.shape)[0], want)
        for line, extent in enumerate(extents):
            wrong = columns.copy()
            wrong[line, -1] = extent
            with pytest.raises(Failure, match=rf"given index {extent}, expected one in \[-{extent}, {extent}\)"):
                mx.run("gather_nd", data, wrong)


def test_an_array_keeps_its_elements_where_one_of_the_places_is_none(mx):
    data, columns = np.arange(12, dtype="float32").reshape(4, 3), np.array([[0, 1, 4], [0, 1, 0]])
    handles = [mx.array(a) for a in (data, np.zeros(3, "float32"), columns)]
    with pytest.raises(Failure, match="given index 4"):
        mx.numpy(mx.invoke("_scatter_set_nd", handles, out=handles[:1], shape=data.shape)[0])
    mx.free(*handles)
    with pytest.raises(Failure, match="given 2 indices into nothing"):
        mx.run("gather_nd", np.zeros((2, 0, 3), "float32"), np.zeros((2, 2), "int64"))
    assert mx.run("gather_nd", np.zeros((2, 0, 3), "float32"), np.zeros((2, 0), "int64"))[0].shape == (0, 3)


def test_errors_of_relatives_of_pick_name_them(mx):
    rows, values = np.zeros((1, 3), "float32"), np.ones(1, "float32")
    with pytest.raises(Failure, match=r"MXNetError: \[fill_element_0index\] given index 5, expected one in \[0, 3\)"):
        mx.run("fill_element_0index", rows, values, np.array([5], "float32"))
    with pytest.raises(Failure, match=r"MXNetError: \[batch_take\] given 1 indices into nothing"):
        mx.run("batch_take", np.zeros((1, 0), "float32"), np.zeros(1, "int32"))


def test_pick_out_of_one_dimension_is_an_array_of_one_element(mx):
    got = mx.run("pick", np.array([1, 2], "float32"), np.array([1], "float32"), axis=0)[0]
    assert got.shape == (1,) and got[0] == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_masks_select_and_assign_as_numpys(mx, seed):
    rng = np.random.default_rng(seed)
    data = draw(rng, draw_shape(rng))
    axis = int(rng.integers(0, data.ndim))
    mask = rng.integers(0, 2, data.shape[axis]).astype("bool")
    equal(mx.run("_npi_boolean_mask", data, mask, axis=axis)[0], np.compress(mask, data, axis))
    equal(mx.run("_npx_nonzero", data % 3)[0], np.argwhere(data % 3))
    whole = rng.integers(0, 2, data.shape).astype("bool")
    changed = data.copy()
    changed[whole] = 5
    equal(mx.run("_npi_boolean_mask_assign_scalar", data, whole, value=5, start_axis=0)[0], changed)
    values = draw(rng, (int(whole.sum()),), data.dtype)
    changed[whole] = values
    equal(mx.run("_npi_boolean_mask_assign_tensor", data, whole, values, start_axis=0)[0], changed)


@pytest.mark.parametrize("length", [3, 64, 100_000])
def test_any_byte_but_0_of_a_mask_selects_once(mx, rng, length):
    """Memory that nobody wrote, or bytes of another program: counting them by their sum led to places outside of the array."""
    bytes_of_mask = rng.integers(0, 256, length).astype("uint8") * rng.integers(0, 2, length).astype("uint8")
    mask, clean, data = bytes_of_mask.view("bool"), bytes_of_mask != 0, rng.normal(size=(length, 2)).astype("float32")
    equal(mx.run("_npi_boolean_mask", data, mask)[0], data[clean])
    equal(mx.run("_npx_nonzero", mask)[0], np.argwhere(clean))
    equal(mx.run("_npi_boolean_mask_assign_scalar", data, mask, value=5)[0], np.where(clean[:, None], np.float32(5), data))


def test_any_byte_but_0_is_found_as_true(mx):
    numbers = np.arange(1000).astype("uint8")
    equal(mx.run("_npi_isin", numbers.view("bool"), np.ones(1, "bool"))[0], numbers != 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_unique_is_numpys(mx, seed):
    rng = np.random.default_rng(seed)
    data = (draw(rng, draw_shape(rng)) % 4).astype(rng.choice(DTYPES))
    axis = rng.choice([None, *range(data.ndim)])
    got = mx.run("_npi_unique", data, axis=axis, return_index=True, return_inverse=True, return_counts=True)
    want = np.unique(data, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    for g, w in zip(got, want):
        equal(g, w.reshape(g.shape))


@pytest.mark.parametrize("seed", SEEDS)
def test_delete_and_insert_are_numpys(mx, seed):
    rng = np.random.default_rng(seed)
    data = draw(rng, draw_shape(rng, 1, 3, smallest=2))
    axis = int(rng.integers(0, data.ndim))
    size = data.shape[axis]
    where = rng.integers(-size, size, 3)
    equal(mx.run("_npi_delete", data, where, axis=axis)[0], np.delete(data, where, axis))
    start, stop, step = int(rng.integers(0, size)), int(rng.integers(0, size + 1)), int(rng.choice([1, 2, -1]))
    attrs, index = {"start": start, "stop": stop, "step": step, "axis": axis}, slice(start, stop, step)
    equal(mx.run("_npi_delete", data, **attrs)[0], np.delete(data, index, axis))
    shape = list(data.shape)
    shape[axis] = 3
    values = draw(rng, shape, data.dtype)
    equal(mx.run("_npi_insert_tensor", data, values, where, axis=axis)[0], np.insert(data, where, values, axis))
    equal(mx.run("_npi_insert_slice", data, val=7, **attrs)[0], np.insert(data, index, 7, axis))
    rows = np.moveaxis(values, axis, 0)
    equal(mx.run("_npi_insert_scalar", data, rows.copy(), int_ind=1, axis=axis)[0], np.insert(data, 1, rows, axis))


@pytest.mark.parametrize("by", ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "float16", "uint8"])
def test_where_of_equal_shapes_in_all_lengths(mx, rng, dtype, by):
    """Whole vectors and what is left of them; a condition that is not a number holds, -0 does not."""
    for length in (1, 7, 31, 32, 33, 63, 65, 100, 513, 1025):
        condition = rng.integers(0, 2, (3, length)).astype(by)
        if condition.dtype.kind == "f":
            condition[rng.random((3, length)) < 0.2] = np.nan
            condition[rng.random((3, length)) < 0.2] = -0.0
        x, y = (rng.integers(0, 100, (3, length)).astype(dtype) for _ in range(2))
        for op in ("where", "_npi_where"):
            equal(mx.run(op, condition, x, y)[0], np.where(condition != 0, x, y))


@pytest.mark.parametrize("seed", SEEDS)
def test_where_broadcasts_as_numpys_and_its_gradients_sum_up(mx, seed):
    rng = np.random.default_rng(seed)
    full = draw_shape(rng, 1, 4)
    thin = lambda: tuple(int(rng.choice([1, d])) for d in full)[int(rng.integers(0, len(full))):]
    condition = rng.integers(0, 2, thin()).astype(rng.choice(["bool", "float32", "int64"]))
    x, y = draw(rng, thin(), "float64"), draw(rng, thin(), "float64")
    want = np.where(condition, x, y)
    equal(mx.run("_npi_where", condition, x, y)[0], want)
    head = draw(rng, want.shape, "float64")
    grads = mx.gradients("_npi_where", [condition, x, y], [head], wanted=[1, 2])
    for got, array, part in ((grads[1], x, np.where(condition, head, 0)), (grads[2], y, np.where(condition, 0, head))):
        lead = part.ndim - array.ndim
        ones = tuple(i + lead for i, d in enumerate(array.shape) if d == 1)
        equal(got, part.sum(tuple(range(lead)) + ones, keepdims=True).reshape(array.shape))


@pytest.mark.parametrize("seed", SEEDS)
def test_creation_is_numpys(mx, seed):
    rng = np.random.default_rng(seed)
    dtype = rng.choice(["float32", "float64", "int32", "int64"])
    start, stop, step = int(rng.integers(-9, 9)), int(rng.integers(-9, 9)), int(rng.choice([-3, -1, 1, 2]))
    got = mx.run("_npi_arange", start=start, stop=stop, step=step, dtype=dtype)[0]
    equal(got, np.arange(start, stop, step, dtype=dtype))
    n, m, k = (int(v) for v in rng.integers(0, 6, 3))
    equal(mx.run("_npi_eye", N=n, M=m, k=k - 3, dtype=dtype)[0], np.eye(n, m, k - 3, dtype))
    shape = draw_shape(rng, 0, 3, smallest=0)
    equal(mx.run("_npi_full", shape=shape, value=3, dtype=dtype)[0], np.full(shape, 3, dtype))
    equal(mx.run("_npi_indices", dimensions=shape or (2,), dtype=dtype)[0], np.indices(shape or (2,), dtype))
    np.testing.assert_allclose(mx.run("_npi_blackman", M=n + 1, dtype="float64")[0], np.blackman(n + 1), atol=1e-15)


# Rows of one number from none to longer than a pattern, periods that are copied one by one and together, and so many
# elements that threads share them.
@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (9, 0), (100000,), (1, 1, 7), (3, 5, 2), (700, 900), (40, 50, 130), (130, 50, 40), (7, 6, 5, 600),
                                   (20000, 3), (3, 20000), (5, 4, 3, 2, 33), (1, 2000, 1), (70, 64, 8)])
def test_indices_are_numpys(mx, shape, dtype):
    got = mx.run("_npi_indices", dimensions=shape, dtype=dtype)[0]
    equal(got, np.indices(shape).astype(dtype))


@pytest.mark.parametrize("shape", [(5,), (4, 1, 3), (300, 700), (0, 3), (2, 3, 4, 5)])
def test_the_index_of_every_place(mx, shape):
    data = np.zeros(shape, "float32")
    want = np.stack(np.indices(shape), -1) if data.size else np.zeros((*shape, len(shape)), "int64")
    equal(mx.run("_contrib_index_array", data)[0], want.astype("int64"))
    some = (-1,) if len(shape) == 1 else (1, 0, -1)
    equal(mx.run("_contrib_index_array", data, axes=some)[0], want[..., list(some)].astype("int64"))
    # As in 1.x: Sockeye 2.1's Transformer asks for axis 1 of one dimension.
    beyond = (len(shape), 7, -len(shape) - 1)
    equal(mx.run("_contrib_index_array", data, axes=beyond)[0], want[..., [axis % len(shape) for axis in beyond]].astype("int64"))


@pytest.mark.parametrize("places", [[0], [7], [3, 3, 0], [7, 0, 5, 2]])
@pytest.mark.parametrize("shape, axis", [((7,), 0), ((7, 3), 0), ((4, 7), 1), ((2, 7, 3), 1)])
def test_values_are_inserted_between_what_is_kept(mx, rng, shape, axis, places):
    data = rng.integers(0, 99, shape).astype("float32")
    values = rng.integers(0, 99, [len(places) if i == axis else n for i, n in enumerate(shape)]).astype("float32")
    where = np.array(places, "int64")
    equal(mx.run("_npi_insert_tensor", data, values, where, axis=axis)[0], np.insert(data, where, values, axis))
    equal(mx.run("_npi_insert_slice", data, val=5, start=1, stop=6, step=2, axis=axis)[0], np.insert(data, slice(1, 6, 2), 5, axis))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@pytest.mark.parametrize("shape", [(7,), (5, 3), (512, 1024), (3, 1, 4, 2), (2, 2**31 - 1), (3, 2**33, 5)])
def test_positions_come_apart_and_together_again(mx, shape, dtype):
    total = int(np.prod(shape, dtype="int64"))
    end = min(total, 2**31 if dtype == "int32" else total)
    rng = np.random.default_rng(SEED)
    ends = [0, end - 1, *(p for p in (shape[-1] - 1, shape[-1]) if p < end)]
    positions = np.concatenate([rng.integers(0, end, 1500), ends])
    places, = mx.run("_unravel_index", positions.astype(dtype), shape=shape)
    equal(places, np.stack(np.unravel_index(positions, shape)).astype(dtype))
    equal(mx.run("_ravel_multi_index", places, shape=shape)[0], positions.astype(dtype))


def test_positions_come_apart_alike_beside_one_of_more_than_32_bits(mx):
    """Among them negative ones, which nobody refuses: quotients are truncated."""
    few = np.concatenate([np.arange(-40, 40), [2**31 - 1, -2**31]])
    alone, = mx.run("_unravel_index", few, shape=(9, 5, 3))
    beside, = mx.run("_unravel_index", np.append(few, 2**40), shape=(9, 5, 3))
    equal(alone, beside[:, :-1])
    equal(alone, np.stack([np.trunc(few / 15), np.fmod(np.trunc(few / 3), 5), np.fmod(few, 3)]).astype("int64"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [1, 2, 3, 7])
@pytest.mark.parametrize("width", [1, 6, 30, 67])
def test_boxes_with_steps_are_assigned_element_by_element(mx, width, step, dtype):
    rng = np.random.default_rng(width)
    whole, index = draw(rng, (9, width), dtype), (slice(1, None, 2), slice(0, None, step))
    attrs = {"begin": "(1, 0)", "end": "(None, None)", "step": f"(2, {step})"}
    want = whole.copy()
    part = want[index] = draw(rng, want[index].shape, dtype)
    equal(mx.run("_slice_assign", whole, part, **attrs)[0], want)
    want[index] = 7
    equal(mx.run("_slice_assign_scalar", whole, scalar=7, **attrs)[0], want)
