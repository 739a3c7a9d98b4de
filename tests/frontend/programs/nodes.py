# SPDX-License-Identifier: Apache-2.0
"""Every node of the graphs that cells, layers and the model zoo make: operators, names, attributes and order. Parameters are
stored under these names, and programs look for outputs of inner nodes by them."""
import json

from registry import program

LAYOUTS, MERGES = ("NTC", "TNC"), (None, True, False)


def flat(nested):
    return [item for part in nested for item in flat(part)] if isinstance(nested, (list, tuple)) else [nested]


def nodes(mx, made):
    """One text for each node, and one for the outputs."""
    graph = json.loads(mx.sym.Group(flat(made)).tojson())
    return [json.dumps(node, sort_keys=True) for node in graph["nodes"]] + [json.dumps(graph["heads"])]


def older_cells(mx):
    rnn = mx.rnn
    stack = rnn.SequentialRNNCell()
    for cell in (rnn.LSTMCell(5, prefix="a_"), rnn.DropoutCell(0.5), rnn.GRUCell(5, prefix="b_"), rnn.RNNCell(5, prefix="c_")):
        stack.add(cell)
    return {
        "simple": rnn.RNNCell(5), "relu": rnn.RNNCell(5, activation="relu", prefix="q_"), "lstm": rnn.LSTMCell(5), "gru": rnn.GRUCell(5),
        "both ways": rnn.BidirectionalCell(rnn.LSTMCell(5, prefix="l_"), rnn.GRUCell(5, prefix="r_")),
        "zoneout": rnn.ZoneoutCell(rnn.LSTMCell(5), 0.2, 0.3), "residual": rnn.ResidualCell(rnn.GRUCell(5)),
        "dropout": rnn.DropoutCell(0.5), "stack": stack, "fused lstm": rnn.FusedRNNCell(5, 2, "lstm"),
        "fused gru": rnn.FusedRNNCell(5, 2, "gru", bidirectional=True, get_next_state=True),
        "unfused lstm": rnn.FusedRNNCell(5, 2, "lstm").unfuse(), "unfused tanh": rnn.FusedRNNCell(5, 2, "rnn_tanh").unfuse(),
        "unfused gru": rnn.FusedRNNCell(5, 2, "gru", bidirectional=True, dropout=0.4).unfuse(),
        "conv simple": rnn.ConvRNNCell((2, 3, 8, 8), 4), "conv lstm": rnn.ConvLSTMCell((2, 3, 8, 8), 4),
        "conv gru": rnn.ConvGRUCell((2, 3, 8, 8), 4),
    }


@program()
def older_cells_unrolled(mx, np):
    results = {}
    for layout in LAYOUTS:
        for merge in MERGES:
            for name, cell in older_cells(mx).items():
                if name.startswith("conv"):  # several inputs: sequences of images have five axes
                    inputs = [mx.sym.var(f"data{i}") for i in range(3)]
                else:
                    inputs = mx.sym.var("data")
                with mx.name.NameManager():
                    made = cell.unroll(3, inputs=inputs, layout=layout, merge_outputs=merge)
                results[f"{name} {layout} {merge}"] = nodes(mx, made)
    return results


@program()
def older_cells_in_steps(mx, np):
    results = {}
    for name, cell in older_cells(mx).items():
        if name.startswith(("fused", "both", "unfused gru")):  # these have no steps
            continue
        with mx.name.NameManager():
            results[name] = nodes(mx, cell(mx.sym.var("data"), cell.begin_state()))
    return results


def cells(mx):
    rnn, contrib = mx.gluon.rnn, mx.gluon.contrib.rnn
    made = {
        "simple": rnn.RNNCell(5, prefix="s_"), "relu": rnn.RNNCell(5, activation="relu", prefix="s_"),
        "lstm": rnn.LSTMCell(5, prefix="l_"), "gru": rnn.GRUCell(5, prefix="g_"),
        "lstm of others": rnn.LSTMCell(5, activation="relu", recurrent_activation="tanh", prefix="l_"),
        "dropout": rnn.DropoutCell(0.3, prefix="d_"), "zoneout": rnn.ZoneoutCell(rnn.LSTMCell(5, prefix="l_"), 0.2, 0.3),
        "residual": rnn.ResidualCell(rnn.GRUCell(5, prefix="g_")),
        "both ways": rnn.BidirectionalCell(rnn.LSTMCell(5, prefix="l_"), rnn.GRUCell(5, prefix="g_")),
        "one mask": contrib.VariationalDropoutCell(rnn.LSTMCell(5, prefix="l_"), 0.1, 0.2, 0.3),
        "projected": contrib.LSTMPCell(5, 3, prefix="p_"),
    }
    for name, stack in (("stack", rnn.SequentialRNNCell(prefix="")), ("hybrid stack", rnn.HybridSequentialRNNCell(prefix=""))):
        for cell in (rnn.LSTMCell(5, prefix="l_"), rnn.DropoutCell(0.2, prefix="d_"), rnn.GRUCell(5, prefix="g_")):
            stack.add(cell)
        made[name] = stack
    for dims in (1, 2, 3):
        for kind in ("RNN", "LSTM", "GRU"):
            cell = getattr(contrib, f"Conv{dims}D{kind}Cell")
            made[f"{kind} {dims}"] = cell((3, *(8,) * dims), 4, 3, 3, i2h_pad=1, prefix="c_")
    return made


@program()
def cells_unrolled(mx, np):
    results = {}
    for layout in LAYOUTS:
        for merge in MERGES:
            for length in (None, mx.sym.var("length")):
                for name, cell in cells(mx).items():
                    if length is not None and merge is False and name in ("residual", "both ways"):
                        continue  # the release raises; writes one number as a truth value
                    with mx.name.NameManager():
                        made = cell.unroll(3, mx.sym.var("data"), layout=layout, merge_outputs=merge, valid_length=length)
                    results[f"{name} {layout} {merge} {length}"] = nodes(mx, made)
    return results


@program()
def cells_in_steps(mx, np):
    results = {}
    for name, cell in cells(mx).items():
        if name != "both ways":  # which has no steps
            with mx.name.NameManager():
                results[name] = nodes(mx, cell(mx.sym.var("data"), cell.begin_state(func=mx.sym.var)))
    return results


@program()
def recurrent_layers(mx, np):
    results = {}
    for kind in ("RNN", "LSTM", "GRU"):
        for both_ways in (False, True):
            for layers in (1, 2):
                for options in ({"dropout": 0.1}, {"layout": "NTC", "input_size": 7}):
                    layer = getattr(mx.gluon.rnn, kind)(5, layers, bidirectional=both_ways, prefix="r_", **options)
                    states = [mx.sym.var(f"state{i}") for i in range(len(layer.state_info()))]
                    with mx.name.NameManager():
                        alone, given = layer(mx.sym.var("data")), layer(mx.sym.var("data"), states)
                    results[f"{kind} {both_ways} {layers} {sorted(options)}"] = [nodes(mx, alone), nodes(mx, given)]
    return results


@program()
def model_zoo(mx, np):
    vision = mx.gluon.model_zoo.vision
    names = [f"resnet{depth}_v{version}" for depth in (18, 34, 50, 101, 152) for version in (1, 2)]
    names += [f"vgg{depth}{suffix}" for depth in (11, 13, 16, 19) for suffix in ("", "_bn")]
    names += [f"densenet{depth}" for depth in (121, 161, 169, 201)] + ["alexnet", "inceptionv3", "squeezenet1.0", "squeezenet1.1"]
    names += [f"{kind}{width}" for kind in ("mobilenet", "mobilenetv2_") for width in ("1.0", "0.75", "0.5", "0.25")]
    results = {}
    for name in names:
        with mx.name.NameManager():
            results[name] = nodes(mx, vision.get_model(name, classes=10, prefix="net_")(mx.sym.var("data")))
    return results


@program()
def layers(mx, np):
    nn, contrib = mx.gluon.nn, mx.gluon.contrib.nn
    beside = contrib.HybridConcurrent(axis=1, prefix="c_")
    for block in (nn.Dense(3, prefix="d_"), contrib.Identity(prefix="i_"), nn.Activation("relu", prefix="a_")):
        beside.add(block)
    made = [
        nn.Dense(3, prefix="b_"), nn.Dense(3, activation="relu", flatten=False, prefix="b_"), nn.Conv1D(3, 3, prefix="b_"),
        nn.Conv2D(3, 3, activation="relu", prefix="b_"), nn.Conv3D(3, 3, prefix="b_"), nn.Conv1DTranspose(3, 3, prefix="b_"),
        nn.Conv2DTranspose(3, 3, output_padding=1, strides=2, prefix="b_"), nn.Conv3DTranspose(3, 3, prefix="b_"),
        nn.BatchNorm(prefix="b_"), nn.LayerNorm(prefix="b_"), nn.GroupNorm(prefix="b_"), nn.InstanceNorm(prefix="b_"),
        nn.InstanceNorm(axis=2, prefix="b_"), nn.Dropout(0.3, prefix="b_"), nn.Embedding(5, 4, prefix="b_"), nn.Flatten(prefix="b_"),
        nn.Activation("tanh", prefix="b_"), nn.LeakyReLU(0.1, prefix="b_"), nn.PReLU(prefix="b_"), nn.ELU(prefix="b_"),
        nn.SELU(prefix="b_"), nn.GELU(prefix="b_"), nn.Swish(prefix="b_"), nn.HybridLambda("tanh", prefix="b_"),
        nn.ReflectionPad2D(1, prefix="b_"), nn.GlobalAvgPool2D(prefix="b_"), nn.GlobalMaxPool1D(prefix="b_"), nn.MaxPool2D(prefix="b_"),
        nn.AvgPool3D(prefix="b_"), nn.AvgPool2D(count_include_pad=False, ceil_mode=True, prefix="b_"), beside,
        contrib.SyncBatchNorm(num_devices=2, prefix="b_"),
    ]
    results = []
    for block in made:
        with mx.name.NameManager():
            results.append(nodes(mx, block(mx.sym.var("data"))))
    return results


@program()
def losses(mx, np):
    results = {}  # of losses whose terms are those of the release: the logistic ones and the cosine's are not
    for name in ("CTCLoss", "HingeLoss", "HuberLoss", "KLDivLoss", "L1Loss", "L2Loss", "PoissonNLLLoss", "SoftmaxCELoss",
                 "SquaredHingeLoss", "TripletLoss"):
        inputs = [mx.sym.var(f"in{i}") for i in range(3 if name == "TripletLoss" else 2)]
        with mx.name.NameManager():
            results[name] = nodes(mx, getattr(mx.gluon.loss, name)(prefix="loss_")(*inputs))
    return results
