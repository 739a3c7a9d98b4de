# SPDX-License-Identifier: Apache-2.0
"""The arrays of a parameter, of which each of its devices has one: which of them a caller gets, and what is missing where
there is none.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from ..context import Context, current_context
from ..ndarray import NDArray
from ._devices import same_processor
from ._errors import DeferredInitializationError
from ._replacements import Told


class DeviceCopies:
    """The part of Parameter that hands out arrays and gradients."""

    name: str
    shape: Any
    _data: Optional[List[NDArray]] = Told()  # type: ignore[assignment]
    _grad: Optional[List[NDArray]] = Told()  # type: ignore[assignment]
    _ctx_list: Optional[List[Context]]
    _deferred_init: Tuple[Any, ...]  # () unless the shape is still to come
    _stype: str
    _trainer: Any

    def _missing(self, ctx: Any, arrays: Optional[List[NDArray]] = None) -> Exception:
        if arrays is not None:
            return RuntimeError(f"Parameter {self.name}: asked for on {ctx}, was initialized on {self._ctx_list}")
        # What there is now, but was not when it was looked for, another thread has just made of what was deferred.
        if self._deferred_init or self._data is not None:
            return DeferredInitializationError(
                f"Parameter {self.name} has shape {self.shape}: it is not known yet, the first forward pass will "
                "tell it. Run one, or give the sizes of inputs to the layers"
            )
        return RuntimeError(
            f"Parameter {self.name} was not initialized; call initialize() of the block, and give "
            "collect_params() to the Trainer"
        )

    def _on(self, arrays: Optional[List[NDArray]], ctx: Optional[Context]) -> NDArray:
        if arrays is None:
            raise self._missing(ctx)
        contexts = self._ctx_list
        if ctx is None:
            if len(arrays) == 1:
                return arrays[0]
            ctx = current_context()
        for array, context in zip(arrays, contexts):  # type: ignore[arg-type]
            if context == ctx:
                return array
        for array, context in zip(arrays, contexts):  # type: ignore[arg-type]
            if same_processor(context, ctx):
                return array
        raise self._missing(ctx, arrays)

    @property
    def _ctx_map(self) -> Optional[List[List[Optional[int]]]]:
        """Which array is a device's, by the last bit of the device's type and by its number: what packages ask for."""
        if self._ctx_list is None:
            return None
        places: List[List[Optional[int]]] = [[], []]
        for place, context in enumerate(self._ctx_list):
            row = places[context.device_typeid & 1]
            row.extend([None] * (context.device_id + 1 - len(row)))
            row[context.device_id] = place
        return places

    @_ctx_map.setter
    def _ctx_map(self, places: Any) -> None:
        pass  # parameters made of another's parts set it beside _ctx_list, which it follows

    def _check_and_get(self, arr_list: Optional[List[NDArray]], ctx: Any) -> Any:
        """The array on a device, or with `list` as device all of them: what trainers of other packages call."""
        return arr_list if ctx is list and arr_list is not None else self._on(arr_list, None if ctx is list else ctx)

    def data(self, ctx: Optional[Context] = None) -> NDArray:
        """The array on a device."""
        if self._stype != "default":
            raise RuntimeError(f"Parameter {self.name} is {self._stype}: use row_sparse_data() instead of data()")
        return self._on(self._data, ctx)

    def list_data(self) -> List[NDArray]:
        """The arrays on all devices."""
        if self._stype != "default":
            raise RuntimeError(
                f"Parameter {self.name} is {self._stype}: use list_row_sparse_data() instead of list_data()"
            )
        if self._data is None:
            raise self._missing(None)
        return list(self._data)

    def row_sparse_data(self, row_id: NDArray) -> NDArray:
        """The rows of the given numbers, on the device where the numbers are."""
        if self._stype != "row_sparse":
            raise RuntimeError(f"Parameter {self.name} is {self._stype}: use data() instead of row_sparse_data()")
        return self._pull_rows([self._on(self._data, row_id.context)], row_id)[0]

    def list_row_sparse_data(self, row_id: NDArray) -> List[NDArray]:
        """The rows of the given numbers on all devices."""
        if self._stype != "row_sparse":
            raise RuntimeError(
                f"Parameter {self.name} is {self._stype}: use list_data() instead of list_row_sparse_data()"
            )
        if self._data is None:
            raise self._missing(None)
        return self._pull_rows(list(self._data), row_id)

    def _pull_rows(self, arrays: List[NDArray], row_id: NDArray) -> List[NDArray]:
        if self._trainer is None:
            raise RuntimeError(f"Parameter {self.name} has no Trainer, which its rows come from")
        self._trainer._row_sparse_pull(self, arrays, row_id)
        return arrays

    def grad(self, ctx: Optional[Context] = None) -> NDArray:
        """The gradient on a device."""
        self._check_has_gradient()
        return self._on(self._grad, ctx)

    def list_grad(self) -> List[NDArray]:
        """The gradients on all devices."""
        self._check_has_gradient()
        if self._grad is None:
            raise self._missing(None)
        return list(self._grad)

    def _check_has_gradient(self) -> None:
        if self._data is not None and self._grad is None:
            raise RuntimeError(f"Parameter {self.name} has no gradient: its grad_req is null")

    def list_ctx(self) -> List[Context]:
        """The devices."""
        if self._data is not None:
            return self._ctx_list  # type: ignore[return-value]
        if self._deferred_init:
            return self._deferred_init[1]
        raise self._missing(None)
