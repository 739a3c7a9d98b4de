# SPDX-License-Identifier: Apache-2.0
"""Errors of Gluon: for things that do not fit each other, and for parameters whose shape is not known yet."""

from typing import Any, Sequence

from ..base import MXNetError
from ..ndarray._dtypes import dtype_name

__all__ = ["DeferredInitializationError", "MismatchError", "add_place"]


class DeferredInitializationError(MXNetError):
    """The parameter's array is not there yet: the first forward pass will make it."""


class MismatchError(ValueError, AssertionError):
    """Shapes, types or names that do not fit. Programs for 1.x catch it as AssertionError."""


def add_place(error: MXNetError, block: Any, inputs: Sequence[Any]) -> None:
    """Lets an operator's error say in which block it was and what the block was given: once, of the innermost one."""
    if getattr(error, "has_place", False):
        return
    error.has_place = True  # type: ignore[attr-defined]
    shown = repr(block)
    shown = type(block).__name__ if "\n" in shown else shown
    given = ", ".join(f"{dtype_name(array.dtype)} {array.shape}" for array in inputs)
    error.args = (f"{error}\n  in block {block.name}, {shown}, given {given}",)
