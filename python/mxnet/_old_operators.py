# SPDX-License-Identifier: Apache-2.0
"""What Python 2 called division and truth, under names that Python 3 no longer asks for: packages that wrap the operators of an
array's class one by one look for these among them.
"""

from __future__ import annotations

import operator
from typing import Any


class OldOperators:
    """The part of arrays and symbols that has the names of Python 2."""

    __slots__ = ()

    def __div__(self, other: Any) -> Any:
        return operator.truediv(self, other)

    def __rdiv__(self, other: Any) -> Any:
        return operator.truediv(other, self)

    def __idiv__(self, other: Any) -> Any:
        return operator.itruediv(self, other)

    def __nonzero__(self) -> bool:
        return bool(self)
