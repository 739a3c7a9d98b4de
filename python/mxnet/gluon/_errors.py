# SPDX-License-Identifier: Apache-2.0
"""Errors of Gluon: for things that do not fit each other, and for parameters whose shape is not known yet."""

from ..base import MXNetError

__all__ = ["DeferredInitializationError", "MismatchError"]


class DeferredInitializationError(MXNetError):
    """The parameter's array is not there yet: the first forward pass will make it."""


class MismatchError(ValueError, AssertionError):
    """Shapes, types or names that do not fit. Programs for 1.x catch it as AssertionError."""
