# SPDX-License-Identifier: Apache-2.0
"""Handing parts of a symbol to a backend: the methods optimize_for and get_backend_symbol."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from .. import _core
from .._core import NDArrayBase
from ..context import Context, current_context
from ..ndarray._dtypes import _STORAGE_TYPE_STR_TO_ID, dtype_number


class Backends:
    """The part of Symbol that knows backends."""

    def get_backend_symbol(self, backend: str) -> Any:
        """The symbol as the backend of this name partitions it."""
        return self._of(_core.backend_symbol(self, backend))  # type: ignore[attr-defined]

    def optimize_for(
        self,
        backend: str,
        args: Any = None,
        aux: Any = None,
        ctx: Optional[Context] = None,
        shape_dict: Optional[Dict[str, Any]] = None,
        type_dict: Optional[Dict[str, Any]] = None,
        stype_dict: Optional[Dict[str, str]] = None,
        skip_infer: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The symbol as the backend of this name rewrites it; `kwargs` are options of the backend.

        `args` and `aux` (lists in order, or dictionaries) let it look at parameters. Those that it
        adds or takes away are added to and taken from the dictionaries.
        """
        names = self.list_arguments()  # type: ignore[attr-defined]
        states = self.list_auxiliary_states()  # type: ignore[attr-defined]
        context = current_context() if ctx is None else ctx
        symbol, new_args, new_aux = _core.optimize_for(
            self, backend, context.device_typeid, _ordered("args", args, names), _ordered("aux", aux, states),
            {name: str(value) for name, value in kwargs.items()},
            {name: tuple(shape) for name, shape in (shape_dict or {}).items()},
            {name: dtype_number(dtype) for name, dtype in (type_dict or {}).items()},
            {name: _STORAGE_TYPE_STR_TO_ID[stype] for name, stype in (stype_dict or {}).items()},
            bool(skip_infer),
        )
        made = self._of(symbol)  # type: ignore[attr-defined]
        _update("args", args, new_args, names, made.list_arguments())
        _update("aux", aux, new_aux, states, made.list_auxiliary_states())
        return made


def _ordered(what: str, arrays: Any, names: List[str]) -> List[Any]:
    """Arrays in the order of names, None for those that are not given; an empty list if there are none."""
    if arrays is None:
        return []
    ordered = [arrays.get(name) for name in names] if isinstance(arrays, dict) else list(arrays)
    if len(ordered) != len(names):
        raise ValueError(f"optimize_for: given {len(ordered)} arrays as {what}, expected {len(names)}: {', '.join(names)}")
    for array in ordered:
        if array is not None and not isinstance(array, NDArrayBase):
            raise TypeError(f"optimize_for: given {type(array).__name__} in {what}, expected NDArrays")
    return ordered


def _update(what: str, arrays: Any, added: Dict[str, Any], before: List[str], after: List[str]) -> None:
    gone = [name for name in before if name not in after]
    if not added and not (gone and isinstance(arrays, dict)):
        return
    if not isinstance(arrays, dict):
        raise ValueError(
            f"optimize_for: the backend has changed the parameters in {what}; given {type(arrays).__name__}, "
            "expected a dictionary to put the new ones into"
        )
    for name in gone:
        arrays.pop(name, None)
    arrays.update(added)
