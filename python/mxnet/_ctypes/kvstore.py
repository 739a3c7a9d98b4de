# SPDX-License-Identifier: Apache-2.0
"""KVStoreHandle on ctypes: the same as its native namesake."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from .lib import _LIB, NDArrayHandle, c_array, c_str, c_str_array, check_call
from .lib import KVStoreHandle as _Handle
from .ndarray import handles_of, wrap

__all__ = ["KVStoreHandle", "kinds_of"]

_NumberUpdater = ctypes.CFUNCTYPE(None, ctypes.c_int, NDArrayHandle, NDArrayHandle, ctypes.c_void_p)
_TextUpdater = ctypes.CFUNCTYPE(None, ctypes.c_char_p, NDArrayHandle, NDArrayHandle, ctypes.c_void_p)
_Text, _Size = ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_size_t)
_Responder = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, _Text, _Size, ctypes.c_void_p
)


def kinds_of(items: Sequence[Any]) -> Set[type]:
    """The types of the items of a list."""
    return set(map(type, items))


def _keys(keys: Sequence[Any]) -> Tuple[str, Any]:
    """What a function's name ends with for such keys, and the keys for the library."""
    if keys and isinstance(keys[0], str):
        return "Ex", c_str_array(keys)
    return "", c_array(ctypes.c_int, keys)


def _same_length(keys: Sequence[Any], arrays: Sequence[Any]) -> Any:
    if len(keys) != len(arrays):
        raise ValueError(f"given {len(keys)} keys and {len(arrays)} arrays, expected as many arrays as keys")
    return handles_of(arrays)


class _UnderWay(threading.local):
    """Of the call that is under way on a thread: what a callback of it has raised."""

    raised: Optional[BaseException] = None


class KVStoreHandle:
    """Owns a store of the library."""

    def __init__(self, type: str) -> None:
        self._handle = _Handle()
        self._serving = False
        self._under_way = _UnderWay()
        self._callbacks: List[Any] = []  # of all updaters: servers have one for each of the workers' stores
        check_call(_LIB.MXKVStoreCreate(c_str(type), ctypes.byref(self._handle)))

    def __del__(self) -> None:
        if self._handle:
            _LIB.MXKVStoreFree(self._handle)

    @property
    def value(self) -> Optional[int]:
        """The address behind the handle."""
        return self._handle.value

    @property
    def type(self) -> str:
        """The store's name."""
        text = ctypes.c_char_p()
        check_call(_LIB.MXKVStoreGetType(self._handle, ctypes.byref(text)))
        return (text.value or b"").decode()

    @property
    def rank(self) -> int:
        """This process."""
        return self._number(_LIB.MXKVStoreGetRank)

    @property
    def group_size(self) -> int:
        """How many processes there are."""
        return self._number(_LIB.MXKVStoreGetGroupSize)

    def num_dead_node(self, node: int, timeout: int) -> int:
        """How many of them are lost."""
        number = ctypes.c_int()
        check_call(_LIB.MXKVStoreGetNumDeadNode(self._handle, node, ctypes.byref(number), timeout))
        return number.value

    def init(self, keys: Sequence[Any], values: Sequence[Any]) -> None:
        """Stores copies."""
        self._call("MXKVStoreInit", keys, values)

    def push(self, keys: Sequence[Any], values: Sequence[Any], priority: int) -> None:
        """Sums."""
        self._call("MXKVStorePush", keys, values, priority)

    def pull(self, keys: Sequence[Any], outs: Sequence[Any], priority: int, ignore_sparse: bool) -> None:
        """Writes what is stored."""
        self._call("MXKVStorePullWithSparse", keys, outs, priority, ctypes.c_bool(ignore_sparse))

    def row_sparse_pull(self, keys: Sequence[Any], outs: Sequence[Any], row_ids: Sequence[Any], priority: int) -> None:
        """Writes rows of it."""
        self._call("MXKVStorePullRowSparse", keys, outs, _same_length(keys, row_ids), priority)

    def pushpull(self, keys: Sequence[Any], values: Sequence[Any], out_keys: Sequence[Any], outs: Sequence[Any], priority: int) -> None:
        """Sums, and writes the result."""
        self._exchange("MXKVStorePushPull", keys, values, out_keys, outs, priority)

    def broadcast(
        self, keys: Sequence[Any], values: Sequence[Any], out_keys: Sequence[Any], outs: Sequence[Any], priority: int
    ) -> None:
        """Stores copies, and writes them."""
        self._exchange("MXKVStoreBroadcast", keys, values, out_keys, outs, priority)

    def set_updater(self, updater: Callable[[Any, Any, Any], None]) -> None:
        """Calls updater(key, pushed, stored) at each push."""

        def update(key: Any, pushed: int, stored: int, _: Any) -> None:
            # Both are owned from here on, whatever happens.
            value, target = wrap(NDArrayHandle(pushed)), wrap(NDArrayHandle(stored))
            self._guarded(lambda: updater(key.decode() if isinstance(key, bytes) else key, value, target))

        callbacks = (_NumberUpdater(update), _TextUpdater(update))
        self._callbacks.append(callbacks)
        check_call(_LIB.MXKVStoreSetUpdaterEx(self._handle, *callbacks, None))

    def set_gradient_compression(self, params: Dict[str, str]) -> None:
        """Sends less."""
        names, values = c_str_array(params), c_str_array(params.values())
        check_call(_LIB.MXKVStoreSetGradientCompression(self._handle, len(params), names, values))

    def barrier(self) -> None:
        """Waits for all processes."""
        check_call(_LIB.MXKVStoreBarrier(self._handle))

    def set_barrier_before_exit(self, wait: bool) -> None:
        """Whether the end waits for all processes."""
        check_call(_LIB.MXKVStoreSetBarrierBeforeExit(self._handle, int(wait)))

    def send_command(self, head: int, body: str) -> None:
        """To all servers."""
        check_call(_LIB.MXKVStoreSendCommmandToServers(self._handle, head, c_str(body)))

    @property
    def num_servers(self) -> int:
        """How many processes hold keys for the others."""
        return self._number(_LIB.MXKVStoreGetNumServers)

    def placement(self, key: Any) -> Tuple[int, List[int]]:
        """In how many parts a key lies on servers, and the shape that these have together."""
        parts, dim, shape = ctypes.c_int(), ctypes.c_int(), ctypes.POINTER(ctypes.c_int64)()
        name = (c_str(key), 0) if isinstance(key, str) else (None, key)
        outputs = (ctypes.byref(parts), ctypes.byref(dim), ctypes.byref(shape))
        self._check(_LIB.MXKVStoreGetPlacement(self._handle, *name, *outputs))
        return parts.value, shape[: dim.value] if dim.value > 0 else []

    def ask_servers(self, head: int, body: bytes) -> List[bytes]:
        """A command to all servers, and what they answer."""
        count, replies, sizes = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_void_p)(), _Size()
        outputs = (ctypes.byref(count), ctypes.byref(replies), ctypes.byref(sizes))
        self._check(_LIB.MXKVStoreAskServers(self._handle, head, body, ctypes.c_size_t(len(body)), *outputs))
        return [ctypes.string_at(replies[i], sizes[i]) for i in range(count.value)]

    def run_server(self, controller: Callable[[int, bytes], bytes]) -> None:
        """Serves until the workers have finished. What the controller raises is its answer."""
        kept: List[Any] = []
        self._serving = True

        def respond(head: int, body: int, size: int, reply: Any, reply_size: Any, _: Any) -> int:
            try:
                failed, text = 0, controller(head, ctypes.string_at(body, size))
            except BaseException as error:  # noqa: BLE001  (nothing may pass through the library)
                failed, text = 1, f"{type(error).__name__}: {error}".encode()
            kept[:] = [ctypes.c_char_p(text)]
            reply[0], reply_size[0] = kept[0], len(text)
            return failed

        self._check(_LIB.MXKVStoreServe(self._handle, _Responder(respond), None))

    def _number(self, function: Any) -> int:
        number = ctypes.c_int()
        check_call(function(self._handle, ctypes.byref(number)))
        return number.value

    def _call(self, name: str, keys: Sequence[Any], arrays: Sequence[Any], *others: Any) -> None:
        suffix, all_keys = _keys(keys)
        function = getattr(_LIB, name + suffix)
        self._check(function(self._handle, len(keys), all_keys, _same_length(keys, arrays), *others))

    def _exchange(
        self, name: str, keys: Sequence[Any], values: Sequence[Any], out_keys: Sequence[Any], outs: Sequence[Any], priority: int
    ) -> None:
        suffix, all_keys = _keys(keys)
        out_suffix, all_out_keys = _keys(out_keys)
        if suffix != out_suffix:
            raise ValueError("given integer and string keys, expected keys of one kind")
        given, taken = _same_length(keys, values), _same_length(out_keys, outs)
        function = getattr(_LIB, name + suffix)
        self._check(
            function(self._handle, len(keys), all_keys, len(out_keys), all_out_keys, given, taken, priority)
        )

    def _guarded(self, call: Callable[[], Any]) -> None:
        """For callbacks: what they raise comes out of the call that led to them."""
        if self._under_way.raised is not None:
            return
        try:
            call()
        except BaseException as error:  # noqa: BLE001  (nothing may pass through the library)
            _LIB.MXKVStoreFailUpdate(c_str(f"{type(error).__name__}: {error}"))
            self._under_way.raised = None if self._serving else error

    def _check(self, result: int) -> None:
        raised, self._under_way.raised = self._under_way.raised, None
        if raised is not None:
            raise raised
        check_call(result)
