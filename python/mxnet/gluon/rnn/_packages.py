# SPDX-License-Identifier: Apache-2.0
"""Helpers of cells by the names and arguments that packages with cells of their own (GluonNLP's, Sockeye's) call."""

from __future__ import annotations

from typing import Any, List, Optional

from ._base_cell import begin_states as _cells_begin_state, states_info as _cells_state_info  # noqa: F401
from ._sequence import formatted as _format_sequence, masked, reversed_steps  # noqa: F401


def _get_begin_state(cell: Any, F: Any, begin_state: Any, inputs: Any, batch_size: int) -> Any:
    """The states that are given, or else a cell's first ones, on the device of the inputs."""
    return cell._states_for(F, begin_state, inputs, batch_size)


def _mask_sequence_variable_length(F: Any, data: Any, length: int, valid_length: Any, time_axis: int, merge: Optional[bool]) -> Any:
    """Zeros for the steps behind the end of each sample; as a list of steps where `merge` is False."""
    return masked(F, data, valid_length, time_axis, length, merge)


def _reverse_sequences(sequences: List[Any], unroll_step: int, valid_length: Any = None) -> List[Any]:
    """The steps in reverse order, those of each sample from its own end."""
    del unroll_step  # it is how many there are
    from ._sequence import kind_of

    return reversed_steps(kind_of(sequences), sequences, valid_length)
