# SPDX-License-Identifier: Apache-2.0
"""The class of symbols whose operators are NumPy's."""

from __future__ import annotations

from typing import Any, Iterator, Tuple

import numpy as onp

from ..._numpy.elementwise import BINARY
from ..._numpy.frontend import is_number
from ..._numpy.methods import Methods
from ..._numpy.symbols import symbols as F
from ...ndarray._dtypes import dtype_name
from ...ndarray._methods import METHODS
from ..symbol import Symbol


class _Symbol(Methods, Symbol):  # type: ignore[misc]
    """Some values of a network, with NumPy's operators."""

    _is_np = True
    _F = F

    def as_np_ndarray(self) -> _Symbol:
        """The symbol itself."""
        return self

    def __iter__(self) -> Iterator[_Symbol]:
        return (Symbol.__getitem__(self, i) for i in range(len(self)))

    def __getitem__(self, key: Any) -> _Symbol:
        """One of several outputs by number, name or slice; of a single output, elements by basic indices."""
        if isinstance(key, str) or len(self) > 1:
            return Symbol.__getitem__(self, key)
        return _sliced(self, key if isinstance(key, tuple) else (key,))

    def copy(self) -> _Symbol:
        """The same values under another name."""
        return F.copy(self)

    def astype(  # type: ignore[override]
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> _Symbol:
        """The elements as another type."""
        if order not in ("K", "C", None) or casting != "unsafe" or not subok or not copy:
            raise ValueError("astype: expected order 'K' or 'C', casting 'unsafe', subok and copy")
        return F.op("_npi_cast")(self, dtype=dtype_name(dtype))

    def __neg__(self) -> _Symbol:
        return self * -1  # as 1.9.1 writes it, and of bool a number: negative has none of those

    def __abs__(self) -> _Symbol:
        return F.abs(self)

    def __invert__(self) -> _Symbol:
        return F.invert(self)

    def __matmul__(self, other: Any) -> _Symbol:
        return F.matmul(self, other)


_Symbol.__module__ = "mxnet.symbol.numpy"

# Python's name: NumPy's.
_ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "mod": "mod", "pow": "power",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}
_COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal",
}


def _define(python: str, name: str) -> None:
    function = F.names[name]

    def call(self: _Symbol, other: Any) -> Any:
        return function(self, other) if _is_operand(self, other) else NotImplemented

    def reverse(self: _Symbol, other: Any) -> Any:
        return function(other, self) if _is_operand(self, other) else NotImplemented

    setattr(_Symbol, f"__{python}__", call)
    if python in _ARITHMETIC:
        setattr(_Symbol, f"__r{python}__", reverse)


def _is_operand(symbol: _Symbol, other: Any) -> bool:
    if isinstance(other, Symbol) and not isinstance(other, _Symbol):
        raise TypeError(f"given {symbol!r} and the legacy {other!r}, expected two of one kind; see as_np_ndarray()")
    return isinstance(other, Symbol) or is_number(other)


for _python, _name in {**_ARITHMETIC, **_COMPARISONS}.items():
    assert _name in BINARY
    _define(_python, _name)


def _method(name: str) -> Any:
    legacy = getattr(Symbol, name)

    def call(self: _Symbol, *args: Any, **kwargs: Any) -> _Symbol:
        return legacy(self, *args, **kwargs).as_np_ndarray()

    call.__name__, call.__qualname__, call.__doc__ = name, f"_Symbol.{name}", legacy.__doc__
    return call


for _name in METHODS:  # those without a function of NumPy's
    if not hasattr(Methods, _name):
        setattr(_Symbol, _name, _method(_name))


def _sliced(symbol: _Symbol, key: Tuple[Any, ...]) -> _Symbol:
    """Elements by integers, slices and new axes; dimensions that come after are left whole."""
    begins, ends, steps, gone, new = [], [], [], [], []
    place = 0
    for part in key[:-1] if key and key[-1] is Ellipsis else key:
        if part is None:
            new.append(place)
            place += 1
        elif isinstance(part, slice):
            begins.append(part.start)
            ends.append(part.stop)
            steps.append(part.step)
            place += 1
        elif isinstance(part, (int, onp.integer)) and not isinstance(part, bool):
            gone.append(len(begins))
            begins.append(int(part))
            ends.append(None if part == -1 else int(part) + 1)
            steps.append(None)
        else:
            raise TypeError(f"given an index of type {type(part).__name__} for a symbol, expected integers, slices and None")
    made = symbol
    if begins:
        made = F.op("_npi_slice")(made, begin=tuple(begins), end=tuple(ends), step=tuple(steps))
    if gone:
        made = F.squeeze(made, tuple(gone))
    for axis in new:
        made = F.expand_dims(made, axis)
    return made
