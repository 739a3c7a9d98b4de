# SPDX-License-Identifier: Apache-2.0
"""Recording what the library does and when: configuration, state, dumps, and events of one's own."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Optional

from ._ctypes.lib import _LIB, check_call, c_str, c_str_array
from .base import MXNetValueError, show_ctypes_names

__all__ = [
    "Counter", "Domain", "Event", "Frame", "Marker", "Task", "dump", "dump_profile", "dumps", "pause",
    "profiler_set_config", "profiler_set_state", "resume", "set_config", "set_kvstore_handle", "set_state",
]
show_ctypes_names(__name__)

# The store whose servers `profile_process="server"` means.
profiler_kvstore_handle: Any = ctypes.c_void_p()

_STATES = {"stop": 0, "run": 1}
_PROCESSES = {"worker": 0, "server": 1}
_FORMATS = {"table": 0, "json": 1}
_ORDERS = {"total": 0, "avg": 1, "min": 2, "max": 3, "count": 4}
_MODES = {"symbolic": "profile_symbolic", "imperative": "profile_imperative", "api": "profile_api", "memory": "profile_memory", "all": "profile_all"}


def _number(what: str, word: str, numbers: dict) -> int:
    if word not in numbers:
        raise ValueError(f"given {what} {word!r}, expected one of {', '.join(numbers)}")
    return numbers[word]


def set_kvstore_handle(handle: Any) -> None:
    """Sets the store whose servers are profiled with profile_process="server"."""
    global profiler_kvstore_handle  # pylint: disable=global-statement
    profiler_kvstore_handle = handle


def _at_servers(profile_process: str, call: str, **arguments: Any) -> bool:
    """Whether servers are meant: they have made the call, each in its own process."""
    if _number("profile_process", profile_process, _PROCESSES) == 0:
        return False
    ask = getattr(profiler_kvstore_handle, "ask_servers", None)
    if ask is None:
        raise MXNetValueError("profile_process='server': given no store, expected set_kvstore_handle(store.handle) before")
    from .kvstore._remote import PROFILE

    if profiler_kvstore_handle.rank == 0:  # all workers may make the call, and servers hear it once
        ask(PROFILE, b":" + json.dumps([call, arguments]).encode())
    return True


def set_config(**kwargs: Any) -> None:
    """Sets the whole configuration: what is not named has its default.

    filename (servers put rank0_ and so on before it), profile_all, profile_symbolic, profile_imperative, profile_memory,
    profile_api, continuous_dump, dump_period (seconds), aggregate_stats, profile_process (worker or server).
    """
    texts = {key: str(value) for key, value in kwargs.items()}
    if _at_servers(texts.pop("profile_process", "worker"), "set_config", **texts):
        return
    check_call(_LIB.MXSetProfilerConfig(len(texts), c_str_array(list(texts)), c_str_array(list(texts.values()))))


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """The older form of set_config."""
    if mode not in _MODES:
        raise ValueError(f"given mode {mode!r}, expected one of {', '.join(_MODES)}")
    set_config(**{_MODES[mode]: True}, filename=filename)


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Starts ("run") or ends ("stop") recording."""
    number = _number("state", state, _STATES)
    if not _at_servers(profile_process, "set_state", state=state):
        check_call(_LIB.MXSetProfilerState(number))


def profiler_set_state(state: str = "stop") -> None:
    """The older form of set_state."""
    set_state(state)


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Writes what was recorded to the file; with `finished` that ends recording."""
    if not _at_servers(profile_process, "dump", finished=bool(finished)):
        check_call(_LIB.MXDumpProfile(int(bool(finished))))


def dump_profile() -> None:
    """The older form of dump."""
    dump(True)


def dumps(reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False) -> str:  # pylint: disable=redefined-builtin
    """Tables of counts and times by name, if aggregate_stats is configured; `reset` counts from zero again."""
    numbers = _number("format", format, _FORMATS), _number("sort_by", sort_by, _ORDERS)
    text = ctypes.c_char_p()
    check_call(_LIB.MXAggregateProfileStatsPrintEx(ctypes.byref(text), int(bool(reset)), *numbers, int(bool(ascending))))
    return (text.value or b"").decode("utf-8")


def _set_paused(paused: bool, profile_process: str) -> None:
    if not _at_servers(profile_process, "pause" if paused else "resume"):
        check_call(_LIB.MXProfilePause(int(paused)))


def pause(profile_process: str = "worker") -> None:
    """Records nothing until resume()."""
    _set_paused(True, profile_process)


def resume(profile_process: str = "worker") -> None:
    """Records again after pause()."""
    _set_paused(False, profile_process)


class _Object:
    """Owns a handle of the profiler and shows as its name."""

    def __init__(self, name: str, create: Any, *arguments: Any) -> None:
        self.name = name
        self.handle = ctypes.c_void_p()
        check_call(create(*arguments, c_str(name), ctypes.byref(self.handle)))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXProfileDestroyHandle(self.handle)

    def __str__(self) -> str:
        return self.name


class _Duration(_Object):
    """What begins and ends; also as `with` block."""

    def start(self) -> None:
        """Begins it."""
        check_call(_LIB.MXProfileDurationStart(self.handle))

    def stop(self) -> None:
        """Ends it."""
        check_call(_LIB.MXProfileDurationStop(self.handle))

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.stop()


class Domain(_Object):
    """A row of the trace that holds tasks, frames, counters and markers."""

    def __init__(self, name: str) -> None:
        super().__init__(name, _LIB.MXProfileCreateDomain)

    def new_task(self, name: str) -> Task:
        """A Task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """A Frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: Optional[int] = None) -> Counter:
        """A Counter of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """A Marker of this domain."""
        return Marker(self, name)


class Task(_Duration):
    """A piece of work; several of one name may overlap."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, _LIB.MXProfileCreateTask, domain.handle)
        self.domain = domain


class Frame(_Duration):
    """One of a row of steps, such as a batch."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, _LIB.MXProfileCreateFrame, domain.handle)
        self.domain = domain


class Event(_Duration):
    """Something on the thread that starts it, nested in what that thread does."""

    def __init__(self, name: str) -> None:
        super().__init__(name, _LIB.MXProfileCreateEvent)


class Counter(_Object):
    """A number over time."""

    def __init__(self, domain: Domain, name: str, value: Optional[int] = None) -> None:
        super().__init__(name, _LIB.MXProfileCreateCounter, domain.handle)
        self.domain = domain
        if value is not None:
            self.set_value(value)

    def set_value(self, value: int) -> None:
        """Makes it this number."""
        check_call(_LIB.MXProfileSetCounter(self.handle, ctypes.c_uint64(int(value))))

    def increment(self, delta: int = 1) -> None:
        """Adds to it."""
        check_call(_LIB.MXProfileAdjustCounter(self.handle, ctypes.c_int64(int(delta))))

    def decrement(self, delta: int = 1) -> None:
        """Subtracts from it."""
        self.increment(-delta)

    def __iadd__(self, delta: int) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: int) -> Counter:
        self.decrement(delta)
        return self


class Marker:
    """A moment."""

    def __init__(self, domain: Domain, name: str) -> None:
        self.domain, self.name = domain, name

    def mark(self, scope: str = "process") -> None:
        """Marks now, for a scope: global, process, thread, task or marker."""
        check_call(_LIB.MXProfileSetMarker(self.domain.handle, c_str(self.name), c_str(scope)))
