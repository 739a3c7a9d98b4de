# SPDX-License-Identifier: Apache-2.0
"""Operator functions, made from the registry when they are first asked for.

An operator's prefix says which module it is found in: `_contrib_box_nms` is `contrib.box_nms`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Callable, Dict, FrozenSet, List, Tuple

from .. import _lazy
from .._core import Operator, op_info, op_names, set_not_given

# Modules that `from mxnet.ndarray import *` brings, as it does in 1.x; mx.np and mx.npx are not among them.
_STARRED_MODULES = ("contrib", "image", "linalg", "random", "sparse")

# Prefixes of names and the module below mxnet.ndarray that holds them.
_PREFIXES = {
    "_contrib_": "contrib",
    "_linalg_": "linalg",
    "_sparse_": "sparse",
    "_image_": "image",
    "_random_": "random",
}
_NUMPY_PREFIXES = ("_np_", "_npi_", "_npx_")

_known: List[FrozenSet[str]] = []  # the names in the registry, once somebody has asked for them


def _names() -> FrozenSet[str]:
    known = _known
    if not known:
        known.append(frozenset(op_names()))
    return known[0]


def forget_names() -> None:
    """Looks the registry up anew when it is next asked: a library has added to it."""
    global _known
    _known = []  # not emptied: another thread may be reading, or putting in what the registry held before


class _Documented(Operator):
    """An operator that looks like a function to help() and inspect."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        _, description, arguments, _ = op_info(self.op_name)
        lines = [description.strip() or self.__name__, "", "Parameters", "----------"]
        for name, kind, doc in arguments:
            lines += [f"{name} : {kind}", f"    {doc}"]
        lines += ["out : NDArray, optional", "    The array to write to.", "", "Returns", "-------"]
        lines += ["NDArray or list of NDArrays"]
        return "\n".join(lines)

    @property
    def __signature__(self) -> Any:
        from inspect import Parameter, Signature

        kinds = Parameter.KEYWORD_ONLY if self.variadic else Parameter.POSITIONAL_OR_KEYWORD
        shown = []
        if self.variadic:
            arrays = [name for name, is_array in self.arguments if is_array]
            shown.append(Parameter(arrays[-1] if arrays else "data", Parameter.VAR_POSITIONAL))
        for name, is_array in self.arguments:
            if not (self.variadic and is_array) and name.isidentifier():
                shown.append(Parameter(name, kinds, default=None if is_array else _Null))
        shown += [Parameter("out", kinds, default=None), Parameter("name", kinds, default=None)]
        unique = {parameter.name: parameter for parameter in shown}
        return Signature([*unique.values(), Parameter("kwargs", Parameter.VAR_KEYWORD)])

    def __repr__(self) -> str:
        return f"<operator {self.op_name}>"

    def __reduce__(self) -> str:
        return self.__name__  # as a function: by its place in its module, which makes it anew


_Documented.__name__ = _Documented.__qualname__ = "operator"  # help() begins with it


class _NullType:
    """Stands for a parameter that is not given."""

    def __repr__(self) -> str:
        return "_Null"


_Null = _NullType()
set_not_given(_Null)


def _place(name: str) -> Tuple[str, str]:
    """The module in which users find an operator, and its name there, whoever asks for it first."""
    for prefix, module in _PREFIXES.items():
        if name.startswith(prefix):
            return f"mxnet.ndarray.{module}", name[len(prefix) :]
    return ("mxnet.ndarray._internal" if name.startswith("_") else "mxnet.ndarray"), name


class _Operators(Dict[str, Operator]):
    """The operators that were asked for, by their names in the registry; what is not there yet is made."""

    def __missing__(self, name: str) -> Operator:
        return self.make(name, "mxnet.ndarray.op", name)

    def make(self, name: str, module: str, shown: str) -> Operator:
        """`module` and `shown` place those of mx.np."""
        numpy = name.startswith(_NUMPY_PREFIXES)
        made: Any = _Documented(name, numpy)
        made.__module__, made.__name__ = (module, shown) if numpy else _place(name)
        made.__qualname__ = made.__name__
        self[name] = made
        return made


_operators = _Operators()
operator: Callable[[str], Operator] = _operators.__getitem__  # by name; what every small call begins with


def placed_operator(name: str, module: str, shown: str) -> Operator:
    """An operator that a module shows: whoever asks first says where one of mx.np is found."""
    return _operators[name] if name in _operators else _operators.make(name, module, shown)


def names_in(prefix: str) -> List[str]:
    """What a module with this prefix holds; "" for plain names, "_" for all that have no module."""
    if prefix == "":
        return sorted(name for name in _names() if not name.startswith("_"))
    if prefix == "_":
        filed = (*_PREFIXES, *_NUMPY_PREFIXES)
        return sorted(name for name in _names() if name[0] == "_" and not name.startswith(filed))
    return sorted(name[len(prefix) :] for name in _names() if name.startswith(prefix))


def _starred(module: Any, prefix: str) -> List[str]:
    """What `from module import *` brings: all operators, made or not, and what else was written here for programs."""
    package = ".".join(module.__name__.split(".")[:2])
    names = {*names_in(prefix)}
    for name, value in vars(module).copy().items():  # another thread may have more made meanwhile
        home = str(getattr(value, "__module__", None))
        if name in _STARRED_MODULES if isinstance(value, ModuleType) else home.startswith(package) and not home.endswith("._dtypes"):
            names.add(name)
    return sorted(name for name in names if not name.startswith("_"))


_prefixes: Dict[str, str] = {}  # of the operators in a module, by its name


class _Filled(ModuleType):
    """A module whose operators are all there once somebody asks for its dictionary: programs look through it for them."""

    @property
    def __dict__(self) -> Dict[str, Any]:  # type: ignore[override]
        own: Dict[str, Any] = vars(ModuleType)["__dict__"].__get__(self)
        for name in names_in(_prefixes[self.__name__]):
            if name not in own:
                getattr(self, name)
        return own


def fill(module_name: str, prefix: str, make: Callable[[str, str, str], Any] = placed_operator) -> Callable[[str], Any]:
    """The __getattr__ of a module: makes its operators when they are asked for, by make(operator, module, name)."""
    module: Any = sys.modules[module_name]
    _prefixes[module_name], module.__class__ = prefix, _Filled

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return _starred(module, prefix)
        full = name if prefix in ("", "_") else prefix + name
        if full in _names():
            made = make(full, module_name, name)
            setattr(module, name, made)
            return made
        raise _lazy.missing(module_name, name)

    return __getattr__
