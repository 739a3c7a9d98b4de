# SPDX-License-Identifier: Apache-2.0
"""Operators that divide large arrays among threads: NumPy's results, whatever the number of threads."""
import numpy as np
import pytest

from rnn_networks import threads

SEED = 20261125
COUNTS = [1, 2, 3, 7, 16]


@pytest.fixture(params=COUNTS)
def divided(request, mx):
    """The library with so many threads."""
    with threads(mx, request.param):
        yield mx


@pytest.mark.parametrize("shape", [(300001,), (511, 700), (100001, 3), (37, 90, 101), (7, 11, 13, 300), (3, 5, 7, 11, 300)])
@pytest.mark.parametrize("dtype", ["bool", "float32", "float16", "int64"])
def test_indices_of_what_is_not_zero(divided, rng, shape, dtype):
    mask = rng.integers(0, 3, shape).astype(dtype)
    mask.reshape(-1)[:5000] = 0  # a thread may have none
    np.testing.assert_array_equal(divided.run("_npx_nonzero", mask)[0], np.argwhere(mask))


@pytest.mark.parametrize("value", [0, 1])
def test_indices_of_all_and_of_none(divided, value):
    mask = np.full((400, 1000), value, "bool")
    np.testing.assert_array_equal(divided.run("_npx_nonzero", mask)[0], np.argwhere(mask))


# Few, some and nearly all, in lengths around the eight that are looked at together; other bytes than 0 and 1 are true.
@pytest.mark.parametrize("share", [0.002, 0.3, 0.99])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 63, 1023, 1024, 1025, 200003])
def test_indices_of_any_share(divided, rng, size, share):
    mask = (rng.random(size) < share).astype("uint8") * rng.integers(1, 256, size).astype("uint8")
    np.testing.assert_array_equal(divided.run("_npx_nonzero", mask)[0], np.argwhere(mask))
    np.testing.assert_array_equal(divided.run("_npx_nonzero", mask.view("bool"))[0], np.argwhere(mask))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 1, 1), (40000, 2, 3), (20001, 5, 5), (300, 22, 20), (7, 64, 64), (5, 0, 3), (2, 3, 9, 9)])
def test_triangles_of_many_matrices(divided, rng, shape, dtype):
    a = rng.integers(1, 100, shape).astype(dtype)
    for k in (-30, -2, 0, 1, 30):
        np.testing.assert_array_equal(divided.run("_npi_tril", a, k=k)[0], np.tril(a, k))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(20001, 5, 2), (9001, 2, 3, 4), (3001, 8, 8), (700, 3, 40)])
def test_small_matrices_are_turned(divided, rng, shape, dtype):
    a = rng.integers(0, 100, shape).astype(dtype)
    axes = (0, *range(len(shape) - 1, 0, -1))
    np.testing.assert_array_equal(divided.run("transpose", a, axes=axes)[0], a.transpose(axes))
    end = a[..., ::2].shape
    got = divided.run("slice", a, begin=(None,) * len(end), end=(None,) * len(end), step=(1,) * (len(end) - 1) + (2,))[0]
    np.testing.assert_array_equal(got, a[..., ::2])


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("width", [1, 3, 7, 16, 20, 31, 33, 50, 64, 100, 300])
@pytest.mark.parametrize("rows, times", [(1, 40001), (5003, 3)])
def test_rows_again_and_again(divided, rng, rows, times, width, dtype):
    a = rng.integers(0, 100, (rows, width)).astype(dtype)
    np.testing.assert_array_equal(divided.run("tile", a, reps=(1, times))[0], np.tile(a, (1, times)))
    np.testing.assert_array_equal(divided.run("repeat", a, repeats=3, axis=0)[0], np.repeat(a, 3, 0))


def test_rows_of_a_mask(divided, rng):
    x, mask = rng.standard_normal((200001, 2)), rng.random(200001) < 0.3
    np.testing.assert_array_equal(divided.run("_contrib_boolean_mask", x, mask)[0], x[mask])


@pytest.mark.parametrize("shape, axis", [((300, 2000), 0), ((1, 5000, 7), 1), ((3, 30001), 1), ((2000, 300), 1), ((0, 9), 1), ((9, 0), 0)])
def test_long_rows_of_a_mask_and_those_of_several_arrays(divided, rng, shape, axis):
    x, mask = rng.standard_normal(shape), rng.random(shape[axis]) < 0.6
    got = divided.run("_contrib_boolean_mask", x, mask, axis=axis)[0]
    np.testing.assert_array_equal(got, np.compress(mask, x, axis))


def test_assignment_by_masks(divided, rng):
    x, mask = rng.standard_normal((2, 511, 301, 3)).astype("float32"), rng.random((511, 301)) < 0.4
    want = x.copy()
    want[:, mask] = 7
    np.testing.assert_array_equal(divided.run("_npi_boolean_mask_assign_scalar", x, mask, value=7, start_axis=1)[0], want)
    values = rng.standard_normal((2, mask.sum(), 3)).astype("float32")
    want[:, mask] = values
    np.testing.assert_array_equal(divided.run("_npi_boolean_mask_assign_tensor", x, mask, values, start_axis=1)[0], want)
    want[:, mask] = values[:1, :, :1]
    np.testing.assert_array_equal(
        divided.run("_npi_boolean_mask_assign_tensor", x, mask, values[:1, :, :1], start_axis=1)[0], want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("bins", [1, 2, 3, 30, 31, 33, 200001])
def test_histograms_count_each_number_once(divided, rng, dtype, bins):
    a = np.abs(rng.standard_normal(200003) * 50).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        a[:3] = np.nan, np.inf, -np.inf
    counts, edges = divided.run("_histogram", a, bin_cnt=bins, range=(10, 90))
    if np.issubdtype(dtype, np.floating) and bins <= 33:
        np.testing.assert_array_equal(counts, np.histogram(a, edges)[0])
    assert counts.sum() == ((a >= 10) & (a <= 90)).sum()
    edges = np.sort(rng.integers(0, 100, bins + 1)).astype(dtype)  # some are equal
    np.testing.assert_array_equal(divided.run("_histogram", a, edges)[0], np.histogram(a, edges)[0])


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "float32"])
def test_positions_of_indices(divided, rng, dtype):
    shape = (40, 50, 60)
    at = rng.integers(0, np.prod(shape), 150001)
    indices = np.stack(np.unravel_index(at, shape)).astype(dtype)
    np.testing.assert_array_equal(divided.run("_ravel_multi_index", indices, shape=shape)[0], at.astype(dtype))


@pytest.mark.parametrize("interp", range(5))
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("shape, size", [((5, 61, 47, 3), (53, 39)), ((1, 300, 400, 3), (350, 290)), ((40, 31, 30, 1), (33, 35))])
def test_pictures_of_another_size(mx, rng, interp, dtype, shape, size):
    pictures = rng.integers(0, 256, shape).astype(dtype)
    one = np.stack([mx.run("_image_resize", picture, size=size, interp=interp)[0] for picture in pictures])
    for count in COUNTS:
        with threads(mx, count):
            np.testing.assert_array_equal(mx.run("_image_resize", pictures, size=size, interp=interp)[0], one)


def long_keys(rng, n):
    """Numbers of 64 bits that differ in many bits, in few, in the first or the last ones, or seldom."""
    times = 1_700_000_000_000_000_000 + rng.integers(0, 10**15, n)
    yield "normal", rng.standard_normal(n)
    yield "whole", rng.integers(-500, 500, n).astype("float64")
    yield "signs", np.where(rng.random(n) < 0.5, 0.0, -0.0)
    yield "special", rng.choice([np.nan, np.inf, -np.inf, 0.0, 1.0, 5e-324, -5e-324], n)
    yield "scales", rng.standard_normal(n) * 10.0 ** rng.integers(-300, 300, n)
    yield "neighbours", 1 + rng.integers(0, 9, n) * 2.0**-52 + (np.arange(n) == n // 2) * 1e300
    yield "times", times
    yield "times and none", np.where(np.arange(n) == n // 3, 0, times)
    yield "last bits", rng.integers(0, 50, n) + np.where(np.arange(n) % 2 == 0, -(2**62), 2**62)
    yield "any", rng.integers(-(2**63), 2**63 - 1, n, endpoint=True)


@pytest.mark.parametrize("n", [1, 2, 3, 20, 1000, 150001])
@pytest.mark.parametrize("ascending", [True, False])
def test_order_of_64_bit_numbers(divided, rng, n, ascending):
    for name, x in long_keys(rng, n):
        got = divided.run("argsort", x, is_ascend=ascending, dtype="int64")[0]
        if ascending:
            want = np.argsort(x, kind="stable")
        else:
            want = n - 1 - np.argsort(x[::-1], kind="stable")[::-1]
        np.testing.assert_array_equal(got, want, err_msg=name)


def test_best_half_with_values(divided, rng):
    x = rng.standard_normal(150001).astype("float32")
    values, places, = divided.run("topk", x, k=75000, ret_typ="both", dtype="int32")
    want = np.argsort(-x, kind="stable")[:75000]
    np.testing.assert_array_equal(places, want)
    np.testing.assert_array_equal(values, x[want])
    mask = np.zeros_like(x)
    mask[want] = 1
    np.testing.assert_array_equal(divided.run("topk", x, k=75000, ret_typ="mask")[0], mask)


def quotients(a, b):
    """Truncated quotients and remainders with the divisor's sign, by Python's integers."""
    pairs = [(0, 0) if y == 0 else (abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1), x % y) for x, y in zip(a.tolist(), b.tolist())]
    return [np.array([(q + 2**63) % 2**64 - 2**63 for q in column], "int64") for column in zip(*pairs)]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("n", [1, 255, 256, 257, 5000])
def test_quotients_of_64_bit_integers(divided, rng, n, large):
    limit = 2**63 if large else 2**52
    special = np.array([0, 1, -1, 2, -2, 3, limit - 1, -limit, limit // 2, 1 - limit], "int64")

    def numbers():
        some = rng.integers(-limit, limit - 1, n, endpoint=True) >> rng.integers(0, 63, n)
        return np.where(rng.random(n) < 0.2, rng.choice(special, n), some)

    a, b = numbers(), numbers()
    near = rng.random(n) < 0.4  # multiples, and next to them
    with np.errstate(over="ignore"):
        a = np.where(near, b * rng.integers(-1000, 1000, n) + rng.integers(-1, 2, n), a)
    for name, which in (("broadcast_div", 0), ("broadcast_mod", 1)):
        np.testing.assert_array_equal(divided.run(name, a, b)[0], quotients(a, b)[which])
        for one in (b[:1], special[2:3], special[6:7]):
            np.testing.assert_array_equal(divided.run(name, a, one)[0], quotients(a, np.repeat(one, n))[which])
            np.testing.assert_array_equal(divided.run(name, one, b)[0], quotients(np.repeat(one, n), b)[which])


@pytest.mark.parametrize("shape", [(5000, 3), (8, 28, 29, 64), (3, 37, 41, 130), (70, 300)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_normalised_channels_that_lie_last(mx, rng, shape, dtype):
    """As in double, and bit for bit the same for any number of threads."""
    channels, along = shape[-1], tuple(range(len(shape) - 1))
    x = (rng.standard_normal(shape) * 2 + rng.uniform(-9, 9, channels)).astype(dtype)
    head = rng.standard_normal(shape).astype(dtype)
    states = [rng.uniform(0.5, 2, channels).astype("float32" if dtype == "float16" else dtype) for _ in range(4)]
    attrs = {"axis": len(shape) - 1, "fix_gamma": False, "eps": 1e-3}

    wide, gamma, beta = x.astype("float64"), *(state.astype("float64") for state in states[:2])
    mean, scale = wide.mean(along), 1 / np.sqrt(wide.var(along) + 1e-3)
    normal = (wide - mean) * scale
    dgamma, dbeta = (head * normal).sum(along), head.astype("float64").sum(along)
    count = x.size // channels
    want = [normal * gamma + beta, mean, gamma * scale * (head - dbeta / count - normal * dgamma / count), dgamma, dbeta]

    results = []
    mx.training(True)
    for number in COUNTS:
        with threads(mx, number):
            outputs = mx.run("BatchNorm", x, *states, output_mean_var=True, **attrs)
            results.append([*outputs[:2], *mx.gradients("BatchNorm", [x, *states], [head], wanted=[0, 1, 2], **attrs)[:3]])
    bound = {"float64": 1e-10, "float32": 2e-4, "float16": 2e-2}[dtype]
    for got, expected in zip(results[0], want):
        np.testing.assert_allclose(got, expected, rtol=bound, atol=bound * np.sqrt(count))
    for others in results[1:]:
        for got, first in zip(others, results[0]):
            np.testing.assert_array_equal(got, first)


@pytest.mark.parametrize("sizes", [(45, 36873, 81), (70001,), (31, 33, 40000)])
@pytest.mark.parametrize("op, kinds", [("multi_mp_sgd_mom_update", ["float16", "float16", "float32", "float32"]),
                                       ("multi_sgd_mom_update", ["float16"] * 3), ("multi_sgd_mom_update", ["float32"] * 3)])
def test_weights_move_alike_for_any_number_of_threads(mx, rng, sizes, op, kinds):
    """Bit for bit, wherever one thread's elements end."""
    arrays = [rng.standard_normal(size).astype(kind) for size in sizes for kind in kinds]
    count = len(sizes)
    attrs = {"lrs": (0.1875,) * count, "wds": (0.01,) * count, "num_weights": count, "momentum": 0.9}
    results = []
    for number in COUNTS:
        with threads(mx, number):
            inputs = [mx.array(a) for a in arrays]
            for _ in range(3):
                mx.invoke(op, inputs, out=inputs[::len(kinds)], **attrs)
            results.append([mx.numpy(i) for i in inputs])
            mx.free(*inputs)
    for others in results[1:]:
        for got, first in zip(others, results[0]):
            np.testing.assert_array_equal(got, first)
