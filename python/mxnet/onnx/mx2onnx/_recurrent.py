# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: the one vector of parameters is taken apart into ONNX's matrices, gate by gate."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from ._rows import writes

# ONNX's order of the gates, as places in this library's order.
_GATES: Dict[str, Tuple[str, List[int]]] = {
    "lstm": ("LSTM", [0, 3, 1, 2]),  # i f c o -> i o f c
    "gru": ("GRU", [1, 0, 2]),  # r z n -> z r n
    "rnn_tanh": ("RNN", [0]),
    "rnn_relu": ("RNN", [0]),
}


@writes("_rnn_param_concat")
def _parameters(g: Any, n: Any) -> str:
    """All parameters as one vector: known here and now."""
    joined = np.concatenate([g.value(n, place, "parameters").reshape(-1) for place in range(len(n.inputs))])
    g.values[n.name] = joined
    return n.name


def _matrices(vector: np.ndarray, mode: str, layers: int, directions: int, inputs: int, size: int) -> List[List[np.ndarray]]:
    """For each layer W, R and B of all directions, in ONNX's order."""
    gates = len(_GATES[mode][1])
    widths = [inputs if layer == 0 else size * directions for layer in range(layers)]
    place = 0

    def next_part(rows: int, columns: int) -> np.ndarray:
        nonlocal place
        part = vector[place : place + rows * columns].reshape(gates, -1, columns)
        place += rows * columns
        return part[_GATES[mode][1]].reshape(rows, columns)

    weights = [[(next_part(gates * size, w), next_part(gates * size, size)) for _ in range(directions)] for w in widths]
    biases = [[[next_part(gates * size, 1)[:, 0] for _ in range(2)] for _ in range(directions)] for _ in widths]
    return [
        [
            np.stack([pair[0] for pair in layer]),
            np.stack([pair[1] for pair in layer]),
            np.stack([np.concatenate(pair) for pair in bias]),
        ]
        for layer, bias in zip(weights, biases)
    ]


@writes("RNN")
def _rnn(g: Any, n: Any) -> List[str]:
    p = n.params
    if p.projection_size or p.lstm_state_clip_min is not None or p.use_sequence_length:
        raise n.refuse("projection, clipped states or lengths", "none of them")
    directions = 2 if p.bidirectional else 1
    vector = g.value(n, 1, "parameters")
    layers = _matrices(vector, p.mode, p.num_layers, directions, n.shapes[0][2], p.state_size)
    states = [_layers(g, value, p.num_layers, directions) for value in n.inputs[2 : 4 if p.mode == "lstm" else 3]]
    more = {"direction": "bidirectional" if p.bidirectional else "forward", "hidden_size": p.state_size}
    if p.mode == "gru":
        more["linear_before_reset"] = 1
    if p.mode == "rnn_relu":
        more["activations"] = ["Relu"] * directions
    data, ends = n.inputs[0], []
    for layer, parts in enumerate(layers):
        constants = [g.const(part) for part in parts]
        made = g.op(
            _GATES[p.mode][0], data, *constants, "", *(state[layer] for state in states), outputs=1 + len(states), **more
        )
        ends.append(made[1:])
        # time x directions x batch x size -> time x batch x (directions, size)
        data = g.reshape(g.transpose(made[0], [0, 2, 1, 3]), [0, 0, -1])
    if not p.state_outputs:
        return [data]
    joined = [list(parts) for parts in zip(*ends)]
    return [data, *(parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=0) for parts in joined)]


def _layers(g: Any, state: str, layers: int, directions: int) -> List[str]:
    """The states of each layer."""
    if layers == 1:
        return [state]
    return g.op("Split", state, outputs=layers, axis=0) if directions == 1 else g.op(
        "Split", state, g.ints([directions] * layers), outputs=layers, axis=0
    )
