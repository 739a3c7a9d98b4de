# SPDX-License-Identifier: Apache-2.0
"""mx.nd arrays: making them, operators as functions and methods, conversions."""

import copy
import functools
import inspect
import pickle
import pydoc
import weakref

import mxnet as mx
import numpy as np
import pytest


@pytest.fixture
def left():
    return np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_classes_have_their_documented_names():
    from mxnet._cy3.ndarray import NDArrayBase

    assert mx.nd._internal.NDArrayBase is NDArrayBase
    assert issubclass(mx.nd.NDArray, NDArrayBase) and mx.nd is mx.ndarray


def test_arrays_are_made_of_lists_numbers_and_arrays():
    assert mx.nd.array([1, 2]).dtype == np.float32
    assert mx.nd.array(np.arange(3, dtype=np.int64)).dtype == np.float32
    assert mx.nd.array([1, 2], dtype="int8").dtype == np.int8
    assert mx.nd.array(mx.nd.array([1], dtype="int64")).dtype == np.int64
    assert mx.nd.zeros((2, 3)).asnumpy().tolist() == [[0] * 3] * 2
    assert mx.nd.ones(2, dtype="int32").asnumpy().tolist() == [1, 1]
    assert mx.nd.full((2,), 7).asnumpy().tolist() == [7, 7]
    assert mx.nd.full((2,), True).asnumpy().tolist() == [1, 1]
    assert mx.nd.full((2, 2), [7, 8]).asnumpy().tolist() == mx.nd.full((2, 2), mx.nd.array([7, 8])).asnumpy().tolist() == [[7, 8]] * 2
    assert mx.nd.arange(2, 8, 2).asnumpy().tolist() == [2, 4, 6]
    assert mx.nd.arange(3).asnumpy().tolist() == [0, 1, 2]
    assert mx.nd.linspace(0, 1, 3).asnumpy().tolist() == [0, 0.5, 1]
    assert mx.nd.eye(2).asnumpy().tolist() == [[1, 0], [0, 1]]
    assert mx.nd.empty((3, 4)).shape == (3, 4)
    assert mx.nd.array([mx.nd.ones(2), mx.nd.zeros(2)]).shape == (2, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"])
def test_types_survive_the_way_there_and_back(dtype):
    values = np.array([[0, 1], [1, 1]], dtype)
    back = mx.nd.array(values, dtype=dtype).asnumpy()
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


def test_unknown_types_are_errors():
    with pytest.raises(TypeError, match="complex64"):
        mx.nd.empty((2,), dtype="complex64")


@pytest.mark.parametrize("given", ["abc", ["a"], [1, "b"], 1 + 2j, {"a": 1}, {1}, object(), [[1], [2, 3]]])
def test_what_holds_no_numbers_is_of_the_wrong_type(given):
    with pytest.raises(TypeError, match="expected what becomes an array"):
        mx.nd.array(given)


@pytest.mark.parametrize("given, expected", [("12", [12]), (["1", "2.5"], [1, 2.5]), (range(3), [0, 1, 2]), ([2**70], [2.0**70]), (True, [1])])
def test_what_can_be_read_as_numbers_is(given, expected):
    assert mx.nd.array(given).asnumpy().tolist() == expected


def test_operators_take_arguments_by_position_and_name(left):
    x = mx.nd.array(left)
    assert mx.nd.reshape(x, (3, 2)).shape == mx.nd.reshape(data=x, shape=(3, -1)).shape == (3, 2)
    assert mx.nd.sum(x, axis=1).asnumpy().tolist() == [6, 15]
    assert mx.nd.concat(x, x, dim=0).shape == (4, 3)
    weight, bias = mx.nd.ones((4, 3)), mx.nd.ones((4,))
    by_name = mx.nd.FullyConnected(bias=bias, data=x, num_hidden=4, weight=weight)
    by_place = mx.nd.FullyConnected(x, weight, bias, num_hidden=4)
    np.testing.assert_array_equal(by_name.asnumpy(), by_place.asnumpy())
    assert mx.nd.FullyConnected(x, weight, no_bias=True, num_hidden=4).shape == (2, 4)


def test_out_is_written_and_returned(left):
    a, out = mx.nd.array(left), mx.nd.zeros((2, 3))
    assert mx.nd.elemwise_add(a, a, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), left + left)


def test_several_outputs_are_a_list(left):
    values, places = mx.nd.topk(mx.nd.array(left), k=2, ret_typ="both")
    assert values.asnumpy().tolist() == [[3, 2], [6, 5]] and places.shape == (2, 2)
    assert [part.shape for part in mx.nd.array(left).split(3, axis=1)] == [(2, 1)] * 3


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda x: mx.nd.exp(np.ones(3)), r"exp: given (numpy\.)?ndarray"),
        (lambda x: mx.nd.sum(x, axes=1), "axes"),
        (lambda x: mx.nd.sum(x, axis="a"), "axis"),
        (lambda x: mx.nd.sum(x, data=x), "two values for data"),
        (lambda x: mx.nd.dot(x, x), "dot"),
        (lambda x: x.no_such_method(), "no_such_method"),
        (lambda x: mx.nd.no_such_operator(x), "no_such_operator"),
    ],
)
def test_errors_say_what_was_given(call, text):
    with pytest.raises((TypeError, ValueError, AttributeError, mx.MXNetError), match=text):
        call(mx.nd.ones((2, 3)))


def test_operators_describe_themselves():
    assert "axis" in inspect.signature(mx.nd.sum).parameters
    assert "data" in mx.nd.sum.__doc__ and mx.nd.sum.__name__ == "sum"
    assert mx.nd.contrib.box_nms.__name__ == "box_nms" and "box_nms" in dir(mx.nd.contrib)
    assert {"Convolution", "array", "random"} <= set(dir(mx.nd))
    assert mx.nd.linalg.gemm2.op_name == "_linalg_gemm2"


def test_broadcast_like_puts_new_dimensions_in_front_as_broadcast_to_does():
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with mx.autograd.record():
        y = x.broadcast_like(mx.nd.zeros((2, 3)))
    y.backward()
    np.testing.assert_array_equal(y.asnumpy(), [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2, 2])
    assert mx.nd.ones((1, 3)).broadcast_like(mx.nd.ones((4, 5)), lhs_axes=0, rhs_axes=1).shape == (5, 3)
    with pytest.raises(ValueError, match="broadcast"):
        mx.nd.ones(2).broadcast_like(mx.nd.zeros((2, 3)))


def test_methods_are_operators(left):
    x = mx.nd.array(left)
    np.testing.assert_allclose(x.exp().asnumpy(), np.exp(left), rtol=1e-6)
    np.testing.assert_array_equal(x.sum(axis=0, keepdims=True).asnumpy(), left.sum(0, keepdims=True))
    np.testing.assert_array_equal(x.T.asnumpy(), left.T)
    np.testing.assert_array_equal(x.transpose((1, 0)).asnumpy(), left.T)
    assert x.expand_dims(0).shape == (1, 2, 3) and x.broadcast_to((4, 2, 3)).shape == (4, 2, 3)
    assert x.reshape(3, 2).shape == x.reshape((0, -1)).shape[::-1] == (3, 2)
    assert mx.nd.moveaxis(mx.nd.zeros((2, 3, 4)), 0, -1).shape == (3, 4, 2)
    assert [part.shape for part in mx.nd.split_v2(x, (1,), axis=1)] == [(2, 1), (2, 2)]


AXES = [(0, 2), (-1, 0), (2, -3), (1, 1), ((0, 1), (2, 0)), ([2], [0]), (np.int64(2), 0), ((), ()), (0, (1,))]


@pytest.mark.parametrize("source, destination", AXES, ids=str)
def test_axes_are_moved_where_numpy_moves_them(source, destination):
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    moved = mx.nd.moveaxis(mx.nd.array(values), source, destination)
    assert np.array_equal(moved.asnumpy(), np.moveaxis(values, source, destination))


@pytest.mark.parametrize("source, destination", [(3, 0), (0, -4), ((0, 0), (1, 2)), ((0, 1), (2,)), (1.5, 0), (True, 5)], ids=str)
def test_axes_that_are_not_there_are_numpys_errors(source, destination):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        np.moveaxis(np.zeros((2, 3, 4)), source, destination)
    with pytest.raises(type(theirs.value)) as ours:
        mx.nd.moveaxis(mx.nd.zeros((2, 3, 4)), source, destination)
    assert str(ours.value) == str(theirs.value)


def test_reshape_shares_memory(left):
    x = mx.nd.array(left)
    x.reshape(-1)[0] = 9
    assert x.asnumpy()[0, 0] == 9
    with pytest.raises(ValueError, match="elements"):
        x.reshape((2, 2))


def test_as_pythons_numbers():
    one = mx.nd.array([3])
    assert int(one) == 3 and float(one) == 3.0 and bool(one) and one.asscalar() == 3
    assert len(mx.nd.zeros((4, 2))) == 4 and [row.shape for row in mx.nd.zeros((4, 2))] == [(2,)] * 4
    with pytest.raises(ValueError, match="ambiguous"):
        bool(mx.nd.ones(2))
    with pytest.raises(ValueError, match="one element"):
        mx.nd.ones(2).asscalar()


def test_numpy_reads_arrays(left):
    x = mx.nd.array(left)
    np.testing.assert_array_equal(np.asarray(x), left)
    assert np.asarray(x, dtype=np.int32).dtype == np.int32


def test_pickle_and_copies(left):
    x = mx.nd.array(left)
    for same in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x), x.copy()):
        np.testing.assert_array_equal(same.asnumpy(), left)
        same[:] = 0
        np.testing.assert_array_equal(x.asnumpy(), left)


def test_dlpack_shares_memory(left):
    x = mx.nd.array(left)
    y = mx.nd.from_dlpack(x)
    y[0] = 5
    assert x.asnumpy()[0].tolist() == [5, 5, 5]
    z = mx.nd.from_dlpack(x.to_dlpack_for_write())
    z[:] = 1
    assert x.asnumpy().sum() == 6
    np.testing.assert_array_equal(np.from_dlpack(x), x.asnumpy())
    mx.nd.from_numpy(left)
    assert not left.flags["WRITEABLE"]


def test_an_array_prints_values_shape_and_context(left):
    assert repr(mx.nd.array(left)) == "\n[[1. 2. 3.]\n [4. 5. 6.]]\n<NDArray 2x3 @cpu(0)>"


def test_arrays_are_made_in_the_current_context_and_copied_to_others():
    with mx.Context("cpu", 1):
        assert mx.nd.zeros((1,)).context == mx.cpu(1)
    x = mx.nd.ones((2,), ctx=mx.cpu(0))
    assert x.as_in_context(mx.cpu(0)) is x
    assert x.copyto(mx.cpu(2)).context == mx.cpu(2)


def test_the_context_that_is_copied_to_has_the_names_of_both_kinds_of_arrays(left):
    for x in (mx.nd.array(left), mx.np.array(left)):
        assert x.as_in_ctx(ctx=x.context) is x.as_in_context(context=x.context) is x
        assert x.as_in_ctx(ctx=mx.cpu(1)).context == mx.cpu(1)


def test_lists_dictionaries_and_buffers_survive_a_file(tmp_path, left):
    path = tmp_path / "arrays"
    arrays = {"a": mx.nd.array(left), "b": mx.nd.array([1, 2], dtype="int64")}
    mx.nd.save(path, arrays)
    for loaded in (mx.nd.load(path), mx.nd.load_frombuffer(path.read_bytes())):
        assert list(loaded) == ["a", "b"] and loaded["b"].dtype == np.int64
        np.testing.assert_array_equal(loaded["a"].asnumpy(), left)
    mx.nd.save(str(path), list(arrays.values()))
    assert [x.shape for x in mx.nd.load(str(path))] == [(2, 3), (2,)]
    with pytest.raises(ValueError, match="int"):
        mx.nd.save(path, 3)


def test_random_numbers_follow_the_seed():
    mx.random.seed(7)
    first = mx.nd.random.uniform(-1, 1, shape=(3, 4))
    mx.random.seed(7)
    np.testing.assert_array_equal(first.asnumpy(), mx.random.uniform(-1, 1, shape=(3, 4)).asnumpy())
    assert (first.asnumpy() >= -1).all() and (first.asnumpy() < 1).all()
    assert mx.nd.random.normal(mx.nd.zeros((2,)), mx.nd.ones((2,)), shape=3).shape == (2, 3)
    assert mx.nd.random.randint(0, 5, shape=(4,)).dtype == np.int32
    assert mx.nd.random.randn(2, 3).shape == (2, 3)


def test_sparse_arrays_and_back():
    dense = np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3]], np.float32)
    csr = mx.nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 1, 3]), shape=(3, 3))
    assert isinstance(csr, mx.nd.sparse.CSRNDArray) and csr.stype == "csr"
    np.testing.assert_array_equal(csr.asnumpy(), dense)
    assert csr.indices.asnumpy().tolist() == [1, 0, 2] and csr.indptr.asnumpy().tolist() == [0, 1, 1, 3]
    rows = mx.nd.array(dense).tostype("row_sparse")
    assert rows.indices.asnumpy().tolist() == [0, 2] and rows.data.shape == (2, 3)
    np.testing.assert_array_equal(rows.asnumpy(), dense)
    assert mx.nd.zeros((2, 3), stype="csr").asnumpy().sum() == 0
    np.testing.assert_array_equal(csr[1:3].asnumpy(), dense[1:3])


@pytest.mark.parametrize(
    "name",
    ["nd.Convolution", "nd.contrib.box_nms", "nd.linalg.gemm2", "nd.op.relu", "nd._internal._plus_scalar", "npx.relu", "np.add", "sym.dot"],
)
def test_functions_are_pickled_by_name_and_copied_as_they_are(name):
    function = functools.reduce(getattr, name.split("."), mx)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


def test_a_block_that_keeps_an_operator_can_be_copied():
    class Net(mx.gluon.Block):
        def __init__(self):
            super().__init__()
            self.function = mx.nd.relu

        def forward(self, x):
            return self.function(x)

    made = copy.deepcopy(Net())
    assert made(mx.nd.array([-1, 2])).asnumpy().tolist() == [0, 2]


def test_operators_say_where_users_find_them_whoever_asked_first():
    from mxnet.ndarray import _generate

    for function, module, name in (
        (_generate.operator("BlockGrad"), "mxnet.ndarray", "BlockGrad"),
        (mx.nd.op.Flatten, "mxnet.ndarray", "Flatten"),
        (_generate.operator("_contrib_box_iou"), "mxnet.ndarray.contrib", "box_iou"),
        (_generate.operator("_copyto"), "mxnet.ndarray._internal", "_copyto"),
    ):
        assert (function.__module__, function.__name__) == (module, name)
        assert pickle.loads(pickle.dumps(function)) is function


def test_help_begins_with_what_an_operator_is():
    text = pydoc.render_doc(mx.nd.Convolution, renderer=pydoc.plaintext)
    assert text.startswith("Python Library Documentation: operator in module mxnet.ndarray\n\nConvolution(")
    assert "(data=None,weight=None,bias=None," in "".join(text.split())  # Python 3.13 gives each parameter a line
    assert "\n    Parameters\n" in text and "num_filter : int (non-negative), required\n" in text


def test_operators_take_out_and_a_name_by_place():
    out = mx.nd.zeros(2)
    assert mx.nd.abs(mx.nd.array([-1, 2]), out, "name") is out
    assert out.asnumpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match="given 4 positional arguments, expected at most 3"):
        mx.nd.abs(out, out, "name", None)


def test_signatures_say_which_parameters_are_arrays_and_which_stand_for_any_number():
    parameters = inspect.signature(mx.nd.all_finite).parameters
    assert parameters["data"].default is None
    assert next(iter(inspect.signature(mx.nd.add_n).parameters.values())).name == "args"


def test_a_default_that_a_signature_shows_is_a_parameter_that_is_not_given(left):
    """Programs that wrap an operator hand it on."""
    x, _Null = mx.nd.array(left), inspect.signature(mx.nd.sum).parameters["axis"].default
    assert _Null is mx.base._Null
    assert mx.nd.sum(x, axis=_Null).asscalar() == mx.nd.sum(x, _Null).asscalar() == x.sum(axis=_Null).asscalar() == left.sum()
    assert mx.nd.concat(x, x, dim=_Null).shape == mx.nd.concat(x, x).shape
    assert mx.nd.Convolution(mx.nd.ones((1, 1, 4, 4)), mx.nd.ones((1, 1, 2, 2)), _Null, (2, 2), num_filter=1, no_bias=True).shape == (1, 1, 3, 3)
    assert mx.sym.sum(mx.sym.var("x"), axis=_Null).list_attr() == {}
    with pytest.raises(mx.base.MXNetError, match="a_max"):
        mx.nd.clip(x, 0, _Null)
    with pytest.raises(mx.base.MXNetError, match="axes"):
        mx.nd.sum(x, axes=_Null)


def test_counts_of_the_whole_range_are_float32_and_of_a_given_one_integers():
    counts, edges = made = mx.nd.histogram(mx.nd.array([1, 2, 3, 7]), bins=2)
    assert type(made) is tuple
    assert counts.dtype == edges.dtype == np.float32
    assert counts.asnumpy().tolist() == [3, 1]
    assert mx.nd.histogram(mx.nd.array([1, 2]), bins=2, range=(0, 4))[0].dtype == np.int64


def test_sparse_zeros_refuses_what_it_does_not_know():
    with pytest.raises(TypeError, match="zeros: given order"):
        mx.nd.sparse.zeros("csr", (2, 2), order="C")


def read_only(*shape):
    return mx.nd.NDArray(mx.nd.zeros(shape), writable=False)


@pytest.mark.parametrize(
    "write",
    [
        lambda out: mx.nd.ones(2, out=out),
        lambda out: mx.nd.split(mx.nd.ones(4), num_outputs=2, axis=0, out=[mx.nd.zeros(2), out]),
        lambda out: mx.nd.split(mx.nd.ones(4), num_outputs=2, axis=0, out=(out, mx.nd.zeros(2))),
        lambda out: mx.optimizer.get_updater(mx.optimizer.SGD())([0, 1], [mx.nd.ones(2)] * 2, [mx.nd.ones(2), out]),
    ],
    ids=["alone", "in a list", "in a tuple", "a weight"],
)
def test_a_read_only_array_is_not_written(write):
    """Neither as the one result nor as one of several."""
    out = read_only(2)
    with pytest.raises(ValueError, match="read-only"):
        write(out)
    assert out.asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("out", [[], ()], ids=["list", "tuple"])
def test_no_outputs_are_too_few(out):
    op = mx.nd.CachedOp(mx.sym.exp(mx.sym.var("x")))
    for call in (mx.nd.exp, op):
        with pytest.raises(mx.MXNetError, match="given 0 outputs, expected 1"):
            call(mx.nd.ones(2), out=out)


class Doubling(mx.autograd.Function):
    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    def forward(self, x):
        return x * 2

    def backward(self, dy):
        return dy * 2


def through_a_function(array):
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        y = Doubling(array)(x)
    y.backward()


EXP = mx.nd.CachedOp(mx.sym.exp(mx.sym.var("x")))
USES = {
    "an input": lambda a: mx.nd.exp(a),
    "inputs": lambda a: mx.nd.add_n([a, a]),
    "out": lambda a: mx.nd.exp(mx.nd.ones(2), out=a),
    "a list of outputs": lambda a: mx.nd.exp(mx.nd.ones(2), out=[a]),
    "out of a CachedOp": lambda a: EXP(mx.nd.ones(2), out=a),
    "what a function of autograd keeps": through_a_function,
}


@pytest.mark.parametrize("name", USES)
def test_a_call_does_not_keep_its_arrays(name, collector_off):
    """They go with their last name, not when cycles are collected: that asks nothing for how large they are."""
    array = mx.nd.zeros(2)
    gone = weakref.ref(array)
    USES[name](array)
    mx.nd.waitall()
    del array
    assert gone() is None


def test_an_array_is_cut_at_more_places_than_a_shape_has_dimensions():
    cuts = list(range(1, 60))
    numbers = np.arange(120.0, dtype="float32").reshape(60, 2)
    for pieces in (
        mx.nd.split_v2(mx.nd.array(numbers), cuts),
        mx.np.split(mx.np.array(numbers), cuts),
        mx.sym.split_v2(mx.sym.var("x"), cuts).bind(mx.cpu(), {"x": mx.nd.array(numbers)}).forward(),
    ):
        assert [piece.asnumpy().tolist() for piece in pieces] == [[row] for row in numbers.tolist()]
