# SPDX-License-Identifier: Apache-2.0
"""What a batch has to have: programs give modules one of a class of their own."""

from collections import namedtuple

import numpy as np
import pytest

import mxnet as mx

Data = namedtuple("Data", ["data"])
ROWS = np.arange(8, dtype="float32").reshape(2, 4)


def classifier():
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"), name="softmax")


def layer():
    return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")


def bound(network, context, labels=None, **names):
    module = mx.mod.Module(network, context=context, **names)
    module.bind([("data", (2, 4))], labels, for_training=False)
    module.init_params(mx.init.One())
    return module


@pytest.mark.parametrize("context", [mx.cpu(), [mx.cpu(0), mx.cpu(1)]], ids=["one", "two"])
@pytest.mark.parametrize("network, names, row", [(classifier, {}, np.ones(3) / 3), (layer, {"label_names": None}, None)])
def test_where_no_labels_were_bound_a_batch_has_data_alone(context, network, names, row):
    module = bound(network(), context, **names)
    module.forward(Data([mx.nd.array(ROWS)]))
    expected = np.tile(row, (2, 1)) if row is not None else np.tile(ROWS.sum(axis=1, keepdims=True), (1, 3))
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), expected, rtol=1e-6)


def test_batches_that_are_split_already_have_data_alone_too():
    module = bound(layer(), [mx.cpu(0), mx.cpu(1)], label_names=None)
    module.forward([Data([mx.nd.array(ROWS[:1])]), Data([mx.nd.array(ROWS[1:])])])
    np.testing.assert_array_equal(module.get_outputs()[0].asnumpy()[:, 0], ROWS.sum(axis=1))


def test_such_a_batch_may_have_another_size():
    module = bound(layer(), mx.cpu(), label_names=None)
    module.forward(Data([mx.nd.ones((5, 4))]))
    np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), np.full((5, 3), 4.0))


def test_where_labels_were_bound_a_batch_has_them():
    module = bound(classifier(), mx.cpu(), [("softmax_label", (2,))])
    with pytest.raises(AttributeError, match="label"):
        module.forward(Data([mx.nd.array(ROWS)]))


def test_a_chain_takes_a_batch_that_has_data_alone():
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(layer(), label_names=None))
    chain.add(mx.mod.Module(mx.sym.Activation(mx.sym.var("data"), act_type="relu"), label_names=None), auto_wiring=True)
    chain.bind([("data", (2, 4))], for_training=False)
    chain.init_params(mx.init.One())
    chain.forward(Data([mx.nd.array(-ROWS)]))
    np.testing.assert_array_equal(chain.get_outputs()[0].asnumpy(), np.zeros((2, 3)))
