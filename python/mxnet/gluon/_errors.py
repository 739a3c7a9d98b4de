# SPDX-License-Identifier: Apache-2.0
"""The error of Gluon for things that do not fit each other."""

__all__ = ["MismatchError"]


class MismatchError(ValueError, AssertionError):
    """Shapes, types or names that do not fit. Programs for 1.x catch it as AssertionError."""
