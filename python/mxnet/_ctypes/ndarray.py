# SPDX-License-Identifier: Apache-2.0
"""NDArrayBase and CachedOp on ctypes: the same as their native namesakes."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from .interrupts import kept, raise_kept
from .lib import _LIB, NDArrayHandle, c_handle_array, c_str_array, check_call

__all__ = ["CachedOp", "NDArrayBase", "handles_of", "invoke", "wrap", "wrap_all"]

# The classes of results, by storage type; "numpy" is that of mx.np, "scalar" is numpy.generic.
classes: Dict[Any, Any] = {}
# What dtype shows, by kind of array (False mx.nd, True mx.np) and the library's number.
shown_dtypes: Dict[bool, Dict[int, Any]] = {}
_BOOL = 7  # among the C ABI's types of elements
# Operators by kind of array (False mx.nd, True mx.np) and the name of Python's operator.
arithmetic: Dict[bool, Dict[str, Any]] = {False: {}, True: {}}


class NDArrayBase:
    """Owns an array of the library."""

    __slots__ = ("__weakref__", "handle", "writable")
    handle: Any
    _is_np = False

    def __init__(self, handle: Any = None, writable: bool = True) -> None:
        """Takes over a handle: a pointer of ctypes, a number, or that of another array, which is empty afterwards."""
        self.writable = bool(writable)
        if isinstance(handle, NDArrayBase):
            handle.handle, handle = NDArrayHandle(), handle.handle
        elif handle is None or isinstance(handle, int):
            handle = NDArrayHandle(handle)
        self.handle = handle

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXNDArrayFree(self.handle)

    def __hash__(self) -> int:
        return id(self) >> 4

    @property
    def _as_parameter_(self) -> Any:
        return self.handle

    @property
    def shape(self) -> Optional[Tuple[int, ...]]:
        """The dimensions; None if they are not known."""
        ndim, dims = ctypes.c_int(), ctypes.POINTER(ctypes.c_int64)()
        check_call(_LIB.MXNDArrayGetShapeEx64(self.handle, ctypes.byref(ndim), ctypes.byref(dims)))
        return None if ndim.value < 0 else tuple(dims[: ndim.value])

    def _fact(self, function: Any) -> int:
        number = ctypes.c_int()
        check_call(function(self.handle, ctypes.byref(number)))
        return number.value

    @property
    def _dtype_id(self) -> int:
        return self._fact(_LIB.MXNDArrayGetDType)

    @property
    def _storage_type_id(self) -> int:
        return self._fact(_LIB.MXNDArrayGetStorageType)

    @property
    def _device(self) -> Tuple[int, int]:
        kind, number = ctypes.c_int(), ctypes.c_int()
        check_call(_LIB.MXNDArrayGetContext(self.handle, ctypes.byref(kind), ctypes.byref(number)))
        return kind.value, number.value

    @property
    def grad(self) -> Any:
        """The gradient buffer, None without one."""
        grad = self._derived(_LIB.MXNDArrayGetGrad)
        return wrap(grad, self._is_np) if grad else None

    @property
    def _fresh_grad(self) -> bool:
        return self._fact(_LIB.MXNDArrayGetGradState) != 0

    @_fresh_grad.setter
    def _fresh_grad(self, state: Any) -> None:
        check_call(_LIB.MXNDArraySetGradState(self.handle, int(bool(state))))

    def _derived(self, function: Any, *arguments: Any) -> NDArrayHandle:
        made = NDArrayHandle()
        check_call(function(self.handle, *arguments, ctypes.byref(made)))
        return made

    def _slice(self, begin: int, end: int) -> Any:
        return wrap(self._derived(_LIB.MXNDArraySlice64, ctypes.c_int64(begin), ctypes.c_int64(end)), self._is_np)

    def _at(self, index: int) -> Any:
        return wrap(self._derived(_LIB.MXNDArrayAt64, ctypes.c_int64(index)), self._is_np)

    def _view(self, dims: Sequence[int], reverse: bool) -> Any:
        shape = (ctypes.c_int64 * len(dims))(*dims)
        made = wrap(self._derived(_LIB.MXNDArrayReshape64, len(dims), shape, ctypes.c_bool(reverse)), self._is_np)
        size = prod(self.shape or ())
        if prod(made.shape) != size:  # the library has views of an array's front too, which Python does not show
            raise ValueError(f"reshape: given shape {dims} for {size} elements")
        return made

    @property
    def dtype(self) -> Any:
        """The type of the elements, as NumPy names it."""
        return shown_dtypes[self._is_np][self._dtype_id]

    def item(self, *places: Any) -> Any:
        """The one element, or one by its place."""
        return self._item(*places)  # type: ignore[attr-defined]

    def asscalar(self) -> Any:
        """The one element, a NumPy scalar."""
        return self._asscalar()  # type: ignore[attr-defined]

    def __getitem__(self, key: Any) -> Any:
        return self._get(key)  # type: ignore[attr-defined]

    def __float__(self) -> float:
        return self._float()  # type: ignore[attr-defined]

    def _number(self) -> Any:
        """The one element as Python's number; None here, where callers read it through NumPy."""
        return None

    def _detach(self) -> Any:
        return wrap(self._derived(_LIB.MXNDArrayDetach), self._is_np)

    def _as_kind(self, numpy: bool) -> Any:
        return wrap(self._derived(_LIB.MXShallowCopyNDArray), bool(numpy))

    def _copy_to(self, target: Any) -> None:
        check_call(_LIB.MXNDArraySyncCopyToCPU(self.handle, ctypes.c_void_p(target.ctypes.data), ctypes.c_size_t(target.size)))

    def wait_to_read(self) -> None:
        """Waits until all that writes it is done; what failed raises here."""
        check_call(_LIB.MXNDArrayWaitToRead(self.handle))

    def wait_to_write(self) -> None:
        """Waits until all that reads or writes it is done."""
        check_call(_LIB.MXNDArrayWaitToWrite(self.handle))


def wrap(handle: Any, numpy: bool = False, storage_type: Optional[int] = None) -> Any:
    """An array of the class that belongs to it, around a handle that it takes over."""
    if storage_type is None:
        number = ctypes.c_int()
        check_call(_LIB.MXNDArrayGetStorageType(handle, ctypes.byref(number)))
        storage_type = number.value
    cls = classes.get("numpy" if numpy and storage_type == 0 else storage_type, NDArrayBase)
    made = cls.__new__(cls)
    NDArrayBase.__init__(made, handle)
    return made


def wrap_all(count: int, handles: Any, numpy: bool = False) -> List[Any]:
    """Arrays around handles that came out of a call; None for null."""
    owned = [handles[i] for i in range(count)]  # the library's list is gone with the next call
    return [None if handle is None else wrap(NDArrayHandle(handle), numpy) for handle in owned]


def handles_of(arrays: Iterable[Any]) -> Any:
    """The handles of arrays, null for None."""
    listed = list(arrays)
    for array in listed:
        if array is not None and not isinstance(array, NDArrayBase):
            raise TypeError(f"given {type(array).__name__}, expected an NDArray")
    handles = c_handle_array(listed)
    handles.arrays = listed  # so that they live as long, whatever becomes of the caller's list during the call
    return handles


def invoke(function: Any, leading: Sequence[Any], inputs: Sequence[Any], out: Any, numpy: bool, trailing: Sequence[Any] = ()) -> Any:
    """Calls what runs an operator; gives `out`, the result, or a list of results."""
    given: List[Any] = []
    if out is not None:
        given = [out] if isinstance(out, NDArrayBase) else list(out)
        if not all(array.writable for array in given):
            raise ValueError("given a read-only array as output, expected a writable one")
    count, given_handles = ctypes.c_int(len(given)), handles_of(given)
    # Of an address: what is cast from an object is part of a cycle, in which the arrays would stay until it is collected.
    outputs = ctypes.POINTER(NDArrayHandle)() if out is None else ctypes.cast(ctypes.addressof(given_handles), ctypes.POINTER(NDArrayHandle))
    types = ctypes.POINTER(ctypes.c_int)()
    check_call(function(*leading, len(inputs), handles_of(inputs), ctypes.byref(count), ctypes.byref(outputs), *trailing, ctypes.byref(types)))
    if out is not None:
        return out
    made = [(outputs[i], types[i]) for i in range(count.value)]
    results = [wrap(NDArrayHandle(handle), numpy, storage_type) for handle, storage_type in made]
    return results[0] if len(results) == 1 else results


def is_number(value: Any) -> bool:
    """Whether it may stand where an operator takes a scalar."""
    return isinstance(value, (int, float)) or ("scalar" in classes and isinstance(value, classes["scalar"]))


def _refused(name: str, numpy: bool, other: Any) -> Any:
    """What an array and something else give: left to that, but for an array of NumPy, which would make one of its own of both."""
    if not numpy and type(other).__module__ == "numpy" and type(other).__name__ == "ndarray":
        raise TypeError(
            f"{name}: given an mx.nd array and a numpy.ndarray, expected two arrays of one kind; mx.nd.array() makes one"
        )
    return NotImplemented


def _binary(name: str, a: Any, b: Any, out: Any = None, reverse: bool = False) -> Any:
    numpy = bool(a._is_np or getattr(b, "_is_np", False))
    row = arithmetic[numpy].get(name)
    if row is None:
        return _refused(name, numpy, b)
    if isinstance(b, NDArrayBase):
        if a._is_np != b._is_np:
            raise TypeError(
                f"{name}: given an mx.nd and an mx.np array, expected two of one kind; as_np_ndarray() and "
                "as_nd_ndarray() show an array as the other"
            )
        return NotImplemented if row[0] is None else row[0](*((b, a) if reverse else (a, b)), out=out)
    if is_number(b):
        operator = row[2] if reverse else row[1]
        number = b if type(b) in (int, float) else float(b)
        return NotImplemented if operator is None else operator(a, scalar=number, out=out)
    return _refused(name, numpy, b)


def _compare(name: str, a: Any, b: Any) -> Any:
    if a._is_np and isinstance(b, (list, tuple)):  # Python's own answer would be False, where NumPy compares elements
        raise TypeError(
            f"comparison: given a {type(b).__name__}, expected an mx.np array or a number; mx.np.array makes one"
        )
    return _binary(name, a, b)


def _unary(name: str, a: Any) -> Any:
    operator = arithmetic[a._is_np].get(name)
    if operator is None:
        raise TypeError(f"{name}: given {type(a).__name__}, expected another type")
    if name == "negative" and a._dtype_id == _BOOL:  # a number, and no operator of one array makes another type
        return _binary("multiply", a, -1)
    return operator(a)


_PYTHON = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "mod": "modulo", "pow": "power",
    "matmul": "matmul", "and": "and", "or": "or", "xor": "xor",
}
_COMPARISONS = {"lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal"}


def _define(python: str, name: str) -> None:
    if name in _COMPARISONS.values():
        setattr(NDArrayBase, f"__{python}__", lambda a, b: _compare(name, a, b))
        return
    setattr(NDArrayBase, f"__{python}__", lambda a, b: _binary(name, a, b))
    setattr(NDArrayBase, f"__r{python}__", lambda a, b: _binary(name, a, b, reverse=True))
    if python != "pow":  # `a **= b` names a new array, which may have another type and be recorded
        setattr(NDArrayBase, f"__i{python}__", lambda a, b: _binary(name, a, b, out=a))


for _python, _name in {**_PYTHON, **_COMPARISONS}.items():
    _define(_python, _name)
for _python, _name in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
    setattr(NDArrayBase, f"__{_python}__", lambda a, _name=_name: _unary(_name, a))


# What the library calls. Gradients of what is recorded tell of theirs when the op is gone, so that it says when it is done.
_hooks: Dict[int, Any] = {}


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def _drop_hook(number: int, hooks: Dict[int, Any] = _hooks) -> int:
    hooks.pop(number, None)
    return 1


class CachedOp:
    """A symbol that is called with arrays for all its inputs."""

    __slots__ = ("__weakref__", "handle", "is_np_sym")

    def __init__(self, sym: Any, flags: Sequence[Tuple[str, Any]] = (), thread_safe: bool = False) -> None:
        from .symbol import SymbolBase

        if not isinstance(sym, SymbolBase):
            raise TypeError(f"CachedOp: given {type(sym).__name__}, expected a Symbol")
        self.handle = ctypes.c_void_p()
        self.is_np_sym = bool(getattr(sym, "_is_np", False))
        keys, values = [str(key) for key, _ in flags], [str(value) for _, value in flags]
        check_call(_LIB.MXCreateCachedOpEX(
            sym.handle, len(keys), c_str_array(keys), c_str_array(values), ctypes.byref(self.handle),
            ctypes.c_bool(thread_safe),
        ))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXFreeCachedOp(self.handle)

    def __call__(self, *args: Any, out: Any = None, default_ctx: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            raise TypeError(f"CachedOp: given argument {', '.join(kwargs)}, expected out or default_ctx")
        for i, array in enumerate(args):
            if not isinstance(array, NDArrayBase):
                raise TypeError(f"CachedOp: given {type(array).__name__} as input {i}, expected an NDArray")
        device = (1, 0) if default_ctx is None else (default_ctx.device_typeid, default_ctx.device_id)
        result = invoke(_LIB.MXCachedOpCall, (self.handle, *device), args, out, self.is_np_sym)
        raise_kept()
        return result

    def _register_op_hook(self, callback: Any, monitor_all: bool = False) -> None:
        """callback(name, operator, array) sees every output, and inputs too with monitor_all."""

        if callback is None:
            check_call(_LIB.MXCachedOpSetHook(self.handle, None, None, None, 0))
            return

        @ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
        def hook(name: bytes, op: bytes, array: int, _: Any) -> None:
            kept(callback, name.decode(), op.decode(), wrap(NDArrayHandle(array)))

        _hooks[id(hook)] = hook
        check_call(_LIB.MXCachedOpSetHook(self.handle, hook, ctypes.c_void_p(id(hook)), _drop_hook, int(bool(monitor_all))))
