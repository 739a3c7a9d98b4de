# SPDX-License-Identifier: Apache-2.0
"""Operators of contrib."""

from typing import Any, Tuple

from . import _generate

__getattr__ = _generate.fill(__name__, "_contrib_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_contrib_")})


def isfinite(data: Any) -> Any:
    """Ones where an element is a finite number."""
    return (data - data) == 0  # of infinities and what is not a number it is not a number


def isnan(data: Any) -> Any:
    """Ones where an element is not a number."""
    return data != data  # pylint: disable=comparison-with-itself


def isinf(data: Any) -> Any:
    """Ones where an element is infinite."""
    return data.abs() == float("inf")


def _as_list(value: Any) -> Tuple[list, bool]:
    return (list(value), True) if isinstance(value, (list, tuple)) else ([value], False)


def foreach(body: Any, data: Any, init_states: Any) -> Tuple[Any, Any]:
    """Runs body(slice, states) along axis 0; outputs are stacked, states handed on."""
    from . import op

    sequences, many = _as_list(data)
    states = init_states
    steps: list = []
    several = False
    for i in range(sequences[0].shape[0]):
        rows = [sequence[i] for sequence in sequences]
        outputs, states = body(rows if many else rows[0], states)
        outputs, several = _as_list(outputs)
        steps.append(outputs)
    stacked = [op.stack(*parts, axis=0) for parts in zip(*steps)]
    return (stacked if several else stacked[0]), states


def cond(pred: Any, then_func: Any, else_func: Any) -> Any:
    """then_func() or else_func(), as the one value of pred says."""
    return then_func() if pred.asscalar() else else_func()
