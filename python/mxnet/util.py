# SPDX-License-Identifier: Apache-2.0
"""Variables of the library and facts about its devices."""

from __future__ import annotations

import contextlib
from typing import Dict, Iterator, Mapping, Optional, Tuple, Union

from . import _core

__all__ = ["environment", "get_gpu_count", "get_gpu_memory", "getenv", "setenv"]


def getenv(name: str) -> Optional[str]:
    """The text of a variable as the library sees it, None if it is not set."""
    return _core.getenv(name)


def setenv(name: str, value: Optional[str]) -> None:
    """Sets a variable for the library, None takes it back.

    The process's environment is not touched. A variable that is read once, when the library is first
    used, cannot be changed: that is an error.
    """
    _core.setenv(name, value)


@contextlib.contextmanager
def environment(*args: Union[str, None, Mapping[str, Optional[str]]]) -> Iterator[None]:
    """Variables that hold inside a `with` block: `environment(name, value)` or `environment({...})`.

    None takes a variable back. At the end of the block all are as they were.
    """
    wanted: Mapping[str, Optional[str]]
    if len(args) == 2 and isinstance(args[0], str):
        wanted = {args[0]: args[1]}  # type: ignore[dict-item]
    elif len(args) == 1 and isinstance(args[0], Mapping):
        wanted = args[0]
    else:
        raise TypeError("expected a name and a value, or a dictionary of them")
    before: Dict[str, Optional[str]] = {}
    try:
        for name, value in wanted.items():
            old = getenv(name)
            setenv(name, None if value is None else str(value))
            before[name] = old
        yield
    finally:
        for name, old in reversed(list(before.items())):
            setenv(name, old)


def get_gpu_count() -> int:
    """The number of usable GPUs, 0 without a driver."""
    return _core.gpu_count()


def get_gpu_memory(gpu_dev_id: int) -> Tuple[int, int]:
    """Free and total bytes of a GPU."""
    return _core.gpu_memory_info(gpu_dev_id)
