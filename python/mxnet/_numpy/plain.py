# SPDX-License-Identifier: Apache-2.0
"""Functions and methods of mx.np arrays whose usual calls are one call of an operator: the rows of mxnet/ndarray/_plain.py."""

from __future__ import annotations

from typing import Any, Dict

import numpy as onp

from .. import _core
from ..ndarray._plain import CONTEXT, Parameter, Row, made, only

_MODULE = "mxnet.numpy"  # shows them

_AXIS: Parameter = ("axis", "ints", (None,), "axis", None)
_JOINED: Parameter = ("axis", "ints", (0,), "axis", None)
_DTYPE = only("dtype", None, "dtype")
_KEEPDIMS: Parameter = ("keepdims", "flag", (False,), "keepdims", None)
_INITIAL = only("initial", None, "initial")
_OUT: Parameter = ("out", "out", (None,), None, None)
_ORDER = only("order", "C")
_C = ("order", "C")
_SHAPE: Parameter = ("shape", "ints", (), "shape", None)
_FLAT = (("newshape", (-1,)), _C)
_FLOAT32 = only("dtype", None, "dtype", "float32")
# Numbers that are drawn: so many as are said.
_SIZE: Parameter = ("size", "ints", (), "size", None)


def _number(name: str, value: float) -> Parameter:
    """A number that has a default."""
    return name, "number", (value,), name, None


_LIKE = (_DTYPE, _ORDER, only("ctx", None), _OUT)
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
    "zeros": Row("_npi_zeros", 0, (_SHAPE, _FLOAT32, _ORDER, CONTEXT)),
    "ones": Row("_npi_ones", 0, (_SHAPE, only("dtype", onp.float32, "dtype", "float32"), _ORDER, CONTEXT)),
    "zeros_like": Row("_npi_full_like", 1, _LIKE, (("fill_value", 0.0),)),
    "ones_like": Row("_npi_full_like", 1, _LIKE, (("fill_value", 1.0),)),
    # One number is where it stops.
    "arange": Row(
        "_npi_arange", 0, (("start", "number", (), "stop", None), CONTEXT),
        (("start", 0), ("step", 1), ("repeat", 1), ("infer_range", False), ("dtype", "float32")),
    ),
}  # fmt: skip
_FUNCTIONS["random.uniform"] = Row("_npi_uniform", 0, (_number("low", 0.0), _number("high", 1.0), _SIZE, _FLOAT32, CONTEXT, _OUT))
_COUNTS: Parameter = ("size", "counts", ((),), "size", None)
_FUNCTIONS["random.rand"] = Row("_npi_uniform", 0, (_COUNTS, _FLOAT32, CONTEXT, _OUT), (("low", 0.0), ("high", 1.0)))
_FUNCTIONS["random.randn"] = Row("_npi_normal", 0, (_COUNTS, _FLOAT32, CONTEXT, _OUT), (("loc", 0.0), ("scale", 1.0)))
_FUNCTIONS["random.normal"] = Row("_npi_normal", 0, (_number("loc", 0.0), _number("scale", 1.0), _SIZE, _FLOAT32, CONTEXT, _OUT))
_FUNCTIONS["random.exponential"] = Row("_npi_exponential", 0, (_number("scale", 1.0), _SIZE, CONTEXT, _OUT))
_FUNCTIONS["random.gamma"] = Row("_npi_gamma", 0, (("shape", "number", (), "shape", None), _number("scale", 1.0), _SIZE, _FLOAT32, CONTEXT, _OUT))
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


def function(name: str, call: Any) -> Any:
    """A function of mx.np by its name; the given one where it is not in the table."""
    if name not in _FUNCTIONS:
        return call
    module, _, own = f"{_MODULE}.{name}".rpartition(".")
    return made(_core.PlainFunction, call, _FUNCTIONS[name], module, own)


def set_methods(cls: Any) -> None:
    """Gives the class of arrays its methods, in place of those that it shares with symbols."""
    for name, row in _METHODS.items():
        setattr(cls, name, made(_core.PlainMethod, getattr(cls, name), row, _MODULE, f"ndarray.{name}"))
    cls.T = property(cls.transpose, doc=cls.T.__doc__)
