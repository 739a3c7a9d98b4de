# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells on symbols: unrolled, fused, with weights by gate, and sentences in buckets."""

import random

import numpy as np
import pytest

import mxnet as mx


def run(outputs, weights, data):
    outputs = outputs if isinstance(outputs, mx.sym.Symbol) else mx.sym.Group(list(outputs))
    executor = outputs.simple_bind(mx.cpu(), grad_req="null", data=data.shape)
    for name, array in executor.arg_dict.items():
        array[:] = data if name == "data" else weights[name]
    return np.stack([output.asnumpy() for output in executor.forward()], 1).reshape(*data.shape[:2], -1)


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_fused_cell_is_its_single_cells(mode, bidirectional):
    fused = mx.rnn.FusedRNNCell(4, num_layers=2, mode=mode, bidirectional=bidirectional, prefix="f_")
    data = mx.nd.array(np.random.RandomState(1).randn(2, 3, 5))
    outputs, _ = fused.unroll(3, mx.sym.Variable("data"), merge_outputs=True)
    size = dict(zip(outputs.list_arguments(), outputs.infer_shape(data=data.shape)[0]))["f_parameters"][0]
    whole = {"f_parameters": mx.nd.array(np.random.RandomState(2).randn(size) * 0.3)}
    single = fused.unfuse()
    weights = single.pack_weights(fused.unpack_weights(whole))
    parts, _ = single.unroll(3, mx.sym.Variable("data"))
    np.testing.assert_allclose(run(outputs, whole, data), run(parts, weights, data), rtol=1e-4, atol=1e-5)
    again = fused.pack_weights(fused.unpack_weights(whole))["f_parameters"]
    np.testing.assert_array_equal(again.asnumpy(), whole["f_parameters"].asnumpy())


def test_names_of_steps_are_those_of_saved_networks():
    outputs, states = mx.rnn.LSTMCell(4, prefix="x_").unroll(2, mx.sym.Variable("data"))
    assert mx.sym.Group(outputs).list_outputs() == ["x_t0_out_output", "x_t1_out_output"]
    assert [state.list_outputs() for state in states] == [["x_t1_out_output"], ["x_t1_state_output"]]


def test_stacked_cells_unroll_with_the_states_of_each():
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(4, prefix="l0_"))
    stack.add(mx.rnn.DropoutCell(0.5))
    stack.add(mx.rnn.ResidualCell(mx.rnn.GRUCell(4, prefix="l1_")))
    stack.add(mx.rnn.ZoneoutCell(mx.rnn.RNNCell(4, prefix="l2_"), 0.2, 0.3))
    outputs, states = stack.unroll(3, mx.sym.Variable("data"))
    assert len(outputs) == 3 and len(states) == 4
    shapes = mx.sym.Group(outputs).infer_shape(data=(2, 3, 4))[1]
    assert shapes == [(2, 4)] * 3


@pytest.mark.parametrize("cell", [mx.rnn.ConvRNNCell, mx.rnn.ConvLSTMCell, mx.rnn.ConvGRUCell])
def test_cells_of_images_keep_height_and_width(cell):
    outputs, _ = cell(input_shape=(1, 3, 6, 6), num_hidden=4).unroll(2, [mx.sym.Variable("a"), mx.sym.Variable("b")])
    assert mx.sym.Group(outputs).infer_shape(a=(1, 3, 6, 6), b=(1, 3, 6, 6))[1] == [(1, 4, 6, 6)] * 2


def test_sentences_come_in_buckets():
    random.seed(3)
    np.random.seed(3)
    sentences = [[1 + (i + j) % 8 for j in range(1 + i % 6)] for i in range(40)]
    iterator = mx.rnn.BucketSentenceIter(sentences, 4, buckets=[3, 6], invalid_label=0)
    assert iterator.default_bucket_key == 6
    keys = set()
    for batch in iterator:
        data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
        assert data.shape == (4, batch.bucket_key) == batch.provide_data[0].shape
        np.testing.assert_array_equal(label[:, :-1], data[:, 1:])
        keys.add(batch.bucket_key)
    assert keys == {3, 6}


def test_words_become_numbers():
    assert mx.rnn.encode_sentences([["a", "b"], ["b", "c"]]) == ([[0, 1], [1, 2]], {"\n": -1, "a": 0, "b": 1, "c": 2})
    known = {"a": 1, "?": 5}
    assert mx.rnn.encode_sentences([["a", "b"]], vocab=known, unknown_token="?")[0] == [[1, 5]]
    with pytest.raises(ValueError, match="given the word 'b'"):
        mx.rnn.encode_sentences([["b"]], vocab={"a": 1})


def test_a_checkpoint_holds_weights_by_gate(tmp_path):
    prefix = str(tmp_path / "rnn")
    cell = mx.rnn.LSTMCell(2, prefix="x_")
    outputs, _ = cell.unroll(2, mx.sym.Variable("data"), merge_outputs=True)
    shapes = dict(zip(outputs.list_arguments(), outputs.infer_shape(data=(1, 2, 3))[0]))
    weights = {name: mx.nd.random.normal(shape=shape) for name, shape in shapes.items() if name != "data"}
    mx.rnn.save_rnn_checkpoint(cell, prefix, 1, outputs, weights, {})
    assert "arg:x_i2h_f_weight" in mx.nd.load(f"{prefix}-0001.params")
    _, loaded, _ = mx.rnn.load_rnn_checkpoint(cell, prefix, 1)
    for name, array in weights.items():
        np.testing.assert_array_equal(loaded[name].asnumpy(), array.asnumpy())
