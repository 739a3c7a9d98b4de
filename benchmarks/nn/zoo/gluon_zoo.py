# SPDX-License-Identifier: Apache-2.0
"""Layers of Gluon for the networks of the zoo, and those that are written for it: sequences and embeddings. Ours and 1.9.1 run it."""
import mxnet as mx
from mxnet.gluon import HybridBlock, nn, rnn
from mxnet.gluon.contrib import nn as contrib_nn


class Of(HybridBlock):
    """Parts that all read the same, and what becomes of their results."""

    def __init__(self, join, *parts):
        super().__init__()
        self.join, self.parts = join, parts
        for part in parts:
            self.register_child(part)

    def hybrid_forward(self, F, x):
        return self.join(F, *(part(x) for part in self.parts))


def chain(layers):
    network = nn.HybridSequential()
    network.add(*layers)
    return network


def same():
    return nn.HybridLambda(lambda F, x: x)


def add(one, other):
    return Of(lambda F, a, b: a + b, one, other)


def multiply(one, other):
    return Of(lambda F, a, b: F.broadcast_mul(a, b), one, other)


def concat(*parts, axis=1):
    return Of(lambda F, *values: F.concat(*values, dim=axis), *parts)


def conv(cin, cout, kernel, stride, pad, bias=True, groups=1, dims=2, dilation=1):
    layer = (nn.Conv1D, nn.Conv2D, nn.Conv3D)[dims - 1]
    return layer(cout, kernel, stride, pad, dilation, groups, in_channels=cin, use_bias=bias)


def deconv(cin, cout, kernel, stride, pad, bias=True, dims=2):
    layer = nn.Conv2DTranspose if dims == 2 else nn.Conv3DTranspose
    return layer(cout, kernel, stride, pad, in_channels=cin, use_bias=bias)


def norm(kind, channels, dims=2):
    if kind == "group":
        return nn.GroupNorm(8, in_channels=channels) if "in_channels" in nn.GroupNorm.__init__.__code__.co_varnames else nn.GroupNorm(8)
    return {"batch": nn.BatchNorm, "instance": nn.InstanceNorm, "layer": nn.LayerNorm}[kind](in_channels=channels)


def act(kind):
    special = {"relu6": lambda F, x: F.clip(x, 0, 6), "leaky": lambda F, x: F.LeakyReLU(x, slope=0.1), "gelu": lambda F, x: F.LeakyReLU(x, act_type="gelu"),
               "elu": lambda F, x: F.LeakyReLU(x, act_type="elu", slope=1.0), "swish": lambda F, x: x * F.sigmoid(x),
               "hard_swish": lambda F, x: x * F.clip(x + 3, 0, 6) / 6, "softplus": lambda F, x: F.Activation(x, act_type="softrelu")}
    return nn.HybridLambda(special[kind]) if kind in special else nn.Activation(kind)


def max_pool(size, stride, pad, dims=2):
    return (nn.MaxPool2D if dims == 2 else nn.MaxPool3D)(size, stride, pad)


def avg_pool(size, stride):
    return nn.AvgPool2D(size, stride)


def global_pool(dims=2):
    return nn.GlobalAvgPool2D() if dims == 2 else nn.GlobalAvgPool3D()


def flatten():
    return nn.Flatten()


def dense(inputs, units, flat=True):
    return nn.Dense(units, in_units=inputs, flatten=flat)


def enlarge():
    return nn.HybridLambda(lambda F, x: F.UpSampling(x, scale=2, sample_type="nearest"))


def rows_of(count):
    return nn.HybridLambda(lambda F, x: F.reshape(F.transpose(x, (0, 2, 3, 1)), (0, -1, count)))


def neighbours():
    return nn.HybridLambda(lambda F, x: F.LRN(x, nsize=5, alpha=1e-4, beta=0.75, knorm=1))


def drop(part):
    return nn.Dropout(part)


def slopes(channels):
    return nn.PReLU(mx.init.Constant(0.25), in_channels=channels) if "in_channels" in nn.PReLU.__init__.__code__.co_varnames else nn.PReLU()


def pixels(factor):
    return contrib_nn.PixelShuffle2D(factor)


def shuffle(channels, groups):
    def both(F, x):
        return F.reshape(F.transpose(F.reshape(x, (0, -4, groups, -1, -2)), (0, 2, 1, 3, 4)), (0, -3, -2))
    return nn.HybridLambda(both)


def interpolate(factor):
    return nn.HybridLambda(lambda F, x: F.contrib.BilinearResize2D(x, scale_height=factor, scale_width=factor))


def turned(axes):
    return nn.HybridLambda(lambda F, x: F.transpose(x, axes))


def largest(axis):
    return nn.HybridLambda(lambda F, x: F.max(x, axis=axis))


def mean(axis):
    return nn.HybridLambda(lambda F, x: F.mean(x, axis=axis))


def channels_last():
    return nn.HybridLambda(lambda F, x: F.transpose(x, (0, 2, 3, 1)))


def channels_first():
    return nn.HybridLambda(lambda F, x: F.transpose(x, (0, 3, 1, 2)))


class First(HybridBlock):
    """Layers for sequences; integers are looked up first where there are so many words."""

    def __init__(self, layers, vocabulary=0, width=0):
        super().__init__()
        self.look_up = nn.Embedding(vocabulary, width) if vocabulary else None
        self.layers = chain(layers)

    def hybrid_forward(self, F, x):
        return self.layers(self.look_up(x) if self.look_up else x)


def recurrent(kind, inputs, units, layers=1, both=False, projection=None):
    more = {"projection_size": projection} if projection else {}
    if kind == "rnn":
        more["activation"] = "tanh"
    return {"rnn": rnn.RNN, "gru": rnn.GRU, "lstm": rnn.LSTM}[kind](units, layers, input_size=inputs, bidirectional=both, **more)


class Attention(HybridBlock):
    """As GluonNLP writes it: products of batches, masked softmax."""

    def __init__(self, width, heads, drop):
        super().__init__()
        self.width, self.heads = width, heads
        self.q, self.k, self.v, self.out = (nn.Dense(width, in_units=width, flatten=False) for _ in range(4))
        self.drop = nn.Dropout(drop)

    def split(self, F, x):
        x = F.reshape(x, (0, 0, self.heads, -1))
        return F.reshape(F.transpose(x, (0, 2, 1, 3)), (-1, 0, 0), reverse=True)

    def hybrid_forward(self, F, x, memory, mask):
        q, k, v = self.split(F, self.q(x)), self.split(F, self.k(memory)), self.split(F, self.v(memory))
        scores = F.batch_dot(q, k, transpose_b=True) * (1 / (self.width // self.heads) ** 0.5)
        scores = F.where(mask, scores, -1e18 * F.ones_like(scores))
        weights = self.drop(F.softmax(scores, axis=-1) * mask)
        y = F.reshape(F.batch_dot(weights, v), (-1, self.heads, 0, 0), reverse=True)
        return self.out(F.reshape(F.transpose(y, (0, 2, 1, 3)), (0, 0, -1)))


class Transformer(HybridBlock):
    """An encoder, and a decoder that reads it where there is one: words, a mask a sentence and head, words of the other language."""

    def __init__(self, encoders, decoders, width, heads, vocabulary, drop=0.1, classes=2):
        super().__init__()
        self.words, self.heads = nn.Embedding(vocabulary, width), heads
        self.steps = []
        for i in range(encoders + decoders):
            parts = [Attention(width, heads, drop) for _ in range(1 if i < encoders else 2)]
            wide = chain([nn.Dense(4 * width, in_units=width, flatten=False), act("gelu"), nn.Dense(width, in_units=4 * width, flatten=False), nn.Dropout(drop)])
            norms = [nn.LayerNorm(in_channels=width) for _ in range(len(parts) + 1)]
            for part in [*parts, wide, *norms]:
                self.register_child(part)
            self.steps.append((parts, wide, norms))
        self.out = nn.Dense(vocabulary, in_units=width, flatten=False) if decoders else nn.Dense(classes, in_units=width, flatten=False)

    def hybrid_forward(self, F, x, mask, *other):
        mask = F.repeat(mask, self.heads, axis=0)
        x = memory = self.words(x)
        for parts, wide, norms in self.steps:
            if len(parts) == 2 and x is memory:
                x = self.words(other[0])
            x = norms[0](x + parts[0](x, x, mask))
            if len(parts) == 2:
                x = norms[1](x + parts[1](x, memory, mask))
            x = norms[-1](x + wide(x))
            memory = x if len(parts) == 1 else memory
        return self.out(x)


class Recommender(HybridBlock):
    def __init__(self, sparse, tables=26, rows=10000, width=16, numbers=13):
        super().__init__()
        self.tables = [nn.Embedding(rows, width, sparse_grad=sparse) for _ in range(tables)]
        for table in self.tables:
            self.register_child(table)
        self.deep = chain([dense(numbers + tables * width, 512), act("relu"), dense(512, 256), act("relu"), dense(256, 2)])

    def hybrid_forward(self, F, x, numbers):
        columns = F.split(x, num_outputs=len(self.tables), axis=1, squeeze_axis=True)
        return self.deep(F.concat(numbers, *(table(column) for table, column in zip(self.tables, columns)), dim=1))


class Cells(HybridBlock):
    """A cell of an LSTM unrolled over 20 steps."""

    def __init__(self, units):
        super().__init__()
        self.cell, self.units = rnn.LSTMCell(units, input_size=units), units

    def hybrid_forward(self, F, x):
        outputs, _ = self.cell.unroll(20, x, layout="NTC", merge_outputs=True)
        return outputs


def arrays(values):
    return [mx.nd.array(value) for value in values]


def fill(network, numbers):
    network.initialize(mx.init.Zero())
    for name, parameter in network.collect_params().items():
        if len(parameter.shape) > 1:
            parameter.set_data(mx.nd.array(numbers(parameter.shape)))
        elif name.endswith(("gamma", "running_var", "alpha")):
            parameter.set_data(mx.nd.ones(parameter.shape))


def prepare(network, numbers, eager=False):
    fill(network, numbers)
    if not eager:
        network.hybridize(static_alloc=True, static_shape=True)
    return network


def forward(network, inputs):
    return network(*inputs).asnumpy()


def gradients(network, losses):
    """Sums of the magnitudes of what a step leaves, of the mean of so many losses: of matrices, of vectors."""
    sums = [0.0, 0.0]
    for parameter in network.collect_params().values():
        if parameter.grad_req != "null":
            sums[len(parameter.shape) == 1] += float(parameter.grad().tostype("default").abs().sum().asscalar()) / losses
    return sums


def stepper(network, inputs, labels, kind, eager=False, momentum=0.9):
    """A function that takes one training step. Kind: `classes`, `ctc`, or nothing: the mean of squares."""
    trainer = mx.gluon.Trainer(network.collect_params(), "sgd", {"learning_rate": 1e-5, "momentum": momentum}, kvstore=None)
    losses = {"classes": mx.gluon.loss.SoftmaxCrossEntropyLoss, "ctc": lambda: mx.gluon.loss.CTCLoss(layout="TNC", label_layout="NT")}
    loss = losses[kind]() if kind else mx.gluon.loss.L2Loss()
    if not eager:
        loss.hybridize()
    target = mx.nd.array(labels) if kind else None

    def step():
        with mx.autograd.record():
            y = network(*inputs)
            cost = loss(y, target if kind else mx.nd.zeros_like(y))
        cost.backward()
        trainer.step(inputs[0].shape[0])
        mx.nd.waitall()
        return cost.mean().asscalar()

    return step
