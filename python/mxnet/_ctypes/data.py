# SPDX-License-Identifier: Apache-2.0
"""Data iterators, RecordIO files and shared memory of the binding on ctypes."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from .lib import (
    _LIB, DataIterCreatorHandle, DataIterHandle, NDArrayHandle, RecordIOHandle, c_array, c_str, c_str_array, check_call,
)
from .ndarray import wrap

_texts = ctypes.POINTER(ctypes.c_char_p)


def _creators() -> Iterator[Tuple[Any, str, str, List[Tuple[str, str, str]]]]:
    """Handle, name, description and parameters of each iterator."""
    count, creators = ctypes.c_uint(), ctypes.POINTER(DataIterCreatorHandle)()
    check_call(_LIB.MXListDataIters(ctypes.byref(count), ctypes.byref(creators)))
    for handle in [creators[i] for i in range(count.value)]:
        name, description, size = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_uint()
        columns = [_texts(), _texts(), _texts()]
        pointers = (ctypes.byref(those) for those in (name, description, size, *columns))
        check_call(_LIB.MXDataIterGetIterInfo(DataIterCreatorHandle(handle), *pointers))
        params = [tuple(column[k].decode() for column in columns) for k in range(size.value)]
        yield DataIterCreatorHandle(handle), name.value.decode(), description.value.decode(), params  # type: ignore[union-attr, misc]


def data_iters() -> List[Tuple[str, str, List[Tuple[str, str, str]]]]:
    """Name, description, and (name, type, description) of each parameter."""
    return [(name, description, params) for _, name, description, params in _creators()]


class DataIter:
    """A data iterator of the library."""

    def __init__(self, name: str, params: Dict[str, Any]) -> None:
        self._handle = DataIterHandle()
        creator = next((handle for handle, known, _, _ in _creators() if known == name), None)
        if creator is None:
            raise KeyError(name)
        keys, values = c_str_array(map(str, params)), c_str_array(map(str, params.values()))
        check_call(_LIB.MXDataIterCreateIter(creator, len(params), keys, values, ctypes.byref(self._handle)))

    def __del__(self) -> None:
        if self._handle:
            _LIB.MXDataIterFree(self._handle)

    def next(self) -> bool:
        """Goes to the next batch; False behind the last."""
        return self._number(_LIB.MXDataIterNext) != 0

    def before_first(self) -> None:
        """Goes back to the start."""
        check_call(_LIB.MXDataIterBeforeFirst(self._handle))

    def data(self) -> Any:
        """The batch's data."""
        return self._array(_LIB.MXDataIterGetData)

    def label(self) -> Any:
        """The batch's labels."""
        return self._array(_LIB.MXDataIterGetLabel)

    def pad(self) -> int:
        """How many of the batch's last examples fill it up."""
        return self._number(_LIB.MXDataIterGetPadNum)

    def index(self) -> List[int]:
        """The numbers of the batch's examples."""
        numbers, size = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
        check_call(_LIB.MXDataIterGetIndex(self._handle, ctypes.byref(numbers), ctypes.byref(size)))
        return numbers[: size.value]

    def _number(self, function: Any) -> int:
        out = ctypes.c_int()
        check_call(function(self._handle, ctypes.byref(out)))
        return out.value

    def _array(self, function: Any) -> Any:
        made = NDArrayHandle()
        check_call(function(self._handle, ctypes.byref(made)))
        return wrap(made)


class _RecordFile:
    """A handle of a reader or writer; closed explicitly, or with the last reference."""

    _create: Any
    _free: Any
    _tell: Any

    def __init__(self, path: str) -> None:
        self._handle: Any = RecordIOHandle()
        check_call(self._create(c_str(path), ctypes.byref(self._handle)))

    def __del__(self) -> None:
        self._end()

    def _end(self) -> int:
        handle, self._handle = self._handle, None
        return self._free(handle) if handle else 0

    def close(self) -> None:
        """Closes the file."""
        check_call(self._end())

    def tell(self) -> int:
        """The position in the file."""
        position = ctypes.c_size_t()
        check_call(self._tell(self._handle, ctypes.byref(position)))
        return position.value


class RecordWriter(_RecordFile):
    """Writes a RecordIO file."""

    _create, _free, _tell = _LIB.MXRecordIOWriterCreate, _LIB.MXRecordIOWriterFree, _LIB.MXRecordIOWriterTell

    def write(self, bytes: Any) -> None:  # pylint: disable=redefined-builtin  (as the native one calls it)
        """Writes one record."""
        view = memoryview(bytes).tobytes()
        check_call(_LIB.MXRecordIOWriterWriteRecord(self._handle, ctypes.c_char_p(view), ctypes.c_size_t(len(view))))


class RecordReader(_RecordFile):
    """Reads a RecordIO file."""

    _create, _free, _tell = _LIB.MXRecordIOReaderCreate, _LIB.MXRecordIOReaderFree, _LIB.MXRecordIOReaderTell

    def read(self) -> Optional[bytes]:
        """The next record, None behind the last."""
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        check_call(_LIB.MXRecordIOReaderReadRecord(self._handle, ctypes.byref(data), ctypes.byref(size)))
        return ctypes.string_at(data, size.value) if data else None

    def seek(self, position: int) -> None:
        """Goes to where a record starts."""
        check_call(_LIB.MXRecordIOReaderSeek(self._handle, ctypes.c_size_t(position)))

    def set_skipping(self, skip: bool) -> None:
        """Whether damaged places are passed over."""
        check_call(_LIB.MXRecordIOReaderSetSkipping(self._handle, int(bool(skip))))

    def skipped(self) -> Tuple[int, int]:
        """Damaged places passed over, and their bytes."""
        places, size = ctypes.c_uint64(), ctypes.c_uint64()
        check_call(_LIB.MXRecordIOReaderGetSkipped(self._handle, ctypes.byref(places), ctypes.byref(size)))
        return places.value, size.value


def encode_image(image: Any, format: str, quality: int) -> bytes:  # pylint: disable=redefined-builtin
    """An image as the bytes of a file."""
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    check_call(_LIB.MXImageEncode(image.handle, c_str(format), int(quality), ctypes.byref(data), ctypes.byref(size)))
    return ctypes.string_at(data, size.value)


def shared_handle(array: Any) -> Tuple[int, int]:
    """(process, descriptor) of an array on cpu_shared; waits for its last write."""
    process, descriptor = ctypes.c_int(), ctypes.c_int()
    check_call(_LIB.MXNDArrayGetSharedMemHandle(array.handle, ctypes.byref(process), ctypes.byref(descriptor)))
    return process.value, descriptor.value


def array_from_shared(process: int, descriptor: int, shape: Sequence[int], dtype: int, numpy: bool = False) -> Any:
    """Takes over a descriptor that is a duplicate in this process."""
    made = NDArrayHandle()
    sizes = c_array(ctypes.c_int, list(shape))
    check_call(_LIB.MXNDArrayCreateFromSharedMemEx(process, descriptor, sizes, len(shape), dtype, ctypes.byref(made)))
    return wrap(made, numpy)
