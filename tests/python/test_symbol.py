# SPDX-License-Identifier: Apache-2.0
"""mx.sym: building networks, their names, attributes, files and inference."""

import copy
import importlib
import inspect
import pickle

import mxnet as mx
import numpy as np
import pytest


def network():
    with mx.name.NameManager():
        data = mx.sym.var("data")
        hidden = mx.sym.FullyConnected(data, num_hidden=8, name="fc")
        return mx.sym.softmax(mx.sym.Activation(hidden, act_type="relu"))


def test_names_and_arguments():
    net = network()
    assert net.list_arguments() == ["data", "fc_weight", "fc_bias"]
    assert net.name == "softmax0" and net.list_outputs() == ["softmax0_output"]
    assert net.get_internals().list_outputs()[-2:] == ["activation0_output", "softmax0_output"]


def test_names_are_counted_per_manager():
    x = mx.sym.var("x")
    with mx.name.NameManager():
        assert [mx.sym.exp(x).name for _ in range(2)] == ["exp0", "exp1"]
        with mx.name.Prefix("net_"):
            assert mx.sym.exp(x).name == "net_exp0" and mx.sym.exp(x, name="y").name == "net_y"
        assert mx.sym.exp(x).name == "exp2"
        assert (x + x).name == "_plus0" and (x + 1).name == "_plusscalar0"


def test_inputs_by_place_and_by_name():
    x, w = mx.sym.var("x"), mx.sym.var("w")
    by_name = mx.sym.FullyConnected(weight=w, data=x, num_hidden=2, no_bias=True)
    assert by_name.list_arguments() == ["x", "w"]
    assert mx.sym.concat(x, w, dim=0).list_arguments() == ["x", "w"]
    with pytest.raises(TypeError, match="two values"):
        mx.sym.exp(x, data=x)
    with pytest.raises(TypeError, match="int"):
        mx.sym.exp(3)


def test_states_are_no_arguments():
    net = mx.sym.BatchNorm(mx.sym.var("data"), name="bn")
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.list_arguments() == ["data", "bn_gamma", "bn_beta"]


def test_shapes_and_types():
    net = network()
    arguments, outputs, states = net.infer_shape(data=(4, 3))
    assert (arguments, outputs, states) == ([(4, 3), (8, 3), (8,)], [(4, 8)], [])
    assert net.infer_shape() == (None, None, None)
    assert net.infer_shape_partial()[0][0] == ()
    assert net.infer_type(data=np.float64)[1] == [np.float64]
    with pytest.raises(mx.MXNetError, match="fc"):
        net.infer_shape(data=(4, 3), fc_weight=(9, 3))


def test_attributes_come_from_scopes_parameters_and_assignments():
    with mx.AttrScope(__group__="a"), mx.AttrScope(__part__="b"):
        x = mx.sym.var("x", lr_mult=2, shape=(2, 3))
    assert x.attr("__group__") == "a" and x.attr("__part__") == "b" and x.attr("nothing") is None
    assert x.attr("__lr_mult__") == "2" and mx.sym.exp(x).infer_shape()[1] == [(2, 3)]
    assert mx.sym.exp(x).infer_shape(x=(0, 3))[1] == [(2, 3)] and mx.sym.exp(x).infer_shape(x=(5, 3))[1] == [(5, 3)]
    assert network().attr_dict()["fc"]["num_hidden"] == "8"
    assert x.attr("op_name") == "null" and mx.sym.split(x, num_outputs=2)[0].attr("op_name") == "SliceChannel"
    assert mx.sym.Group([x, mx.sym.exp(x)]).attr("op_name") is None
    e = mx.sym.exp(x, name="e")
    e._set_attr(mood="good", __lr_mult__="3")  # pylint: disable=protected-access
    assert e.attr("mood") == "good" and e.attr("lr_mult") == "3"
    with pytest.raises(ValueError, match="mood"):
        e._set_attr(mood=3)  # pylint: disable=protected-access


def test_attributes_without_underscores_stay_as_they_are_where_no_parser_reads_them():
    x = mx.sym.var("x")
    with mx.AttrScope(mood="x", ctx_group="a"):
        made = {"tanh": mx.sym.tanh(x), "plus": x + x, "fc": mx.sym.FullyConnected(x, num_hidden=2), "add_n": mx.sym.add_n(x, x)}
    given = mx.sym.broadcast_add(x, x, attr={"mood": "x"})
    for node in (made["tanh"], made["plus"], given):
        assert node.attr("mood") == "x" and '"__mood__"' not in node.tojson()
    for node in (made["fc"], made["add_n"]):  # an error of the releases: parameters are what is expected there
        assert node.attr("__mood__") == "x" and node.attr("mood") is None
    assert all(node.attr("ctx_group") == "a" and node.attr("__ctx_group__") == "a" for node in made.values())


def test_a_node_that_cannot_be_made_has_taken_its_name():
    x = mx.sym.var("x")
    with mx.name.NameManager() as names:
        with pytest.raises(mx.MXNetError):
            mx.sym.Activation(x, act_type="unheard")
        assert mx.sym.Activation(x, act_type="relu").name == "activation1" and names.get(None, "activation") == "activation2"


def test_names_of_what_numbers_begin_are_those_of_the_wheel():
    x = mx.sym.var("x")
    with mx.name.NameManager():
        names = [made.name for made in (2**x, x**2, mx.sym.pow(2, x), 1 - x, 2 / x, 2 % x, x + x, -x, x > 1)]
    assert names == [
        "_rpower_scalar0", "_powerscalar0", "_rpowerscalar0", "_rminusscalar0", "_rdivscalar0", "_rmodscalar0", "_plus0",
        "_mulscalar0", "_greater_scalar0",
    ]  # fmt: skip


def test_copies_and_files(tmp_path):
    net = network()
    net.save(tmp_path / "net.json")
    for same in (copy.deepcopy(net), pickle.loads(pickle.dumps(net)), mx.sym.load(tmp_path / "net.json")):
        assert same.tojson() == net.tojson()


def test_files_that_cannot_be_read_are_errors_of_the_library(tmp_path):
    with pytest.raises(mx.base.MXNetError, match="nowhere-symbol.json"):
        mx.model.load_checkpoint(str(tmp_path / "nowhere"), 1)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe{}")
    with pytest.raises(mx.base.MXNetError, match="utf-8"):
        mx.sym.load(tmp_path / "bytes")


def test_groups_and_outputs():
    x = mx.sym.var("x")
    both = mx.sym.Group([mx.sym.exp(x, name="a"), mx.sym.log(x, name="b")])
    assert [part.name for part in both] == ["a", "b"] and both["b_output"].name == "b" and len(both) == 2
    with pytest.raises(IndexError):
        both[2]  # pylint: disable=pointless-statement
    with pytest.raises(ValueError, match="a_output"):
        both["c"]  # pylint: disable=pointless-statement


def test_composing_replaces_variables():
    inner = mx.sym.exp(mx.sym.var("x"), name="inner")
    outer = mx.sym.sqrt(mx.sym.var("data"), name="outer")
    assert outer(data=inner).list_arguments() == ["x"] and outer.list_arguments() == ["data"]


def test_operators_are_methods():
    assert mx.sym.var("x").sum(axis=1).infer_shape(x=(2, 3))[1] == [(2,)]
    with pytest.raises(AttributeError, match="nothing_like_it"):
        mx.sym.var("x").nothing_like_it()


def test_name_and_attributes_may_follow_the_operators_own_arguments():
    x = mx.sym.Variable("x")
    assert mx.sym.Activation(x, "relu", "act1").name == "act1"
    assert mx.sym.random_uniform(0, 1, (2,), None, None, "noise").name == "noise"
    assert mx.sym.elemwise_add(x, x, "sum", {"__note__": "b"}).attr_dict()["sum"]["__note__"] == "b"
    with pytest.raises(TypeError, match="given 6 positional arguments, expected at most 5"):
        mx.sym.elemwise_add(x, x, "sum", None, None, 1)
    with pytest.raises(TypeError, match="two values for name"):
        mx.sym.elemwise_add(x, x, "sum", name="other")
    shown = list(inspect.signature(mx.sym.Activation).parameters)
    assert shown == ["data", "act_type", "name", "attr", "out", "kwargs"]
    assert mx.np_symbol is importlib.import_module("mxnet.symbol.numpy._symbol")


def test_shapes_of_a_reshape_follow_as_far_as_its_input_is_known():
    assert mx.sym.reshape(mx.sym.var("x"), shape=(-1, 4)).infer_shape_partial(x=(0, 4))[1] == [(0, 4)]
    assert mx.sym.reshape(mx.sym.var("x"), shape=(0, -1)).infer_shape_partial(x=(2, 0))[1] == [(2, 0)]
    for codes, reverse, want in [
        ((-3, -2), False, (0, 4)), ((0, -3), False, (0, 12)), ((-2,), False, (0, 3, 4)), ((0, -2), False, (0, 3, 4)), ((-3, 0), True, (0, 4)), ((0, -1), True, (3, 0)),
        ((0, 0, -4, 2, -1), False, (0, 3, 2, 2)), ((-4, 2, -1, -2), False, (2, 0, 3, 4)), ((-4, 2, 5, -2), False, (2, 5, 3, 4)), ((-1, 6), True, (0, 6)),
    ]:
        assert mx.sym.reshape(mx.sym.var("x"), shape=codes, reverse=reverse).infer_shape_partial(x=(0, 3, 4))[1] == [want], (codes, reverse)
    with pytest.raises(mx.MXNetError, match="no more dimensions than there are"):
        mx.sym.reshape(mx.sym.var("x"), shape=(-3, -3)).infer_shape_partial(x=(0, 3, 4))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "mod", "power"])
def test_parameters_of_a_numpy_network_have_the_type_of_its_data(name):
    function, x, w = getattr(mx.sym.np, name), mx.sym.var("x").as_np_ndarray(), mx.sym.var("w").as_np_ndarray()
    for net in (function(x, w), function(w, x)):
        types, results, _ = net.infer_type(x=np.float16)
        assert types == [np.float16] * 2 and results == [np.float16]
        assert {a.dtype for a in net.simple_bind(mx.cpu(), type_dict={"x": np.float16}, x=(2,), w=(2,)).arg_arrays} == {np.float16}
    assert function(x, w).infer_type(x=np.float16, w=np.float64)[1] == [np.float64]
    assert (function(x, w) + mx.sym.var("y").as_np_ndarray()).infer_type(y=np.float64)[0] == [np.float64] * 3


def test_types_follow_without_shapes_and_from_what_an_array_is_combined_with():
    x, y = mx.sym.var("x"), mx.sym.var("y")
    for name in ["SequenceLast", "SequenceMask", "SequenceReverse"]:
        assert getattr(mx.sym, name)(x, y, use_sequence_length=True).infer_type(x=np.float64) == ([np.float64] * 2, [np.float64], [])
    x, y = x.as_np_ndarray(), y.as_np_ndarray()
    for name in ["sum", "prod", "max", "min"]:
        assert (getattr(mx.sym.np, name)(x, axis=0) + y).infer_type(y=np.float16)[0] == [np.float16] * 2


def test_an_array_of_unknown_rank_is_joined_with_others():
    joined = mx.sym.contrib.quantized_concat(*(mx.sym.var(n) for n in ["x", "y", "x_min", "x_max", "y_min", "y_max"]), num_args=2, dim=1)
    assert joined.infer_shape_partial(y=(2, 3, 4))[1][0] == (2, 0, 4)


@pytest.mark.parametrize("shape", [(), 5, (5, 6)])
def test_parameters_of_a_draw_have_the_first_dimensions_of_its_numbers(shape):
    rest = shape if isinstance(shape, tuple) else (shape,)
    numbers = mx.sym.sample_normal(mx.sym.var("mu"), mx.sym.var("sigma"), shape=shape) + mx.sym.var("y")
    assert numbers.infer_shape(y=(2, 3) + rest) == ([(2, 3), (2, 3), (2, 3) + rest], [(2, 3) + rest], [])
    assert numbers.infer_shape_partial(y=(0, 3) + rest)[0][1] == (0, 3)
    with pytest.raises(mx.MXNetError, match="given"):
        numbers.infer_shape(y=(2, 3) + rest, mu=(2, 4))
    if rest:
        with pytest.raises(mx.MXNetError, match="given"):
            numbers.infer_shape(y=(2, 3) + rest[:-1] + (7,))


def test_shapes_of_parts_follow_as_far_as_data_is_known():
    x, y = mx.sym.var("x"), mx.sym.var("y")

    def partial(symbol, shape, **more):
        return symbol.infer_shape_partial(x=shape, **more)[1][0]

    # 0: not known. What is cut from an unknown dimension is not known, unless data that is too short is refused.
    assert partial(mx.sym.slice_axis(x, axis=1, begin=1, end=None), (0, 5)) == (0, 4)
    assert partial(mx.sym.slice_axis(x, axis=1, begin=1, end=None), (4, 0)) == (4, 0)
    assert partial(mx.sym.slice_axis(x, axis=1, begin=1, end=3), (4, 0)) == (4, 2)
    assert partial(mx.sym.slice(x, begin=(0, 1), end=(2, 3)), (0, 5)) == (0, 2)
    assert partial(mx.sym.slice(x, begin=(0, 1), end=(2, 3), step=(1, -1)), (4, 0)) == (2, 0)
    assert partial(mx.sym.slice_like(x, y, axes=(1,)), (0, 5), y=(2, 3)) == (0, 3)
    assert partial(mx.sym.Crop(x, num_args=1, h_w=(4, 4)), (0, 3, 8, 8)) == (0, 3, 4, 4)
    assert partial(mx.sym.repeat(x, repeats=2, axis=1), (0, 5)) == (0, 10)
    assert partial(mx.sym.repeat(x, repeats=2, axis=1), (4, 0)) == (4, 0)
    assert partial(mx.sym.UpSampling(x, scale=2, sample_type="nearest"), (0, 3, 8, 0)) == (0, 3, 16, 0)
    assert partial(mx.sym.Pad(x, mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 2, 2)), (0, 3, 0, 8)) == (0, 3, 0, 12)


def alike(x, y):
    """The sum of two arrays of one shape: mx.np's may be of two."""
    return mx.sym.elemwise_add(x.as_nd_ndarray(), y.as_nd_ndarray())


def test_sizes_of_products_and_matrices_follow_from_each_other():
    """Forwards with a dimension that is unknown (0), and from results backwards."""
    x, y, z = (mx.sym.var(n) for n in "xyz")

    def partial(symbol, **shapes):
        arguments, results, _ = symbol.infer_shape_partial(**shapes)
        return [arguments[:2], results[0]]

    assert partial(mx.sym.dot(x, y), x=(0, 5), y=(0, 4)) == [[(0, 5), (5, 4)], (0, 4)]
    assert partial(mx.sym.dot(x, y, transpose_b=True) + z, x=(0, 5), y=(0, 0), z=(3, 4)) == [[(3, 5), (4, 5)], (3, 4)]
    assert partial(mx.sym.batch_dot(x, y), x=(0, 3, 5), y=(2, 0, 0)) == [[(2, 3, 5), (2, 5, 0)], (2, 3, 0)]
    assert partial(mx.sym.linalg.gemm2(x, y), x=(0, 0), y=(5, 4)) == [[(0, 5), (5, 4)], (0, 4)]
    assert mx.sym.linalg.gemm(x, y, z).infer_shape_partial(x=(3, 0), y=(5, 0), z=(0, 4))[:2] == ([(3, 5), (5, 4), (3, 4)], [(3, 4)])
    assert partial(mx.sym.linalg.trmm(x, y), y=(2, 0, 4), x=(0, 3, 0)) == [[(2, 3, 3), (2, 3, 4)], (2, 3, 4)]
    assert partial(mx.sym.linalg.trsm(x, y, rightside=True), y=(2, 3, 4)) == [[(2, 4, 4), (2, 3, 4)], (2, 3, 4)]
    assert partial(mx.sym.linalg.det(x), x=(0, 3, 0))[1] == (0,)
    assert partial(mx.sym.linalg.extracttrian(x), x=(0, 3, 0)) == [[(0, 3, 3)], (0, 6)]
    assert partial(mx.sym.linalg.extracttrian(x), x=(2, 0, 0))[1] == (2, 0)
    assert partial(mx.sym.linalg.maketrian(x), x=(0, 6))[1] == (0, 3, 3)
    assert partial(mx.sym.linalg.syrk(x), x=(0, 3, 0))[1] == (0, 3, 3)
    for name, parts in [("qk", 3), ("valatt", 3)]:
        product = getattr(mx.sym.contrib, f"interleaved_matmul_selfatt_{name}")
        inputs = [x] if name == "qk" else [x, y]
        assert product(*inputs, heads=2).infer_shape_partial(x=(7, 0, 2 * 4 * parts))[1] == [(0, 7, 7) if name == "qk" else (7, 0, 8)]
    with pytest.raises(mx.MXNetError, match="given 'rhs'"):
        mx.sym.dot(x, y).infer_shape_partial(x=(0, 5), y=(4, 0))


def test_sizes_of_numpy_products_follow_from_each_other():
    x, y, z = (mx.sym.var(n).as_np_ndarray() for n in "xyz")
    with mx.util.np_shape(True):
        def partial(symbol, **shapes):
            return symbol.infer_shape_partial(**shapes)[:2]

        assert partial(mx.sym.np.matmul(x, y), x=(-1,), y=(5, 4)) == ([(5,), (5, 4)], [(4,)])
        # Of a batch a 1 may be repeated: only what is no 1 is known of the result, and nothing of the other factor.
        assert partial(mx.sym.np.matmul(x, y), x=(-1, 2, 4), y=(-1, -1, -1)) == ([(-1, 2, 4), (-1, 4, -1)], [(-1, 2, -1)])
        assert partial(mx.sym.np.matmul(x, y), x=(3, 2, 4), y=(-1, 4, 5)) == ([(3, 2, 4), (-1, 4, 5)], [(3, 2, 5)])
        assert partial(mx.sym.np.matmul(x, y), x=(1, 2, 4), y=(-1, 4, 5)) == ([(1, 2, 4), (-1, 4, 5)], [(-1, 2, 5)])
        assert partial(alike(mx.sym.np.matmul(x, y), z), x=(-1, -1, 4), y=(-1, -1), z=(3, 2, 5))[0] == [(-1, 2, 4), (4, 5), (3, 2, 5)]
        assert partial(mx.sym.np.tensordot(x, y, axes=((-1,), (0,))), x=(4, -1), y=(5, 3)) == ([(4, 5), (5, 3)], [(4, 3)])
        assert partial(mx.sym.np.tensordot(x, y, axes=2), x=(-1, 2, -1), y=(-1, 3)) == ([(-1, 2, 3), (2, 3)], [(-1,)])
        assert partial(mx.sym.np.dot(x, y), x=(4, 5), y=(-1, 4)) == ([(4, 5), (5, 4)], [(4, 4)])
        assert partial(mx.sym.np.einsum("ij,jk->ki", x, y), x=(2, -1), y=(5, 3))[1] == [(3, 2)]
        assert partial(alike(mx.sym.np.linalg.eigvalsh(x), z), z=(2, 3))[0][0] == (2, 3, 3)


def test_shapes_of_joined_cut_and_inserted_arrays_follow_as_far_as_they_are_known():
    x, y, z = (mx.sym.var(n).as_np_ndarray() for n in "xyz")
    with mx.util.np_shape(True):
        def partial(symbol, **shapes):
            return symbol.infer_shape_partial(**shapes)[:2]

        assert partial(mx.sym.np.concatenate([x, y], axis=1), x=(-1, 6, 6), y=(4, 5, -1)) == ([(4, 6, 6), (4, 5, 6)], [(4, 11, 6)])
        assert partial(mx.sym.np.vstack([x, y]), x=(-1,), y=(3, 6))[1] == [(4, 6)]
        assert partial(mx.sym.np.hstack([x, y]), x=(2, 3), y=(-1, -1))[1] == [(2, -1)]
        assert partial(mx.sym.np.dstack([x, y]), x=(-1, 2, 3), y=(4, -1, 3))[1] == [(4, 2, 6)]
        assert partial(mx.sym.np.concatenate([x, y], axis=None), x=(-1, 2), y=(3,))[1] == [(-1,)]
        assert partial(alike(mx.sym.np.split(x, 2, axis=1)[0], z), x=(-1, 4, -1), z=(3, 2, 5))[0][0] == (3, 4, 5)
        assert partial(mx.sym.np.insert(x, 2, y, axis=0), x=(-1, 3), y=(2, 3))[1] == [(-1, 3)]
        assert partial(mx.sym.np.insert(x, slice(0, 4, 2), y, axis=0), x=(7, -1), y=(-1, 3))[1] == [(9, -1)]
        assert partial(alike(mx.sym.np.insert(x, slice(0, 4, 2), y, axis=0), z), x=(7, -1), z=(9, 3))[0][0] == (7, 3)
        assert partial(mx.sym.np.insert(x, 2, y), x=(4, 3))[1] == [(-1,)]
        assert partial(mx.sym.np.trace(x), x=(-1, 3, 4))[1] == [(4,)]
    x, y = mx.sym.var("x"), mx.sym.var("y")
    assert mx.sym.depth_to_space(x, block_size=2).infer_shape_partial(x=(0, 8, 2, 0))[1] == [(0, 2, 4, 0)]
    assert mx.sym.space_to_depth(x, block_size=2).infer_shape_partial(x=(0, 0, 2, 6))[1] == [(0, 0, 1, 3)]
    assert mx.sym.broadcast_like(x, y).infer_shape_partial(x=(4, 1, 0), y=(0, 0, 2))[1] == [(4, 0, 2)]
    assert mx.sym.contrib.box_iou(x, y).infer_shape_partial(x=(2, 0, 4), y=(3, 0))[1] == [(2, 0, 3)]


@pytest.mark.parametrize("name", ["var", "std", "cumsum"])
def test_types_follow_backwards_through_sums_of_all_kinds(name):
    x, y = mx.sym.var("x").as_np_ndarray(), mx.sym.var("y").as_np_ndarray()
    assert (getattr(mx.sym.np, name)(x, axis=0) + y).infer_type(y=np.float16)[0] == [np.float16] * 2
    # Where a type is asked for it says nothing of the argument's.
    asked = getattr(mx.sym.np, name)(x, axis=0, dtype="float64") + y
    assert asked.infer_type_partial(y=np.float64)[0][0] is None


def test_shapes_follow_as_far_as_a_pattern_is_known():
    x, y = mx.sym.var("x"), mx.sym.var("y")

    def partial(symbol, **shapes):
        return symbol.infer_shape_partial(**shapes)[1][0]

    assert partial(mx.sym.slice_like(x, y), x=(4, 6), y=(2, 0)) == (2, 0)
    assert partial(mx.sym.slice_like(x, y, axes=(1,)), x=(4, 6), y=(0, 3)) == (4, 3)
    assert partial(mx.sym.slice_like(x, y, axes=(0,)), x=(4, 6), y=(0, 3)) == (0, 6)
    assert partial(mx.sym.slice_like(x, y, axes=(-1,)), x=(0, 6), y=(2, 0, 4)) == (0, 4)
    assert partial(mx.sym.Crop(x, y, num_args=2), x=(1, 2, 6, 7), y=(0, 0, 3, 0)) == (1, 2, 3, 0)
    assert partial(mx.sym.Crop(x, y, num_args=2, center_crop=True), x=(1, 0, 6, 7), y=(1, 1, 3, 4)) == (1, 0, 3, 4)
    assert partial(mx.sym.broadcast_to(x, shape=(0, 3)), x=(0, 1)) == (0, 3)
    assert partial(mx.sym.broadcast_to(x, shape=(2, 0)), x=(1, 0)) == (2, 0)
    assert partial(mx.sym.broadcast_to(x, shape=(2, 3)), x=(0, 3)) == (2, 3)
    with pytest.raises(mx.MXNetError, match="broadcasts"):
        partial(mx.sym.broadcast_to(x, shape=(2, 3)), x=(0, 4))


def test_shapes_of_several_larger_images_follow_as_far_as_these_are_known():
    def partial(mode, x, y):
        joined = mx.sym.UpSampling(
            mx.sym.var("x"), mx.sym.var("y"), scale=2, sample_type="nearest", num_args=2, multi_input_mode=mode
        )
        return joined.infer_shape_partial(x=x, y=y)[1][0]

    assert partial("concat", (0, 2, 3, 4), (1, 2, 6, 8)) == (1, 4, 6, 8)
    assert partial("concat", (1, 2, 3, 4), (1, 2, 0, 8)) == (1, 4, 6, 8)
    assert partial("concat", (1, 0, 3, 4), (1, 2, 6, 8)) == (1, 0, 6, 8)
    assert partial("sum", (1, 0, 3, 4), (1, 2, 6, 8)) == (1, 2, 6, 8)


def test_attributes_of_variables_become_texts():
    assert mx.sym.var("x", __foo__=1).list_attr() == {"__foo__": "1"}


def test_variables_have_no_children():
    assert mx.sym.var("x").get_children() is None
    assert mx.sym.exp(mx.sym.var("x")).get_children().list_outputs() == ["x"]


def test_attributes_of_a_node_may_be_numbers_and_initializers():
    node = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="n", attr={"__init__": mx.init.One(), "__lr_mult__": 2})
    attributes = node.attr_dict()["n_weight"]
    assert attributes["__init__"] == mx.init.One().dumps() and attributes["__lr_mult__"] == "2"


@pytest.mark.parametrize("index", [1.5, None, mx.sym])
def test_outputs_are_chosen_by_number_name_or_slice(index):
    with pytest.raises(TypeError, match=f"given .* of type {type(index).__name__}, expected a number, a name or a slice"):
        mx.sym.Group([mx.sym.var("a"), mx.sym.var("b")])[index]


def test_names_of_what_topk_returns():
    """Values are numbered, alone too: files and modules name them so since 1.x."""
    kinds = ("value", "indices", "both", "mask")
    names = {kind: mx.sym.topk(mx.sym.var("x"), k=2, ret_typ=kind, name="t").list_outputs() for kind in kinds}
    assert names == {"value": ["t_output0"], "indices": ["t_output"], "both": ["t_output0", "t_output1"], "mask": ["t_output"]}


@pytest.mark.parametrize("made, text", [
    (lambda: mx.sym.Variable("a"), "Variable:a\n"),
    (lambda: mx.sym.zeros((2, 3), name="z"), "AtomicFunctor  Op:_zeros\n"),
    (lambda: mx.sym.Group([mx.sym.Variable("a"), mx.sym.Variable("b")]),
     "Symbol Outputs:\n\toutput[0]=a(0)\n\toutput[1]=b(0)\nVariable:a\nVariable:b\n"),
])
def test_a_symbol_of_one_node_without_inputs_prints_as_that_node(made, text):
    assert made().debug_str() == text


# Four floats in the place of four bytes would lie on what is behind them.
@pytest.mark.parametrize("flags", [None, {}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}])
def test_a_gradient_of_another_type_is_refused_rather_than_written(flags):
    data = mx.sym.var("data").as_np_ndarray()
    third = mx.sym._internal._npi_true_divide_scalar(data, scalar=3.0)
    x = mx.nd.array([1, 2, 3, 5], dtype="int8").as_np_ndarray()
    x.attach_grad()
    if flags is None:
        executor = third.bind(x.context, {"data": x}, args_grad={"data": x.grad})
        with pytest.raises(mx.MXNetError, match="a gradient of type float32, expected type int8"):
            executor.forward(is_train=True)
            executor.backward()
    else:
        block = mx.gluon.SymbolBlock([third], [data])
        block.hybridize(**flags)
        with pytest.raises(mx.MXNetError, match="expected type (float32|int8)"):
            with mx.autograd.record():
                y = block(x)
            y.backward()
            mx.nd.waitall()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.zeros(4, "int8"))


@pytest.mark.parametrize("number", [3, np.int64(3)])
def test_the_shape_of_a_variable_may_be_a_number_that_of_a_vector(number):
    x = mx.sym.var("x", shape=number)
    assert x.attr("__shape__") == "3"
    assert (x + 1).infer_shape() == ([(3,)], [(3,)], [])
    bias = mx.sym.var("bias", shape=(1))
    network = mx.sym.broadcast_add(mx.sym.dot(mx.sym.var("data"), mx.sym.var("weight", shape=(4, 1))), bias)
    assert network.infer_shape(data=(2, 4))[0] == [(2, 4), (4, 1), (1,)]
