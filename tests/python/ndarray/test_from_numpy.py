# SPDX-License-Identifier: Apache-2.0
"""NumPy's arrays, of any type and in any order, become arrays as NumPy itself would convert and lay them out first."""
import warnings

import numpy as onp
import pytest

import mxnet as mx

MADE = ("float32", "float64", "float16", "int32", "uint8", "bool", "int64", "int8")
GIVEN = MADE + ("int16", "uint32", ">f4")


def orders(dtype):
    """One array as NumPy's views show it: transposed, backwards, with steps, repeated, in pieces larger than a cache."""
    base = (onp.random.RandomState(3).rand(40, 60, 7) * 200 - 50).astype(dtype)
    large = (onp.random.RandomState(4).rand(210, 390) * 9).astype(dtype)
    deep = base.reshape(8, 5, 3, 4, 5, 7, 1)
    return [
        base, base.T, base[::-1], base[:, :, ::-1], base[::3, ::-2], base.transpose(1, 2, 0), base[..., 0], base[:, None, :1], base[:1, :, 2],
        base[0, 0, :1], onp.broadcast_to(base[:, :1], base.shape), onp.asfortranarray(base), large.T, large[::-1, ::2], deep[..., ::2].transpose(6, 1, 0, 3, 2, 5, 4),
    ]


def same(made, expected):
    return made.dtype == expected.dtype and made.shape == expected.shape and made.asnumpy().tobytes() == onp.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("dtype", MADE)
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast", "ignore:overflow encountered in cast")
def test_values_are_those_of_numpy(given, dtype):
    for values in orders(given):
        expected = values.astype(dtype)
        assert same(mx.nd.array(values, dtype=dtype), expected), values.strides
        assert same(mx.np.array(values, dtype=dtype), expected), values.strides
        assigned = mx.nd.zeros(values.shape, dtype=dtype)
        assigned[:] = values
        assert same(assigned, expected), values.strides


@pytest.mark.parametrize("order", ["<", ">", "="])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool"])
def test_bytes_are_in_any_order(dtype, order):
    # (NumPy 1 keeps an order that is named, also where it is the machine's.)
    values = onp.array([[0, 1, 2], [3, 100, 1]]).astype(onp.dtype(dtype).newbyteorder(order))
    for wanted in (dtype, "float32"):
        assert same(mx.nd.array(values, dtype=wanted), values.astype(wanted))
        assert same(mx.np.array(values.T, dtype=wanted), values.T.astype(wanted))
        assigned = mx.nd.zeros(values.shape, dtype=wanted)
        assigned[:] = values
        assert same(assigned, values.astype(wanted))


def test_nothing_and_scalars():
    with mx.util.np_shape(True):
        assert same(mx.np.array(onp.zeros((3, 0, 2)).T), onp.zeros((2, 0, 3)))
        assert same(mx.np.array(onp.zeros((3, 0)), dtype="float32"), onp.zeros((3, 0), "float32"))
        assert same(mx.np.array(onp.array(2.5), dtype="float32"), onp.array(2.5, "float32"))


@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_warns_of_what_becomes_infinite(order):
    values = onp.array([[1e300, 2], [onp.inf, 4]], order=order)
    with warnings.catch_warnings(record=True) as of_numpy:  # none before NumPy 1.24
        warnings.simplefilter("always")
        values.astype("float32")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = mx.nd.array(values)
    assert [str(w.message) for w in seen] == [str(w.message) for w in of_numpy]
    assert made.asnumpy().tolist() == [[onp.inf, 2], [onp.inf, 4]]
    values[0, 0] = -onp.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mx.nd.array(values).asnumpy().tolist() == values.tolist()


def test_fields_of_records_and_places_that_are_not_aligned():
    records = onp.zeros(5, dtype=[("tag", "u1"), ("value", "f4")])
    records["value"] = range(5)
    assert mx.nd.array(records["value"]).asnumpy().tolist() == [0, 1, 2, 3, 4]
    shifted = onp.frombuffer(b"\0" + onp.arange(4, dtype="float32").tobytes(), "float32", 4, 1)
    assert mx.nd.array(shifted).asnumpy().tolist() == [0, 1, 2, 3]


def test_the_array_is_a_copy():
    values = onp.arange(6.0).reshape(2, 3)
    made = mx.nd.array(values.T)
    values[:] = -1
    assert made.asnumpy().tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("key", [slice(None), slice(2, 900), Ellipsis, 3, (slice(None), slice(0, 5)), (4, slice(1, 3)), None])
def test_who_reads_still_has_the_values_before(key):
    """The product of large arrays has not ended when its argument is assigned to."""
    before = onp.random.RandomState(5).randint(-4, 5, (1000, 1000)).astype("float32")
    array, expected, product = mx.nd.array(before), before.copy(), before @ before
    array.wait_to_read()
    read = mx.nd.dot(array, array)
    values = -before[key].copy()
    expected[key] = values
    array[key] = values
    values[:] = 1
    assert (read.asnumpy() == product).all()
    assert (array.asnumpy() == expected).all()


def test_assignments_come_in_the_order_of_other_work():
    rng = onp.random.RandomState(7)
    array, twin = mx.nd.zeros((300, 50)), onp.zeros((300, 50), "float32")
    sums, expected = [], []
    for _ in range(300):
        begin = int(rng.randint(0, 299))
        end = int(rng.randint(begin + 1, 301))
        values = rng.randint(-9, 9, (end - begin, 50)).astype(rng.choice(["float32", "float64", "int32"]))
        kind = rng.randint(4)
        if kind == 0:
            array += 1
            twin += 1
        elif kind == 1:
            array[begin:end] = values
            twin[begin:end] = values
        elif kind == 2:
            array[:] = twin[::-1]
            twin[:] = twin[::-1].copy()
        else:
            array[begin] = values[0]
            twin[begin] = values[0]
        sums.append((array * 2).sum())
        expected.append(2 * twin.sum(dtype="float64"))
    assert [float(total.asscalar()) for total in sums] == expected
    assert array.asnumpy().tolist() == twin.tolist()


@pytest.mark.parametrize("key, pick", [(slice(None), (slice(None, None, -1),)), (Ellipsis, (slice(None), slice(None, None, -1))), (slice(1, 5), (slice(0, 4),))])
def test_an_array_is_assigned_a_view_of_its_own_memory(key, pick):
    before = onp.arange(30, dtype="float32").reshape(6, 5)
    array = mx.nd.array(before, ctx=mx.cpu())
    view = onp.from_dlpack(array)
    array[key] = view[pick]
    expected = before.copy()
    expected[key] = before[pick]
    assert array.asnumpy().tolist() == expected.tolist()


@pytest.mark.parametrize("kind", [mx.nd, mx.np])
def test_what_is_selected_is_assigned(kind):
    before = onp.arange(120, dtype="float32").reshape(4, 5, 6)
    for key in [slice(None), Ellipsis, 2, -1, slice(1, 3), slice(-2, None), (1, 2), (1, slice(2, 4)), (slice(None), None), (-2, Ellipsis, None), (0, Ellipsis), (slice(None), 1), (slice(None), slice(None), 2),
                slice(None, None, 2), (1, 2, 3), (slice(1, 2), 3, slice(1, 5)), (Ellipsis, slice(0, 3))]:
        for order in "CF":
            array, expected = kind.array(before, dtype="float32"), before.copy()
            values = onp.asarray(-before[key] - 1, order=order)
            expected[key] = values
            array[key] = values
            assert array.asnumpy().tolist() == expected.tolist(), key


def test_what_was_kept_of_the_values_before_is_made_anew():
    data, weight = mx.nd.ones((8, 64)), mx.nd.ones((32, 64))
    for factor in range(1, 5):
        weight[:] = onp.full((32, 64), factor, "float32")
        results = [mx.nd.FullyConnected(data, weight, num_hidden=32, no_bias=True).asnumpy() for _ in range(3)]
        assert all((result == 64 * factor).all() for result in results)


def test_assigning_to_an_array_that_failed_does_not_mend_it_unseen():
    array = mx.nd.zeros((3,))
    with pytest.raises(Exception):
        mx.nd.random.normal(0, -1, shape=(3,), out=array)
        array[:] = onp.ones(3, "float32")
        array.wait_to_read()
