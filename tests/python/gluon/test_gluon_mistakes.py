# SPDX-License-Identifier: Apache-2.0
"""Mistakes that programs make again and again: what the error says lets the user find the line and mend it."""

import contextlib

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def network(hybrid=False, initialized=True):
    net = nn.HybridSequential(prefix="model_")
    with net.name_scope():
        net.add(nn.Dense(8, activation="relu", in_units=6), nn.Dense(3, in_units=8))
    if initialized:
        net.initialize()
    if hybrid:
        net.hybridize()
    return net


def layer(made, *inputs):
    made.initialize()
    return made(*inputs)


class Deciding(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x if x.sum() > 0 else -x


class Measuring(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x.reshape((x.shape[0], -1))


class Adding(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x + {}


class Unread(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.weight = self.params.get("weight", shape=(3,), init="ones")
        self.initialize()

    def hybrid_forward(self, F, x):
        return x


class Forgetful(gluon.HybridBlock):
    def __init__(self):  # without super().__init__()
        self.dense = nn.Dense(3)


class Idle(gluon.HybridBlock):
    def __init__(self):
        pass  # neither super().__init__() nor a child

    def hybrid_forward(self, F, x):
        return x


def deferred():
    made = nn.Dense(3, prefix="late_")
    made.initialize()
    return made


def hybridized(made):
    made.hybridize()
    return made(nd.ones((3, 2)))


def twice(made):
    made.hybridize()
    return made(nd.ones((2, 6)), nd.ones((2, 6)))


def stale():
    net = network()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with autograd.record():
        loss = net(nd.ones((2, 6))).sum()
    loss.backward()
    trainer.step(1)
    trainer.step(1)


def backward(times, record=True):
    net = network()
    with autograd.record() if record else contextlib.nullcontext():
        loss = net(nd.ones((2, 6))).sum()
    for _ in range(times):
        loss.backward()


# The mistake, and the parts that the text of its error has, in order.
MISTAKES = {
    "too few features": (lambda: network()(nd.ones((2, 5))), "in block model_dense0, Dense.6 -> 8, .*given float32 .2, 5."),
    "too few features, hybridized": (lambda: network(True)(nd.ones((2, 5))), r"model_dense0_fwd.*data: float32 \(2,5\)"),
    "whole numbers": (lambda: network()(nd.ones((2, 6), dtype="int32")), "in block model_dense0, .*given int32"),
    "double precision": (lambda: network(True)(nd.ones((2, 6), dtype="float64")), "model_dense0.*expected type float64"),
    "a NumPy array": (lambda: network()(np.ones((2, 6), "float32")), r"model: given ndarray, .*mx\.nd\.array\(\)"),
    "a list of numbers": (lambda: network()([1, 2]), "model: given list, with no array"),
    "another device": (lambda: network()(nd.ones((2, 6), ctx=mx.cpu(1))), r"model_dense0_weight: asked for on cpu\(1\), was initialized on \[\wpu\(0\)"),
    "no initialize": (lambda: network(initialized=False)(nd.ones((2, 6))), r"model_dense0_weight was not initialized; call initialize\(\)"),
    "a shape not known yet": (lambda: deferred().weight.data(), r"late_weight has shape \(3, 0\).*first forward pass"),
    "channels": (lambda: layer(nn.Conv2D(3, 3, in_channels=3), nd.ones((1, 1, 8, 8))), r"given 'weight'.*\n.*Conv2D.3 -> 3, .*\(1, 1, 8, 8\)"),
    "no batch": (lambda: layer(nn.Conv2D(3, 3, in_channels=3), nd.ones((3, 8, 8))), "expected 4 dimensions: batch, channels"),
    "a small picture": (lambda: layer(nn.Conv2D(3, 9), nd.ones((1, 1, 4, 4))), "given 'data' of shape .1,1,4,4.*9 pixels of the kernel"),
    "an LSTM's features": (lambda: layer(gluon.rnn.LSTM(4, input_size=3), nd.ones((2, 2, 5))), r"LSTM\(3 -> 4, TNC\), given float32 \(2, 2, 5\)"),
    "an LSTM's features, first": (lambda: layer(gluon.rnn.LSTM(4, input_size=3), nd.ones((2, 2, 5))), "expected .*TNC with C of 3"),
    "a half LSTM's features": (
        lambda: layer(gluon.rnn.LSTM(4, input_size=3), nd.ones((2, 2, 5)).astype("bfloat16")),
        r"given bfloat16 \(2, 2, 5\), expected .*TNC with C of 3",
    ),
    "an LSTM without batch": (lambda: layer(gluon.rnn.GRU(4, layout="NTC"), nd.ones((2, 5))), r"float32 \(2, 5\), expected three dimensions, NTC$"),
    "two inputs for one": (lambda: network()[0](nd.ones((2, 6)), nd.ones((2, 6))), "model_dense0: given 2 inputs, expected x$"),
    "two inputs for one, hybridized": (lambda: twice(network(True)[0]), "model_dense0: given 2 inputs, expected x$"),
    "one input for two": (lambda: gluon.loss.L2Loss()(nd.ones(3)), "given 1 inputs, expected pred, label, sample_weight"),
    "a parameter nobody takes": (lambda: Unread()(nd.ones(3)), "unexpected keyword argument 'weight'"),
    "an error of one's own": (lambda: Adding()(nd.ones(3)), "^unsupported operand"),
    "labels of another batch": (
        lambda: gluon.loss.SoftmaxCrossEntropyLoss()(nd.ones((4, 3)), nd.ones(5)),
        r"SoftmaxCrossEntropyLoss.*given float32 \(4, 3\), float32 \(5,\)",
    ),
    "an unknown activation": (lambda: nn.Activation("rellu")(nd.ones(3)), "'rellu' for parameter act_type.*'relu'"),
    "if in a graph": (lambda: hybridized(Deciding()), "hybridize.*F.where or F.contrib.cond"),
    "a shape in a graph": (lambda: hybridized(Measuring()), "no attribute 'shape': .*hybridize.*F.shape_array"),
    "no super": (Forgetful, r"Forgetful: given attribute dense before super\(\)\.__init__\(\)"),
    "no super, called": (lambda: Idle()(nd.ones(3)), r"Idle: given a use of _\w+ before super\(\)\.__init__\(\)"),
    "no super, asked": (lambda: Idle().params, r"Idle: given a use of params before super\(\)\.__init__\(\)"),
    "no super, initialized": (lambda: Idle().initialize(), r"Idle: .*before super\(\)\.__init__\(\)"),
    "an unknown attribute": (lambda: nn.Dense(3).wieght, "'Dense' object has no attribute 'wieght'"),
    "a number as a layer": (lambda: nn.Sequential().add(5), "given child 5 of type int, expected a Block$"),
    "a class as a layer": (lambda: nn.Sequential().add(nn.Dense), r"given child .*Dense.*, expected a Block; Dense\(\) makes one"),
    "a text as a shape": (lambda: nd.zeros("23"), "zeros: given '23', expected an integer or a sequence of integers"),
    "a text in a shape": (lambda: nd.ones((2, "b")), r"ones: given \(2, 'b'\), expected an integer or"),
    "half a row": (lambda: nd.empty((2, 2.5)), r"empty: given \(2, 2.5\), expected an integer or"),
    "a number as a new shape": (lambda: nd.ones((2, 3)).reshape(2.5), "reshape: given 2.5, expected an integer or"),
    "nothing as a new shape": (lambda: nd.ones((2, 3)).reshape(None), "reshape: given None, expected an integer or"),
    "infinity as a new shape": (lambda: nd.ones((2, 3)).reshape((float("inf"),)), r"reshape: given \(inf,\), expected an integer or"),
    "arrays to join one by one": (lambda: nd.concatenate(nd.ones(2), nd.ones(2)), "axis: given an NDArray, expected an integer; arrays to join"),
    "backward outside of record": (lambda: backward(1, record=False), r"recorded with autograd.record\(\)"),
    "backward twice": (lambda: backward(2), "retain_graph=True"),
    "two steps": (stale, r"gradient of Parameter model_dense0_\w+ on \wpu.0. since the last step"),
    "an unknown optimizer": (lambda: gluon.Trainer(network().collect_params(), "sdg"), "'sdg', expected one of .*sgd"),
    "an unknown option": (
        lambda: gluon.Trainer(network().collect_params(), "sgd", {"lr": 0.1}),
        "optimizer sgd: given lr, expected some of .*learning_rate.*momentum.*wd",
    ),
    "an unknown parameter": (lambda: network().collect_params()["weight"], "given 'weight', expected one of model_dense0_weight, "),
    "an odd batch": (lambda: gluon.utils.split_and_load(nd.ones((5, 2)), [mx.cpu(0), mx.cpu(1)]), "batch of 5 .*multiple of 2"),
    "samples of two shapes": (
        lambda: list(gluon.data.DataLoader([np.ones(2), np.ones(3)], 2)),
        r"samples of shapes \(2,\) and \(3,\) \(number 1\), expected one shape: give a batchify_fn",
    ),
    "export too early": (lambda: network(True).export("never"), "model has no graph yet; .*run it once"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_error_says_where_and_what(mistake):
    made, text = MISTAKES[mistake]
    with pytest.raises((RuntimeError, ValueError, TypeError, AttributeError, KeyError, UserWarning), match=f"(?s){text}"):
        made()


def test_functions_may_be_steps_of_transforms():
    steps = gluon.data.vision.transforms.Compose([lambda x: x + 1, gluon.data.vision.transforms.Cast("float64")])
    assert steps(nd.ones(2)).asnumpy().tolist() == [2, 2] and steps(nd.ones(2)).dtype == np.float64


@pytest.mark.parametrize("shape", [6, (2, 3), [2, np.int64(3)], np.array([2, 3]), (n for n in (2, 3)), (2.0, 3), nd.array([2, 3]), np.int32(6)])
def test_whole_numbers_of_any_type_are_a_shape(shape):
    assert nd.zeros(shape).size == 6


def test_a_property_says_itself_what_it_lacks():
    class Deep(nn.HybridSequential):
        @property
        def depth(self):
            return len(self._layres)

    with pytest.raises(AttributeError, match="_layres"):
        Deep().depth


def test_a_block_without_its_base_can_be_asked_what_it_has():
    assert not hasattr(Idle(), "weight") and repr(Idle()).startswith("Idle(")
    assert not hasattr(nn.Dense(3), "__len__")


def test_a_place_is_said_once():
    """Of the innermost block: those around it pass the error on."""

    class Around(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.inner = nn.HybridSequential()
            self.inner.add(nn.Dense(2, in_units=3, prefix="last_"))

        def hybrid_forward(self, F, x):
            return self.inner(x)

    net = Around()
    net.initialize()
    with pytest.raises(ValueError, match="in block last,") as raised:
        net(nd.ones((1, 4)))
    assert str(raised.value).count("in block") == 1


@pytest.mark.parametrize("name", ["shape", "dtype", "no_such_name"])
def test_a_symbol_has_still_no_shape(name):
    assert not hasattr(mx.sym.var("x"), name)


def test_files_of_another_network(tmp_path):
    path = str(tmp_path / "net.params")
    network().save_parameters(path)
    wider, deeper = nn.HybridSequential(), nn.HybridSequential()
    wider.add(nn.Dense(8, in_units=6), nn.Dense(4, in_units=8, prefix="other_"))
    deeper.add(nn.Dense(8, in_units=6), nn.Dense(3, in_units=8), nn.Dense(2, in_units=3))
    with pytest.raises(ValueError, match=r"other_weight: given shape \(3, 8\) in the file, expected \(4, 8\)"):
        wider.load_parameters(path)
    with pytest.raises(ValueError, match="2.weight is missing in file .*, which has 0.weight, 0.bias"):
        deeper.load_parameters(path)
    (tmp_path / "text").write_text("no parameters")
    with pytest.raises(ValueError, match="text', invalid NDArray file format at byte 0"):
        network().load_parameters(tmp_path / "text")
