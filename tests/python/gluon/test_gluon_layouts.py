# SPDX-License-Identifier: Apache-2.0
"""A hybridized network trains with its values in the layouts of its kernels, as a bound symbol does."""

import collections
import re

import pytest

TRAINING = """
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

net = nn.HybridSequential()
for channels in (32, 48, 64):
    net.add(*{layers}, nn.BatchNorm(), nn.Activation("relu"))
net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
net.initialize()
data, label = mx.nd.random.uniform(shape=(8, 16, 28, 28)), mx.nd.zeros((8,))
{change}
net.hybridize({flags})
trainer = gluon.Trainer(net.collect_params(), "sgd", {{"learning_rate": 0.01}})
loss = gluon.loss.SoftmaxCrossEntropyLoss()
for step in range(3):
    mx.nd.waitall()
    print("step", step, flush=True)
    with autograd.record({mode}):
        cost = loss(net(data), label)
    cost.backward()
    trainer.step(8)
mx.nd.waitall()
"""
REORDER = re.compile(r"^onednn_verbose,.*?exec,cpu,reorder,.*?,(src_\S+ dst_\S+),.*,([0-9x]+),[^,]*$", re.MULTILINE)


# Ways to train the same network.
CHANGES = {
    "as it is": "",
    "gradients are added up": 'net.collect_params().setattr("grad_req", "add")',
    "the first layers are frozen": """
for layer in (net[0], net[1]):
    layer.collect_params().setattr("grad_req", "null")
""",
    "inside another block": """
class Outer(gluon.HybridBlock):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def hybrid_forward(self, F, x):
        return self.inner(x) * 2.0

net = Outer(net)
""",
    "read from its files": """
import tempfile
net.hybridize()
net(data)
with tempfile.TemporaryDirectory() as folder:
    net.export(folder + "/net")
    net = gluon.SymbolBlock.imports(folder + "/net-symbol.json", ["data"], folder + "/net-0000.params")
""",
}


PLAIN = "[nn.Conv2D(channels, 3, padding=1, use_bias=False)]"
SEPARABLE = """[nn.Conv2D(channels, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
             nn.Conv2D(channels, 3, padding=1, groups=channels, use_bias=False)]"""


def reorders_of_a_step(run_python, layers, flags, mode, change):
    # Without Winograd, whose choice is the processor's: every convolution is one of oneDNN's.
    code = TRAINING.format(layers=layers, flags=flags, mode=mode, change=CHANGES[change])
    done = run_python(code, env={"ONEDNN_VERBOSE": "1", "MXNET_ONEDNN_WINOGRAD": "off"})
    assert done.returncode == 0, done.stderr
    if "onednn_verbose" not in done.stdout:
        pytest.skip("this build of oneDNN does not say what it does")
    reorders = collections.Counter(REORDER.findall(done.stdout.split("step 2\n")[1]))
    assert reorders, "weights change in each step, so that some are reordered"
    return reorders


def images_reordered(reorders):
    return [shape for _, shape in reorders if shape.endswith("x28x28") and shape != "8x16x28x28"]


@pytest.mark.parametrize(
    "flags, mode, change",
    [
        *[("", "", change) for change in CHANGES],
        ("", "train_mode=False", "as it is"),
        ("static_alloc=True, static_shape=True", "", "as it is"),
        ("static_alloc=True, static_shape=True", "train_mode=False", "as it is"),
    ],
)
def test_a_step_reorders_no_value_between_its_layers_and_no_weight_twice(run_python, flags, mode, change):
    reorders = reorders_of_a_step(run_python, PLAIN, flags, mode, change)
    assert max(reorders.values()) == 1, reorders
    assert not images_reordered(reorders), reorders
    shapes = collections.Counter(shape for _, shape in reorders)
    for weight in ("32x16x3x3", "48x32x3x3", "64x48x3x3"):
        assert shapes[weight] <= 3, "for the way forward, for the gradient of the data, and its own gradient back"


def test_nor_between_layers_of_which_some_convolve_each_channel_by_itself(run_python):
    assert not images_reordered(reorders_of_a_step(run_python, SEPARABLE, "", "", "as it is"))


LAYERS = """
import mxnet as mx
from mxnet import autograd
from mxnet.gluon import nn

net = nn.HybridSequential()
for channels in (32, 48, 36):
    net.add(nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(3, 1, 1))
net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
net.initialize()
net.cast("bfloat16")
net.hybridize()
data = mx.nd.random.uniform(shape=(4, 3, 28, 28)).astype("bfloat16")
if {training}:
    with autograd.record():
        out = net(data)
    out.backward()
else:
    net(data)
mx.nd.waitall()
"""


@pytest.mark.parametrize("training", [True, False])
def test_matrix_units_convolve_bfloat16_where_there_are_some(run_python, training):
    done = run_python(LAYERS.format(training=training), env={"ONEDNN_VERBOSE": "1"})
    assert done.returncode == 0, done.stderr
    if "Intel AMX" not in done.stdout:
        pytest.skip("oneDNN finds no matrix units, or does not say what it does")
    lines = [line for line in done.stdout.splitlines() if ",exec,cpu," in line]
    convolutions = [line for line in lines if ",convolution," in line]
    # The image has no gradient.
    assert len(convolutions) == (3 + 2 + 3 if training else 3), convolutions
    assert not [line for line in convolutions if "amx" not in line], convolutions
    # Pooling takes the layout that it finds.
    image = re.compile(r",4x(32|48|36)x28x28,[^,]*$")
    assert not [line for line in lines if ",reorder," in line and image.search(line)], lines


HALF = """
import mxnet as mx
from mxnet import autograd
from mxnet.gluon import nn

net = nn.HybridSequential()
net.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Conv2DTranspose(8, 2, strides=2), nn.Dense(10))
net.initialize()
net.cast("float16")
data = mx.nd.random.uniform(shape=(4, 8, 14, 14)).astype("float16")
with autograd.record():
    out = net(data)
out.backward()
mx.nd.waitall()
"""


def test_no_step_between_float16_and_float32_is_one_of_the_loops_that_only_define_the_result(run_python):
    done = run_python(HALF, env={"ONEDNN_VERBOSE": "1"})
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if ",exec,cpu," in line]
    assert not [line for line in lines if ",simple:any," in line or ",ref:any," in line]
