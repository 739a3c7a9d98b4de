# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators where their loops change: results too big for the caches, half types in registers, limits.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_elemwise.py
"""
import numpy as np
import op_calls
import pytest

SEED = 20261121
PAST_CACHES = (17 << 20) + 3  # bytes, and a rest behind the last vector


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_large_results_are_those_of_numpy_apart_and_in_place(mx, rng, dtype):
    n = PAST_CACHES // np.dtype(dtype).itemsize + 1
    a, b = (rng.integers(0, 100, n).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(mx.run("elemwise_add", a, b)[0], a + b)
    np.testing.assert_array_equal(mx.run("square", a)[0], a * a)
    np.testing.assert_array_equal(mx.run("_npi_greater", a, b)[0], a > b)
    first, second = mx.array(a), mx.array(b)
    mx.invoke("elemwise_mul", [first, second], out=[first])
    np.testing.assert_array_equal(mx.numpy(first), a * b)
    mx.free(first, second)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("size", [0, 1, 2047, 2048, 5001])
def test_sums_of_arrays_may_be_written_over_any_of_them(mx, rng, dtype, count, size):
    arrays = [(rng.normal(size=size) if dtype == "float16" else rng.integers(0, 9, size)).astype(dtype) for _ in range(count)]
    if size > 1 and dtype.startswith("float"):
        arrays[0][0], arrays[-1][1] = np.nan, np.inf
    # Half types are added up in float32.
    total = sum((a.astype("float32") for a in arrays[1:]), arrays[0].astype("float32")) if dtype == "float16" else sum(arrays[1:], arrays[0])
    want = total.astype(dtype)
    np.testing.assert_array_equal(mx.run("add_n", *arrays, num_args=count)[0], want)
    for i in range(count):
        handles = [mx.array(a) for a in arrays]
        mx.invoke("add_n", handles, out=[handles[i]], num_args=count)
        np.testing.assert_array_equal(mx.numpy(handles[i]), want)
        mx.free(*handles)


@pytest.mark.parametrize("op, of", [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)])
def test_float16_is_computed_in_float32_and_rounded_once(mx, rng, op, of):
    a = np.concatenate([np.arange(1 << 16, dtype="uint16"), np.array([1, 2, 3], "uint16")]).view("float16")
    b = rng.permutation(a)

    def expected(x, y):
        with np.errstate(all="ignore"):
            return of(np.float32(x), np.float32(y)).astype("float16")

    np.testing.assert_array_equal(mx.run(f"elemwise_{op}", a, b)[0], expected(a, b))
    np.testing.assert_array_equal(mx.run(f"broadcast_{op}", a, b[:1])[0], expected(a, b[:1]))
    np.testing.assert_array_equal(mx.run(f"broadcast_{op}", b[:1], a)[0], expected(b[:1], a))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"])
def test_clip_keeps_nan_and_its_gradient_ends_at_the_limits(mx, rng, dtype):
    a = rng.integers(0, 120, 1003).astype(dtype)
    if np.dtype(dtype).kind == "f":
        a[::50] = np.nan
    np.testing.assert_array_equal(mx.run("clip", a, a_min=20, a_max=90)[0], np.clip(a, 20, 90).astype(dtype))
    if np.dtype(dtype).kind == "f":
        head = np.ones_like(a)
        within = ~((a < 20) | (a > 90))
        np.testing.assert_array_equal(mx.gradients("clip", [a], [head], a_min=20, a_max=90)[0], within.astype(dtype))


REAL = {"exp": (np.exp, -20, 21), "sinh": (np.sinh, -20, 21), "tanh": (np.tanh, -17, 17),
        "degrees": (np.degrees, 1 << 21, 1 << 22), "sqrt": (np.sqrt, 0, 99_999_999), "log10": (np.log10, 1, 99_999_999)}


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("op", REAL)
def test_functions_of_integers_are_the_whole_parts_of_those_of_double(mx, op, dtype):
    """Float would round tanh(10) up to 1, and has not the digits of exp(18)."""
    of, first, last = REAL[op]
    a = np.unique(np.linspace(first, last, 1000).astype(dtype))
    np.testing.assert_array_equal(mx.run(op, a)[0], of(a.astype("float64")).astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op, beats", [("maximum", np.greater), ("minimum", np.less)])
def test_nan_receives_no_gradient_from_an_extreme(mx, op, beats, dtype):
    a = np.array([np.nan, 7, 3, 9, 7, np.nan], dtype)
    b = np.array([7, np.nan, 7, 7, 7, np.nan], dtype)
    heads = [np.ones_like(a)]
    left, right = mx.gradients(f"broadcast_{op}", [a, b], heads)
    np.testing.assert_array_equal(left, beats(a, b) | (a == b))  # a where they tie
    np.testing.assert_array_equal(right, beats(b, a))
    np.testing.assert_array_equal(mx.gradients(f"_{op}_scalar", [a], heads, scalar=7)[0], beats(a, 7) | (a == 7))
    np.testing.assert_array_equal(mx.gradients(f"_{op}_scalar", [a], heads, scalar="nan")[0], np.zeros_like(a))


def test_smooth_l1_of_the_smallest_integer(mx):
    assert mx.run("smooth_l1", np.array([-128, -127, 4, 0], "int8"), scalar=1)[0].tolist() == [127, 126, 3, 0]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("scalar", [0, 1, 2])
def test_smooth_l1_of_integers_has_the_gradient_of_the_wheel(mx, rng, dtype, scalar):
    small = rng.integers(0, 9, 37) - (0 if dtype == "uint8" else 4)
    x = np.concatenate([small, [np.iinfo(dtype).max, np.iinfo(dtype).min]]).astype(dtype)
    heads = rng.integers(0, 3, x.size).astype(dtype)
    square = scalar * scalar
    outside = np.abs(x.astype(float)) > (1 / square if square else np.inf)
    with np.errstate(over="ignore"):
        want = heads * np.where(outside, np.sign(x), x * np.array(square, dtype))
    if op_calls.DEVICE == 2:
        with pytest.raises(op_calls.Failure, match="type"):
            mx.gradients("smooth_l1", [x], [heads], scalar=scalar)
    else:
        np.testing.assert_array_equal(mx.gradients("smooth_l1", [x], [heads], scalar=scalar)[0], want.astype(dtype))


@pytest.mark.parametrize("smallest", [1e-50, 5e-324, -1e-310])
def test_a_double_that_no_float_can_hold_is_true(mx, smallest):
    values = np.array([smallest, 0.0, -0.0, np.nan])
    assert mx.run("Cast", values, dtype="bool")[0].tolist() == [True, False, False, True]
    assert mx.run("where", values, np.ones(4, "uint8"), np.zeros(4, "uint8"))[0].tolist() == [1, 0, 0, 1]
    assert mx.run("_np_any", values[:2])[0]


def edges(rng, dtype):
    """Limits of an integer type, small numbers and any, each with each."""
    limits = np.iinfo(dtype)
    numbers = np.concatenate([[limits.min, limits.min + 1, 0, 1, 2, 3, 7, limits.max - 1, limits.max],
                              [] if limits.min == 0 else [-1, -2, -3, -7]]).astype("object").astype(dtype)
    numbers = np.concatenate([numbers, rng.integers(limits.min, limits.max, 60, dtype=dtype, endpoint=True)])
    return np.repeat(numbers, numbers.size), np.tile(numbers, numbers.size)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_remainders_and_quotients_of_integers_are_exact(mx, rng, dtype):
    """Remainders have the sign of the divisor, quotients are cut; by zero both are zero, and the smallest by -1 wraps."""
    a, b = edges(rng, dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(mx.run("broadcast_mod", a, b)[0], np.mod(a, b))
        cut = np.where((a % b != 0) & ((a < 0) != (b < 0)), a // b + 1, a // b)
    np.testing.assert_array_equal(mx.run("elemwise_div", a, b)[0], np.where(b == 0, 0, cut).astype(dtype))
    np.testing.assert_array_equal(mx.run("_npi_mod", a, b[-1:])[0], np.mod(a, b[-1:]))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int64", "bool"])
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "isposinf", "isneginf"])
def test_questions_about_numbers(mx, name, dtype):
    a = np.tile([0, 1, -0.0, 3] if dtype in ("uint8", "int64", "bool") else [0, np.nan, -np.inf, np.inf, -np.nan, 6e4, -6e-8], 200)
    a = a.astype(dtype)[: 200 * 4 - 3]
    got = mx.run(f"_npi_{name}", a)[0]
    assert got.dtype == bool
    np.testing.assert_array_equal(got, getattr(np, name)(a.astype("float64")))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_polyval_is_numpys(mx, rng, dtype):
    p, x = (rng.integers(-2, 3, n).astype(dtype) for n in (4, 777))
    np.testing.assert_array_equal(mx.run("_npi_polyval", p, x)[0], np.polyval(p.astype("float64"), x).astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("terms", [0, 1, 2, 9])
def test_polynomials_of_any_length(mx, rng, terms, dtype):
    """Ends of registers, and numbers that are none; more than a thread's worth in the last one."""
    p = rng.normal(size=terms).astype(dtype)
    bound = 4 * max(terms, 1) * np.finfo(dtype if dtype != "float16" else "float32").eps
    for size in (0, 1, 15, 16, 63, 64, 65, 127, 129, 257, 200003):
        x = rng.uniform(-1, 1, size).astype(dtype)
        x[3::50] = np.nan
        x[4::50] = np.inf
        with np.errstate(all="ignore"):
            expected = np.zeros(size)  # in float64: np.polyval would take the type of x
            for factor in p.astype("float64"):
                expected = expected * x.astype("float64") + factor
        got = mx.run("_npi_polyval", p, x)[0]
        assert got.dtype == dtype
        rounded = 1e-3 if dtype == "float16" else 0
        np.testing.assert_allclose(got, expected, rtol=rounded, atol=bound * max(1, np.abs(p).sum(dtype="float64")), err_msg=str(size))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_remainders_of_floats_are_exact(mx, rng, dtype):
    """Beside each other: quotients of any size, infinities, NaN, numbers below the normal ones. By zero it is zero, as in the release."""
    tiny, most = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    special = np.array([0, -0.0, 1, -1, 3, -3, 0.1, -0.3, tiny, -7 * tiny, most, -most, np.inf, -np.inf, np.nan], dtype)
    for numbers in (special, np.concatenate([special, (rng.normal(size=100) * 10.0 ** rng.integers(-4, 5, 100)).astype(dtype)]),
                    (rng.integers(-9, 9, 130) / 2 + 0.25).astype(dtype)):
        a, b = np.repeat(numbers, numbers.size), np.tile(numbers, numbers.size)
        with np.errstate(all="ignore"):
            wide = np.mod(a.astype("float32"), b.astype("float32")) if dtype == "float16" else np.mod(a, b)
        expected = np.where(b == 0, 0, wide).astype(dtype)
        np.testing.assert_array_equal(mx.run("broadcast_mod", a, b)[0], expected)
        for one in numbers[::7]:
            np.testing.assert_array_equal(mx.run("_npi_mod", a, np.array([one]))[0], mx.run("_npi_mod", a, np.full_like(a, one))[0])
            np.testing.assert_array_equal(mx.run("_npi_mod", np.array([one]), b)[0], mx.run("_npi_mod", np.full_like(b, one), b)[0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"])
def test_squares_negations_and_rounding(mx, rng, dtype):
    a = rng.integers(0, 120, 1003).astype(dtype)
    if np.dtype(dtype).kind == "f":
        a[:6] = [np.nan, -np.inf, np.inf, -0.0, -1.5, 2.5]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(mx.run("_npi_power_scalar", a, scalar=2.0)[0], a * a)
        np.testing.assert_array_equal(mx.run("_power_scalar", a, scalar=2.0)[0], a * a)
    np.testing.assert_array_equal(mx.run("logical_not", a)[0], (a == 0).astype(dtype))
    np.testing.assert_array_equal(mx.run("_npi_logical_not", a)[0], a == 0)
    if np.dtype(dtype).kind != "f":
        np.testing.assert_array_equal(mx.run("_npi_bitwise_not", a)[0], ~a)
        np.testing.assert_array_equal(mx.run("_npi_around", a, decimals=1)[0], a)
        np.testing.assert_array_equal(mx.run("_npi_nan_to_num", a)[0], a)


def test_negations_of_bool(mx, rng):
    a = rng.random(1003) > 0.5
    for name in ("logical_not", "_npi_logical_not", "_npi_bitwise_not"):
        got = mx.run(name, a)[0]
        assert got.dtype == bool
        np.testing.assert_array_equal(got.view("uint8"), (~a).view("uint8"))


@pytest.mark.parametrize("shapes", [((1003,), (1003,)), ((7, 1, 33), (5, 1)), ((1,), (70,)), ((0, 3), (1, 3))])
@pytest.mark.parametrize("name, function", [
    ("equal", np.equal), ("not_equal", np.not_equal), ("greater", np.greater), ("greater_equal", np.greater_equal), ("lesser", np.less),
    ("lesser_equal", np.less_equal), ("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor),
])
def test_bool_is_compared_in_networks_of_other_programs(mx, rng, name, function, shapes):
    a, b = (rng.random(shape) > 0.5 for shape in shapes)
    for op in (f"broadcast_{name}", f"_{name}")[: 1 + (shapes[0] == shapes[1])]:
        got = mx.run(op, a, b)[0]
        assert got.dtype == bool
        np.testing.assert_array_equal(got.view("uint8"), function(a, b).view("uint8"))



# Name, with a number on the right, the same of NumPy's (of which logical ones have none).
QUESTIONS = [
    ("equal", np.equal, "_npi_equal"), ("not_equal", np.not_equal, "_npi_not_equal"), ("greater", np.greater, "_npi_greater"),
    ("greater_equal", np.greater_equal, "_npi_greater_equal"), ("lesser", np.less, "_npi_less"),
    ("lesser_equal", np.less_equal, "_npi_less_equal"), ("logical_and", np.logical_and, None),
    ("logical_or", np.logical_or, None), ("logical_xor", np.logical_xor, None),
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name, function, numpy_name", QUESTIONS)
def test_questions_have_the_same_answer_on_either_side_of_one_number(mx, rng, name, function, numpy_name, dtype):
    values = np.array([0, 1, 2, 3, 0, 5] if dtype == "uint8" else [0, 1, -1, 3, 0, -5], dtype)
    if dtype.startswith("float"):
        values = np.concatenate([values, np.array([-0.0, np.nan, np.inf, -np.inf], dtype)])
    a, b = rng.choice(values, 203), rng.choice(values, 203)
    np.testing.assert_array_equal(mx.run(f"broadcast_{name}", a, b)[0], function(a, b).astype(dtype))
    for one in values:
        one = one.reshape(1)
        for pair in ((a, one), (one, a)):
            want = function(*pair)
            np.testing.assert_array_equal(mx.run(f"broadcast_{name}", *pair)[0], want.astype(dtype))
            if numpy_name is not None:
                got = mx.run(numpy_name, *pair)[0]
                assert got.dtype == bool
                np.testing.assert_array_equal(got.view("uint8"), want.view("uint8"))
        if np.isfinite(one[0]):
            np.testing.assert_array_equal(mx.run(f"_{name}_scalar", a, scalar=float(one[0]))[0], function(a, one).astype(dtype))


@pytest.mark.parametrize("to", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8"])
def test_bytes_become_numbers_of_any_type(mx, rng, dtype, to):
    a = rng.integers(-128, 127, 1003).astype(dtype)
    got = mx.run("Cast", a, dtype=to)[0]
    assert got.dtype == to
    np.testing.assert_array_equal(got, a.astype(to))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("a_shape, b_shape", [((4, 70), (4, 70)), ((4, 70), (70,)), ((4, 1), (1, 70)), ((), (3, 5))])
def test_slopes_of_copysign(mx, rng, a_shape, b_shape, dtype):
    a, b = (rng.choice(np.array([-2, -1, -0.0, 0, 1, 3]), shape).astype(dtype) for shape in (a_shape, b_shape))
    head = rng.integers(-4, 5, np.broadcast_shapes(a_shape, b_shape)).astype(dtype)
    got, zero = mx.gradients("_npi_copysign", [a, b], [head])
    slope = head * np.where((a < 0) != (b < 0), -1, 1)
    spread = tuple(i for i in range(head.ndim) if i >= head.ndim - a.ndim and a.shape[i - head.ndim + a.ndim] == 1)
    want = slope.sum(tuple(range(head.ndim - a.ndim)) + spread).reshape(a.shape)
    np.testing.assert_array_equal(got, want.astype(dtype))
    assert not zero.any()


@pytest.mark.parametrize("target", ["int64", "int32", "float64", "float32", "float16", "uint8", "bool"])
@pytest.mark.parametrize("source", ["int8", "uint8", "bool"])
def test_bytes_become_other_numbers(mx, rng, source, target):
    x = np.arange(-128, 128).astype(source)
    x = np.concatenate([x, rng.permutation(x), x[:7]])
    np.testing.assert_array_equal(mx.run("Cast", x, dtype=target)[0], x.astype(target))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
def test_the_upper_limit_counts_where_limits_cross(mx, dtype):
    x = np.concatenate([np.arange(20), [1, 3]]).astype(dtype)
    np.testing.assert_array_equal(mx.run("clip", x, a_min=10, a_max=3)[0], np.where(x > 3, 3, 10).astype(dtype))  # as the release has it
    if dtype.startswith("float"):
        x[:3] = np.nan, np.inf, -np.inf
        np.testing.assert_array_equal(mx.run("clip", x, a_min=10, a_max=3)[0][:3], np.array([np.nan, 3, 10], dtype))
        np.testing.assert_array_equal(mx.run("clip", x, a_min="nan", a_max=3)[0], np.where(x > 3, 3, x).astype(dtype))


BYTES = np.arange(256, dtype="uint8")


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_many_bytes_get_what_few_get(mx, rng, dtype):
    """Long arrays look their results up in a table, short ones compute them."""
    few = BYTES.view(dtype)
    many = rng.permutation(np.concatenate([few] * 20 + [few[:77]]))
    at = many.view("uint8")
    # The exponential of 90 and the like are too large for any integer: what they become is the processor's.
    for op in "tanh sigmoid arctan sin cbrt erf softsign rsqrt".split():
        np.testing.assert_array_equal(mx.run(op, many)[0], mx.run(op, few)[0][at], err_msg=op)
    for op in "power mod rmod hypot arctan2".split():
        name = f"_{op}_scalar" if op != "arctan2" else "_npi_arctan2_scalar"
        np.testing.assert_array_equal(mx.run(name, many, scalar=3)[0], mx.run(name, few, scalar=3)[0][at], err_msg=op)
    handle = mx.array(many)
    mx.invoke("tanh", [handle], out=[handle])
    np.testing.assert_array_equal(mx.numpy(handle), mx.run("tanh", few)[0][at])
    mx.free(handle)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bool", "float16"])
@pytest.mark.parametrize("a, b", [((700, 3, 3), (3, 1)), ((700, 3, 3), (700, 1, 3)), ((50, 7, 2, 5), (7, 1, 5)), ((40, 1, 3, 4), (1, 9, 1, 4)), ((3, 300, 4), (300, 1)), ((5, 6, 7, 40), (6, 1, 40)),
                                  ((30, 40, 10), (40, 1)), ((8, 900, 10), (900, 1)), ((8, 20, 9, 10), (8, 1, 9, 1)), ((8, 30, 3, 10), (8, 1, 3, 1)),
                                  ((100, 3, 5, 6), (3, 1, 6)), ((100, 3, 5, 6), (100, 1, 5, 1)), ((4, 30, 30, 17), (4, 1, 30, 1)), ((1, 40, 10), (30, 1, 10))])
def test_short_rows_are_spread_as_numpy_spreads_them(mx, rng, a, b, dtype):
    x, y = (rng.integers(0, 2 if dtype == "bool" else 50, shape).astype(dtype) for shape in (a, b))
    np.testing.assert_array_equal(mx.run("_npi_add", x, y)[0], x + y)
    np.testing.assert_array_equal(mx.run("_npi_less", y, x)[0], y < x)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_quotients_by_a_number_are_cut_next_to_every_multiple_of_it(mx, rng, dtype):
    info = np.iinfo("int32")
    for divisor in (2, -2, 3, 7, -7, 10, 127, 641, 46341, 65537, -99991, info.max, info.min + 1, *rng.integers(2, info.max, 20)):
        steps = np.concatenate([np.arange(-40, 40), rng.integers(info.min // abs(int(divisor)), info.max // abs(int(divisor)) + 1, 500)])
        a = np.clip((steps[:, np.newaxis] * int(divisor) + np.arange(-1, 2)).ravel(), info.min, info.max).astype(dtype)
        a[:4] = info.min, info.max, info.min + 1, info.max - 1
        want = np.sign(a.astype("int64")) * np.sign(divisor) * (abs(a.astype("int64")) // abs(int(divisor)))
        np.testing.assert_array_equal(mx.run("_div_scalar", a, scalar=int(divisor))[0], want)
    np.testing.assert_array_equal(mx.run("_div_scalar", a, scalar=1)[0], a)
    np.testing.assert_array_equal(mx.run("_div_scalar", a, scalar=-1)[0], -a)
    np.testing.assert_array_equal(mx.run("_div_scalar", a, scalar=0)[0], np.zeros_like(a))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [3, -2, -0.5])
def test_a_short_power_does_not_depend_on_its_neighbours(mx, rng, exponent, dtype):
    """Of which several are computed together where all are usual: not zero, nor near the ends of the range."""
    a = rng.lognormal(0, 2, 400) * rng.choice([-1, 1], 400)
    tiny, huge = 2.0 ** np.array([-35, -31]), 2.0 ** np.array([32, 34])
    odd = np.concatenate([[0.0, -0.0, np.nan, np.inf, -np.inf], tiny, -tiny, huge, -huge, [1e-300, 1e300, 5e-324]])
    for at, number in enumerate(np.tile(odd, 2)):
        a[at * 12] = number
    with np.errstate(all="ignore"):
        a = a.astype("float32").view("uint32") >> 16 if dtype == "bfloat16" else a.astype(dtype)
    if dtype == "bfloat16":
        a = (a << 16).astype("uint32").view("float32")

    def powers(numbers):
        if dtype != "bfloat16":
            return mx.run("_power_scalar", numbers, scalar=exponent)[0]
        given = mx.array(numbers)
        brain = mx.invoke("Cast", [given], dtype="bfloat16")
        power = mx.invoke("_power_scalar", brain, scalar=exponent)
        wide = mx.invoke("Cast", power, dtype="float32")
        result = mx.numpy(wide[0]).copy()
        mx.free(given, *brain, *power, *wide)
        return result

    np.testing.assert_array_equal(powers(a), np.concatenate([powers(a[i:i + 1]) for i in range(a.size)]))


ONE_ROW = np.array([1, 2, 3, 5, 7, 0, 9, 4])
HEADS = np.array([1, 4, -7, 10, 3, 5, 6, 2])


def power(a, b):
    return np.power(a.astype("float64"), b)


# A slope of integers is computed in floating point and cut before it is multiplied; a remainder has none.
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name, scalar, slope", [
    ("_div_scalar", 2, None), ("_div_scalar", -1.5, None), ("_mod_scalar", 2, 0), ("_rmod_scalar", 2, 0), ("_npi_mod_scalar", 3, 0),
    ("_rpower_scalar", 2, lambda a: 2.0**a * np.log(2)), ("_rpower_scalar", 1.5, lambda a: a * 0), ("_npi_rpower_scalar", 3, lambda a: 3.0**a * np.log(3)),
    ("_hypot_scalar", 2, lambda a: a * 0), ("_hypot_scalar", 0.5, lambda a: np.sign(a)), ("_npi_rldexp_scalar", 3, lambda a: 3 * 2.0**a * np.log(2)),
    ("_npi_ldexp_scalar", 2, lambda a: a * 0 + 4),
])
def test_gradients_of_integers_beside_a_number(mx, name, scalar, slope, dtype):
    a, heads = ONE_ROW.astype(dtype), HEADS.astype(dtype)
    a[a == 0] += name == "_hypot_scalar"  # 0 / 0 is no integer
    got = mx.gradients(name, [a], [heads], scalar=scalar)[0]
    want = np.trunc(heads / np.trunc(scalar)) if slope is None else heads * np.trunc(slope(a) if callable(slope) else a * 0)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want.astype(dtype))


# The slope of the left argument depends on the right one alone, whose shape it has.
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("shape", [(), (1, 1), (2,), (4, 1), (4, 2)])
def test_gradients_of_ldexp_of_integers_whose_powers_spread(mx, shape, dtype):
    a, heads = np.array([[1, 2]] * 4, dtype), np.arange(1, 9, dtype=dtype).reshape(4, 2)
    b = np.ones(shape, dtype)
    left, right = mx.gradients("_npi_ldexp", [a, b], [heads])
    np.testing.assert_array_equal(left, heads * 2)
    full = heads.astype("int64") * np.trunc(a * 2 * np.log(2)).astype("int64")
    aligned = (1,) * (2 - len(shape)) + shape
    kept = full.sum(axis=tuple(i for i in range(2) if aligned[i] == 1), keepdims=True).reshape(shape)
    np.testing.assert_array_equal(right, kept.astype(dtype))


def test_slopes_of_a_number_by_integers_without_signs(mx):
    a, heads = np.array([1, 2, 3, 5], "uint8"), np.array([1, 4, 7, 3], "uint8")
    np.testing.assert_array_equal(mx.gradients("_rdiv_scalar", [a], [heads], scalar=8)[0], (heads * -np.array([8, 2, 0, 0])).astype("uint8"))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("names, slopes", [
    (["elemwise_div", "broadcast_div"], (lambda a, b: 1 / b, lambda a, b: -np.trunc(a / (b * b)))),
    (["_mod", "broadcast_mod", "_npi_mod"], (lambda a, b: a * 0, lambda a, b: b * 0)),
    (["_power", "broadcast_power", "_npi_power"], (lambda a, b: b * power(a, b - 1), lambda a, b: power(a, b) * np.log(a))),
    (["_hypot", "broadcast_hypot"], (lambda a, b: a * 0, lambda a, b: a * 0)),
])
def test_gradients_of_two_arrays_of_integers(mx, names, slopes, dtype):
    a, b = np.array([[1, 2, 3, 5, 4, 9]]), np.array([[1, 2, 3, 2, 1, 2], [2, 1, 1, 3, 3, 1]])
    heads = np.array([[1, 4, 7, 3, 5, 2], [6, 2, 9, 8, 1, 3]])
    for name in names:
        whole = name.startswith(("_npi", "broadcast"))
        left = a if whole else np.concatenate([a, a + 1])
        got = mx.gradients(name, [left.astype(dtype), b.astype(dtype)], [heads.astype(dtype)])
        both = [heads * np.trunc(slope(left, b)).astype("int64") for slope in slopes]
        want = [both[0].sum(0, keepdims=True) if whole else both[0], both[1]]
        for one, other in zip(got, want):
            np.testing.assert_array_equal(one, other.astype(dtype), err_msg=name)


# More than a block of elements, and a rest.
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("size", [0, 1, 511, 513, 5003])
def test_many_gradients_of_integers(mx, rng, size, dtype):
    a, b, heads = (rng.integers(1, 9, size).astype(dtype) for _ in range(3))
    slopes = [np.trunc(1 / b), -np.trunc(a / (b.astype("int64") ** 2))]
    for got, slope in zip(mx.gradients("elemwise_div", [a, b], [heads]), slopes):
        np.testing.assert_array_equal(got, (heads * slope.astype("int64")).astype(dtype))
