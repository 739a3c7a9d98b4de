# SPDX-License-Identifier: Apache-2.0
"""Operator functions, made from the registry when they are first asked for.

An operator's prefix says which module it is found in: `_contrib_box_nms` is `contrib.box_nms`.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List

from .._core import Operator, op_info, op_names

# Prefixes of names and the module below mxnet.ndarray that holds them.
_PREFIXES = {
    "_contrib_": "contrib",
    "_linalg_": "linalg",
    "_sparse_": "sparse",
    "_image_": "image",
    "_random_": "random",
}
_NUMPY_PREFIXES = ("_np_", "_npi_", "_npx_")

_made: Dict[str, Operator] = {}
_known: set = set()


def _names() -> set:
    if not _known:
        _known.update(op_names())
    return _known


def forget_names() -> None:
    """Looks the registry up anew when it is next asked: a library has added to it."""
    _known.clear()


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
            shown.append(Parameter("data", Parameter.VAR_POSITIONAL))
        for name, is_array in self.arguments:
            if not (self.variadic and is_array) and name.isidentifier():
                shown.append(Parameter(name, kinds, default=None if is_array else _Null))
        shown += [Parameter("out", kinds, default=None), Parameter("name", kinds, default=None)]
        unique = {parameter.name: parameter for parameter in shown}
        return Signature([*unique.values(), Parameter("kwargs", Parameter.VAR_KEYWORD)])

    def __repr__(self) -> str:
        return f"<operator {self.op_name}>"


class _NullType:
    """Stands for a parameter that is not given."""

    def __repr__(self) -> str:
        return "_Null"


_Null = _NullType()


def operator(name: str, module: str = "mxnet.ndarray.op", shown: str = "") -> Operator:
    """The function of an operator, by its name in the registry."""
    made: Any = _made.get(name)
    if made is None:
        made = _Documented(name, name.startswith(_NUMPY_PREFIXES))
        made.__name__ = made.__qualname__ = shown or name
        made.__module__ = module
        _made[name] = made
    return made


def names_in(prefix: str) -> List[str]:
    """What a module with this prefix holds; "" for plain names, "_" for all that have no module."""
    if prefix == "":
        return sorted(name for name in _names() if not name.startswith("_"))
    if prefix == "_":
        filed = (*_PREFIXES, *_NUMPY_PREFIXES)
        return sorted(name for name in _names() if name[0] == "_" and not name.startswith(filed))
    return sorted(name[len(prefix) :] for name in _names() if name.startswith(prefix))


def fill(module_name: str, prefix: str) -> Callable[[str], Any]:
    """The __getattr__ of a module: makes its operators when they are asked for."""
    module = sys.modules[module_name]

    def __getattr__(name: str) -> Any:
        full = name if prefix in ("", "_") else prefix + name
        if full in _names():
            made = operator(full, module_name, name)
            setattr(module, name, made)
            return made
        raise AttributeError(f"module {module_name!r} has no attribute {name!r}")

    return __getattr__
