# SPDX-License-Identifier: Apache-2.0
"""The six convolutional networks of the benchmark, layer by layer as their papers have them, and random weights for them."""
import numpy as np

import mxnet as mx


def conv(x, name, filters, kernel, stride=1, pad=0, bias=True):
    kernel, pad = (k if isinstance(k, tuple) else (k, k) for k in (kernel, pad))
    return mx.sym.Convolution(x, name=name, num_filter=filters, kernel=kernel, stride=(stride, stride), pad=pad, no_bias=not bias)


def relu(x, name):
    return mx.sym.Activation(x, name=name + "_relu", act_type="relu")


def normalised(x, name, filters, kernel, stride=1, pad=0, bias=False):
    x = conv(x, name, filters, kernel, stride, pad, bias)
    return mx.sym.BatchNorm(x, name=name + "_bn", fix_gamma=False, eps=1e-3)


def unit(x, name, *args, **kwargs):
    return relu(normalised(x, name, *args, **kwargs), name)


def pool(x, name, kind, kernel, stride=1, pad=0, convention="valid"):
    return mx.sym.Pooling(x, name=name, pool_type=kind, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
                          pooling_convention=convention)


def global_average(x):
    return mx.sym.Pooling(x, name="pool", pool_type="avg", kernel=(7, 7), global_pool=True)


def dense(x, name, units):
    return mx.sym.FullyConnected(x, name=name, num_hidden=units)


def classifier(x, units=4096):
    x = mx.sym.Flatten(x, name="flatten")
    for name in ("fc6", "fc7"):
        x = mx.sym.Dropout(relu(dense(x, name, units), name), name=name + "_dropout", p=0.5)
    return dense(x, "fc8", 1000)


def alexnet():
    x = pool(relu(conv(mx.sym.var("data"), "conv1", 64, 11, 4, 2), "conv1"), "pool1", "max", 3, 2)
    x = pool(relu(conv(x, "conv2", 192, 5, 1, 2), "conv2"), "pool2", "max", 3, 2)
    for name, filters in (("conv3", 384), ("conv4", 256), ("conv5", 256)):
        x = relu(conv(x, name, filters, 3, 1, 1), name)
    return classifier(pool(x, "pool5", "max", 3, 2))


def vgg16():
    x = mx.sym.var("data")
    for stage, (layers, filters) in enumerate(((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)), 1):
        for layer in range(1, layers + 1):
            name = f"conv{stage}_{layer}"
            x = relu(conv(x, name, filters, 3, 1, 1), name)
        x = pool(x, f"pool{stage}", "max", 2, 2)
    return classifier(x)


def resnet(blocks):
    x = unit(mx.sym.var("data"), "conv0", 64, 7, 2, 3)
    x = pool(x, "pool0", "max", 3, 2, 1)
    for stage, count in enumerate(blocks):
        filters = 256 << stage
        for block in range(count):
            name, stride = f"stage{stage}_block{block}", 2 if stage and not block else 1
            y = unit(x, name + "_conv1", filters // 4, 1, stride)
            y = unit(y, name + "_conv2", filters // 4, 3, 1, 1)
            y = normalised(y, name + "_conv3", filters, 1)
            shortcut = x if block else normalised(x, name + "_project", filters, 1, stride)
            x = relu(y + shortcut, name)
    return dense(global_average(x), "fc", 1000)


def inception_bn():
    """Batch normalisation's own Inception, for images of 224."""

    def branch(x, name, *layers):
        for i, layer in enumerate(layers):
            x = unit(x, f"{name}_{i}", *layer)
        return x

    def mixed(x, name, one, three, five, kind, project):
        parts = [branch(x, name + "_1x1", (one, 1)),
                 branch(x, name + "_3x3", (three[0], 1), (three[1], 3, 1, 1)),
                 branch(x, name + "_double", (five[0], 1), (five[1], 3, 1, 1), (five[1], 3, 1, 1)),
                 branch(pool(x, name + "_pool", kind, 3, 1, 1), name + "_project", (project, 1))]
        return mx.sym.Concat(*parts, name=name)

    def reduction(x, name, three, five):
        parts = [branch(x, name + "_3x3", (three[0], 1), (three[1], 3, 2, 1)),
                 branch(x, name + "_double", (five[0], 1), (five[1], 3, 1, 1), (five[1], 3, 2, 1)),
                 pool(x, name + "_pool", "max", 3, 2, 1)]
        return mx.sym.Concat(*parts, name=name)

    x = pool(unit(mx.sym.var("data"), "conv1", 64, 7, 2, 3), "pool1", "max", 3, 2)
    x = unit(unit(x, "conv2_reduce", 64, 1), "conv2", 192, 3, 1, 1)
    x = pool(x, "pool2", "max", 3, 2)
    x = mixed(x, "3a", 64, (64, 64), (64, 96), "avg", 32)
    x = mixed(x, "3b", 64, (64, 96), (64, 96), "avg", 64)
    x = reduction(x, "3c", (128, 160), (64, 96))
    x = mixed(x, "4a", 224, (64, 96), (96, 128), "avg", 128)
    x = mixed(x, "4b", 192, (96, 128), (96, 128), "avg", 128)
    x = mixed(x, "4c", 160, (128, 160), (128, 160), "avg", 128)
    x = mixed(x, "4d", 96, (128, 192), (160, 192), "avg", 128)
    x = reduction(x, "4e", (128, 192), (192, 256))
    x = mixed(x, "5a", 352, (192, 320), (160, 224), "avg", 128)
    x = mixed(x, "5b", 352, (192, 320), (192, 224), "max", 128)
    return dense(global_average(x), "fc", 1000)


def inception_v3():
    """For images of 299."""

    def branch(x, name, *layers):
        for i, layer in enumerate(layers):
            x = unit(x, f"{name}_{i}", *layer)
        return x

    def join(name, *parts):
        return mx.sym.Concat(*parts, name=name)

    def averaged(x, name, filters):
        return branch(pool(x, name + "_pool", "avg", 3, 1, 1), name + "_project", (filters, 1))

    def wide(filters):
        return filters, (1, 7), 1, (0, 3)

    def tall(filters):
        return filters, (7, 1), 1, (3, 0)

    x = branch(mx.sym.var("data"), "stem", (32, 3, 2), (32, 3), (64, 3, 1, 1))
    x = branch(pool(x, "pool1", "max", 3, 2), "stem2", (80, 1), (192, 3))
    x = pool(x, "pool2", "max", 3, 2)
    for name, project in (("a1", 32), ("a2", 64), ("a3", 64)):
        x = join(name, branch(x, name + "_1x1", (64, 1)), branch(x, name + "_5x5", (48, 1), (64, 5, 1, 2)),
                 branch(x, name + "_double", (64, 1), (96, 3, 1, 1), (96, 3, 1, 1)), averaged(x, name, project))
    x = join("b", branch(x, "b_3x3", (384, 3, 2)), branch(x, "b_double", (64, 1), (96, 3, 1, 1), (96, 3, 2)),
             pool(x, "b_pool", "max", 3, 2))
    for name, n in (("c1", 128), ("c2", 160), ("c3", 160), ("c4", 192)):
        x = join(name, branch(x, name + "_1x1", (192, 1)), branch(x, name + "_7x7", (n, 1), wide(n), tall(192)),
                 branch(x, name + "_double", (n, 1), tall(n), wide(n), tall(n), wide(192)), averaged(x, name, 192))
    x = join("d", branch(x, "d_3x3", (192, 1), (320, 3, 2)),
             branch(x, "d_7x7", (192, 1), wide(192), tall(192), (192, 3, 2)), pool(x, "d_pool", "max", 3, 2))
    for name, kind in (("e1", "avg"), ("e2", "max")):
        three, double = branch(x, name + "_3x3", (384, 1)), branch(x, name + "_double", (448, 1), (384, 3, 1, 1))
        split = [branch(part, f"{name}_{label}_{way}", layer) for label, part in (("3x3", three), ("double", double))
                 for way, layer in (("wide", (384, (1, 3), 1, (0, 1))), ("tall", (384, (3, 1), 1, (1, 0))))]
        pooled = branch(pool(x, name + "_pool", kind, 3, 1, 1), name + "_project", (192, 1))
        x = join(name, branch(x, name + "_1x1", (320, 1)), *split, pooled)
    return dense(global_average(x), "fc", 1000)


# Name: what makes it, and the height and width of its images.
NETWORKS = {
    "alexnet": (alexnet, 224),
    "vgg16": (vgg16, 224),
    "inception_bn": (inception_bn, 224),
    "inception_v3": (inception_v3, 299),
    "resnet50": (lambda: resnet((3, 4, 6, 3)), 224),
    "resnet152": (lambda: resnet((3, 8, 36, 3)), 224),
}


def random_parameters(symbol, size, seed=1):
    """Arguments and states as load_checkpoint gives them: values keep their magnitude from layer to layer."""
    rng = np.random.default_rng(seed)
    args, _, states = symbol.infer_shape(data=(1, 3, size, size))
    ends = {
        "_weight": lambda shape: rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape),
        "_bias": lambda shape: rng.normal(0, 0.1, shape),
        "_gamma": lambda shape: rng.uniform(0.3, 0.9, shape),
        "_beta": lambda shape: rng.normal(0, 0.1, shape),
        "_moving_mean": lambda shape: rng.normal(0, 0.1, shape),
        "_moving_var": lambda shape: rng.uniform(0.5, 1.5, shape),
    }

    def filled(names, shapes):
        return {name: mx.nd.array(next(make for end, make in ends.items() if name.endswith(end))(shape).astype("float32"))
                for name, shape in zip(names, shapes) if name != "data"}

    return filled(symbol.list_arguments(), args), filled(symbol.list_auxiliary_states(), states)


def save_network(name, folder, size=None):
    """NAME-symbol.json and NAME-0000.params in a folder; returns their prefix and the height of the images."""
    make, usual = NETWORKS[name]
    symbol = make()
    prefix = f"{folder}/{name}"
    mx.model.save_checkpoint(prefix, 0, symbol, *random_parameters(symbol, size or usual))
    return prefix, size or usual
