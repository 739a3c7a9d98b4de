# SPDX-License-Identifier: Apache-2.0
"""Mixed precision and Python's operators: arrays and symbols of two types meet in the wider one. Types are those of release 1.9.1."""

import pytest

import mxnet as mx

# amp.init changes the operators of its process.
HEAD = """
import operator
import sys

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.contrib import amp

dtype = sys.argv[1]
amp.init(dtype)


def half():
    return mx.nd.array([4, 9]).astype(dtype)


def full():
    return mx.nd.array([2, 3])


def kind(array):
    return "bfloat16" if array.dtype == amp.amp.bfloat16 else np.dtype(array.dtype).name


def values(array):
    return array.astype("float32").asnumpy().tolist()
"""

ARRAYS = """
OPERATORS = ("add", "sub", "mul", "truediv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge")
for name in OPERATORS:
    function = getattr(operator, name)
    expected = function(np.array([4, 9], np.float32), np.array([2, 3], np.float32)).astype("float32").tolist()
    swapped = function(np.array([2, 3], np.float32), np.array([4, 9], np.float32)).astype("float32")
    made = function(half(), full())
    assert (kind(made), values(made)) == ("float32", expected), name
    made = function(full(), half())
    assert kind(made) == "float32" and np.allclose(values(made), swapped), name
    assert kind(function(half(), half())) == ("float32" if name == "pow" else dtype), name
    assert kind(function(half(), 2)) == dtype and kind(function(full(), 2)) == "float32", name
for name in ("add", "subtract", "multiply", "divide", "modulo", "power", "maximum", "minimum", "equal", "greater", "lesser",
             "logical_and", "logical_or", "logical_xor"):
    assert kind(getattr(mx.nd, name)(half(), full())) == kind(getattr(mx.nd, name)(full(), half())) == "float32", name
assert kind(mx.nd.maximum(half(), 5)) == dtype

# What is no floating type, and what no list names, is as without mixed precision.
for left, right in ((full(), full().astype("int32")), (half(), full().astype("float64"))):
    try:
        left + right
    except ValueError as error:
        assert "expected type" in str(error)
    else:
        raise SystemExit("types that do not meet are no error")
assert kind(full().astype("int32") + full().astype("int32")) == "int32"
assert kind(mx.np.array([1, 2], dtype="float32") * mx.np.array([1, 2], dtype="float16")) == "float32"
assert (half() == None) is False  # noqa: E711
eye = mx.nd.array(np.eye(2)).tostype("csr")
assert (eye + eye).stype == "csr"

# In place: memory keeps its type, so that a wider result is a new array.
wide = full()
same = wide
wide += half()
assert wide is same and values(same) == [6, 12] and kind(wide) == "float32"
narrow = half()
view = narrow
narrow += full()
assert kind(narrow) == "float32" and values(narrow) == [6, 12] and values(view) == [4, 9] and kind(view) == dtype
narrow = view = half()
narrow *= half()
assert narrow is view and values(view) == [16, 81]

x, y = half(), full()
x.attach_grad()
y.attach_grad()
with autograd.record():
    total = ((x - y) * y).sum()
total.backward()
assert kind(x.grad) == dtype and values(x.grad) == [2, 3] and kind(y.grad) == "float32" and values(y.grad) == [0, 3]
"""

SYMBOLS = """
a, b = mx.sym.var("a"), mx.sym.var("b")
made = {name: getattr(operator, name)(a, b) for name in ("add", "sub", "mul", "truediv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge")}
made.update((name, getattr(mx.sym, name)(a, b)) for name in ("maximum", "minimum", "hypot", "power"))


def result(symbol, left, right):
    return np.dtype(symbol.infer_type(a=left, b=right)[1][0]).name


for name, symbol in made.items():
    assert result(symbol, "float16", "float32") == result(symbol, "float32", "float16") == "float32", name
    assert result(symbol, "float16", "float16") == ("float32" if name in ("pow", "power", "hypot") else "float16"), name
    assert result(symbol, "int32", "int32") == "int32", name
    assert symbol.infer_shape(a=(2, 3))[0] == [(2, 3), (2, 3)], name
assert made["sub"].list_outputs() == ["_minus0_output"]
assert "amp" not in made["sub"].tojson()
assert values((a - b).eval(a=half(), b=full())[0]) == [2, 6]
assert np.dtype((a + 2).infer_type(a="float16")[1][0]) == np.float16
"""

TRAINING = """
def network():
    mx.random.seed(3)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation="relu", in_units=3), gluon.nn.Dense(2, in_units=8))
    net.initialize(mx.init.Xavier())
    return net


rng = np.random.default_rng(3)
data = mx.nd.array(rng.uniform(-1, 1, (16, 3)))
label = mx.nd.array(rng.uniform(0, 1, (16, 2)))
losses = [gluon.loss.L2Loss(), gluon.loss.L1Loss(), gluon.loss.HuberLoss(), gluon.loss.SigmoidBinaryCrossEntropyLoss(),
          gluon.loss.LogisticLoss(label_format="binary"), gluon.loss.KLDivLoss(from_logits=False), gluon.loss.HingeLoss()]
for loss in losses:
    ends = []
    for hybrid in (False, True):
        net = network()
        if hybrid:
            net.hybridize()
            loss.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
        amp.init_trainer(trainer)
        scaler = trainer._amp_loss_scaler
        scaler._loss_scale = scaler._next_loss_scale = 16.0  # nothing overflows
        costs = []
        for _ in range(6):
            with autograd.record():
                out = net(data)
                cost = loss(out, label)
                with amp.scale_loss(cost, trainer) as scaled:
                    autograd.backward(scaled)
            trainer.step(16)
            costs.append(float(cost.astype("float32").mean().asscalar()))
        assert kind(out) == dtype and costs[-1] < costs[0], (loss, hybrid, costs)
        ends.append(costs)
    assert np.allclose(*ends, rtol=0.02, atol=1e-3), (loss, ends)
"""

RECURRENT = """
cell = mx.rnn.LSTMCell(4, prefix="lstm_")
outputs, _ = cell.unroll(3, mx.sym.var("data"), merge_outputs=True)
assert outputs.infer_shape(data=(2, 3, 5))[1] == [(2, 3, 4)]
module = mx.mod.Module(mx.sym.LinearRegressionOutput(outputs, mx.sym.var("label")), label_names=["label"])
module.bind([("data", (2, 3, 5))], [("label", (2, 3, 4))])
module.init_params(mx.init.Xavier())
module.init_optimizer(optimizer_params={"learning_rate": 0.1})
batch = mx.io.DataBatch([mx.nd.ones((2, 3, 5))], [mx.nd.ones((2, 3, 4)) / 2])
errors = []
for _ in range(10):
    module.forward(batch, is_train=True)
    errors.append(float(np.abs(module.get_outputs()[0].asnumpy() - 0.5).mean()))
    module.backward()
    module.update()
assert errors[-1] < errors[0], errors
"""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("program", [ARRAYS, SYMBOLS, TRAINING, RECURRENT], ids=["arrays", "symbols", "training", "recurrent"])
def test_two_types_meet_in_the_wider_one(run_python, program, dtype):
    done = run_python(HEAD + program, dtype)
    assert done.returncode == 0, done.stderr


def test_without_mixed_precision_types_have_to_agree():
    with pytest.raises(mx.MXNetError, match="expected type"):
        mx.nd.ones(2) - mx.nd.ones(2).astype("float16")


def test_shapes_go_back_through_casts():
    a, b = mx.sym.amp_multicast(mx.sym.var("a"), mx.sym.var("b"), num_outputs=2)
    assert (a + b).infer_shape(a=(2, 3))[0] == [(2, 3), (2, 3)]
    assert (a + b).infer_shape(b=(4,))[0] == [(4,), (4,)]
