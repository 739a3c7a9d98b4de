# SPDX-License-Identifier: Apache-2.0
"""NumPy's own functions called with mx.np arrays."""

import logging
import subprocess
import sys
import threading

import numpy as onp
import pytest

from mxnet import _views, autograd, np, numpy_dispatch_protocol


@pytest.fixture
def a():
    return np.array([[0, 1, 2], [3, 4, 5]])


def test_every_listed_ufunc_is_the_mx_function(a):
    two = {"add", "arctan2", "copysign", "hypot", "subtract", "multiply", "true_divide", "power", "mod", "remainder", "maximum",
           "minimum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
    integers = {"lcm", "bitwise_and", "bitwise_xor", "bitwise_or", "invert", "bitwise_not"}
    for name in numpy_dispatch_protocol._NUMPY_ARRAY_UFUNC_LIST:
        x = a.astype("int32") if name in integers else a * 0.1 + 0.2
        x = x + 1 if name == "arccosh" else x
        args = (x, x.T) if name == "matmul" else (x, x) if name in two | integers - {"invert", "bitwise_not"} else (x,)
        made = getattr(onp, name)(*args)
        assert type(made) is np.ndarray, name
        expected = getattr(onp, name)(*(arg.asnumpy() for arg in args))
        onp.testing.assert_allclose(made.asnumpy(), expected, rtol=1e-5, err_msg=name)


# A call of each function that NumPy hands over.
CALLS = {
    "all": "f(a)", "any": "f(a, axis=0)", "argmin": "f(a)", "argmax": "f(a, axis=1)", "around": "f(a, 1)", "round": "f(a, 1)",
    "argsort": "f(a)", "sort": "f(a)", "append": "f(a, a)", "broadcast_arrays": "f(a, a[0])", "broadcast_to": "f(a[0], (2, 3))",
    "clip": "f(a, 1, 2)", "concatenate": "f([a, a])", "copy": "f(a)", "cumsum": "f(a)", "diag": "f(a)", "diagonal": "f(a)",
    "diagflat": "f(a)", "dot": "f(a, a.T)", "expand_dims": "f(a, 0)", "fix": "f(a)", "flip": "f(a, 0)", "flipud": "f(a)",
    "fliplr": "f(a)", "inner": "f(a, a)", "insert": "f(a[0], 1, 2.0)", "max": "f(a)", "amax": "f(a)", "mean": "f(a)", "min": "f(a)",
    "amin": "f(a)", "nonzero": "f(a)", "ones_like": "f(a)", "atleast_1d": "f(a)", "atleast_2d": "f(a)", "atleast_3d": "f(a)",
    "prod": "f(a)", "ravel": "f(a)", "repeat": "f(a, 2)", "reshape": "f(a, (3, 2))", "roll": "f(a, 1)", "split": "f(a, 2)",
    "array_split": "f(a, 2)", "hsplit": "f(a, 3)", "vsplit": "f(a, 2)", "dsplit": "f(a[None], 3)", "squeeze": "f(a[None])",
    "stack": "f([a, a])", "std": "f(a)", "sum": "f(a, axis=0)", "swapaxes": "f(a, 0, 1)", "take": "f(a, np.array([1]))",
    "tensordot": "f(a, a)", "tile": "f(a, 2)", "transpose": "f(a)", "unique": "f(a)",
    "unravel_index": "f(np.array([1, 2], dtype='int64'), (2, 3))", "diag_indices_from": "f(a[:, :2])", "delete": "f(a, 0, axis=0)",
    "var": "f(a)", "vdot": "f(a, a)", "vstack": "f([a, a])", "column_stack": "f([a, a])", "hstack": "f([a, a])",
    "dstack": "f([a, a])", "zeros_like": "f(a)", "linalg.norm": "f(a)", "linalg.cholesky": "f(a[:, 1:] * 0 + np.eye(2))",
    "linalg.inv": "f(a[:, 1:])", "linalg.solve": "f(a[:, 1:], a[:, 0])", "linalg.pinv": "f(a)",
    "linalg.eigvalsh": "f(np.eye(2))", "shape": "f(a)", "trace": "f(a)", "tril": "f(a)", "meshgrid": "f(a[0], a[1])",
    "outer": "f(a, a)", "einsum": "f('ij->i', a)", "polyval": "f(a[0], a)", "shares_memory": "f(a, a)", "quantile": "f(a, 0.5)",
    "percentile": "f(a, 50)", "diff": "f(a)", "ediff1d": "f(a)", "resize": "f(a, (3, 3))", "where": "f(a > 1, a, a)",
    "full_like": "f(a, 2)", "bincount": "f(a.astype('int64').reshape(-1))", "nan_to_num": "f(a)", "isnan": "f(a)",
    "isfinite": "f(a)", "isposinf": "f(a)", "isneginf": "f(a)", "isinf": "f(a)", "pad": "f(a, 1)", "ndim": "f(a)", "size": "f(a)",
}


def parts(value):
    return [part for item in value for part in parts(item)] if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("path, call", CALLS.items())
def test_functions_run_in_the_library(path, call, a, caplog):
    function = onp
    for name in path.split("."):
        function = getattr(function, name)
    with caplog.at_level(logging.WARNING):
        made = eval(call, {"f": function, "a": a, "np": np})
        expected = eval(call.replace("np.", "onp."), {"f": function, "a": a.asnumpy(), "onp": onp})
    assert caplog.records == []
    for one, other in zip(parts(made), parts(expected)):
        assert isinstance(one, np.ndarray) or onp.isscalar(one), path
        onp.testing.assert_allclose(onp.asarray(one), other, rtol=1e-4, atol=1e-5, err_msg=path)


def test_other_functions_run_in_numpy_and_say_so_once(a, caplog, monkeypatch):
    monkeypatch.setattr(numpy_dispatch_protocol, "_told", set())
    with caplog.at_level(logging.WARNING):
        first, second = onp.cov(a), onp.cov(a)
    assert type(first) is np.ndarray and first.tolist() == second.tolist() == onp.cov(a.asnumpy()).tolist()
    assert len(caplog.records) == 1 and "np.cov has no operator" in caplog.text


def test_argwhere_is_an_operator(a, caplog):
    with caplog.at_level(logging.WARNING):
        for function in (onp.argwhere, np.argwhere):
            for values in (a, a > 1, np.zeros((0, 3)), np.array([0.0, -0.0, float("nan")])):
                places, wanted = function(values), onp.argwhere(values.asnumpy())
                assert type(places) is np.ndarray and places.dtype == "int64" and places.shape == wanted.shape
                assert places.tolist() == wanted.tolist()
        with autograd.record():
            for value, shape in ((np.array(3.0), (1, 0)), (np.array(0.0), (0, 0)), (np.array(True), (1, 0))):
                places = np.argwhere(value)
                assert type(places) is np.ndarray and places.dtype == "int64" and places.shape == shape
    assert "no operator" not in caplog.text


def test_flatnonzero_is_an_operator(a, caplog):
    shapes = (a, a > 1, a.T, np.zeros((0, 3)), np.zeros((2, 2)), np.array(3.0), np.array(0.0), np.array([0.0, -0.0, float("nan")]))
    types = [a.astype(dtype) for dtype in ("bfloat16", "float16", "float64", "uint8", "int8", "int32", "int64")]
    with caplog.at_level(logging.WARNING):
        for function in (onp.flatnonzero, np.flatnonzero):
            for values in (*shapes, *types):
                places, wanted = function(values), onp.flatnonzero(values.asnumpy())
                assert type(places) is np.ndarray and places.dtype == "int64" and places.shape == wanted.shape
                assert places.tolist() == wanted.tolist()
    assert caplog.records == []
    with autograd.record():
        assert np.flatnonzero(a).tolist() == [1, 2, 3, 4, 5]


def test_other_ufuncs_and_their_methods_run_in_numpy(a):
    assert onp.logaddexp(a, a).tolist() == onp.logaddexp(a.asnumpy(), a.asnumpy()).tolist()
    assert onp.add.reduce(a).tolist() == [3, 5, 7] and type(onp.add.outer(a, a)) is np.ndarray
    whole, rest = onp.divmod(a, 2)
    assert type(whole) is type(rest) is np.ndarray and rest.tolist() == [[0, 1, 0], [1, 0, 1]]
    out = np.zeros((2, 3))
    assert onp.logaddexp(a, a, out=out) is out and out[0, 0].item() == pytest.approx(onp.log(2))


def test_numpys_array_cannot_be_out(a):
    with pytest.raises(TypeError, match="expected an mx.np array"):
        onp.add(a, a, out=onp.zeros((2, 3)))


def test_options_of_ufuncs_are_refused(a):
    for option in ({"where": False}, {"dtype": "float64"}, {"casting": "no"}):
        with pytest.raises(NotImplementedError):
            onp.add(a, a, **option)


def test_what_runs_in_numpy_cannot_be_recorded(a):
    a.attach_grad()
    with autograd.record():
        assert type(onp.sin(a)) is np.ndarray
        with pytest.raises(ValueError, match="autograd"):
            onp.cov(a)


def test_fallbacks_of_mx_np(a):
    assert np.allclose(a, a) and np.array_equal(a, a) and np.ndim(a) == 2 and np.size(a) == 6 and np.ptp(a) == 5
    for made in (np.isclose(a, a), np.unwrap(a), np.setdiff1d(a, a[0]), np.linalg.multi_dot([a, a.T]), np.linalg.qr(a)[0]):
        assert type(made) is np.ndarray
    assert np.alltrue(a + 1) and np.msort(a).tolist() == a.tolist() and np.in1d(a, a[0]).tolist() == [True] * 3 + [False] * 3
    assert np.trapz(a).tolist() == [2, 8] and np.modf(a + 0.5)[0].tolist() == [[0.5] * 3] * 2
    assert np.linalg.matrix_rank(a) == 2
    with pytest.raises(RuntimeError, match="numpy-financial"):
        np.npv(0.1, [1, 2])


def test_results_that_the_library_has_no_type_for(a):
    with pytest.raises(TypeError, match="complex"):
        onp.fft.fft(a)


def test_classes_that_are_not_known_are_left_to_others(a):
    class Other:
        def __array_function__(self, func, types, args, kwargs):
            return "other"

    assert onp.concatenate([a, Other()]) == "other"


def test_decorators_of_tests_run_the_function():
    for decorator in (numpy_dispatch_protocol.with_array_function_protocol, numpy_dispatch_protocol.with_array_ufunc_protocol):
        assert decorator(lambda value: value + 1)(1) == 2


# Arrays that are large enough to be read in place.


@pytest.fixture
def large():
    return np.array(onp.random.RandomState(7).randint(0, 5, (300, 400)).astype("float32"))


@pytest.fixture
def given(monkeypatch):
    """What NumPy has been given in place of arrays, where it could be views: True for a view."""
    views, show = [], _views.ViewsOfOneCall.show

    def watched(self, value):
        made = show(self, value)
        if isinstance(value, np.ndarray):
            views.append(not made.flags.writeable and not made.flags.owndata)
        return made

    monkeypatch.setattr(_views.ViewsOfOneCall, "show", watched)
    return views


@pytest.fixture
def shown(given, monkeypatch):
    """The same, whatever threads the tests themselves have."""
    monkeypatch.setattr(_views, "_alone", lambda: True)
    return given


READERS = (
    "isclose(a, b)", "divmod(a, b + 1)", "real(a)", "rollaxis(a, 1)", "rot90(a)", "triu(a)", "moveaxis(a, 0, 1)",
    "nancumsum(a)", "signbit(a)", "logaddexp(a, b)", "add.reduce(a)", "lib.stride_tricks.sliding_window_view(a, 3, 0)",
    "trim_zeros(a[0].repeat(60))", "select([a > 2], [b], 1)", "choose(a.astype('int64') % 2, [a, b])", "searchsorted(a[0], b)",
    "compress(a[0] > 2, b, axis=1)", "histogram_bin_edges(a)", "array_equal(a, b)", "count_nonzero(a)", "frexp(a)", "positive(a)",
)


@pytest.mark.parametrize("call", READERS)
def test_large_arrays_are_read_in_place_and_results_are_new(call, large, shown):
    a, b = large, np.flip(large, 1)
    before = [a.asnumpy(), b.asnumpy()]
    known = {"a": a, "b": b}
    theirs = eval("onp." + call, {"onp": onp, "a": before[0], "b": before[1]})
    shown.clear()
    made = eval("onp." + call, {"onp": onp, **known})
    assert shown.count(True) >= (a.ctx.device_type == "cpu")
    for ours, numpys in zip((a, b), before):
        assert onp.array_equal(ours.asnumpy(), numpys)
        ours[:] = -1
    assert len(parts(made)) == len(parts(theirs))
    for one, other in zip(parts(made), parts(theirs)):
        onp.testing.assert_array_equal(one.asnumpy() if isinstance(one, np.ndarray) else one, other)


@pytest.mark.parametrize("call", [
    "put(a, [1], [50])", "place(a, mask, [50])", "putmask(a, mask, [50])", "copyto(a, 50)", "fill_diagonal(a, 50)",
    "put_along_axis(a, mask[:, :1].astype(int), 50, 1)", "add.at(a, [0], 50)", "nanmedian(a, overwrite_input=True)",
    "nanmax(a, 1, out=a[:, 0])", "nan_to_num(a, copy=False)",
])
def test_what_writes_to_its_arguments_writes_to_copies(call, large):
    before = large.asnumpy()
    eval("onp." + call, {"onp": onp, "a": large, "mask": before > 2})
    assert onp.array_equal(large.asnumpy(), before)


def test_code_of_a_program_gets_copies(large, shown):
    rows = []

    def change(row):
        rows.append(row)
        row[:] = 7
        return row.sum()

    before = large.asnumpy()
    assert onp.apply_along_axis(change, 1, large).shape == (300,) and len(rows) == 300
    onp.piecewise(large, [before > 2], [lambda x: x + 1, 0])
    onp.array2string(large, formatter={"all": str})
    assert shown == [] and onp.array_equal(large.asnumpy(), before)


def test_a_program_of_one_thread_reads_in_place():
    script = "from mxnet import _views, np; assert _views.may_share(([np.ones((300, 400)), 2], {'axis': None}))"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_beside_other_threads_arrays_are_copied(large, given):
    leave = threading.Event()
    thread = threading.Thread(target=leave.wait)
    thread.start()
    try:
        assert onp.count_nonzero(large) == onp.count_nonzero(large.asnumpy()) and given == []
    finally:
        leave.set()
        thread.join()


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("fails", [False, True])
def test_a_write_that_comes_all_the_same_is_seen(fails, large):
    """As from a callback of the engine: the call is done again, on a copy."""
    copied = []

    def zeros_in(array):
        copied.append(bool(array.flags.owndata))
        if not copied[-1]:
            large[:] = 0
            if fails:
                raise RuntimeError("number of non-zero array elements changed during function execution")
        return onp.array([(array == 0).sum()])

    zeros_in.__module__ = "numpy"
    before = large.asnumpy()
    made = numpy_dispatch_protocol.array_function(zeros_in, (np.ndarray,), (large,), {})
    if large.ctx.device_type == "cpu":
        assert copied == [False, True] and made.tolist() == [large.size]
    else:
        assert copied == [True] and made.tolist() == [(before == 0).sum()]


def test_pending_writes_are_waited_for(large):
    expected = large.asnumpy()
    for _ in range(20):
        large += 1
        expected += 1
        assert np.isclose(large, np.array(expected)).asnumpy().all()


@pytest.mark.usefixtures("shown")
def test_what_failed_in_computing_an_argument_is_raised():
    failed = np.linalg.cholesky(-np.eye(300))
    with pytest.raises(ValueError, match="positive definite"):  # which is not NumPy's for a read-only view
        onp.count_nonzero(failed)


def test_types_without_a_view_are_copied(large):
    assert onp.count_nonzero(large.astype("bfloat16")) == onp.count_nonzero(large.asnumpy())
    for dtype in ("float16", "float64", "uint8", "int8", "int32", "int64", "bool"):
        wide = np.concatenate([large] * 2).astype(dtype)
        assert onp.count_nonzero(wide, axis=1).tolist() == onp.count_nonzero(wide.asnumpy(), axis=1).tolist(), dtype
