# SPDX-License-Identifier: Apache-2.0
"""What can be known of a symbol without arrays: the methods infer_shape and infer_type."""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, Tuple

from .. import _core
from ..ndarray._dtypes import _DTYPE_MX_TO_NP, dtype_number

Parts = Tuple[Any, Any, Any]


class Inference:
    """The part of Symbol that infers shapes and types."""

    def _given(self, what: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        """What is known, by the name of the argument."""
        if args and kwargs:
            raise ValueError(f"given {what}s by place and by name, expected one of the two")
        names = self.list_arguments()  # type: ignore[attr-defined]
        if len(args) > len(names):
            raise ValueError(f"given {len(args)} {what}s, expected at most {len(names)}: {', '.join(names)}")
        given = dict(kwargs) if kwargs else dict(zip(names, args))
        return {name: value for name, value in given.items() if value is not None}

    def _shapes(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], partial: bool) -> Tuple[list, list, list, bool]:
        known = self._given("shape", args, kwargs)
        for name, shape in known.items():
            if not isinstance(shape, (tuple, list)):
                raise TypeError(f"given {shape!r} as the shape of {name}, expected a tuple")
        shapes = [tuple(shape) for shape in known.values()]
        return self._infer_shape(list(known), shapes, partial)  # type: ignore[attr-defined]

    def infer_shape(self, *args: Any, **kwargs: Any) -> Parts:
        """Shapes of arguments, outputs and states; three times None, and a warning, if not all are known."""
        arguments, outputs, states, complete = self._shapes(args, kwargs, False)
        if complete:
            return arguments, outputs, states
        names = self.list_arguments()  # type: ignore[attr-defined]
        unknown = [f"{name}: {shape}" for name, shape in zip(names, arguments) if not _is_known(shape)]
        warnings.warn(
            "infer_shape cannot decide all shapes; consider giving those of " + "; ".join(unknown), stacklevel=2
        )
        return None, None, None

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> Parts:
        """As infer_shape, with what is known: unknown shapes are (), or None with NumPy's shapes."""
        unknown = () if not _core.is_np_shape() else None
        found = self._shapes(args, kwargs, True)[:3]
        arguments, outputs, states = ([unknown if shape is None else shape for shape in part] for part in found)
        return arguments, outputs, states

    def _types(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], partial: bool) -> Tuple[List[Any], bool]:
        known = {name: dtype_number(dtype) for name, dtype in self._given("type", args, kwargs).items()}
        *parts, complete = self._infer_type(list(known), list(known.values()), partial)  # type: ignore[attr-defined]
        return [[_DTYPE_MX_TO_NP[number] for number in part] for part in parts], complete

    def infer_type(self, *args: Any, **kwargs: Any) -> Parts:
        """Types of arguments, outputs and states; three times None if not all are known."""
        (arguments, outputs, states), complete = self._types(args, kwargs, False)
        return (arguments, outputs, states) if complete else (None, None, None)

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> Parts:
        """As infer_type, with None for what is not known."""
        arguments, outputs, states = self._types(args, kwargs, True)[0]
        return arguments, outputs, states


def _is_known(shape: Any) -> bool:
    empty = -1 if _core.is_np_shape() else 0
    return shape is not None and empty not in shape and (bool(shape) or empty == -1)
