# SPDX-License-Identifier: Apache-2.0
"""The callbacks by which the library reaches operators that are written in Python (mxnet.operator).

There is one C function for each kind of callback; its last argument says which object it is for. Objects
live in `_held` from when the library gets their number until it calls their delete callback.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
import traceback
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_uint, c_void_p
from typing import Any, Callable, Dict, List, Sequence, Tuple

from . import _core, libinfo
from ._core import NDArrayBase
from .base import get_last_ffi_error, interrupts, reason_of
from .context import Context
from .ndarray import CSRNDArray, NDArray, RowSparseNDArray
from .ndarray._dtypes import _DTYPE_MX_TO_NP, dtype_number
from .ndarray.ndarray import _STORAGE_TYPE_ID_TO_STR, _STORAGE_TYPE_STR_TO_ID

_lib = ctypes.CDLL(libinfo.find_lib_path()[0])  # loaded already: the same library

_REQUESTS = ("null", "write", "inplace", "add")
_CLASSES = {0: NDArray, 1: RowSparseNDArray, 2: CSRNDArray}

_DELETE = CFUNCTYPE(None, c_void_p)  # what it returns is not looked at
_FORWARD_BACKWARD = CFUNCTYPE(c_int, c_int, POINTER(c_void_p), POINTER(c_int), POINTER(c_int), c_int, c_void_p)
_LIST = CFUNCTYPE(c_int, POINTER(POINTER(c_char_p)), c_void_p)
_SHAPES = CFUNCTYPE(c_int, c_int, POINTER(c_int), POINTER(POINTER(c_int)), c_void_p)
_TYPES = CFUNCTYPE(c_int, c_int, POINTER(c_int), c_void_p)
_BACKWARD_STORAGE = CFUNCTYPE(c_int, c_int, POINTER(c_int), POINTER(c_int), c_void_p)
_DEPENDENCIES = CFUNCTYPE(
    c_int, POINTER(c_int), POINTER(c_int), POINTER(c_int), POINTER(c_int), POINTER(POINTER(c_int)), c_void_p
)


class _CallbackList(Structure):
    """MXCallbackList."""

    _fields_ = [("num_callbacks", c_int), ("callbacks", POINTER(c_void_p)), ("contexts", POINTER(c_void_p))]


_CREATE = CFUNCTYPE(
    c_int, c_char_p, c_int, POINTER(POINTER(c_uint)), POINTER(c_int), POINTER(c_int), POINTER(_CallbackList), c_void_p
)
_CREATOR = CFUNCTYPE(c_int, c_char_p, c_int, POINTER(c_char_p), POINTER(c_char_p), POINTER(_CallbackList))


_held: Dict[int, Any] = {}  # objects that the library has; what is done to it is one step of the interpreter
_numbers = itertools.count(1)

# Memory that the library reads when a callback has returned, until the next of its kind on that thread. Not thread-local
# data: that of a thread which is not Python's goes as soon as the callback returns.
_answers: Dict[Tuple[int, str], Any] = {}


def _answer(kind: str, memory: Any) -> None:
    _answers[threading.get_ident(), kind] = memory


def _addresses(*functions: Any) -> Any:
    """Callbacks as a list has them, which reads this memory for good."""
    return (c_void_p * len(functions))(*[ctypes.cast(function, c_void_p) for function in functions])


def _give(made: Any, addresses: Any, out: Any) -> None:
    """Hands an object to the library: fills a list with its callbacks."""
    number = next(_numbers)
    _held[number] = made
    count = len(addresses)
    contexts = (c_void_p * count)(*[number] * count)
    _answer("contexts", contexts)
    out[0].num_callbacks = count
    out[0].callbacks = ctypes.cast(addresses, POINTER(c_void_p))
    out[0].contexts = ctypes.cast(contexts, POINTER(c_void_p))


def _failed(error: BaseException) -> int:
    """What a callback returns that has raised. Without it ctypes passes over Ctrl-C and returns what it finds."""
    if isinstance(error, KeyboardInterrupt):
        interrupts.append(error)  # raised instead of the failure
    else:
        traceback.print_exception(type(error), error, error.__traceback__)
    _lib.NNAPISetLastError(reason_of(error))  # the error of the call says it too
    return 0


def _callback(kind: Any) -> Callable[[Callable[..., None]], Any]:
    """The C function of a kind. What the Python function raises is printed, and the call fails."""

    def decorate(function: Callable[..., None]) -> Any:
        def call(*args: Any) -> int:
            function(_held[args[-1]], *args[:-1])
            return 1

        return kind(_core.answering(call, _failed))

    return decorate


_delete = _DELETE(_held.pop)  # in C: Ctrl-C does not cut it off, as it might before the first instruction of a function


# --- Operators


def _arrays(count: int, handles: Any, tags: Any, written: Sequence[int]) -> List[List[Any]]:
    """Arrays by their kind. They take the handles over."""
    from .util import is_np_array

    found: List[List[Any]] = [[] for _ in range(5)]
    for i in range(count):
        base = NDArrayBase(handles[i])
        array = _CLASSES.get(base._storage_type_id, NDArray)(base, writable=tags[i] in written)
        found[tags[i]].append(array.as_np_ndarray() if is_np_array() and type(array) is NDArray else array)
    return found


@_callback(_FORWARD_BACKWARD)
def _forward(made: Any, count: int, handles: Any, tags: Any, requests: Any, is_train: int) -> None:
    arrays = _arrays(count, handles, tags, (1, 4))
    req = [_REQUESTS[requests[i]] for i in range(len(arrays[1]))]
    made.forward(is_train=bool(is_train), req=req, in_data=arrays[0], out_data=arrays[1], aux=arrays[4])


@_callback(_FORWARD_BACKWARD)
def _backward(made: Any, count: int, handles: Any, tags: Any, requests: Any, is_train: int) -> None:
    del is_train  # gradients are asked for when training
    arrays = _arrays(count, handles, tags, (2, 4))
    req = [_REQUESTS[requests[i]] for i in range(len(arrays[2]))]
    made.backward(
        req=req, in_data=arrays[0], out_data=arrays[1], in_grad=arrays[2], out_grad=arrays[3], aux=arrays[4]
    )


_OPERATOR_CALLBACKS = _addresses(_delete, _forward, _backward)

# --- Descriptions


def _names(method: str) -> Any:
    @_callback(_LIST)
    def listed(made: Any, out: Any) -> None:
        texts = [name.encode() for name in getattr(made, method)()]
        buffer = (c_char_p * (len(texts) + 1))(*texts, None)
        _answer("names", buffer)
        out[0] = ctypes.cast(buffer, POINTER(c_char_p))

    return listed


def _counts(prop: Any) -> Tuple[int, int, int]:
    return len(prop.list_arguments()), len(prop.list_outputs()), len(prop.list_auxiliary_states())


def _complete(what: str, given: Any, counts: Tuple[int, int, int]) -> List[Any]:
    """What an infer method has returned, for all arrays: (inputs, outputs) or (inputs, outputs, states)."""
    parts = [list(part) for part in given]
    if len(parts) == 2:
        parts.append([])
    lengths = tuple(len(part) for part in parts)
    if lengths != counts:
        raise ValueError(f"{what} returned lists of {lengths} entries, expected {counts} for inputs, outputs and states")
    return [item for part in parts for item in part]


@_callback(_SHAPES)
def _infer_shape(made: Any, count: int, ndims: Any, shapes: Any) -> None:
    del count
    counts = _counts(made)
    known = [[shapes[i][d] for d in range(max(ndims[i], 0))] for i in range(counts[0])]
    found = _complete("infer_shape", made.infer_shape(known), counts)
    buffers = []
    for i, shape in enumerate(found):
        dims = [int(dim) for dim in shape]
        buffer = (c_int * max(len(dims), 1))(*dims)
        buffers.append(buffer)
        ndims[i] = len(dims)
        shapes[i] = ctypes.cast(buffer, POINTER(c_int))
    _answer("shapes", buffers)


@_callback(_TYPES)
def _infer_type(made: Any, count: int, types: Any) -> None:
    del count
    counts = _counts(made)
    known = [_DTYPE_MX_TO_NP[types[i]] for i in range(counts[0])]
    for i, dtype in enumerate(_complete("infer_type", made.infer_type(known), counts)):
        types[i] = -1 if dtype is None else dtype_number(dtype)


@_callback(_TYPES)
def _infer_storage(made: Any, count: int, stypes: Any) -> None:
    del count
    counts = _counts(made)
    known = [_STORAGE_TYPE_ID_TO_STR[stypes[i]] for i in range(counts[0])]
    for i, stype in enumerate(_complete("infer_storage_type", made.infer_storage_type(known), counts)):
        stypes[i] = _STORAGE_TYPE_STR_TO_ID[stype]


@_callback(_BACKWARD_STORAGE)
def _infer_backward_storage(made: Any, count: int, stypes: Any, tags: Any) -> None:
    places: List[List[int]] = [[] for _ in range(5)]
    for i in range(count):
        places[tags[i]].append(i)
    order = (3, 0, 1, 2, 4)  # output gradients, inputs, outputs, input gradients, states
    known = [[_STORAGE_TYPE_ID_TO_STR[stypes[i]] for i in places[tag]] for tag in order]
    found = made.infer_storage_type_backward(*known)
    for tag, part in zip(order, found):
        for i, stype in zip(places[tag], part):
            stypes[i] = _STORAGE_TYPE_STR_TO_ID[stype]


@_callback(_DEPENDENCIES)
def _dependencies(made: Any, out_grad: Any, in_data: Any, out_data: Any, count: Any, needed: Any) -> None:
    inputs, outputs, _ = _counts(made)
    numbers = made.declare_backward_dependency(out_grad[:outputs], in_data[:inputs], out_data[:outputs])
    buffer = (c_int * max(len(numbers), 1))(*numbers)
    _answer("dependencies", buffer)
    count[0] = len(numbers)
    needed[0] = ctypes.cast(buffer, POINTER(c_int))


@_callback(_CREATE)
def _create(made: Any, ctx: bytes, count: int, shapes: Any, ndims: Any, dtypes: Any, out: Any) -> None:
    kind, _, number = ctx.decode().rstrip(")").partition("(")
    in_shapes = [[shapes[i][d] for d in range(ndims[i])] for i in range(count)]
    in_types = [dtypes[i] for i in range(count)]  # numbers, as programs have always got them
    operator = made.create_operator(Context(kind, int(number)), in_shapes, in_types)
    _give(operator, _OPERATOR_CALLBACKS, out)


# In the order of the enumeration CustomOpPropCallbacks.
_PROP_CALLBACKS = _addresses(
    _delete,
    _names("list_arguments"),
    _names("list_outputs"),
    _names("list_auxiliary_states"),
    _infer_shape,
    _dependencies,
    _create,
    _infer_type,
    _infer_storage,
    _infer_backward_storage,
)

_creators: Dict[str, Any] = {}  # C functions that the library keeps for good


def register(name: str, make: Callable[..., Any]) -> None:
    """Makes the operator Custom(op_type=name) ask `make(**texts)` for a description."""

    def describe(_: bytes, count: int, keys: Any, values: Any, out: Any) -> int:
        texts = {keys[i].decode(): values[i].decode() for i in range(count)}
        _give(make(**texts), _PROP_CALLBACKS, out)
        return 1

    creator = _CREATOR(_core.answering(describe, _failed))
    if _lib.MXCustomOpRegister(c_char_p(name.encode()), creator) != 0:
        raise get_last_ffi_error()
    _creators.setdefault(name, []).append(creator)
