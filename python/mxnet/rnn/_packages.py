# SPDX-License-Identifier: Apache-2.0
"""Helpers of cells on symbols by the names and arguments that cells of programs call."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from .. import symbol
from ._cells import as_one, as_steps


def _normalize_sequence(length: int, inputs: Any, layout: str, merge: Optional[bool], in_layout: Optional[str] = None) -> Tuple[Any, int]:
    """A sequence as one symbol (merge), as a list of steps (not merge) or as it is (None), and the axis of time."""
    if inputs is None:
        raise ValueError("given no inputs, expected a symbol or a list of them: unroll() makes no variables")
    axis = layout.find("T")
    in_axis = axis if in_layout is None else in_layout.find("T")
    if isinstance(inputs, symbol.Symbol):
        if merge is False:
            return as_steps(length, inputs, layout if in_layout is None else in_layout)[0], axis
        return (inputs if in_axis == axis else symbol.swapaxes(inputs, dim1=axis, dim2=in_axis)), axis
    if length is not None and len(inputs) != length:
        raise ValueError(f"given {len(inputs)} inputs, expected {length}, one for each step")
    return (as_one(inputs, axis) if merge else inputs), axis


def _cells_state_info(cells: Any) -> List[Dict[str, Any]]:
    return [info for cell in cells for info in cell.state_info]


def _cells_state_shape(cells: Any) -> List[Any]:
    return [shape for cell in cells for shape in cell.state_shape]


def _cells_begin_state(cells: Any, **kwargs: Any) -> List[Any]:
    return [state for cell in cells for state in cell.begin_state(**kwargs)]


def _cells_unpack_weights(cells: Any, args: Dict[str, Any]) -> Dict[str, Any]:
    for cell in cells:
        args = cell.unpack_weights(args)
    return args


def _cells_pack_weights(cells: Any, args: Dict[str, Any]) -> Dict[str, Any]:
    for cell in cells:
        args = cell.pack_weights(args)
    return args
