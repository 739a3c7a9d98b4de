# SPDX-License-Identifier: Apache-2.0
"""Layers of PyTorch for the networks of the zoo, as gluon_zoo has them."""
import os

import torch as pt
from torch import nn
from torch.nn import functional as F

pt.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))


class Of(nn.Module):
    def __init__(self, join, *parts):
        super().__init__()
        self.join, self.parts = join, nn.ModuleList(parts)

    def forward(self, x):
        return self.join(*(part(x) for part in self.parts))


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def chain(layers):
    return nn.Sequential(*layers)


def same():
    return nn.Identity()


def add(one, other):
    return Of(lambda a, b: a + b, one, other)


def multiply(one, other):
    return Of(lambda a, b: a * b, one, other)


def concat(*parts, axis=1):
    return Of(lambda *values: pt.cat(values, axis), *parts)


def conv(cin, cout, kernel, stride, pad, bias=True, groups=1, dims=2, dilation=1):
    layer = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1]
    return layer(cin, cout, kernel, stride, pad, dilation, groups, bias)


def deconv(cin, cout, kernel, stride, pad, bias=True, dims=2):
    return (nn.ConvTranspose2d if dims == 2 else nn.ConvTranspose3d)(cin, cout, kernel, stride, pad, bias=bias)


def norm(kind, channels, dims=2):
    if kind == "batch":
        return (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[dims - 1](channels)
    return {"instance": lambda: nn.InstanceNorm2d(channels, affine=True), "group": lambda: nn.GroupNorm(8, channels), "layer": lambda: nn.LayerNorm(channels)}[kind]()


def act(kind):
    return {"relu": nn.ReLU, "relu6": nn.ReLU6, "leaky": lambda: nn.LeakyReLU(0.1), "gelu": nn.GELU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid,
            "elu": nn.ELU, "swish": nn.SiLU, "hard_swish": nn.Hardswish, "softplus": nn.Softplus}[kind]()


def max_pool(size, stride, pad, dims=2):
    return (nn.MaxPool2d if dims == 2 else nn.MaxPool3d)(size, stride, pad)


def avg_pool(size, stride):
    return nn.AvgPool2d(size, stride)


def global_pool(dims=2):
    return nn.AdaptiveAvgPool2d(1) if dims == 2 else nn.AdaptiveAvgPool3d(1)


def flatten():
    return nn.Flatten()


def dense(inputs, units, flat=True):
    return nn.Linear(inputs, units)


def enlarge():
    return nn.Upsample(scale_factor=2, mode="nearest")


def rows_of(count):
    return Call(lambda x: x.permute(0, 2, 3, 1).reshape(x.shape[0], -1, count))


def neighbours():
    return nn.LocalResponseNorm(5, 1e-4, 0.75, 1.0)


def drop(part):
    return nn.Dropout(part)


def slopes(channels):
    return nn.PReLU(channels)


def pixels(factor):
    return nn.PixelShuffle(factor)


def shuffle(channels, groups):
    return nn.ChannelShuffle(groups)


def interpolate(factor):
    return nn.Upsample(scale_factor=factor, mode="bilinear", align_corners=True)


def turned(axes):
    return Call(lambda x: x.permute(axes))


def largest(axis):
    return Call(lambda x: x.amax(axis))


def mean(axis):
    return Call(lambda x: x.mean(axis))


def channels_last():
    return Call(lambda x: x.permute(0, 2, 3, 1))


def channels_first():
    return Call(lambda x: x.permute(0, 3, 1, 2))


class First(nn.Module):
    def __init__(self, layers, vocabulary=0, width=0):
        super().__init__()
        self.look_up = nn.Embedding(vocabulary, width) if vocabulary else None
        self.layers = chain(layers)

    def forward(self, x):
        return self.layers(self.look_up(x.int()) if self.look_up else x)


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


def recurrent(kind, inputs, units, layers=1, both=False, projection=None):
    more = {"proj_size": projection} if projection else {}
    return Recurrent({"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[kind](inputs, units, layers, bidirectional=both, **more))


class Attention(nn.Module):
    def __init__(self, width, heads, drop):
        super().__init__()
        self.heads, self.drop = heads, drop
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, memory, mask):
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        y = F.scaled_dot_product_attention(q, k, v, mask, self.drop if self.training else 0.0)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class Transformer(nn.Module):
    def __init__(self, encoders, decoders, width, heads, vocabulary, drop=0.1, classes=2):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        steps = []
        for i in range(encoders + decoders):
            parts = [Attention(width, heads, drop) for _ in range(1 if i < encoders else 2)]
            wide = chain([nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(drop)])
            steps.append(nn.ModuleList([*parts, wide, *(nn.LayerNorm(width) for _ in range(len(parts) + 1))]))
        self.steps = nn.ModuleList(steps)
        self.out = nn.Linear(width, vocabulary if decoders else classes)

    def forward(self, x, mask, *other):
        mask = mask.bool().unsqueeze(1)
        x = memory = self.words(x.int())
        for step in self.steps:
            decodes = len(step) == 6
            if decodes and x is memory:
                x = self.words(other[0].int())
            norms = step[-3:] if decodes else step[-2:]
            x = norms[0](x + step[0](x, x, mask))
            if decodes:
                x = norms[1](x + step[1](x, memory, mask))
            x = norms[-1](x + step[2 if decodes else 1](x))
            memory = memory if decodes else x
        return self.out(x)


class Recommender(nn.Module):
    def __init__(self, sparse, tables=26, rows=10000, width=16, numbers=13):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, width, sparse=sparse) for _ in range(tables)])
        self.deep = chain([dense(numbers + tables * width, 512), act("relu"), dense(512, 256), act("relu"), dense(256, 2)])

    def forward(self, x, numbers):
        columns = x.int().unbind(1)
        return self.deep(pt.cat([numbers, *(table(column) for table, column in zip(self.tables, columns))], 1))


class Cells(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.cell, self.units = nn.LSTMCell(units, units), units

    def forward(self, x):
        state, outputs = (x.new_zeros(x.shape[0], self.units),) * 2, []
        for t in range(20):
            state = self.cell(x[:, t], state)
            outputs.append(state[0])
        return pt.stack(outputs, 1)


def arrays(values):
    return [pt.tensor(value) for value in values]


def prepare(network, numbers, eager=False):
    with pt.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() > 1:
                parameter.copy_(pt.tensor(numbers(parameter.shape)))
            else:
                parameter.fill_(0.0 if "bias" in name else 1.0)
    return network.eval()


def forward(network, inputs):
    with pt.inference_mode():
        return network(*inputs).numpy()


def gradients(network, losses):
    sums = [0.0, 0.0]
    for parameter in network.parameters():
        sums[parameter.dim() == 1] += float(parameter.grad.to_dense().abs().sum()) if parameter.grad is not None else 0.0
    return sums


def stepper(network, inputs, labels, kind, eager=False, momentum=0.9):
    optimizer = pt.optim.SGD(network.parameters(), 1e-5, momentum)
    network.train()
    target = pt.tensor(labels).long() if kind else None

    def cost_of(y):
        if kind == "classes":
            return F.cross_entropy(y.flatten(0, -2), target.flatten())
        if kind == "ctc":
            steps, batch, _ = y.shape
            lengths = pt.full((batch,), steps), pt.full((batch,), target.shape[1])
            return F.ctc_loss(y.log_softmax(-1), target, *lengths, blank=y.shape[2] - 1, reduction="none").mean()
        return y.square().mean() / 2

    def step():
        optimizer.zero_grad()
        cost = cost_of(network(*inputs))
        cost.backward()
        optimizer.step()
        return cost.item()

    return step
