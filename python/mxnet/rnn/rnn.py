# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of networks with recurrent cells: their files hold the weights by gate, for any kind of cell."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Dict, Tuple

from ..base import _as_list
from ..model import load_checkpoint, save_checkpoint

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]


def rnn_unroll(cell: Any, length: int, inputs: Any = None, begin_state: Any = None, input_prefix: str = "", layout: str = "NTC") -> Tuple[Any, Any]:
    """Is cell.unroll; old programs call it."""
    from .. import symbol

    warnings.warn("rnn_unroll is deprecated, use cell.unroll", DeprecationWarning, stacklevel=2)
    if inputs is None:
        inputs = [symbol.Variable(f"{input_prefix}t{i}_data") for i in range(length)]
    return cell.unroll(length=length, inputs=inputs, begin_state=begin_state, layout=layout)


def save_rnn_checkpoint(cells: Any, prefix: str, epoch: int, symbol: Any, arg_params: Dict[str, Any], aux_params: Dict[str, Any]) -> None:
    """As model.save_checkpoint, with the cells' weights by gate."""
    for cell in _as_list(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells: Any, prefix: str, epoch: int) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """What save_rnn_checkpoint has written, as the cells have their weights."""
    symbol, arguments, states = load_checkpoint(prefix, epoch)
    for cell in _as_list(cells):
        arguments = cell.pack_weights(arguments)
    return symbol, arguments, states


def do_rnn_checkpoint(cells: Any, prefix: str, period: int = 1) -> Callable[..., None]:
    """After every `period` epochs, save_rnn_checkpoint."""
    period = max(1, int(period))

    def save(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return save
