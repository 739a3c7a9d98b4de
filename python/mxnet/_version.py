# SPDX-License-Identifier: Apache-2.0
"""The version, which programs compare as text: `mx.__version__ < "1.3.1"`."""

from __future__ import annotations

import re
from typing import Any, List, Tuple


def _numbers(text: str) -> List[int]:
    return [int(digits) for digits in re.findall(r"\d+", text)]


class _ShownAsText(type):
    """A class that says it is `str`: yaml.safe_dump looks there for what it knows to write, and knows no subclasses."""

    @property
    def __mro__(cls) -> Tuple[type, ...]:
        return str.__mro__


class Version(str, metaclass=_ShownAsText):
    """Text whose order is that of the numbers in it: as plain text 1.10 comes before 1.3."""

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other) if isinstance(other, str) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return _numbers(self) <= _numbers(other) if isinstance(other, str) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return _numbers(self) > _numbers(other) if isinstance(other, str) else NotImplemented

    def __ge__(self, other: Any) -> bool:
        return _numbers(self) >= _numbers(other) if isinstance(other, str) else NotImplemented

    def __reduce__(self) -> Tuple[type, Tuple[str]]:
        return str, (str(self),)  # plain text: what it is written into is read without this package too


__version__ = Version("1.10.0")
