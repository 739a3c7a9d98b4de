# SPDX-License-Identifier: Apache-2.0
"""Networks that nobody designed: layers, branches, sums, joins, shared weights and several outputs, drawn. However a plan is
made and run, its results and gradients are those of the operators one by one. More networks: MXNET_TEST_NETWORKS; others:
MXNET_TEST_SEED."""

import os
import random

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn

SEED = int(os.environ.get("MXNET_TEST_SEED", "20261122"))
NETWORKS = int(os.environ.get("MXNET_TEST_NETWORKS", "12"))
WAYS = [  # settings, and options of hybridize()
    ({}, {"static_alloc": True, "static_shape": True}),
    ({}, {"inline_limit": 0, "forward_bulk_size": 2, "backward_bulk_size": 3}),
    ({"MXNET_SUBGRAPH_BACKEND": "NONE", "MXNET_USE_FUSION": "0", "MXNET_NODE_ELIMINATION": "0"}, {}),
    ({"MXNET_ONEDNN_ENABLED": "0"}, {"static_alloc": True}),
    ({"MXNET_BACKWARD_DO_MIRROR": "1"}, {"static_alloc": True}),
    ({"MXNET_MEMORY_OPT": "1", "MXNET_EXEC_ENABLE_INPLACE": "0"}, {}),
]
OUTPUT, GRADIENT = 1e-4, 1e-3  # of the largest number: a gradient is the sum of many products of those


class Drawn(gluon.HybridBlock):
    """Steps that each read values before them: (kind, places of what is read, block or parameter)."""

    def __init__(self, draw, channels, size, **options):
        super().__init__(**options)
        self.draw, self.steps, self.values = draw, [], [(channels, size)]
        with self.name_scope():
            for i in range(draw.randint(10, 40)):
                self._add_step(i)
            self.dense = nn.Dense(5)
        # Whatever nobody reads is a result: one by one it would be computed, change states and draw numbers, in a plan not.
        read = {place for step in self.steps for place in step[1]}
        self.results = [k for k in range(len(self.values)) if k not in read or draw.random() < 0.1]

    def _add_step(self, i):
        draw, at = self.draw, self.draw.randrange(max(0, len(self.values) - 4), len(self.values))
        channels, size = self.values[at]
        kind = draw.choice(["conv", "conv", "conv", "group", "deconv", "norm", "norm", "act", "act", "leaky", "pool", "concat",
                            "add", "add", "multiply", "scale", "up", "turn", "dropout", "shared", "slice"])
        same = [k for k, value in enumerate(self.values) if value == (channels, size)]
        alike = [k for k, value in enumerate(self.values) if value[1] == size]
        block, others, made = None, [], (channels, size)
        if kind in ("conv", "group", "deconv"):
            block, made = self._convolution(kind, channels, size)
            if block is None:
                return
        elif kind == "norm":
            block = nn.BatchNorm(in_channels=channels, scale=draw.random() < 0.8, use_global_stats=draw.random() < 0.3)
        elif kind == "act":
            block = nn.Activation(draw.choice(["relu", "relu", "tanh", "sigmoid", "softrelu"]))
        elif kind == "leaky":
            block = draw.choice([nn.LeakyReLU(0.1), nn.ELU(), nn.GELU()])
        elif kind == "dropout":
            if any(step[0] == kind for step in self.steps):
                return  # a plan is free to take branches in another order, and so are their numbers
            block = nn.Dropout(0.3)
        elif kind == "pool":
            if size < 4:
                return
            block, made = draw.choice([nn.MaxPool2D, nn.AvgPool2D])(2, 2), (channels, size // 2)
        elif kind == "up":
            if size > 8:
                return
            made = (channels, 2 * size)
        elif kind == "slice":
            if channels < 2:
                return
            made = (channels // 2, size)
        elif kind == "concat":
            others = [draw.choice(alike)]
            made = (channels + self.values[others[0]][0], size)
            if made[0] > 64:
                return
        elif kind in ("add", "multiply"):
            others = [draw.choice(same)]
        elif kind == "shared":
            earlier = [s for s in self.steps if s[0] in ("conv", "act") and self.values[s[1][0]] == (channels, size)]
            if not earlier:
                return
            chosen = draw.choice(earlier)
            kind, block, made = chosen[0], chosen[2], self.values[chosen[3]]
        if block is not None:
            setattr(self, f"layer{i}", block)
        self.values.append(made)
        self.steps.append((kind, [at, *others], block, len(self.values) - 1))

    def _convolution(self, kind, channels, size):
        """The block and (channels, size) of its result; no block where an image would become too large."""
        draw = self.draw
        kernel, stride = draw.choice([1, 3, 3, 5]), draw.choice([1, 1, 1, 2])
        out, groups = draw.choice([3, 8, 13, 16, 32]), 1
        if kind == "group":
            groups = draw.choice([g for g in (2, 4, channels) if channels % g == 0] or [1])
            out = groups * max(1, out // groups)
        options = dict(kernel_size=kernel, strides=stride, padding=kernel // 2, in_channels=channels,
                       use_bias=draw.random() < 0.5, activation=draw.choice([None, None, "relu", "tanh"]))
        if kind != "deconv":
            return nn.Conv2D(out, groups=groups, **options), (out, (size + 2 * (kernel // 2) - kernel) // stride + 1)
        if size > 12:
            return None, None
        return nn.Conv2DTranspose(out, output_padding=stride - 1, **options), (out, size * stride)

    def hybrid_forward(self, F, x):
        values = [x]
        for kind, places, block, _ in self.steps:
            read = [values[place] for place in places]
            values.append(block(read[0]) if block is not None else self._plain(F, kind, read, self.values[places[0]][0]))
        return [self.dense(values[-1]), *(F.mean(values[k], axis=1) for k in self.results)]

    @staticmethod
    def _plain(F, kind, read, channels):
        if kind == "concat":
            return F.concat(*read, dim=1)
        if kind == "add":
            return read[0] + read[1]
        if kind == "multiply":
            return F.tanh(read[0]) * F.sigmoid(read[1])
        if kind == "scale":
            return read[0] * 0.5 + 0.1
        if kind == "up":
            return F.UpSampling(read[0], scale=2, sample_type="nearest")
        if kind == "slice":
            return F.slice_axis(read[0], axis=1, begin=0, end=channels // 2)
        return F.transpose(F.reshape(F.transpose(read[0], axes=(0, 2, 3, 1)), shape=(0, -3, 0)).expand_dims(1), axes=(0, 3, 1, 2)) \
            .reshape_like(read[0])


def network(number):
    draw, numbers = random.Random(SEED + number), np.random.RandomState((SEED + number) % 2**31)
    channels, size = draw.choice([1, 3, 8, 16]), draw.choice([7, 8, 12, 14])
    mx.random.seed(SEED + number)
    net = Drawn(draw, channels, size)
    net.initialize(mx.init.Xavier())
    data = mx.nd.array(numbers.uniform(-1, 1, (draw.choice([1, 2, 3]), channels, size, size)))
    net(data)
    for name, parameter in net.collect_params().items():
        if name.endswith(("gamma", "running_var")):
            parameter.set_data(mx.nd.array(numbers.uniform(0.5, 1.5, parameter.shape)))
        elif name.endswith(("beta", "bias", "running_mean")):
            parameter.set_data(mx.nd.array(numbers.uniform(-0.3, 0.3, parameter.shape)))
    return net, data


def computed(net, data, seed):
    """Results of inference, then those of a training step with all gradients and moving averages; states are put back."""
    parameters = net.collect_params()
    before = {name: parameter.data().copy() for name, parameter in parameters.items() if parameter.grad_req == "null"}
    found = {f"inference {i}": out.asnumpy() for i, out in enumerate(net(data))}
    data.attach_grad()
    mx.random.seed(seed)
    with mx.autograd.record():
        outs = net(data)
    heads = np.random.RandomState(seed)
    mx.autograd.backward(outs, [mx.nd.array(heads.uniform(-1, 1, out.shape)) for out in outs])
    found.update((f"training {i}", out.asnumpy()) for i, out in enumerate(outs))
    found["gradient of the data"] = data.grad.asnumpy()
    for name, parameter in parameters.items():
        if parameter.grad_req == "null":
            found[f"state {name}"] = parameter.data().asnumpy()
            parameter.set_data(before[name])
        else:
            found[f"gradient of {name}"] = parameter.grad().asnumpy()
    return found


@pytest.mark.parametrize("number", range(NETWORKS))
def test_plans_compute_what_operators_one_by_one_do(number):
    net, data = network(number)
    expected = computed(net, data, number)
    largest = max(np.abs(value).max() for name, value in expected.items() if name.startswith("gradient"))
    for settings, options in WAYS:
        with mx.util.environment(settings):
            net.hybridize(**options)
            found = computed(net, data, number)
        net.hybridize(False)
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            gradient = name.startswith("gradient")
            scale = largest if gradient else max(np.abs(value).max(), 1e-2)
            error = np.abs(found[name] - value).max() / scale
            assert error < (GRADIENT if gradient else OUTPUT), f"network {number}, {settings}, {options}: {name}"
