# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: ONNX's matrices are joined to the one vector of parameters, gate by gate."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from .... import symbol
from ._rows import reads

sym: Any = symbol  # whose operators get inputs as lists here

# This library's order of the gates, as places in ONNX's order.
_GATES = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}


def _mode(n: Any) -> str:
    known = {"LSTM": [["Sigmoid", "Tanh", "Tanh"]], "GRU": [["Sigmoid", "Tanh"]], "RNN": [["Tanh"], ["Relu"]]}[n.op]
    directions = 2 if n.attrs.get("direction") == "bidirectional" else 1
    given = n.attrs.get("activations", known[0] * directions)
    for activations in known:
        if given == activations * directions:
            return n.op.lower() if n.op != "RNN" else f"rnn_{activations[0].lower()}"
    raise n.refuse(f"activations {given}", f"{known} for each direction")


def _check(n: Any) -> None:
    if n.attrs.get("direction", "forward") == "reverse":
        raise n.refuse("direction reverse", "forward or bidirectional")
    if n.attrs.get("layout", 0) or "clip" in n.attrs or n.has(4) or n.has(7) or n.attrs.get("input_forget"):
        raise n.refuse("layout 1, clip, lengths, peepholes or input_forget", "none of them")
    if n.op == "GRU" and not n.attrs.get("linear_before_reset", 0):
        raise n.refuse("linear_before_reset 0", "1: the reset gate acts after the product")


def _vector(n: Any, size: int) -> np.ndarray:
    order, weights, recurrent = _GATES[n.op], n.known(1, "weights"), n.known(2, "weights")
    directions, gates = len(weights), len(order)
    bias = n.known(3, "biases") if n.has(3) else np.zeros((directions, 2 * gates * size), weights.dtype)

    def ordered(part: np.ndarray) -> np.ndarray:
        return part.reshape(gates, size, -1)[order].reshape(-1)

    parts = [ordered(matrix[i]) for i in range(directions) for matrix in (weights, recurrent)]
    parts += [ordered(half) for i in range(directions) for half in np.split(bias[i], 2)]
    return np.concatenate(parts)


@reads("LSTM", "GRU", "RNN")
def _recurrent(n: Any) -> List[Any]:
    _check(n)
    size, directions = n.attrs["hidden_size"], n.shape(1)[0]
    states = []
    for place in (5, 6) if n.op == "LSTM" else (5,):
        if n.has(place):
            states.append(n.sym(place))
        else:
            states.append(sym.zeros((directions, n.shape()[1], size), dtype=n.dtype().name))
    made = sym.RNN(
        n.sym(0), n.constant(_vector(n, size)), *states, state_size=size, num_layers=1, mode=_mode(n),
        bidirectional=directions == 2, state_outputs=True,
    )  # fmt: skip
    # time x batch x (directions, size) -> time x directions x batch x size
    output = sym.transpose(sym.reshape(made[0], shape=(0, 0, directions, size)), axes=(0, 2, 1, 3))
    return [output, *(made[i] for i in range(1, 1 + len(states)))]
