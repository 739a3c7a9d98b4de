# SPDX-License-Identifier: Apache-2.0
"""Parameters that training leaves as they are."""

from __future__ import annotations

import warnings
from typing import Any

from .. import initializer, ndarray
from ..ndarray import NDArray
from ..util import is_np_array
from ._parameter import Parameter


class Constant(Parameter):
    """A parameter that training leaves as it is."""

    def __init__(self, name: str, value: Any) -> None:
        if not isinstance(value, NDArray):
            value = ndarray.array(value)
            value = value.as_np_ndarray() if is_np_array() else value
        self.value = value
        super().__init__(
            name, grad_req="null", shape=value.shape, dtype=value.dtype, init=_Value(value), differentiable=False
        )

    def __repr__(self) -> str:
        return f"Constant {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def grad_req(self) -> str:
        """Always null."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(f"Constant {self.name}: given grad_req {req}; it stays null", stacklevel=2)


class _Value(initializer.Initializer):
    """Initializes with one given array, whatever the name."""

    def __init__(self, value: NDArray) -> None:
        super().__init__()
        self.value = value

    def __call__(self, desc: Any, arr: NDArray) -> None:
        del desc  # any name will do
        self.value.copyto(arr)

    def _init_weight(self, name: Any, arr: NDArray) -> None:
        self(name, arr)

    def dumps(self) -> str:
        """Its text in a network's file: the value itself is in the file of parameters."""
        return '["zero", {}]'
