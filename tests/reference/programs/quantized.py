# SPDX-License-Identifier: Apache-2.0
"""Networks of Gluon that are quantized: calibration of each kind, layers that are left out, types of bytes."""
from . import Program, called

# Texts of layers behind which data of rank 4 stays; then those that end a network.
LAYERS = ["Conv2D({c}, {k}, padding={p}, strides={s}, use_bias={b}{a})", "Conv2D({c}, 1{a})",
          "MaxPool2D(2, 1)", "AvgPool2D(2)",
          "Activation('relu')", "BatchNorm()", "Activation('tanh')", "MaxPool2D(3, 2, 1)", "Dropout(0.3)",
          "Conv2D({c}, {k}, groups={c}, padding={p})"]
ENDS = ["Dense(3)", "Dense(5, activation='relu', use_bias=False)", "GlobalAvgPool2D()", "Flatten()",
        "Dense(4, flatten=False)"]


def layer(draw, channels):
    text = draw.one_of(LAYERS)
    k = draw.one_of([1, 3])
    c = channels if "groups" in text else draw.one_of([4, 8, 5])
    return text.format(c=c, k=k, p=draw.one_of([0, k // 2]), s=draw.one_of([1, 1, 2]), b=draw.flag(),
                       a=draw.one_of(["", ", activation='relu'"])), c if "Conv" in text else channels


def drawn(draw):
    channels, size = draw.one_of([3, 4]), draw.one_of([6, 8, 9])
    arrays = {"x": draw.numbers.randn(4, channels, size, size).astype("float32")}
    if draw.chance(0.3):
        arrays["x"] = abs(arrays["x"])
    layers, now = [], channels
    for _ in range(draw.whole(1, 4)):
        text, now = layer(draw, now)
        layers.append(text)
    layers += draw.random.sample(ENDS, draw.whole(1, 2))
    mode = draw.one_of(["none", "naive", "naive", "entropy", "custom"])
    bytes_ = draw.one_of(["auto", "auto", "int8", "uint8"])
    given = [f"quantized_dtype='{bytes_}'", f"quantize_mode='{draw.one_of(['full', 'smart', 'smart'])}'",
             f"calib_mode='{mode if mode != 'custom' else 'naive'}'",
             draw.one_of(["", "", "exclude_layers_match=['conv']",
                          "exclude_layers_match=['dense']", "exclude_operators=['Pooling']"])]
    given.append("data_shapes=[mx.io.DataDesc('data', x.shape)]"
                 if mode == "none" else "calib_data=l, num_calib_examples=4")
    net = ("mx.random.seed(3); onp.random.seed(3)\n"
           "n = mx.gluon.nn.HybridSequential(prefix='net_')\nwith n.name_scope():\n" +
           "".join(f"    n.add(mx.gluon.nn.{text})\n" for text in layers) +
           "n.initialize(mx.init.Normal(0.4)); n.hybridize()\n"
           "x = mx.nd.array(arrays['x'])\nplain = n(x)\n"
           "l = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, onp.zeros(4)), "
           "batch_size=2)\n")
    quantize = "q = " + called("mx.contrib.quantization.quantize_net", ["n", *given, "ctx=mx.cpu()"])
    # A step of rounding differs; whether the result is near the real one does not.
    steps = [("plain", f"{net}r = plain"),
             ("near", f"{net}{quantize}\nlargest = 0.06 * abs(plain).max()\n"
                      "r = [bool((abs(plain - b).max() <= largest).asscalar()) for b in (q(x), q(x))]"),
             ("operators", f"{net}{quantize}\nimport json, tempfile\nd = tempfile.mkdtemp(); q.export(d + '/q')\n"
                           "r = sorted(m['op'] for m in json.load(open(d + '/q-symbol.json'))['nodes'])")]
    return Program(f"quantize_net {mode} {bytes_}", "pass", steps, arrays)
