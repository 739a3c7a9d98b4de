# SPDX-License-Identifier: Apache-2.0
"""What modules are given: one or several of a thing, names of inputs, descriptions of data."""

from __future__ import annotations

import logging
from typing import Any, List, Optional, Sequence, Tuple

from ..base import _as_list
from ..io import DataDesc


def call_all(callbacks: Any, *args: Any) -> None:
    """Calls a callback or a list of them; None is no callback."""
    if callbacks is not None:
        for callback in _as_list(callbacks):
            callback(*args)


def _check_input_names(symbol: Any, names: Sequence[str], what: str, throw: bool) -> None:
    """Raises (or warns, for labels that a network may not need) for names that are no arguments."""
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        likely = [arg for arg in arguments if not arg.endswith(("_weight", "_bias", "_gamma", "_beta"))]
        text = f"given {what} name {name!r}, expected an argument of the network: {', '.join(likely)}"
        if throw:
            raise ValueError(text)
        logging.warning(text)


def descriptions(given: Any) -> List[DataDesc]:
    """Descriptions of inputs, which may be given as (name, shape)."""
    return [item if isinstance(item, DataDesc) else DataDesc(*item) for item in given]


def _parse_data_desc(data_names: Sequence[str], label_names: Sequence[str], data_shapes: Any, label_shapes: Any) -> Tuple[List[DataDesc], Optional[List[DataDesc]]]:
    """Descriptions of data and labels, whose names are compared with the module's."""
    data = descriptions(data_shapes)
    _check_names_match(data_names, data, "data", True)
    if label_shapes is None:
        _check_names_match(label_names, [], "label", False)
        return data, None
    label = descriptions(label_shapes)
    _check_names_match(label_names, label, "label", False)
    return data, label


def _check_names_match(expected: Sequence[str], given: List[DataDesc], what: str, throw: bool) -> None:
    names = [desc.name for desc in given]
    if sorted(expected) != sorted(names):
        text = f"given {what}_shapes of {names}, expected those of {what}_names {list(expected)}"
        if throw:
            raise ValueError(text)
        logging.warning(text)


def _described(
    batch: Any, data_bound: List[DataDesc], label_bound: Optional[List[DataDesc]]
) -> Tuple[List[DataDesc], Optional[List[DataDesc]]]:
    """Descriptions of a batch's data and labels: its own, else what was bound in the shapes of its arrays."""
    data = descriptions(getattr(batch, "provide_data", None) or _in_shapes_of(batch.data, data_bound))
    label = getattr(batch, "provide_label", None)
    if not label and label_bound:
        arrays = getattr(batch, "label", None)
        label = _in_shapes_of(arrays, label_bound) if arrays else [_in_batch_of(data[0], desc) for desc in label_bound]
    return data, label or None


def _in_shapes_of(arrays: Sequence[Any], bound: List[DataDesc]) -> List[DataDesc]:
    return [DataDesc(desc.name, array.shape, desc.dtype, desc.layout) for desc, array in zip(bound, arrays)]


def _in_batch_of(data: DataDesc, label: DataDesc) -> DataDesc:
    """A label's description for a batch as large as the data's."""
    axis, data_axis = DataDesc.get_batch_axis(label.layout), DataDesc.get_batch_axis(data.layout)
    shape = list(label.shape)
    if axis >= 0 and data_axis >= 0:
        shape[axis] = data.shape[data_axis]
    return DataDesc(label.name, tuple(shape), label.dtype, label.layout)
