# SPDX-License-Identifier: Apache-2.0
"""The class Frontend: what functions need to know of the tensors that they are called with."""

from __future__ import annotations

import importlib
import types
from abc import ABC, abstractmethod
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import _core
from ..ndarray._dtypes import dtype_name
from ..ndarray._integers import ints

# Modules of functions that are found under plain names; others are sections.
_PLAIN = ("creation", "joining", "shaping", "indexing", "reduction", "products", "arithmetic")


class Section:
    """A front end for the functions of one module, which pickles find here: np.random.power is not np.power."""

    def __init__(self, frontend: Frontend, module: str) -> None:
        self._made_of = (frontend, module)
        self.names = frontend.bound(module, self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.names[name] if name in self.names else getattr(self._made_of[0], name)
        setattr(self, name, found)  # for the next time
        return found

    def __reduce__(self) -> Any:
        return Frontend.section, self._made_of


class Frontend(ABC):
    """Functions bound to a kind of tensor; subclasses say which."""

    def __init__(self) -> None:
        self.names: Dict[str, Any] = {}
        self._sections: Dict[str, Section] = {}
        for module in _PLAIN:
            self.names.update(self.bound(module, self))
        self.names.update(self.elementwise())
        self.__dict__.update(self.names)  # F.concatenate is one look-up

    def section(self, module: str) -> Section:
        """The functions of a module below np, such as np.linalg; one for each module."""
        if module not in self._sections:
            self._sections[module] = Section(self, module)
        return self._sections[module]

    @staticmethod
    def bound(module: str, first: Any) -> Dict[str, Any]:
        """The functions of a module by name, with their first argument."""
        functions = importlib.import_module(f"{__package__}.{module}")
        return {name: types.MethodType(getattr(functions, name), first) for name in functions.__all__}

    def elementwise(self) -> Dict[str, Any]:
        """The functions of one and two tensors that are made from tables."""
        from .elementwise import functions

        return functions(self)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"mx.np has no function {name!r} for {self.tensors}")

    # --- What subclasses know

    tensors = "tensors"  # in errors

    @abstractmethod
    def op(self, name: str) -> Callable[..., Any]:
        """An operator by its name in the registry."""

    @abstractmethod
    def is_tensor(self, value: Any) -> bool:
        """Whether a value is one of this kind's tensors."""

    @abstractmethod
    def context(self, ctx: Any) -> str:
        """Where to make a tensor, as operators take it."""

    @abstractmethod
    def ndim(self, value: Any, why: str) -> int:
        """The number of dimensions, for functions (`why`) that depend on it."""

    @abstractmethod
    def shape(self, value: Any, why: str) -> Tuple[int, ...]:
        """The dimensions, for functions that depend on them."""

    @abstractmethod
    def known_ndim(self, value: Any, otherwise: int) -> int:
        """The number of dimensions, or a number to go on with where it is not known yet."""

    @abstractmethod
    def known_length(self, value: Any, axis: int) -> Optional[int]:
        """The length along an axis, None where it is not known yet."""

    def in_numpy(self, name: str, *tensors: Any, **params: Any) -> Any:
        """An operator of numpy_op_fallback, for tensors whose shape is not known yet."""
        raise TypeError(f"{name}: given tensors with a shape, expected those of networks, which have none yet")

    @abstractmethod
    def constant(self, values: Any, like: Any, exact: bool = False) -> Any:
        """A tensor of NumPy's values where another one is; real numbers as float32 unless `exact`."""

    @abstractmethod
    def elementwise_function(self, call: Any, arrays: Any, scalar: Any = None, reverse: Any = None) -> Any:
        """What is shown of a function made from a table, given its operators too."""

    @abstractmethod
    def listed(self, several: Any) -> List[Any]:
        """The outputs of an operator that may have several."""


def only_c(order: Any, name: str) -> None:
    """Refuses layouts of memory that the library does not have."""
    if order != "C" and order not in ("K", "A"):
        raise NotImplementedError(f"{name}: given order={order!r}, expected 'C': arrays are C-contiguous")


def dtype_text(dtype: Any, default: Any = "float32") -> Any:
    """The name of a type, or the default for None."""
    return default if dtype is None else dtype_name(dtype)


is_number = _core.is_number  # of Python's or NumPy's


def optional_ints(value: Any) -> Any:
    """As ints, and None."""
    return None if value is None else ints(value)


def wrong(name: str, value: Any, expected: str) -> TypeError:
    """The error for an argument of a wrong type."""
    return TypeError(f"{name}: given {type(value).__name__}, expected {expected}")
