# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on mx.np arrays."""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Optional, Tuple

import numpy as onp

from .. import _core
from ..context import current_context_text
from ..ndarray import _generate
from ..ndarray.creation import _from_numpy
from . import plain
from .frontend import Frontend


class Arrays(Frontend):
    """The front end of mx.np arrays. There is one, `arrays`."""

    tensors = "mx.np arrays"

    op = staticmethod(_generate.operator)  # type: ignore[assignment]  # not bound: one look-up

    @staticmethod
    def bound(module: str, first: Any) -> Dict[str, Any]:
        """The functions of a module; the usual calls of some go past them."""
        section = "" if isinstance(first, Arrays) else f"{module}."
        return {name: plain.function(section + name, call) for name, call in Frontend.bound(module, first).items()}

    def is_tensor(self, value: Any) -> bool:
        return getattr(type(value), "_is_np", False)

    def context(self, ctx: Any) -> str:
        return current_context_text() if ctx is None else str(ctx)

    def ndim(self, value: Any, why: str) -> int:
        return len(value.shape)

    def shape(self, value: Any, why: str) -> Tuple[int, ...]:
        return value.shape

    def known_ndim(self, value: Any, otherwise: int) -> int:
        return len(getattr(value, "shape", ()))  # what is no array the operator refuses

    def known_length(self, value: Any, axis: int) -> Optional[int]:
        return value.shape[axis]

    def constant(self, values: Any, like: Any, exact: bool = False) -> Any:
        from ..numpy import ndarray

        values = onp.asarray(values)
        if values.dtype.kind not in "biuf":
            raise TypeError(f"given elements of type {values.dtype}, expected numbers")
        real = onp.float64 if exact else onp.float32
        integer = values.dtype.kind in "iu" and not (exact and values.dtype == onp.uint64)  # which NumPy compares as float64
        dtype = onp.int64 if integer else onp.bool_ if values.dtype.kind == "b" else real
        return _from_numpy(values, like.context, dtype, ndarray)

    def elementwise_function(self, call: Any, arrays: Any, scalar: Any = None, reverse: Any = None) -> Any:
        operators = [op for op in (arrays, scalar, reverse) if op is not None]
        made = _core.ElementwiseFunction(call, *operators)
        return made if made is call else functools.update_wrapper(made, call)

    def listed(self, several: Any) -> List[Any]:
        return [several] if self.is_tensor(several) else several

    def __reduce__(self) -> str:
        return "arrays"


arrays = Arrays()
