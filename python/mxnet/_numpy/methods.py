# SPDX-License-Identifier: Apache-2.0
"""Methods of mx.np arrays and of symbols that are functions of NumPy's."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as onp

from ..ndarray._integers import ints
from .frontend import Frontend

# Methods that take what the functions take.
_SAME = """abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor log log10
log1p log2 radians reciprocal rint sign sin sinh sqrt square tan tanh trunc expand_dims flip pad split tile
zeros_like ones_like diag""".split()


class Methods:
    """Mixed into classes of tensors, which say what their front end is."""

    __slots__ = ()
    _F: Frontend

    # --- Another shape or order

    @property
    def T(self) -> Any:
        """The array with its axes reversed."""
        return self._F.transpose(self)

    def reshape(self, *args: Any, **kwargs: Any) -> Any:
        """Another shape, as one tuple or as several integers; one dimension may be -1."""
        order = "C"
        if kwargs:
            order = kwargs.pop("order", order)
            if "newshape" in kwargs and not args:
                args = (kwargs.pop("newshape"),)
            if kwargs:
                raise TypeError(f"reshape: given {', '.join(kwargs)}, expected order")
        if not args:
            raise TypeError("reshape: given no shape, expected one")
        return self._F.reshape(self, args[0] if len(args) == 1 else args, order)

    def flatten(self, order: str = "C") -> Any:
        """A copy in one dimension."""
        return self._F.ravel(self, order)

    def ravel(self, order: str = "C") -> Any:
        """All elements in one dimension."""
        return self._F.ravel(self, order)

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order, reversed by default."""
        if len(axes) == 1 and not isinstance(axes[0], (int, onp.integer)):
            return self._F.transpose(self, axes[0])
        return self._F.transpose(self, axes or None)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Two axes in each other's place."""
        return self._F.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> Any:
        """Without dimensions of one."""
        return self._F.squeeze(self, axis)

    def broadcast_to(self, shape: Any) -> Any:
        """Repeated along dimensions of one, and new ones at the front."""
        return self._F.broadcast_to(self, ints(shape))

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """See mx.np.repeat."""
        return self._F.repeat(self, repeats, axis)

    # --- Elements by place, order and value

    def argmax(self, axis: Any = None, out: Any = None) -> Any:
        """See mx.np.argmax."""
        return self._F.argmax(self, axis, out)

    def argmin(self, axis: Any = None, out: Any = None) -> Any:
        """See mx.np.argmin."""
        return self._F.argmin(self, axis, out)

    def argsort(self, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
        """See mx.np.argsort."""
        return self._F.argsort(self, axis, kind, order)

    def take(self, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
        """See mx.np.take."""
        return self._F.take(self, indices, axis, mode)

    def nonzero(self) -> Tuple[Any, ...]:
        """See mx.np.nonzero."""
        return self._F.nonzero(self)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:  # pylint: disable=redefined-builtin
        """See mx.np.clip."""
        return self._F.clip(self, min, max, out)

    def round(self, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
        """See mx.np.around."""
        return self._F.around(self, decimals, out, **kwargs)

    # --- Reductions

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See mx.np.sum."""
        return self._F.sum(self, axis, dtype, keepdims, None, out)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See mx.np.prod."""
        return self._F.prod(self, axis, dtype, out, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See mx.np.mean."""
        return self._F.mean(self, axis, dtype, out, keepdims)

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """See mx.np.std."""
        return self._F.std(self, axis, dtype, out, ddof, keepdims)

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """See mx.np.var."""
        return self._F.var(self, axis, dtype, out, ddof, keepdims)

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """See mx.np.cumsum."""
        return self._F.cumsum(self, axis, dtype, out)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See mx.np.max."""
        return self._F.max(self, axis, keepdims, out)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See mx.np.min."""
        return self._F.min(self, axis, keepdims, out)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See mx.np.all."""
        return self._F.all(self, axis, keepdims, out)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """See mx.np.any."""
        return self._F.any(self, axis, keepdims, out)

    def dot(self, b: Any, out: Any = None) -> Any:
        """See mx.np.dot."""
        return self._F.dot(self, b, out)


def _same(name: str) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._F.names[name](self, *args, **kwargs)

    call.__name__, call.__qualname__ = name, f"Methods.{name}"
    call.__doc__ = f"See mx.np.{name}."
    return call


for _name in _SAME:
    setattr(Methods, _name, _same(_name))
