# SPDX-License-Identifier: Apache-2.0
"""Functions of the binding on ctypes that belong to no class: arrays, configuration, devices."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import ndarray as _ndarray
from .lib import _LIB, NDArrayHandle, c_array, c_str, c_str_array, check_call
from .ndarray import handles_of, wrap, wrap_all

_exception_maker: List[Callable[[str], BaseException]] = []


def set_exception_maker(maker: Callable[[str], BaseException]) -> None:
    """Leaves the function that makes an exception of an error text."""
    _exception_maker[:] = [maker]


def last_error() -> str:
    """The text of the last failure on this thread."""
    return _LIB.MXGetLastTypedError().decode("utf-8", "replace")


def set_array_classes(dense: Any, row_sparse: Any, csr: Any, scalar: Any) -> None:
    """The classes of results by storage type, and numpy.generic."""
    _ndarray.classes.update({0: dense, 1: row_sparse, 2: csr, "scalar": scalar})


def set_numpy_class(numpy: Any) -> None:
    """The class of results of mx.np operators."""
    _ndarray.classes["numpy"] = numpy


def set_dtypes(numpy: bool, shown: Dict[int, Any]) -> None:
    """What the dtype of arrays of one kind is, by the library's number."""
    _ndarray.shown_dtypes[bool(numpy)] = dict(shown)


def set_scalars(_types: Dict[int, Any]) -> None:
    """NumPy's scalars by the library's number, which NumPy itself makes here."""


def set_arithmetic(numpy: bool, operators: Dict[str, Any]) -> None:
    """Operators by the names of Python's: (arrays, array OP number, number OP array)."""
    _ndarray.arithmetic[bool(numpy)].update(operators)


# --- Small helpers: a call that gives one thing of a type


def _value(ctype: Any, function: Any, *arguments: Any) -> Any:
    out = ctype()
    check_call(function(*arguments, ctypes.byref(out)))
    return out.value


_UNSET = -(1 << 31)


def exchanged(function: Any, value: int) -> int:
    """What a setter of the library has found. Nothing is set where an interrupt ends the call."""
    before = ctypes.c_int(_UNSET)
    try:
        check_call(function(value, ctypes.byref(before)))
        return before.value
    except BaseException:
        if before.value != _UNSET:
            function(before.value, ctypes.byref(ctypes.c_int()))
        raise


def _array(function: Any, *arguments: Any, numpy: bool = False) -> Any:
    handle = NDArrayHandle()
    check_call(function(*arguments, ctypes.byref(handle)))
    return wrap(handle, numpy)


def _int64s(values: Sequence[int]) -> Any:
    return c_array(ctypes.c_int64, [int(value) for value in values])


# --- The library


def basic_index(array: Any, key: Any) -> Any:
    """What the native binding does by itself is done in Python here, for every key."""
    del array, key
    return NotImplemented


def basic_fill(array: Any, key: Any, value: Any) -> bool:
    """Values of a NumPy array of the array's type, for all of it or whole rows, go there at once if nothing uses it."""
    import numpy as np  # not before there is an array of its, as in create_of

    if type(value) is not np.ndarray or array._storage_type_id != 0 or not array.shape or _value(ctypes.c_bool, _LIB.MXAutogradIsRecording):
        return False
    rows = array
    if type(key) is slice:
        begin, end, step = key.indices(array.shape[0])
        if step != 1 or begin >= end:
            return False
        if end - begin < array.shape[0]:
            rows = array._slice(begin, end)
    elif key is not Ellipsis:
        return False
    dtype = array._dtype_id
    if value.shape != rows.shape or value.dtype != _ndarray.shown_dtypes[False][dtype] or not value.flags.aligned:
        return False
    done = ctypes.c_int()
    check_call(_LIB.MXNDArrayCopyFromStridedIfFree(rows.handle, ctypes.c_void_p(value.ctypes.data), dtype, value.ndim, _int64s(value.strides), ctypes.byref(done)))
    return done.value != 0


def version() -> int:
    """The version of the ABI."""
    return _value(ctypes.c_int, _LIB.MXGetVersion)


class _Feature(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("enabled", ctypes.c_bool)]


def features() -> List[Tuple[str, bool]]:
    """Names and states of all features."""
    listed, size = ctypes.POINTER(_Feature)(), ctypes.c_size_t()
    check_call(_LIB.MXLibInfoFeatures(ctypes.byref(listed), ctypes.byref(size)))
    return [(listed[i].name.decode(), bool(listed[i].enabled)) for i in range(size.value)]


def set_num_omp_threads(threads: int) -> None:
    """The number of threads of parallel loops."""
    check_call(_LIB.MXSetNumOMPThreads(threads))


_leave = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)


def notify_shutdown(interrupted: bool) -> None:
    """Waits for all work, or drops what has not begun, and ends the engine."""
    if interrupted:
        _LIB.MXSetInterruptCheck(_leave)
    check_call(_LIB.MXNotifyShutdown())


def set_bulk_size(size: int) -> int:
    """The number of operations merged into one; gives the old one."""
    return exchanged(_LIB.MXEngineSetBulkSize, size)


def wait_all() -> None:
    """Waits for all work."""
    check_call(_LIB.MXNDArrayWaitAll())


# --- Configuration


def _bytes(text: Optional[str]) -> Optional[bytes]:
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"given {type(text).__name__}, expected str")
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def _config_text(function: Any, *arguments: Any) -> Optional[str]:
    text = _value(ctypes.c_char_p, function, *arguments)
    return None if text is None else os.fsdecode(text)


def config_to_json() -> str:
    """All rows."""
    return _value(ctypes.c_char_p, _LIB.MXConfigToJSON).decode()


def config_get(name: str) -> str:
    """The value of a row."""
    return _config_text(_LIB.MXConfigGet, _bytes(name)) or ""


def config_set(name: str, value: Optional[str]) -> None:
    """Changes a row."""
    check_call(_LIB.MXConfigSet(_bytes(name), _bytes(value)))


def getenv(name: str) -> Optional[str]:
    """A variable as the library sees it."""
    return _config_text(_LIB.MXGetEnv, _bytes(name))


def setenv(name: str, value: Optional[str]) -> None:
    """Sets a variable for the library."""
    check_call(_LIB.MXSetEnv(_bytes(name), _bytes(value)))


def is_np_shape() -> int:
    """Whether shapes are NumPy's."""
    return _value(ctypes.c_int, _LIB.MXIsNumpyShape)


def set_np_shape(mode: int) -> int:
    """Switches NumPy's shapes; gives the old mode."""
    return exchanged(_LIB.MXSetIsNumpyShape, int(mode))


def seed(state: int) -> None:
    """Seeds all generators."""
    check_call(_LIB.MXRandomSeed(state))


def seed_context(state: int, dev_type: int, dev_id: int) -> None:
    """Seeds the generators of a device."""
    check_call(_LIB.MXRandomSeedContext(state, dev_type, dev_id))


# --- Devices and memory


def gpu_count() -> int:
    """The number of usable GPUs."""
    return _value(ctypes.c_int, _LIB.MXGetGPUCount)


def _free_and_total(function: Any, *arguments: Any) -> Tuple[int, int]:
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    check_call(function(*arguments, ctypes.byref(free), ctypes.byref(total)))
    return free.value, total.value


def gpu_memory_info(dev_id: int) -> Tuple[int, int]:
    """Free and total bytes of a GPU."""
    return _free_and_total(_LIB.MXGetGPUMemoryInformation64, dev_id)


def cpu_memory_info() -> Tuple[int, int]:
    """Free and total bytes of host memory."""
    return _free_and_total(_LIB.MXGetCPUMemoryInformation)


def empty_cache(dev_type: int, dev_id: int) -> None:
    """Gives cached memory back."""
    check_call(_LIB.MXStorageEmptyCache(dev_type, dev_id))


_STATISTICS = (
    "in_use", "requested", "cached", "peak_in_use", "peak_footprint", "hits", "misses", "flushes", "system_allocations",
)


def storage_statistics(dev_type: int, dev_id: int) -> Dict[str, int]:
    """Statistics of a pool."""
    numbers = (ctypes.c_uint64 * len(_STATISTICS))()
    check_call(_LIB.MXStorageGetStatistics(dev_type, dev_id, numbers, ctypes.c_size_t(ctypes.sizeof(numbers))))
    return dict(zip(_STATISTICS, numbers))


def storage_table(dev_type: int, dev_id: int) -> str:
    """The table of a pool."""
    return _value(ctypes.c_char_p, _LIB.MXStorageGetTable, dev_type, dev_id).decode()


def reset_peak(dev_type: int, dev_id: int) -> None:
    """Starts the peaks anew."""
    check_call(_LIB.MXStorageResetPeak(dev_type, dev_id))


# --- Arrays


def create(shape: Sequence[int], dev_type: int, dev_id: int, delay_alloc: bool, dtype: int, numpy: bool) -> Any:
    """A dense array."""
    return _array(_LIB.MXNDArrayCreateEx64, _int64s(shape), len(shape), dev_type, dev_id, int(delay_alloc), dtype, numpy=numpy)


def plain_ints(value: Any) -> None:
    """Nothing is read here, which the caller is told."""
    del value


def create_of(values: Any, dev_type: int, dev_id: int, dtype: int, numpy: bool) -> Any:
    """A dense array in the shape and with the values of a NumPy array, or None if NumPy is to convert it to that type and C's order first."""
    import numpy as np  # not before there is an array of its: `import mxnet` alone does without

    if not isinstance(values, np.ndarray) or values.dtype != _ndarray.shown_dtypes[False][dtype] or not values.flags.c_contiguous:
        return None
    made = create(values.shape, dev_type, dev_id, False, dtype, numpy)
    if values.size:
        check_call(_LIB.MXNDArraySyncCopyFromCPU(made.handle, ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.size)))
    return made


def create_of_list(*_: Any) -> None:
    """Nothing is read here, which the caller is told."""


def create_none(numpy: bool) -> Any:
    """An array that has neither shape nor memory yet."""
    return _array(_LIB.MXNDArrayCreateNone, numpy=numpy)


def create_sparse(storage_type: int, shape: Sequence[int], dev_type: int, dev_id: int, delay_alloc: bool, dtype: int, aux_types: Sequence[int], aux_shapes: Sequence[Sequence[int]]) -> Any:
    """A sparse array."""
    dims = [dim for aux in aux_shapes for dim in aux]
    return _array(
        _LIB.MXNDArrayCreateSparseEx64, storage_type, _int64s(shape), len(shape), dev_type, dev_id, int(delay_alloc), dtype,
        len(aux_types), c_array(ctypes.c_int, list(aux_types)), c_array(ctypes.c_int, [len(aux) for aux in aux_shapes]),
        _int64s(dims),
    )


def data_to_read(array: Any) -> Tuple[int, int]:
    """The address of an array's values, and their version."""
    data, version = ctypes.c_void_p(), ctypes.c_uint64()
    check_call(_LIB.MXNDArrayGetDataToRead(array.handle, ctypes.byref(data), ctypes.byref(version)))
    return data.value or 0, version.value


def sync_copy(target: Any, source: Any, part: int) -> None:
    """Copies into a part of a sparse array."""
    check_call(_LIB.MXNDArraySyncCopyFromNDArray(target.handle, source.handle, part))


def check_format(array: Any, full: bool) -> None:
    """Raises where index arrays do not fit."""
    check_call(_LIB.MXNDArraySyncCheckFormat(array.handle, ctypes.c_bool(full)))


def sparse_data(array: Any) -> Any:
    """The stored values."""
    return _array(_LIB.MXNDArrayGetDataNDArray, array.handle)


def sparse_aux(array: Any, i: int) -> Any:
    """An index array."""
    return _array(_LIB.MXNDArrayGetAuxNDArray64, array.handle, ctypes.c_int64(i))


def save(file: str, arrays: Sequence[Any], names: Optional[Sequence[str]]) -> None:
    """Writes arrays to a file."""
    check_call(_LIB.MXNDArraySave(c_str(file), len(arrays), handles_of(arrays), None if names is None else c_str_array(names)))


def _loaded(function: Any, arguments: Sequence[Any], numpy: bool) -> Tuple[List[Any], List[str]]:
    count, num_names = ctypes.c_uint(), ctypes.c_uint()
    handles, names = ctypes.POINTER(NDArrayHandle)(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(function(*arguments, ctypes.byref(count), ctypes.byref(handles), ctypes.byref(num_names), ctypes.byref(names)))
    texts = [names[i].decode() for i in range(num_names.value)]
    return wrap_all(count.value, handles, numpy), texts


def load(file: str, numpy: bool) -> Tuple[List[Any], List[str]]:
    """Arrays and names out of a file."""
    return _loaded(_LIB.MXNDArrayLoad, (c_str(file),), numpy)


def load_buffer(data: bytes, numpy: bool) -> Tuple[List[Any], List[str]]:
    """Arrays and names out of a file's bytes."""
    return _loaded(_LIB.MXNDArrayLoadFromBuffer, (ctypes.c_char_p(data), ctypes.c_size_t(len(data))), numpy)


def to_bytes(array: Any) -> bytes:
    """An array as bytes."""
    size, data = ctypes.c_size_t(), ctypes.POINTER(ctypes.c_char)()
    check_call(_LIB.MXNDArraySaveRawBytes(array.handle, ctypes.byref(size), ctypes.byref(data)))
    return ctypes.string_at(data, size.value)


def from_bytes(data: bytes, numpy: bool) -> Any:
    """The reverse."""
    return _array(_LIB.MXNDArrayLoadFromRawBytes, ctypes.c_char_p(data), ctypes.c_size_t(len(data)), numpy=numpy)
