# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells and layers: against NumPy, against each other, unrolled, masked, as graphs, in files."""

import inspect

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import contrib, nn, rnn

N, T, C, H = 3, 5, 4, 6


@pytest.fixture(autouse=True)
def fresh():
    with mx.name.NameManager():
        mx.random.seed(2)
        yield


@pytest.fixture
def x():
    return mx.nd.array(np.random.RandomState(6).standard_normal((N, T, C)))


def ready(cell):
    cell.initialize(mx.init.Uniform(0.4))
    return cell


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numpy_steps(kind, cell, x):
    """Outputs of all steps, by the formulas."""
    params = {name: parameter.data().asnumpy() for name, parameter in cell._reg_params.items()}
    h = c = np.zeros((x.shape[0], H), np.float32)
    outputs = []
    for step in x.transpose(1, 0, 2):
        i2h = step @ params["i2h_weight"].T + params["i2h_bias"]
        h2h = h @ params["h2h_weight"].T + params["h2h_bias"]
        if kind == "rnn":
            h = np.tanh(i2h + h2h)
        elif kind == "lstm":
            i, f, g, o = np.split(i2h + h2h, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        else:
            (ri, zi, ni), (rh, zh, nh) = np.split(i2h, 3, axis=1), np.split(h2h, 3, axis=1)
            reset, update = sigmoid(ri + rh), sigmoid(zi + zh)
            h = (1 - update) * np.tanh(ni + reset * nh) + update * h
        outputs.append(h)
    return np.stack(outputs, axis=1)


CELLS = {"rnn": rnn.RNNCell, "lstm": rnn.LSTMCell, "gru": rnn.GRUCell}
LAYERS = {"rnn": lambda **k: rnn.RNN(H, activation="tanh", **k), "lstm": lambda **k: rnn.LSTM(H, **k), "gru": lambda **k: rnn.GRU(H, **k)}


@pytest.mark.parametrize("kind", CELLS)
def test_cell_computes_the_formulas(kind, x):
    cell = ready(CELLS[kind](H, i2h_bias_initializer="ones"))
    outputs, states = cell.unroll(T, x, merge_outputs=True)
    expected = numpy_steps(kind, cell, x.asnumpy())
    np.testing.assert_allclose(outputs.asnumpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(states[0].asnumpy(), expected[:, -1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("layers, bidirectional", [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize("hybridize", [False, True])
def test_layer_computes_what_its_cells_do(kind, layers, bidirectional, hybridize, x):
    layer = ready(LAYERS[kind](num_layers=layers, bidirectional=bidirectional, layout="NTC", input_size=C))
    cells = layer._unfuse()
    assert list(cells.collect_params()) == list(layer.collect_params())
    expected = cells.unroll(T, x, merge_outputs=True)[0].asnumpy()
    if hybridize:
        layer.hybridize()
    np.testing.assert_allclose(layer(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)
    turned = LAYERS[kind](num_layers=layers, bidirectional=bidirectional, params=layer.params)
    np.testing.assert_allclose(turned(x.swapaxes(0, 1)).asnumpy(), expected.swapaxes(0, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", CELLS)
def test_layer_and_cells_have_the_same_gradients(kind, x):
    layer = ready(LAYERS[kind](layout="NTC", input_size=C))
    found = []
    for run in (layer, lambda data: layer._unfuse().unroll(T, data, merge_outputs=True)[0]):
        with mx.autograd.record():
            loss = (run(x) ** 2).sum()
        loss.backward()
        found.append([parameter.grad().asnumpy() for parameter in layer.collect_params().values()])
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind, more", [(rnn.LSTM, {}), (rnn.GRU, {}), (rnn.RNN, {"activation": "tanh"}), (rnn.LSTM, {"projection_size": 10})])
@pytest.mark.parametrize("steps, batch, units", [(5, 3, 6), (7, 9, 70), (40, 10, 36), (3, 2, 7)])
def test_gradients_in_bfloat16_are_those_of_float32_but_for_rounding(kind, more, steps, batch, units):
    random = np.random.RandomState(7)
    layer = kind(units, 2, bidirectional=True, input_size=34, **more)
    layer.initialize(mx.init.Uniform(0.15))
    for parameter in layer.collect_params().values():
        parameter.set_data(parameter.data().astype("bfloat16").astype("float32"))
    x = mx.nd.array(random.standard_normal((steps, batch, 34)) * 0.3).astype("bfloat16")
    head = mx.nd.array(random.standard_normal(layer(x.astype("float32")).shape)).astype("bfloat16")
    results = []
    for dtype in ("float32", "bfloat16"):
        layer.cast(dtype)
        data = x.astype(dtype)
        data.attach_grad()
        with mx.autograd.record():
            y = layer(data)
        y.backward(head.astype(dtype))
        gradients = [data.grad] + [p.grad() for p in layer.collect_params().values()]
        results.append([g.astype("float32").asnumpy() for g in gradients])
    for got, want in zip(results[1], results[0]):
        # An eighth bit of rounding in some factor of each step.
        assert np.abs(got - want).max() <= 0.03 * np.abs(want).max()
        assert np.abs(got - want).mean() <= 0.01 * np.abs(want).mean() + 1e-6


def test_states_go_in_and_come_out(x):
    layer = ready(rnn.LSTM(H, 2, layout="NTC"))
    out, states = layer(x, layer.begin_state(N))
    assert [state.shape for state in states] == [(2, N, H)] * 2
    first, states = layer(x[:, :2], layer.begin_state(N))
    second, _ = layer(x[:, 2:], states)
    np.testing.assert_allclose(mx.nd.concat(first, second, dim=1).asnumpy(), out.asnumpy(), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match=r"given a state of shape \(2, 4, 6\)"):
        layer(x, layer.begin_state(4))
    with pytest.raises(ValueError, match="given 1 states, expected 2"):
        layer(x, layer.begin_state(N)[0])


def test_hybridized_layer_takes_states_or_none(x):
    layer = ready(rnn.GRU(H, layout="NTC", input_size=C))
    expected, state = layer(x, layer.begin_state(N))
    layer.hybridize()
    np.testing.assert_allclose(layer(x).asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)
    out, states = layer(x, mx.nd.zeros((1, N, H)))
    np.testing.assert_allclose(states[0].asnumpy(), state[0].asnumpy(), rtol=1e-5, atol=1e-6)
    assert out.shape == (N, T, H)


def test_layer_inside_a_net_finds_its_shapes(x):
    net = nn.HybridSequential()
    net.add(rnn.LSTM(H, layout="NTC", bidirectional=True), nn.Dense(2, flatten=False))
    net.initialize()
    net.hybridize()
    assert net(x).shape == (N, T, 2) and net[0].l0_i2h_weight.shape == (4 * H, C)


def test_projection_and_clipping(x):
    layer = ready(rnn.LSTM(H, projection_size=2, layout="NTC", input_size=C, state_clip_min=-0.01, state_clip_max=0.01))
    out, states = layer(x, layer.begin_state(N))
    assert out.shape == (N, T, 2) and [state.shape for state in states] == [(1, N, 2), (1, N, H)]
    assert np.abs(states[1].asnumpy()).max() <= 0.01 + 1e-7
    with pytest.raises(NotImplementedError, match="projection"):
        layer._unfuse()


def test_sequence_lengths_end_each_sample(x):
    lengths = mx.nd.array([2, 5, 3])
    layer = ready(rnn.LSTM(H, input_size=C, use_sequence_length=True))
    data = x.swapaxes(0, 1)
    out, states = layer(data, layer.begin_state(N), lengths)
    for i, length in enumerate((2, 5, 3)):
        alone, last = layer(data[:length, i : i + 1], layer.begin_state(1), mx.nd.array([length]))
        np.testing.assert_allclose(out[:length, i].asnumpy(), alone[:, 0].asnumpy(), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(states[0][0, i].asnumpy(), last[0][0, 0].asnumpy(), rtol=1e-4, atol=1e-6)
        assert (out[length:, i].asnumpy() == 0).all() if length < T else True
    with pytest.raises(ValueError, match="sequence_length"):
        layer(data)


@pytest.mark.parametrize("made", [rnn.GRU, rnn.RNN, rnn.LSTM])
def test_a_compiled_layer_knows_sequence_lengths(made, x):
    """1.9.1 takes those of other layers than LSTMs for states of cells."""
    layer = ready(made(H, input_size=C, use_sequence_length=True, bidirectional=True))
    data, lengths = x.swapaxes(0, 1), mx.nd.array([2, 5, 3])
    eager = layer(data, sequence_length=lengths).asnumpy()
    assert (eager[2:, 0] == 0).all() and (eager[:2, 0] != 0).any(axis=1).all()
    layer.hybridize()
    np.testing.assert_allclose(layer(data, sequence_length=lengths).asnumpy(), eager, rtol=1e-5, atol=1e-6)


def test_files_of_layers_and_cells_are_alike(tmp_path, x):
    layer = ready(rnn.LSTM(H, 2, layout="NTC", input_size=C, bidirectional=True))
    path = str(tmp_path / "layer.params")
    layer.save_parameters(path)
    assert "_unfused.1.r_cell.h2h_bias" in mx.nd.load(path)
    other = rnn.LSTM(H, 2, layout="NTC", input_size=C, bidirectional=True)
    other.load_parameters(path)
    np.testing.assert_array_equal(other(x).asnumpy(), layer(x).asnumpy())


def test_layers_and_cells_print_their_sizes():
    assert repr(rnn.LSTM(3, 2, bidirectional=True, dropout=0.1)) == "LSTM(None -> 3, TNC, num_layers=2, dropout=0.1, bidirectional)"
    assert repr(rnn.GRUCell(3, input_size=2)) == "GRUCell(2 -> 9)" and repr(rnn.RNNCell(3)) == "RNNCell(None -> 3, tanh)"


# --- Unrolling


@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_unroll_takes_and_gives_arrays_or_lists(layout, x):
    cell = ready(rnn.LSTMCell(H))
    data = x if layout == "NTC" else x.swapaxes(0, 1)
    axis = layout.find("T")
    merged, _ = cell.unroll(T, data, layout=layout, merge_outputs=True)
    listed, _ = cell.unroll(T, [data.take(mx.nd.array([t]), axis=axis).squeeze(axis=axis) for t in range(T)], layout=layout, merge_outputs=False)
    assert merged.shape[axis] == T and len(listed) == T
    for t in range(T):
        np.testing.assert_allclose(listed[t].asnumpy(), np.take(merged.asnumpy(), t, axis=axis), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="given 5 steps, expected 4"):
        cell.unroll(4, data, layout=layout)
    with pytest.raises(ValueError, match="given layout 'XTC'"):
        cell.unroll(T, data, layout="XTC")


@pytest.mark.parametrize(
    "cell",
    [lambda: rnn.LSTMCell(H), lambda: rnn.ResidualCell(rnn.GRUCell(C)), lambda: rnn.BidirectionalCell(rnn.LSTMCell(H), rnn.RNNCell(H))],
)
def test_valid_length_masks_outputs_and_keeps_the_last_states(cell, x):
    cell = ready(cell())
    lengths = [2, 5, 3]
    out, states = cell.unroll(T, x, merge_outputs=True, valid_length=mx.nd.array(lengths))
    for i, length in enumerate(lengths):
        alone, last = cell.unroll(length, x[i : i + 1, :length], merge_outputs=True)
        np.testing.assert_allclose(out[i, :length].asnumpy(), alone[0].asnumpy(), rtol=1e-4, atol=1e-5)
        assert np.abs(out[i].asnumpy()[length:]).sum() == 0
        for whole, part in zip(states, last):
            np.testing.assert_allclose(whole[i].asnumpy(), part[0].asnumpy(), rtol=1e-4, atol=1e-5)


def test_stacks_run_their_cells_in_turn(x):
    for kind in (rnn.SequentialRNNCell, rnn.HybridSequentialRNNCell):
        stack = kind()
        stack.add(rnn.LSTMCell(H))
        stack.add(rnn.DropoutCell(0.5))
        stack.add(rnn.GRUCell(2))
        ready(stack)
        assert len(stack) == 3 and [info["shape"] for info in stack.state_info(7)] == [(7, H), (7, H), (7, 2)]
        out, states = stack.unroll(T, x, merge_outputs=True)
        step, after = x[:, 0], stack.begin_state(batch_size=N)
        for t in range(T):
            step, after = stack(x[:, t], after)
        np.testing.assert_allclose(out[:, -1].asnumpy(), step.asnumpy(), rtol=1e-5, atol=1e-6)
        assert len(states) == len(after) == 3
        np.testing.assert_allclose(states[2].asnumpy(), after[2].asnumpy(), rtol=1e-5, atol=1e-6)


def test_hybridized_step_and_unrolled_graph(x):
    cell = ready(rnn.HybridSequentialRNNCell())
    cell.add(rnn.LSTMCell(H, input_size=C))
    cell.initialize()
    states = cell.begin_state(batch_size=N)
    expected, _ = cell(x[:, 0], states)
    cell.hybridize()
    found, after = cell(x[:, 0], states)
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)
    outputs, _ = cell.unroll(T, mx.sym.var("data"), layout="NTC", merge_outputs=True)
    assert "data" in outputs.list_arguments() and outputs.infer_shape(data=(N, T, C))[1] == [(N, T, H)]


# --- Modifiers


def test_modified_cells_are_not_called_directly():
    base = rnn.LSTMCell(H)
    rnn.ZoneoutCell(base)
    with pytest.raises(AssertionError, match="modifier"):
        base.begin_state(batch_size=2)
    with pytest.raises(AssertionError, match="no single steps"):
        rnn.ZoneoutCell(rnn.BidirectionalCell(rnn.RNNCell(1), rnn.RNNCell(1)))
    with pytest.raises(NotImplementedError, match="unroll"):
        rnn.BidirectionalCell(rnn.RNNCell(1), rnn.RNNCell(1))(1, 2)


def test_residual_adds_the_input(x):
    base = rnn.RNNCell(C)
    cell = ready(rnn.ResidualCell(base))
    assert cell.params is base.params and list(cell.collect_params())[0] == "rnn0_i2h_weight"
    out, _ = cell.unroll(T, x, merge_outputs=True)
    expected = numpy_steps_of_width(base, x.asnumpy(), C) + x.asnumpy()
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-4, atol=1e-5)


def numpy_steps_of_width(cell, x, width):
    params = {name: parameter.data().asnumpy() for name, parameter in cell._reg_params.items()}
    h, outputs = np.zeros((x.shape[0], width), np.float32), []
    for step in x.transpose(1, 0, 2):
        h = np.tanh(step @ params["i2h_weight"].T + params["i2h_bias"] + h @ params["h2h_weight"].T + params["h2h_bias"])
        outputs.append(h)
    return np.stack(outputs, axis=1)


def test_zoneout_keeps_or_takes_each_element(x):
    cell = ready(rnn.ZoneoutCell(rnn.RNNCell(H), zoneout_outputs=0.5, zoneout_states=0.5))
    still = cell.unroll(T, x, merge_outputs=True)[0]  # outside of training nothing is kept
    plain = numpy_steps("rnn", cell.base_cell, x.asnumpy())
    np.testing.assert_allclose(still.asnumpy(), plain, rtol=1e-4, atol=1e-5)
    with mx.autograd.record():
        first = cell.unroll(1, x[:, :1], merge_outputs=True)[0].asnumpy()[:, 0]
    assert ((first == 0) | np.isclose(first, plain[:, 0], rtol=1e-4, atol=1e-5)).all() and (first == 0).any()


@pytest.mark.parametrize("wrapped", [False, True])
def test_hybridized_steps_know_the_steps_before(x, wrapped):
    """A graph of one step would keep zeros for the output before, and draw other masks in each step."""
    zoneout = rnn.ZoneoutCell(rnn.RNNCell(H), zoneout_outputs=0.5)
    dropped = contrib.rnn.VariationalDropoutCell(rnn.RNNCell(H), drop_outputs=0.5, drop_states=0.5)
    for cell in (zoneout, dropped):
        around = cell
        if wrapped:
            around = rnn.HybridSequentialRNNCell()
            around.add(cell)
        ready(around).hybridize()
        with mx.autograd.record():
            steps = [step.asnumpy() for step in around.unroll(T, x, merge_outputs=False)[0]]
        if cell is zoneout:
            assert all((now == before)[before != 0].any() for before, now in zip(steps, steps[1:]))
        else:
            assert (steps[0] == 0).any() and all(((step == 0) == (steps[0] == 0)).all() for step in steps)


def test_variational_dropout_keeps_its_masks(x):
    cell = ready(contrib.rnn.VariationalDropoutCell(rnn.RNNCell(H), drop_inputs=0.5, drop_states=0.5, drop_outputs=0.5))
    with mx.autograd.record():
        steps = [step.asnumpy() == 0 for step in cell.unroll(T, x, merge_outputs=False)[0]]
    assert steps[0].any() and all((step == steps[0]).all() for step in steps)
    plain = cell.unroll(T, x, merge_outputs=True)[0].asnumpy()
    np.testing.assert_allclose(plain, numpy_steps("rnn", cell.base_cell, x.asnumpy()), rtol=1e-4, atol=1e-5)
    whole = ready(contrib.rnn.VariationalDropoutCell(rnn.RNNCell(H), drop_outputs=0.5))
    with mx.autograd.record():
        dropped = whole.unroll(T, x, merge_outputs=True)[0].asnumpy() == 0
    assert dropped.any() and (dropped == dropped[:, :1]).all()


def test_a_projected_cell_gives_what_the_layer_gives(x):
    cell = ready(contrib.rnn.LSTMPCell(H, 2))
    out, states = cell.unroll(T, x, merge_outputs=True)
    assert out.shape == (N, T, 2) and [state.shape for state in states] == [(N, 2), (N, H)]
    layer = rnn.LSTM(H, projection_size=2, layout="NTC", input_size=C)
    layer.initialize()
    for name, parameter in layer._reg_params.items():
        parameter.set_data(cell._reg_params[name[3:]].data())
    np.testing.assert_allclose(layer(x).asnumpy(), out.asnumpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("valid", [False, True])
@pytest.mark.parametrize("layout", ["TNC", "NTC"])
def test_dynamic_unroll_gives_what_unroll_does(valid, layout, x):
    from mxnet.gluon.contrib.rnn.rnn_cell import dynamic_unroll

    cell = ready(rnn.LSTMCell(H))
    data = x if layout == "NTC" else x.swapaxes(0, 1)
    lengths = mx.nd.array([2, 5, 3]) if valid else None
    expected, states = cell.unroll(T, data, layout=layout, merge_outputs=True, valid_length=lengths)
    found, last = dynamic_unroll(cell, data, cell.begin_state(N), layout=layout, valid_length=lengths)
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-5)
    for a, b in zip(last, states):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind, gates, states", [("RNN", 1, 1), ("LSTM", 4, 2), ("GRU", 3, 1)])
def test_convolutional_cells_are_gates_of_convolutions(dims, kind, gates, states):
    size = (4,) * dims
    cell = ready(getattr(contrib.rnn, f"Conv{dims}D{kind}Cell")((3, *size), 2, 3, 3, i2h_pad=1))
    assert cell.i2h_weight.shape == (2 * gates, 3, *(3,) * dims) and cell.h2h_weight.shape == (2 * gates, 2, *(3,) * dims)
    data = mx.nd.random.uniform(shape=(N, 2, 3, *size))
    outputs, after = cell.unroll(2, [data[:, 0], data[:, 1]], layout="NTC")
    assert [state.shape for state in after] == [(N, 2, *size)] * states
    convolution = {1: nn.Conv1D, 2: nn.Conv2D, 3: nn.Conv3D}[dims](2 * gates, 3, padding=1, in_channels=3)
    convolution.initialize()
    convolution.weight.set_data(cell.i2h_weight.data())
    i2h = convolution(data[:, 0]).asnumpy()
    parts = np.split(i2h, gates, axis=1)
    if kind == "RNN":
        expected = np.tanh(parts[0])
    elif kind == "LSTM":
        expected = sigmoid(parts[3]) * np.tanh(sigmoid(parts[0]) * np.tanh(parts[2]))
    else:
        expected = (1 - sigmoid(parts[1])) * np.tanh(parts[2])
    np.testing.assert_allclose(outputs[0].asnumpy(), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="odd"):
        getattr(contrib.rnn, f"Conv{dims}D{kind}Cell")((3, *size), 2, 3, 2)


def test_cells_of_convolutions_have_defaults_that_fit_their_dimensions():
    for dims, layout in ((1, "NCW"), (2, "NCHW"), (3, "NCDHW")):
        for kind in ("RNN", "LSTM", "GRU"):
            cls = getattr(contrib.rnn, f"Conv{dims}D{kind}Cell")
            shown = inspect.signature(cls).parameters
            assert (shown["i2h_pad"].default, shown["h2h_dilate"].default) == ((0,) * dims, (1,) * dims)
            cell = cls((2, *(5,) * dims), 3, 3, 3, (1,) * dims)
            assert cell._conv_layout == layout and cell._i2h_pad == (1,) * dims
            assert cell.state_info(4)[0]["shape"] == (4, 3, *(5,) * dims)
    with pytest.raises(ValueError, match="2 of them"):
        contrib.rnn.Conv2DRNNCell((2, 5, 5), 3, 3, 3, i2h_pad=(1,))
