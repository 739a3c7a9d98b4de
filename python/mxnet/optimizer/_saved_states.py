# SPDX-License-Identifier: Apache-2.0
"""What files of optimizer states hold: a pickle of a dictionary, with or without the optimizer. A damaged one is an error."""

from __future__ import annotations

import pickle
from typing import Any, Dict, Optional, Sequence, Tuple

from ._base import Optimizer

__all__ = ["set_states_of_file", "states_of"]

_MAY_BE_ABSENT = {"allow_np_array"}  # older versions have none


def _check(data: bytes) -> None:
    """Throws where the pickle asks for what is longer than itself: its reader makes room first, and then looks."""
    import pickletools

    for code, number, _ in pickletools.genops(data):
        if code.name in ("PUT", "BINPUT", "LONG_BINPUT") and (number or 0) > len(data):
            raise ValueError(f"place {number} among what is named twice")


def states_of(data: bytes) -> Tuple[Dict[Any, Any], Optional[Optimizer]]:
    """The states by index, and the optimizer if it is in there."""
    try:
        _check(data)
        loaded = pickle.loads(data)
    except Exception as error:  # damaged ones call for anything
        raise ValueError(
            f"given {len(data)} bytes that cannot be unpickled ({type(error).__name__}: {error}), expected states of an optimizer"
        ) from error
    states, optimizer = loaded if isinstance(loaded, tuple) and len(loaded) == 2 else (loaded, None)
    if not isinstance(states, dict) or not isinstance(optimizer, (Optimizer, type(None))):
        kind = f"({type(states).__name__}, {type(optimizer).__name__})" if isinstance(loaded, tuple) else type(states).__name__
        raise ValueError(f"given a pickle of {kind}, expected a dictionary of an optimizer's states, or that and the optimizer")
    if lost := vars(Optimizer()).keys() - vars(optimizer or Optimizer()).keys() - _MAY_BE_ABSENT:
        raise ValueError(f"given an optimizer {type(optimizer).__name__} without {', '.join(sorted(lost))}, expected what each one has")
    return states, optimizer


def set_states_of_file(updaters: Sequence[Any], fname: Any) -> None:
    """Has updaters take the states of a file; an error names it."""
    with open(fname, "rb") as file:
        data = file.read()
    try:
        for updater in updaters:
            updater.set_states(data)
    except ValueError as error:
        raise ValueError(f"{fname}: {error}") from error
