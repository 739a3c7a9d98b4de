# SPDX-License-Identifier: Apache-2.0
"""Devices, the one that is current, and their memory."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _core
from ._class_property import Innermost
from .base import ClassPropertyMeta, _ClassProperty

__all__ = [
    "Context",
    "cpu",
    "cpu_memory_info",
    "cpu_pinned",
    "current_context",
    "gpu",
    "gpu_memory_info",
    "num_gpus",
]


class _Current(threading.local):
    """Each thread's stack of contexts; a new thread starts at cpu(0)."""

    def __init__(self) -> None:
        self.stack: List[Context] = []
        self.default: Optional[Context] = None


_current = _Current()


def _set_default(_: Any, context: Context) -> None:
    _current.default = context


def _set_innermost(context: Context) -> None:
    if _current.stack:
        _current.stack[-1] = context
    else:
        _current.default = context


class Context(_core.StackScope, metaclass=ClassPropertyMeta):
    """Where arrays live and operators run: a kind of device and a number.

    As `with mx.gpu(1): ...` it becomes the default of the thread inside the block.
    """

    devtype2str: Dict[int, str] = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type: Dict[str, int] = {name: number for number, name in devtype2str.items()}

    __slots__ = ("device_id", "device_typeid")
    _stacks = (_current,)

    # The context of this thread outside of all blocks; old programs set it.
    default_ctx = _ClassProperty(lambda cls: current_context(), _set_default)
    _default_ctx = Innermost(lambda: current_context(), _set_innermost)  # pylint: disable=unnecessary-lambda

    def __init__(self, device_type: Union[str, Context], device_id: int = 0) -> None:
        if isinstance(device_type, Context):
            self.device_typeid: int = device_type.device_typeid
            self.device_id: int = device_type.device_id
            return
        if device_type not in self.devstr2type:
            names = ", ".join(self.devstr2type)
            raise KeyError(f"given device type {device_type!r}, expected one of {names}")  # the class of 1.9.1
        self.device_typeid = self.devstr2type[device_type]
        self.device_id = device_id

    @property
    def device_type(self) -> str:
        """The kind of device: cpu, gpu, cpu_pinned or cpu_shared."""
        return self.devtype2str[self.device_typeid]

    def empty_cache(self) -> None:
        """Gives the memory that the device's pool keeps for reuse back to the system."""
        _core.empty_cache(self.device_typeid, self.device_id)

    def memory_stats(self) -> Dict[str, int]:
        """Bytes in use, cached and at the peak, and counts of the pool's events."""
        return _core.storage_statistics(self.device_typeid, self.device_id)

    def memory_summary(self) -> str:
        """The table of the pool that an out-of-memory error shows."""
        return _core.storage_table(self.device_typeid, self.device_id)

    def reset_peak_memory_stats(self) -> None:
        """Starts the peaks anew from what is in use now."""
        _core.reset_peak(self.device_typeid, self.device_id)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Context)
            and self.device_typeid == other.device_typeid
            and self.device_id == other.device_id
        )

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Context, (self.device_type, self.device_id)

    def __setstate__(self, state: Dict[str, int]) -> None:
        """What pickles of older versions hold."""
        self.device_typeid, self.device_id = state["device_typeid"], state["device_id"]


class _OfDevices(Dict[Tuple[int, int], Context]):
    """The contexts that arrays say they are on, by the device's kind and number; what is not there yet is made."""

    def __missing__(self, device: Tuple[int, int]) -> Context:
        made = self[device] = Context(Context.devtype2str[device[0]], device[1])
        return made


of_devices = _OfDevices()


def cpu(device_id: int = 0) -> Context:
    """The CPU. All numbers mean the same one."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Host memory from and to which GPUs copy fast."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """A GPU."""
    return Context("gpu", device_id)


def current_context() -> Context:
    """The context of the innermost `with` of this thread, else cpu(0)."""
    stack = _current.stack
    if stack:
        return stack[-1]
    return of_devices[1, 0] if _current.default is None else _current.default


def current_context_text() -> str:
    """What str() says of it."""
    stack = _current.stack
    return str(stack[-1]) if stack else "cpu(0)" if _current.default is None else str(_current.default)


def num_gpus() -> int:
    """The number of usable GPUs, 0 without a driver."""
    return _core.gpu_count()


def gpu_memory_info(device_id: int = 0) -> Tuple[int, int]:
    """Free and total bytes of a GPU."""
    return _core.gpu_memory_info(device_id)


def cpu_memory_info() -> Tuple[int, int]:
    """Bytes that this process could still use, and may use in all (the machine's or its cgroup's)."""
    return _core.cpu_memory_info()
