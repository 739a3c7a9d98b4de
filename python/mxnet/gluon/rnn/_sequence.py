# SPDX-License-Identifier: Apache-2.0
"""Sequences as one array or as a list of steps, and the masking of what is behind their ends."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from ... import ndarray, symbol
from ...util import is_np_array
from .._errors import MismatchError
from .._ops import op
from ..parameter import tensor_types


def kind_of(nested: Any) -> Any:
    """mx.nd or mx.sym, as the first array or symbol in nested lists needs it."""
    while isinstance(nested, (list, tuple)):
        nested = nested[0]
    return symbol if isinstance(nested, symbol.Symbol) else ndarray


def stack(F: Any, arrays: Any, axis: int) -> Any:
    """Arrays along a new axis."""
    return F.np.stack(list(arrays), axis=axis) if is_np_array() else F.stack(*arrays, axis=axis)


def concat(F: Any, arrays: Any, axis: int, name: str) -> Any:
    """Arrays along an axis that they have."""
    return F.np.concatenate(list(arrays), axis=axis) if is_np_array() else F.concat(*arrays, dim=axis, name=name)


def axes_of(layout: str) -> Tuple[int, int]:
    """The axes of time and batch."""
    if sorted(layout) != sorted("NTC"):
        raise MismatchError(f"given layout {layout!r}, expected NTC or TNC")
    return layout.find("T"), layout.find("N")


def split_steps(F: Any, array: Any, length: int, axis: int, squeeze: Any = 1) -> List[Any]:
    """The steps of a sequence. How `squeeze` says that axes of 1 go is kept by graphs: as in files of the release."""
    if is_np_array():
        return [F.np.squeeze(part, axis=axis) for part in F.np.split(array, length, axis=axis)]
    parts = F.split(array, num_outputs=length, axis=axis, squeeze_axis=squeeze)
    return list(parts) if length > 1 else [parts]


def formatted(length: Optional[int], inputs: Any, layout: str, merge: Optional[bool], in_layout: Optional[str] = None) -> Tuple[Any, int, Any, int]:
    """A sequence as one array (merge), as a list of steps (not merge) or as it is (None).

    Returns it with the axis of time, mx.nd or mx.sym, and the size of a batch (0 for symbols).
    """
    axis, batch_axis = axes_of(layout)
    in_axis = axis if in_layout is None else in_layout.find("T")
    F = kind_of(inputs)
    batch = 0
    if isinstance(inputs, tensor_types):
        if F is ndarray:
            batch = inputs.shape[batch_axis]
            if length is not None and inputs.shape[in_axis] != length:
                raise MismatchError(f"given {inputs.shape[in_axis]} steps, expected {length} as `length` says")
        if merge is False:
            steps: Any = inputs.shape[in_axis] if F is ndarray else length
            inputs = split_steps(F, inputs, steps, in_axis)
        elif merge and axis != in_axis:
            inputs = inputs.swapaxes(axis, in_axis)
        return inputs, axis, F, batch
    if length is not None and len(inputs) != length:
        raise MismatchError(f"given {len(inputs)} steps, expected {length} as `length` says")
    if F is ndarray:
        batch = inputs[0].shape[batch_axis if batch_axis < axis else batch_axis - 1]
    if merge:
        inputs = stack(F, inputs, axis)
    return inputs, axis, F, batch


def masked(F: Any, data: Any, valid_length: Any, axis: int, length: int, merge: Optional[bool]) -> Any:
    """Zeros for the steps behind the end of each sample."""
    if not isinstance(data, tensor_types):
        data = stack(F, data, axis)
    made = op(F, "SequenceMask")(data, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    return made if merge or merge is None else split_steps(F, made, length, axis)


def reversed_steps(F: Any, steps: List[Any], valid_length: Any) -> List[Any]:
    """The steps in reverse order, those of each sample from its own end."""
    if valid_length is None:
        return list(reversed(steps))
    stacked = stack(F, steps, 0)
    turned = op(F, "SequenceReverse")(stacked, sequence_length=valid_length, use_sequence_length=True)
    return split_steps(F, turned, len(steps), 0, squeeze=True)
