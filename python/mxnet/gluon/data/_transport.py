# SPDX-License-Identifier: Apache-2.0
"""How batches travel from worker processes: arrays stay in shared memory, only descriptors are sent.

A batch is pickled with its arrays replaced by their places in a list; the arrays' descriptors follow
through the same socket, where the kernel duplicates them. Whoever ends, in whatever way, no segment is
left: it has no name and lives as long as somebody holds it.
"""

from __future__ import annotations

import io
import os
import pickle
from multiprocessing import reduction
from typing import Any, List, Tuple

from ... import _core
from ...context import Context
from ...ndarray import NDArray
from ...ndarray._dtypes import dtype_number

_SHARED = "cpu_shared"


def shared(array: NDArray) -> NDArray:
    """The array itself if it lies in shared memory, else a copy that does."""
    return array if array.context.device_type == _SHARED else array.as_in_context(Context(_SHARED, 0))


def describe(array: NDArray) -> Tuple[int, int, Tuple[int, ...], int, bool]:
    """Process, descriptor, shape, type and kind of an array in shared memory: what rebuild() needs."""
    process, descriptor = _core.shared_handle(array)
    return process, descriptor, array.shape, dtype_number(array.dtype), bool(getattr(array, "_is_np", False))


def rebuild(process: int, descriptor: int, shape: Tuple[int, ...], dtype: int, numpy: bool) -> NDArray:
    """The array behind a duplicate of a descriptor, which is taken over."""
    if numpy:  # its class is there once the module is, which this process may not have asked for yet
        from ... import numpy as _  # noqa: F401
    return _core.array_from_shared(process, descriptor, list(shape), dtype, numpy)


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.arrays: List[NDArray] = []

    def persistent_id(self, item: Any) -> Any:
        if not isinstance(item, NDArray) or item.stype != "default" or item.size == 0:
            return None  # small or sparse: by value
        self.arrays.append(shared(item))
        return len(self.arrays) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, arrays: List[NDArray]) -> None:
        super().__init__(file)
        self._arrays = arrays

    def persistent_load(self, place: Any) -> Any:
        return self._arrays[place]


def send_batch(connection: Any, head: Any, batch: Any) -> None:
    """Sends a picklable head and a batch. The arrays may be dropped when this returns."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(batch)
    described = [describe(array) for array in pickler.arrays]
    connection.send((head, file.getvalue(), described))
    for _, descriptor, _, _, _ in described:
        reduction.send_handle(connection, descriptor, None)


def receive_batch(connection: Any) -> Tuple[Any, Any]:
    """What send_batch sent: head and batch."""
    head, content, described = connection.recv()
    arrays = []
    for process, _, shape, dtype, numpy in described:
        descriptor = reduction.recv_handle(connection)
        try:
            arrays.append(rebuild(process, descriptor, shape, dtype, numpy))
        except BaseException:
            os.close(descriptor)
            raise
    return head, _Unpickler(io.BytesIO(content), arrays).load()
