# SPDX-License-Identifier: Apache-2.0
"""ONNX files of operators with rare parameters, odd numbers and whole numbers, in another program."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import sym

onnx = pytest.importorskip("onnx", exc_type=ImportError)

from onnx_readers import SEED, assert_same, op, outputs_of, run  # noqa: E402, F401  (run is a fixture)

x, y, z = (sym.var(name) for name in "xyz")


def reals(*shape):
    return np.random.default_rng(SEED).standard_normal(shape).astype("float32")


def list_of(*numbers, dtype="float32"):
    return np.array(numbers, dtype)


def pooling():
    for kind in "max avg sum lp".split():
        more = {"p_value": 2} if kind == "lp" else {}
        for window in ({"kernel": (3, 3), "stride": (2, 2)}, {"kernel": (4, 5), "stride": (3, 2)}):
            for counted in (True, False) if kind == "avg" else (True,):
                symbol = sym.Pooling(sym.abs(x), pool_type=kind, pooling_convention="same", count_include_pad=counted, **window, **more)
                yield f"same {kind} {window['kernel']} {counted}", symbol, reals(1, 2, 10, 9)
        yield f"same {kind} of lines", sym.Pooling(sym.abs(x), kernel=(4,), stride=(3,), pool_type=kind, pooling_convention="same", **more), reals(1, 2, 10)
    for kind in "max sum".split():
        beyond = sym.Pooling(x, kernel=(2, 2), stride=(3, 3), pool_type=kind, pooling_convention="full")
        yield f"{kind} windows behind the image", beyond, reals(1, 2, 9, 9)


def layers():
    for target in (9, 0), (0, 9):
        symbol = sym.Deconvolution(x, y, kernel=(3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 1), target_shape=target, num_filter=5)
        yield f"Deconvolution to {target}", symbol, reals(1, 4, 5, 4), reals(4, 5, 3, 3)
    yield "Embedding of places out of range", sym.Embedding(x, y, input_dim=5, output_dim=2), list_of(0, 4, 5, -1, 9, -7), reals(5, 2)
    yield "LRN of an even size", sym.LRN(x, nsize=4, alpha=0.3, beta=0.6, knorm=1.2), reals(2, 6, 3, 3)
    yield "SoftmaxActivation of more axes", sym.SoftmaxActivation(x), reals(2, 3, 4, 2)


def indexing():
    yield "one_hot of places out of range", sym.one_hot(x, depth=4, on_value=2, off_value=-1), list_of(-1, 0, 3, 4, -4)
    for dtype in "int32 uint8 float64".split():
        yield f"one_hot of {dtype}", sym.one_hot(x, depth=4, dtype=dtype), list_of(1, 0, 3)
    yield "SequenceLast, batch first", sym.SequenceLast(x, y, use_sequence_length=True, axis=1), reals(4, 3, 2), list_of(1, 2, 3, 1)
    yield "SequenceLast without lengths", sym.SequenceLast(x, axis=1), reals(4, 3, 2)
    for shape in (3, 4), (3, 3), (3, 4, 3):
        yield f"where of rows {shape}", sym.where(x, y, z), list_of(1, 0, -0.5), reals(*shape), -reals(*shape)


def shapes():
    data = reals(2, 3, 4)
    yield "reshape_like of a part", sym.reshape_like(x, y, lhs_begin=0, lhs_end=2, rhs_begin=1, rhs_end=2), data, reals(5, 6)
    yield "reshape_like to the end", sym.reshape_like(x, y, lhs_begin=1, rhs_begin=0, rhs_end=2), data, reals(2, 6, 3)
    yield "reshape_like from the end", sym.reshape_like(x, y, lhs_begin=-1, rhs_begin=-2), data, reals(5, 2, 2)
    for name in "sum mean max min prod".split():
        yield f"{name} of no axis", op(name, x, axis=(0, 1, 2), exclude=True), data
    yield "norm of another type", sym.norm(x, axis=1, out_dtype="float64"), data
    for name in "argmax argmin".split():
        yield f"{name} of all, axes kept", op(name, x, keepdims=True), data
    for a in (False, True):
        for b in (False, True):
            yield f"gemm2 of other rows {a} {b}", sym.linalg.gemm2(x, y, transpose_a=a, transpose_b=b, axis=0), reals(4, 3, 4), -reals(4, 3, 4)


def numbers():
    yield "rint of halves", sym.rint(x), list_of(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 8388609, 0.49999997, -2.4)
    signs = list_of(-7, 7, -7, 7, 6, 0, 5), list_of(3, -3, -3, 3, 3, 3, 0)
    yield "mod", sym.broadcast_mod(x, y), *signs
    yield "mod of large numbers", sym.broadcast_mod(x, y), list_of(16777215, -16777215), list_of(7, 7)
    yield "mod of integers", sym.broadcast_mod(x, y), *(each.astype("int32") for each in signs)
    whole = list_of(-7, 0, 3, 9, dtype="int32")
    for name in "ceil floor rint relu square abs sign".split():
        yield f"{name} of integers", op(name, x), whole
    for name in "sqrt exp sigmoid reciprocal log".split():
        yield f"{name} of integers", op(name, x), list_of(1, 3, 9, dtype="int32")
    yield "clip of integers", sym.clip(x, -2.5, 1e20), whole


ONE, CENTERS = {"id_index": 0, "score_index": 1, "coord_start": 2, "valid_thresh": 0.05, "overlap_thresh": 0.3}, {"in_format": "center"}
SUPPRESSIONS = [
    {}, {"force_suppress": True}, {"topk": 5}, {"topk": 0}, {"topk": 100, "overlap_thresh": 0.2}, {"valid_thresh": 0.5},
    {"background_id": 0}, {"out_format": "center"}, {**CENTERS}, {**CENTERS, "out_format": "center"}, {"overlap_thresh": 0},
    {"overlap_thresh": 1}, {"id_index": -1}, {"valid_thresh": 2},
]  # fmt: skip


def boxes():
    rng = np.random.default_rng(SEED)
    rows = rng.uniform(size=(2, 20, 7)).astype("float32")
    rows[:, :, 0] = rng.integers(-1, 3, (2, 20))
    rows[:, :, 1] = rng.integers(0, 8, (2, 20)) / 8  # some scores are equal
    rows[:, :, 4:6] = rows[:, :, 2:4] + rows[:, :, 4:6] / 2
    rows[:, 3, 4:6] = rows[:, 3, 2:4] - 0.1  # corners that are exchanged
    for given in SUPPRESSIONS:
        yield f"box_nms {given}", sym.contrib.box_nms(x, **{**ONE, **given})[0], rows
    yield "box_nms of one picture", sym.contrib.box_nms(x, **ONE)[0], rows[0]
    yield "box_nms of more axes", sym.contrib.box_nms(x, **ONE)[0], rows.reshape(2, 2, 10, 7)


CASES = [case for family in (pooling, layers, indexing, shapes, numbers, boxes) for case in family()]


@pytest.mark.parametrize("symbol, values", [(case[1], case[2:]) for case in CASES], ids=[case[0] for case in CASES])
def test_another_program_computes_the_same(symbol, values, run, tmp_path):  # noqa: F811
    feeds = dict(zip(symbol.list_inputs(), values))
    shapes_, types = [value.shape for value in values], [value.dtype for value in values]
    path = mx.onnx.export_model(symbol, {}, shapes_, types, str(tmp_path / "m.onnx"))
    found, expected = run(path, feeds), outputs_of(symbol, feeds)
    assert_same(found, expected)
    assert [each.dtype for each in found] == [each.dtype for each in expected]


def test_means_of_nothing_are_refused(tmp_path):
    symbol = sym.Pooling(x, kernel=(2, 2), stride=(3, 3), pool_type="avg", pooling_convention="full", name="beyond")
    with pytest.raises(mx.MXNetError, match=r"'beyond'.*given windows of \(2, 2\) that see nothing of the image"):
        mx.onnx.export_model(symbol, {}, [(1, 2, 9, 9)], np.float32, str(tmp_path / "m.onnx"))


def test_a_half_is_read_as_onnx_rounds_it(tmp_path):
    helper = onnx.helper
    info = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [6]) for name in ("a", "b")]
    model = helper.make_model(
        helper.make_graph([helper.make_node("Round", ["a"], ["b"])], "g", info[:1], info[1:]),
        opset_imports=[helper.make_opsetid("", 13)],
    )
    onnx.save(model, str(tmp_path / "m.onnx"))
    symbol = mx.contrib.onnx.import_model(str(tmp_path / "m.onnx"))[0]
    (found,) = outputs_of(symbol, {"a": list_of(-2.5, -1.5, -0.5, 0.5, 1.5, 2.6)})
    np.testing.assert_array_equal(found, [-2, -2, 0, 0, 2, 3])
