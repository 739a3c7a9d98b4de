# SPDX-License-Identifier: Apache-2.0
"""What an array is for Python and NumPy: texts, numbers, iteration, other frameworks' arrays, pickles. All of it but __len__
waits for what is computed, or hands the waiting on.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional, Tuple

import numpy as np

from .. import _core
from .._core import NDArrayBase
from .._np_scopes import SAVED_WITH_SHAPES, called_with_shapes
from .._old_operators import OldOperators
from ._dtypes import _DTYPE_MX_TO_NP, bfloat16


class PythonValues(OldOperators, NDArrayBase):
    """The part of NDArray that Python's own functions and other libraries call."""

    __slots__ = ()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        shape = "x".join(str(dim) for dim in self.shape)
        return f"\n{self._values()!s}\n<{type(self).__name__} {shape} @{self.context}>"

    def _values(self) -> np.ndarray:
        """Values to read and to compute with: those of bfloat16, of which asnumpy() gives the bits, as float32."""
        return (self.astype(np.float32) if self.dtype is bfloat16 else self).asnumpy()

    def _repr_html_(self) -> str:
        from ._html import as_html

        return as_html(self)

    def asnumpy(self) -> np.ndarray:
        """A copy as a NumPy array (of bfloat16 its bits). Waits; what failed in computing it raises here."""
        values = np.empty(self.shape, _DTYPE_MX_TO_NP[self._dtype_id])
        if values.size:
            self._copy_to(values)
        else:
            self.wait_to_read()
        return values

    def _asscalar(self) -> Any:
        """What asscalar() leaves to NumPy."""
        if self.size != 1:
            raise ValueError(f"given an array of shape {self.shape}, expected one element")
        return self._values().reshape(-1)[0]

    def _item(self, *places: Any) -> Any:
        """What item() leaves to NumPy."""
        if places:
            raise TypeError(f"item: given {len(places)} arguments, expected none")
        return self._asscalar()

    def tolist(self) -> Any:
        """Nested lists of Python's numbers."""
        return self._values().tolist()

    def __bool__(self) -> bool:
        number = self._number()
        if number is not None:
            return bool(number)
        if self.size == 0:
            return False
        if self.size > 1:
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
        return bool(self.asscalar())

    def _single(self) -> Any:
        """What Python converts: of several elements it takes a TypeError for an answer, and asks otherwise."""
        if self.size != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        return self.asscalar()

    def __int__(self) -> int:
        return int(self._single())

    def _float(self) -> float:
        """What float() leaves to NumPy."""
        return float(self._single())

    def __index__(self) -> int:
        value = self._single()
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool):  # Python's own, of mx.np
            raise TypeError(f"given an element of type {type(value).__name__}, expected an integer")
        return int(value)

    def __bytes__(self) -> bytes:
        return self.asnumpy().tobytes()

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self[i]

    def __contains__(self, value: Any) -> bool:
        return bool((self == value)._values().any())

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array of the library cannot become one of NumPy without a copy")
        values = self.asnumpy() if dtype is not None and np.dtype(dtype) == bfloat16 else self._values()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None) -> Any:
        del max_version  # consumers of every version take the form without one
        if stream not in (None, -1):
            raise ValueError(f"given stream {stream}, expected None: work on the array is waited for")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"given device {tuple(dl_device)}, expected {self.__dlpack_device__()}: copy it there first")
        return _core.to_dlpack(self.copy() if copy else self)

    def __dlpack_device__(self) -> Tuple[int, int]:
        kind, number = self._device
        return (kind, number) if kind in (1, 2, 3) else (1, 0)  # shared memory is the host's

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule, when all that writes the array is done."""
        self.wait_to_read()
        return _core.to_dlpack(self)

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule, when all that reads or writes the array is done."""
        self.wait_to_write()
        return _core.to_dlpack(self)

    def __getstate__(self) -> dict:
        # The format has scalars only with NumPy's shapes, sparse arrays only without.
        shapes = self.stype == "default" and (self._allows_empty() or (self._is_np and self.shape == ()))
        return {"handle": bytearray(called_with_shapes(shapes, _core.to_bytes, self))}  # what other versions read must be writable

    def __setstate__(self, state: dict) -> None:
        data = state["handle"]
        shapes = data is not None and data[:4] == SAVED_WITH_SHAPES
        NDArrayBase.__init__(self, None if data is None else called_with_shapes(shapes, _core.from_bytes, bytes(data), self._is_np))

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (None,), self.__getstate__()

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, _: Any) -> Any:
        return self.copy()
