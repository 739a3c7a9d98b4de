# SPDX-License-Identifier: Apache-2.0
"""The classes of errors, under the names that programs know."""

from __future__ import annotations

from .base import (
    InternalError,
    MXNetAttributeError,
    MXNetError,
    MXNetIndexError,
    MXNetNotImplementedError,
    MXNetTypeError,
    MXNetValueError,
    register_error,
)

__all__ = [
    "InternalError",
    "MXNetAttributeError",
    "MXNetError",
    "MXNetIndexError",
    "MXNetNotImplementedError",
    "MXNetTypeError",
    "MXNetValueError",
    "register",
]

register = register_error
