# SPDX-License-Identifier: Apache-2.0
"""Networks that nobody has written down: chains of layers over pictures, rows or sequences, with branches that meet again, and the
ways of running one. Drawn without a library; `symbol` makes one with a front end, and knows that of Python 3.8."""
import dataclasses
import zlib
from typing import Any, Dict, List, Tuple

import numpy as np

WAYS = ["train", "infer", "cached", "cached_infer", "predict"]


@dataclasses.dataclass
class Step:
    name: str
    op: str
    inputs: List[str]
    params: Dict[str, Any]


@dataclasses.dataclass
class Network:
    """Inputs of a step are names: `data`, steps before it, or `label`. Other arguments are variables of their own."""
    shape: Tuple[int, ...]
    steps: List[Step]
    outputs: List[str]


class Chain:
    """A network as far as it has been drawn: the values that there are, with their shapes."""

    def __init__(self, draw, shape, learns, adds):
        self.learns, self.adds = learns, adds
        self.draw, self.steps, self.shapes, self.last = draw, [], {"data": shape}, "data"
        self.network = Network(shape, self.steps, [])

    def add(self, op, shape, inputs=None, **params):
        name = f"{op.strip('_').lower().replace('.', '_')}{len(self.steps)}"
        self.steps.append(Step(name, op, inputs or [self.last], params))
        self.shapes[name], self.last = tuple(shape), name

    @property
    def shape(self):
        return self.shapes[self.last]

    def same_shape(self):
        return [n for n, s in self.shapes.items() if s == self.shape and n != self.last]


def activation(chain):
    one_of = chain.draw.one_of
    # Gradients of what is left out there are known to differ (docs/deviations: norm.md, elemwise.md, execution.md, calls.md).
    leaky = ["elu", "gelu", "leaky"] + ([] if chain.learns else ["selu", "prelu"])
    op, params = one_of([("Activation", {"act_type": one_of(["relu", "sigmoid", "tanh", "softrelu", "softsign"])}),
                         ("LeakyReLU", {"act_type": one_of(leaky), "slope": 0.2}),
                         (one_of(["relu", "sigmoid", "tanh", "abs", "negative", "softsign", "erf"]
                                 + ([] if chain.learns else ["hard_sigmoid"])), {}),
                         ("tanh", {}) if chain.adds else ("clip", {"a_min": -0.5, "a_max": 0.8}), ("smooth_l1", {"scalar": 1.5}),
                         ("_plus_scalar", {"scalar": 0.5}), ("_mul_scalar", {"scalar": -1.25}), ("_rminus_scalar", {"scalar": 1.0}),
                         ("identity", {}), ("BlockGrad", {}) if chain.draw.chance(0.2) else ("relu", {})])
    chain.add(op, chain.shape, **params)


def meet(chain):
    """The value and another one of its shape, or itself, become one."""
    op = chain.draw.one_of(["elemwise_add", "elemwise_add", "broadcast_add", "broadcast_mul", "elemwise_mul", "elemwise_sub",
                            "broadcast_maximum", "add_n"])
    inputs = [chain.last, chain.draw.one_of(chain.same_shape() or [chain.last])]
    chain.draw.random.shuffle(inputs)
    chain.add(op, chain.shape, inputs)


def normalised(chain):
    rank, draw = len(chain.shape), chain.draw
    op = draw.one_of(["BatchNorm", "BatchNorm", "BatchNorm", "LayerNorm", "L2Normalization", "InstanceNorm"])
    if op == "BatchNorm":
        # A fixed gamma's gradient is 0 there where it should be added to (docs/deviations/norm.md).
        chain.add(op, chain.shape, fix_gamma=draw.chance(0.5) and not chain.adds, use_global_stats=draw.chance(0.25), eps=draw.one_of([1e-3, 2e-5]),
                  momentum=draw.one_of([0.9, 0.5]), **({"axis": -1} if draw.chance(0.15) else {}))
    elif op == "LayerNorm":
        chain.add(op, chain.shape, axis=draw.one_of([-1, 1]))
    else:
        chain.add(op, chain.shape, **({"mode": draw.one_of(["instance", "channel"] if rank > 2 else ["instance"])}
                                      if op[0] == "L" else {}))


def convolution(chain):
    draw = chain.draw
    if len(chain.shape) != 4:
        return dense(chain)
    n, c, h, w = chain.shape
    k = draw.one_of([1, 3, 3, 3, 5, 2])
    pad, stride, dilate = draw.one_of([k // 2, k // 2, 0]), draw.one_of([1, 1, 1, 2]), draw.one_of([1, 1, 1, 2])
    reach = dilate * (k - 1) + 1
    if min(h, w) + 2 * pad < reach:
        return activation(chain)
    groups = draw.one_of([g for g in (1, 1, 1, 2, c) if c % g == 0])
    filters = draw.one_of([c, c, 1, 3, 8, 16]) if groups == 1 else c * draw.one_of([1, 2])
    out = [(side + 2 * pad - reach) // stride + 1 for side in (h, w)]
    chain.add("Convolution", (n, filters, *out), kernel=(k, k), pad=(pad, pad), stride=(stride, stride), dilate=(dilate, dilate),
              num_filter=filters, num_group=groups, no_bias=draw.chance(0.4))


def pooling(chain):
    draw = chain.draw
    if len(chain.shape) != 4:
        return dense(chain)
    n, c, h, w = chain.shape
    if draw.chance(0.15):
        chain.add("Pooling", (n, c, 1, 1), kernel=(1, 1), global_pool=True, pool_type=draw.one_of(["max", "avg"]))
    k, stride = draw.one_of([2, 3]), draw.one_of([1, 2])
    pad, full = draw.whole(0, k // 2), draw.chance(0.3)
    if min(h, w) + 2 * pad < k:
        return activation(chain)
    out = [(-(-(s + 2 * pad - k) // stride) if full else (s + 2 * pad - k) // stride) + 1 for s in (h, w)]
    if any((windows - 1) * stride >= s + pad for windows, s in zip(out, (h, w))):
        return activation(chain)  # a maximum of nothing is the lowest number, which overflows in what follows
    chain.add("Pooling", (n, c, *out), kernel=(k, k), stride=(stride, stride), pad=(pad, pad), pool_type=draw.one_of(["max", "avg", "sum"]),
                     pooling_convention="full" if full else "valid", count_include_pad=draw.chance(0.5))
    return None


def moved(chain):
    draw, shape = chain.draw, chain.shape
    axis = draw.whole(1, len(shape) - 1)
    kind = draw.one_of(["concat", "slice_axis", "SwapAxis", "transpose", "tile", "mean"] + ([] if chain.adds else ["reverse"]))
    if kind == "concat":
        others = [n for n, s in chain.shapes.items() if len(s) == len(shape) and all(a == b for i, (a, b) in enumerate(zip(s, shape)) if i != axis)]
        other = draw.one_of(others)
        chain.add("Concat", shape[:axis] + (shape[axis] + chain.shapes[other][axis],) + shape[axis + 1:], [chain.last, other], dim=axis)
    elif kind == "slice_axis" and shape[axis] > 1:
        chain.add(kind, shape[:axis] + (shape[axis] - 1,) + shape[axis + 1:], axis=axis, begin=1, end=None)
    elif kind in ("SwapAxis", "transpose"):
        order = list(range(len(shape)))
        order[-1], order[axis] = order[axis], order[-1]
        params = {"dim1": axis, "dim2": len(shape) - 1} if kind == "SwapAxis" else {"axes": tuple(order)}
        chain.add(kind, tuple(shape[i] for i in order), **params)
    elif kind == "tile" and np.prod(shape) < 4000:
        chain.add(kind, shape[:-1] + (shape[-1] * 2,), reps=(1,) * (len(shape) - 1) + (2,))
    elif kind == "mean":
        name = chain.last
        chain.add("mean", shape[:axis] + (1,) + shape[axis + 1:], axis=axis, keepdims=True)
        chain.add(draw.one_of(["broadcast_sub", "broadcast_mul", "broadcast_add"]), shape, [name, chain.last])
    elif kind == "reverse":
        chain.add(kind, shape, axis=axis)
    else:
        activation(chain)


def dense(chain):
    width, shape = chain.draw.one_of([1, 4, 7, 16, 33]), chain.shape
    flat = len(shape) == 2 or chain.draw.chance(0.7)
    chain.add("FullyConnected", (shape[0], width) if flat else shape[:-1] + (width,), num_hidden=width, flatten=flat,
              no_bias=chain.draw.chance(0.3))


def softmax(chain):
    chain.add(chain.draw.one_of(["softmax", "log_softmax", "softmin"]), chain.shape, axis=-1)


def recurrent(chain):
    if len(chain.shape) != 3:
        return activation(chain)
    draw, (steps, n, _) = chain.draw, chain.shape
    size, both, mode = draw.one_of([3, 8, 17]), draw.chance(0.4), draw.one_of(["lstm", "gru", "rnn_tanh", "rnn_relu"])
    chain.add("RNN", (steps, n, size * (1 + both)), state_size=size, num_layers=draw.whole(1, 2), bidirectional=both, mode=mode, p=0.0)
    return None


PICTURES = [convolution] * 5 + [activation] * 4 + [normalised] * 3 + [pooling] * 2 + [meet] * 3 + [moved]
ROWS = [dense] * 4 + [activation] * 4 + [normalised] * 2 + [meet] * 3 + [moved, softmax]
SEQUENCES = [recurrent] * 3 + [dense, activation, activation, meet, moved]


def drawn(draw, learns, adds):
    """A network over pictures (and rows behind them), rows or sequences, with one or two results, or a loss. Without what is known to
    differ where it `learns`, or where gradients are added."""
    kind = draw.one_of(["pictures", "pictures", "pictures", "rows", "sequences"])
    n = draw.one_of([1, 2, 3, 6])
    shape = {"pictures": (n, draw.one_of([1, 3, 4, 8]), draw.one_of([5, 8, 11, 16]), draw.one_of([5, 8, 11, 16])),
             "rows": (n, draw.one_of([1, 5, 8, 19])), "sequences": (draw.one_of([1, 3, 5]), n, draw.one_of([1, 4, 9]))}[kind]
    chain = Chain(draw, shape, learns, adds)
    for _ in range(draw.whole(2, 10)):
        draw.one_of({"pictures": PICTURES, "rows": ROWS, "sequences": SEQUENCES}[kind])(chain)
    if kind == "pictures" and draw.chance(0.5):
        for _ in range(draw.whole(1, 4)):
            draw.one_of([dense, dense, activation] if len(chain.shape) != 2 else ROWS)(chain)
    if not chain.steps:
        activation(chain)
    chain.network.outputs = [chain.last]
    if draw.chance(0.25):
        chain.add(draw.one_of(["SoftmaxOutput", "LinearRegressionOutput", "MakeLoss"]), chain.shape)
        if chain.steps[-1].op != "MakeLoss":
            chain.steps[-1].inputs.append("label")
        if chain.steps[-1].op == "SoftmaxOutput" and len(chain.shape) > 2:
            chain.steps[-1].params["preserve_shape"] = True
        chain.network.outputs = [chain.last]
    elif draw.chance(0.3):
        chain.network.outputs.append(draw.one_of([s.name for s in chain.steps]))
        chain.network.outputs = list(dict.fromkeys(chain.network.outputs))
    return chain.network


def flags(draw):
    """How a cached op is to run."""
    return {"static_alloc": draw.chance(0.5), "static_shape": False, "inline_limit": draw.one_of([0, 2]),
            "forward_bulk_size": draw.one_of([0, 1, 15])} if draw.chance(0.7) else {}


def symbol(mx, network):
    """The network with this front end."""
    values = {"data": mx.sym.var("data"), "label": mx.sym.var("label")}
    for step in network.steps:
        function = getattr(mx.sym._internal if step.op.startswith("_") else mx.sym, step.op)
        values[step.name] = function(*[values[i][0] for i in step.inputs], name=step.name, **step.params)
    return mx.sym.Group([values[name] for name in network.outputs])


def numbers(name, shape, seed, dtype):
    """What the argument of this name holds: always the same for a seed, whatever the library."""
    rng = np.random.RandomState(zlib.crc32(f"{name} {seed}".encode()))
    if name == "label":
        return rng.randint(0, max(1, min(shape)), shape).astype(dtype)
    fan = max(1.0, np.prod(shape[1:])) if name.endswith("weight") else 4.0
    made = (rng.randn(*shape) * (1 / np.sqrt(fan))).astype("float32")
    if name == "data":
        made *= 2
    if name.endswith(("gamma", "var")):
        made = np.abs(made) + np.float32(0.5)
    return made.astype(dtype)
