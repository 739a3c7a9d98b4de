# SPDX-License-Identifier: Apache-2.0
"""Networks whose files one library writes and another reads: of the model zoo, and of what that has none of."""
from typing import Any, Dict, Tuple

#: A symbol, and the shapes of what it is given.
Network = Tuple[Any, Dict[str, Tuple[int, ...]]]

#: Of the model zoo: the sides of the pictures that fit, and what its function is given.
ZOO = {
    "resnet18_v1": (64, {"classes": 10}),
    "resnet18_v2": (64, {"classes": 10}),
    "mobilenet0_25": (64, {"classes": 10}),
    "mobilenet_v2_0_25": (64, {"classes": 10}),
    "squeezenet1_1": (224, {"classes": 10}),
    "densenet121": (224, {"classes": 10}),
}


def zoo(mx: Any, name: str) -> Network:
    """The symbol of a network of the zoo, and the shape of a picture."""
    side, options = ZOO[name]
    net = getattr(mx.gluon.model_zoo.vision, name)(prefix="net_", **options)
    return net(mx.sym.var("data")), {"data": (1, 3, side, side)}


def attributed(mx: Any) -> Network:
    """Attributes of every kind, groups, several results, one of many outputs."""
    with mx.AttrScope(ctx_group="first", __tag__="yes"):
        data = mx.sym.var("data", lr_mult=2.0, wd_mult=0.5, shape=(4, 3), dtype="float32")
        hidden = mx.sym.FullyConnected(data, num_hidden=5, name="hidden", attr={"__mood__": "good"})
    with mx.AttrScope(ctx_group="second"):
        split = mx.sym.split(hidden, num_outputs=5, axis=1, name="split")
        ends = mx.sym.Group([split[0], split[3] + split[1], mx.sym.relu(hidden, name="relu")])
    return ends, {"data": (4, 3)}


def multilayer(mx: Any) -> Network:
    net = mx.sym.var("data")
    for i, width in enumerate((16, 8)):
        net = mx.sym.FullyConnected(net, num_hidden=width, name=f"fc{i}", no_bias=i == 1)
        net = mx.sym.LeakyReLU(net, act_type="prelu" if i == 0 else "elu", name=f"act{i}")
    return mx.sym.SoftmaxOutput(net, name="softmax"), {"data": (3, 7), "softmax_label": (3,)}


def unrolled(mx: Any) -> Network:
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(6, prefix="lstm_"))
    cell.add(mx.rnn.GRUCell(5, prefix="gru_"))
    outputs, _ = cell.unroll(4, mx.sym.var("data"), layout="NTC", merge_outputs=True)
    return outputs, {"data": (2, 4, 3)}


def fused_layers(mx: Any) -> Network:
    rnn = mx.sym.RNN(mx.sym.var("data"), mx.sym.var("weights"), mx.sym.var("h"), mx.sym.var("c"), state_size=4, num_layers=2,
                     mode="lstm", bidirectional=True, state_outputs=True, name="rnn")
    return rnn, {"data": (3, 2, 5), "h": (4, 2, 4), "c": (4, 2, 4)}


def boxes(mx: Any) -> Network:
    data = mx.sym.Convolution(mx.sym.var("data"), num_filter=8, kernel=(3, 3), pad=(1, 1), name="conv")
    anchors = mx.sym.contrib.MultiBoxPrior(data, sizes=(0.3, 0.5), ratios=(1, 2, 0.5), name="anchors")
    places = mx.sym.Flatten(mx.sym.Convolution(data, num_filter=16, kernel=(3, 3), pad=(1, 1), name="places"))
    kinds = mx.sym.Reshape(mx.sym.Convolution(data, num_filter=12, kernel=(3, 3), pad=(1, 1), name="kinds"), shape=(0, 3, -1))
    return mx.sym.contrib.MultiBoxDetection(mx.sym.softmax(kinds, axis=1), places, anchors, name="found"), {"data": (1, 3, 6, 6)}


def attention(mx: Any) -> Network:
    data = mx.sym.var("data")
    heads = mx.sym.contrib.interleaved_matmul_selfatt_qk(mx.sym.FullyConnected(data, num_hidden=24, flatten=False, name="qkv"), heads=2)
    mixed = mx.sym.contrib.interleaved_matmul_selfatt_valatt(
        mx.sym.FullyConnected(data, num_hidden=24, flatten=False, name="values"), mx.sym.softmax(heads), heads=2)
    return mx.sym.LayerNorm(mixed, name="norm"), {"data": (5, 2, 8)}


def looped(mx: Any) -> Network:
    step = lambda data, state: (data * mx.sym.var("scale") + state, data + state)  # noqa: E731
    outputs, state = mx.sym.contrib.foreach(step, mx.sym.var("data"), mx.sym.var("state"), name="loop")
    return mx.sym.Group([outputs, state]), {"data": (4, 3), "state": (3,), "scale": (3,)}


def embedded(mx: Any) -> Network:
    words = mx.sym.Embedding(mx.sym.var("data"), input_dim=11, output_dim=6, name="words")
    deep = mx.sym.Deconvolution(mx.sym.expand_dims(words, axis=1), num_filter=2, kernel=(3, 3), name="deep")
    normal = mx.sym.InstanceNorm(mx.sym.Pad(deep, mode="edge", pad_width=(0, 0, 0, 0, 1, 1, 2, 2)), name="normal")
    return mx.sym.transpose(mx.sym.slice_axis(normal, axis=2, begin=1, end=-1), axes=(0, 2, 1, 3)), {"data": (2, 4)}


OTHERS = {function.__name__: function for function in
          (attributed, multilayer, unrolled, fused_layers, boxes, attention, looped, embedded)}


def build(mx: Any, name: str) -> Network:
    """The network of this name."""
    return zoo(mx, name) if name in ZOO else OTHERS[name](mx)


NAMES = [*ZOO, *OTHERS]
