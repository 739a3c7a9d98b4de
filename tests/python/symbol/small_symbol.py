# SPDX-License-Identifier: Apache-2.0
"""A layer as a symbol, arrays for it, and what it computes of them."""

import mxnet as mx
import numpy as np


def network():
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    return mx.sym.Activation(hidden, act_type="relu", name="act")


def parameters(seed=0):
    random = np.random.RandomState(seed)
    shapes = {"data": (4, 2), "fc_weight": (3, 2), "fc_bias": (3,)}
    return {name: mx.nd.array(random.uniform(0.1, 1, shape)) for name, shape in shapes.items()}


def expected(values):
    x, w, b = (values[name].asnumpy() for name in ("data", "fc_weight", "fc_bias"))
    return np.maximum(x @ w.T + b, 0)
