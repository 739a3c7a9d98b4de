# SPDX-License-Identifier: Apache-2.0
"""Functions and methods whose usual calls are one call of an operator, which the native module makes out of the arguments.

Every other call goes to the function of the same name, which says what there is to say about it. Here what rows are, and
those of mx.nd; those of mx.np are in mxnet/_numpy/plain.py.
"""

from __future__ import annotations

import functools
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from .. import _core
from ..context import current_context_text
from . import _generate

# Name, what it may be (src/plain_call.cc), its default if it has one, the operator's name for it, what that gets.
Parameter = Tuple[str, str, Tuple[Any, ...], Any, Any]


class Row(NamedTuple):
    """The operator, how many arrays come first (-1: a sequence of them), what follows, what the operator gets besides."""

    op: str
    arrays: int
    parameters: Tuple[Parameter, ...]
    constants: Tuple[Tuple[str, Any], ...] = ()
    least_ndim: int = 0  # an array of fewer dimensions is its own result


def only(name: str, value: Any, op_name: Any = None, passed: Any = None) -> Parameter:
    """A parameter whose default alone is usual."""
    return name, "default", (value,), op_name, passed


CONTEXT: Parameter = ("ctx", "context", (None,), "ctx", current_context_text)
_INPLACE = only("inplace", False)

_METHODS: Dict[str, Row] = {
    "squeeze": Row("squeeze", 1, (("axis", "given", (None,), "axis", None), _INPLACE)),
    "flatten": Row("Flatten", 1, (_INPLACE,)),
    "expand_dims": Row("expand_dims", 1, (("axis", "ints", (), "axis", None), _INPLACE)),
    "transpose": Row("transpose", 1, (("axes", "rest", (None,), "axes", None),)),
}
_REVERSED = Row("transpose", 1, (), (), 2)
_ARANGE = Row(
    "_arange",
    0,
    (
        ("start", "number", (), "start", None),
        ("stop", "number", (None,), "stop", None),
        ("step", "number", (1.0,), "step", None),
        ("repeat", "ints", (1,), "repeat", None),
        only("infer_range", None, "infer_range", False),
        CONTEXT,
        only("dtype", np.float32, "dtype", "float32"),
    ),
)
# Draws by numbers, of a shape that is given: their parameters and what those are by default.
_DRAWS: Dict[str, Dict[str, float]] = {
    "uniform": {"low": 0, "high": 1},
    "normal": {"loc": 0, "scale": 1},
    "poisson": {"lam": 1},
    "gamma": {"alpha": 1, "beta": 1},
    "negative_binomial": {"k": 1, "p": 1},
    "generalized_negative_binomial": {"mu": 1, "alpha": 1},
}
_SAMPLE: Tuple[Parameter, ...] = (
    ("shape", "ints", (), "shape", None),
    only("dtype", _generate._Null, "dtype", "None"),
    CONTEXT,
    ("out", "out", (None,), None, None),
)


def made(kind: Any, call: Any, row: Row, module: Optional[str] = None, name: Optional[str] = None) -> Any:
    """A function or method that a row describes, in front of the one that knows all calls; `module` shows it by `name`."""
    native = kind(call, _generate.operator(row.op), row.arrays, row.parameters, row.constants, row.least_ndim)
    if native is not call:
        functools.update_wrapper(native, call)
        native.__module__, native.__qualname__ = module or call.__module__, name or call.__qualname__
    return native


def set_methods(cls: Any) -> None:
    """Gives the class of arrays the methods of the table, in front of those that it has."""
    for name, row in _METHODS.items():
        setattr(cls, name, made(_core.PlainMethod, getattr(cls, name), row))
    cls.T = property(made(_core.PlainMethod, cls.T.fget, _REVERSED), doc=cls.T.__doc__)


def arange(call: Any) -> Any:
    """mx.nd.arange."""
    return made(_core.PlainFunction, call, _ARANGE)


def drawn(call: Any) -> Any:
    """A function of mx.nd.random."""
    numbers = tuple((name, "number", (value,), name, None) for name, value in _DRAWS[call.__name__].items())
    return made(_core.PlainFunction, call, Row(f"_random_{call.__name__}", 0, numbers + _SAMPLE))
