# SPDX-License-Identifier: Apache-2.0
"""Functions and methods of mx.np arrays whose usual calls are one call of an operator, which the native module makes.

Every other call goes to the function of the same name, which says what there is to say about it.
"""

from __future__ import annotations

import functools
from typing import Any, Dict, NamedTuple, Tuple

import numpy as onp

from .. import _core
from ..context import current_context_text
from ..ndarray import _generate

# Name, what it may be (src/plain_call.cc), its default if it has one, the operator's name for it, what that gets.
Parameter = Tuple[str, str, Tuple[Any, ...], Any, Any]


class Row(NamedTuple):
    """The operator, how many arrays come first (-1: a sequence of them), what follows, what the operator gets besides."""

    op: str
    arrays: int
    parameters: Tuple[Parameter, ...]
    constants: Tuple[Tuple[str, Any], ...] = ()


def _only(name: str, value: Any, op_name: Any = None, passed: Any = None) -> Parameter:
    return name, "default", (value,), op_name, passed


_AXIS: Parameter = ("axis", "ints", (None,), "axis", None)
_JOINED: Parameter = ("axis", "ints", (0,), "axis", None)
_DTYPE = _only("dtype", None, "dtype")
_KEEPDIMS: Parameter = ("keepdims", "flag", (False,), "keepdims", None)
_INITIAL = _only("initial", None, "initial")
_OUT: Parameter = ("out", "out", (None,), None, None)
_ORDER = _only("order", "C")
_C = ("order", "C")
_SHAPE: Parameter = ("shape", "ints", (), "shape", None)
_CTX: Parameter = ("ctx", "context", (None,), "ctx", current_context_text)
_FLAT = (("newshape", (-1,)), _C)

_EXTREME = (_AXIS, _KEEPDIMS, _OUT)
_FUNCTIONS: Dict[str, Row] = {
    "sum": Row("_np_sum", 1, (_AXIS, _DTYPE, _KEEPDIMS, _INITIAL, _OUT)),
    "mean": Row("_npi_mean", 1, (_AXIS, _DTYPE, _OUT, _KEEPDIMS)),
    "prod": Row("_np_prod", 1, (_AXIS, _DTYPE, _OUT, _KEEPDIMS)),
    "max": Row("_np_max", 1, _EXTREME),
    "min": Row("_np_min", 1, _EXTREME),
    "concatenate": Row("_npi_concatenate", -1, (_JOINED, _OUT)),
    "stack": Row("_npi_stack", -1, (_JOINED, _OUT)),
    "dot": Row("_np_dot", 2, (_OUT,)),
    "reshape": Row("_np_reshape", 1, (("newshape", "ints", (), "newshape", None), _ORDER, _OUT), (_C,)),
    "ravel": Row("_np_reshape", 1, (_ORDER,), _FLAT),
    "transpose": Row("_np_transpose", 1, (("axes", "given", (None,), "axes", None),)),
    "squeeze": Row("_np_squeeze", 1, (_AXIS, _OUT)),
    "expand_dims": Row("_npi_expand_dims", 1, (("axis", "ints", (), "axis", None),)),
    "zeros": Row("_npi_zeros", 0, (_SHAPE, _only("dtype", None, "dtype", "float32"), _ORDER, _CTX)),
    "ones": Row("_npi_ones", 0, (_SHAPE, _only("dtype", onp.float32, "dtype", "float32"), _ORDER, _CTX)),
}  # fmt: skip
_FUNCTIONS.update(amax=_FUNCTIONS["max"], amin=_FUNCTIONS["min"], product=_FUNCTIONS["prod"])  # their other names
_METHODS: Dict[str, Row] = {
    "sum": Row("_np_sum", 1, (_AXIS, _DTYPE, _OUT, _KEEPDIMS), (("initial", None),)),
    "mean": _FUNCTIONS["mean"],
    "prod": _FUNCTIONS["prod"],
    "max": Row("_np_max", 1, (_AXIS, _OUT, _KEEPDIMS)),
    "min": Row("_np_min", 1, (_AXIS, _OUT, _KEEPDIMS)),
    "dot": _FUNCTIONS["dot"],
    "reshape": Row("_np_reshape", 1, (("newshape", "rest", (), "newshape", None),), (_C,)),
    "flatten": _FUNCTIONS["ravel"],
    "ravel": _FUNCTIONS["ravel"],
    "transpose": Row("_np_transpose", 1, (("axes", "rest", (None,), "axes", None),)),
    "squeeze": Row("_np_squeeze", 1, (_AXIS,)),
}  # fmt: skip


def _made(kind: Any, call: Any, row: Row, name: str) -> Any:
    made = kind(call, _generate.operator(row.op), row.arrays, row.parameters, row.constants)
    if made is not call:
        functools.update_wrapper(made, call)
        made.__module__, made.__qualname__ = "mxnet.numpy", name
    return made


def function(name: str, call: Any) -> Any:
    """A function of mx.np by its name; the given one where it is not in the table."""
    return _made(_core.PlainFunction, call, _FUNCTIONS[name], name) if name in _FUNCTIONS else call


def set_methods(cls: Any) -> None:
    """Gives the class of arrays its methods, in place of those that it shares with symbols."""
    for name, row in _METHODS.items():
        setattr(cls, name, _made(_core.PlainMethod, getattr(cls, name), row, f"ndarray.{name}"))
    cls.T = property(cls.transpose, doc=cls.T.__doc__)
