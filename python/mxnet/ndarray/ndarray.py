# SPDX-License-Identifier: Apache-2.0
"""The class NDArray and the functions that make arrays of other things."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._core import NDArrayBase
from ..context import Context, current_context
from . import _generate, _indexing
from ._methods import METHODS
from ._dtypes import _DTYPE_MX_TO_NP, _DTYPE_NP_TO_MX, bfloat16, dtype_name, dtype_number, text_of

_core.set_text_maker(text_of)
_op = _generate.operator

_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}
_STORAGE_TYPES = {-1: "undefined", 0: "default", 1: "row_sparse", 2: "csr"}
_STORAGE_TYPE_IDS = {name: number for number, name in _STORAGE_TYPES.items()}

Shape = Union[int, Sequence[int]]


def _ints(shape: Shape) -> Tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple(int(dim) for dim in shape)


class NDArray(NDArrayBase):
    """An array on a device. Work on it runs asynchronously; reading it waits."""

    __slots__ = ()
    __array_priority__ = 1000.0  # NumPy leaves `ndarray + NDArray` to this class

    # --- Facts

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> Any:
        """The type of the elements, one of NumPy's."""
        return _DTYPE_MX_TO_NP[self._dtype_id]

    @property
    def stype(self) -> str:
        """The storage type: default, row_sparse or csr."""
        return _STORAGE_TYPES[self._storage_type_id]

    @property
    def context(self) -> Context:
        """The device."""
        kind, number = self._device
        return Context(Context.devtype2str[kind], number)

    ctx = context
    device = context

    @property
    def T(self) -> NDArray:
        """The array with its axes reversed."""
        return self if self.ndim < 2 else self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        shape = "x".join(str(dim) for dim in self.shape)
        return f"\n{self.asnumpy()!s}\n<{type(self).__name__} {shape} @{self.context}>"

    # --- As Python's and NumPy's

    def asnumpy(self) -> np.ndarray:
        """A copy as a NumPy array. Waits; what failed in computing it raises here."""
        values = np.empty(self.shape, self.dtype)
        if values.size:
            self._copy_to(values)
        else:
            self.wait_to_read()
        return values

    def asscalar(self) -> Any:
        """The one element as a NumPy scalar."""
        if self.size != 1:
            raise ValueError(f"given an array of shape {self.shape}, expected one element")
        return self.asnumpy().reshape(-1)[0]

    item = asscalar

    def tolist(self) -> Any:
        """Nested lists of Python's numbers."""
        return self.asnumpy().tolist()

    def __bool__(self) -> bool:
        if self.size == 0:
            return False
        if self.size > 1:
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
        return bool(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __float__(self) -> float:
        return float(self.asscalar())

    def __index__(self) -> int:
        return self.asscalar().__index__()

    def __iter__(self) -> Iterator[NDArray]:
        for i in range(len(self)):
            yield self[i]

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).asnumpy().any())

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array of the library cannot become one of NumPy without a copy")
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
        if stream not in (None, -1):
            raise ValueError(f"given stream {stream}, expected None: the array is on the CPU")
        self.wait_to_read()
        return _core.to_dlpack(self)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._device

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule, when all that writes the array is done."""
        self.wait_to_read()
        return _core.to_dlpack(self)

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule, when all that reads or writes the array is done."""
        self.wait_to_write()
        return _core.to_dlpack(self)

    def __getstate__(self) -> dict:
        return {"handle": _core.to_bytes(self)}

    def __setstate__(self, state: dict) -> None:
        made = _core.from_bytes(bytes(state["handle"]), False)
        NDArrayBase.__init__(self, made)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _restore, (type(self), self.__getstate__())

    def __copy__(self) -> NDArray:
        return self.copy()

    def __deepcopy__(self, _: Any) -> NDArray:
        return self.copy()

    # --- Indexing

    def __getitem__(self, key: Any) -> Any:
        return _indexing.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.writable:
            raise ValueError("given a read-only array, expected a writable one")
        _indexing.put(self, key, value)

    def _allows_empty(self) -> bool:
        return _core.is_np_shape() != 0

    def _index_array(self, values: np.ndarray, dtype: Any = np.int64) -> NDArray:
        return _from_numpy(values, self.context, dtype, type(self))

    def _of_shape(self, picked: Any, shape: Tuple[int, ...]) -> Any:
        if not shape and not self._allows_empty():
            shape = (1,)
        return picked if picked.shape == shape else picked._view(shape, False)

    # --- Copies and views

    def copy(self) -> NDArray:
        """A copy on the same device."""
        return _op("_copyto")(self, out=_empty_like(self, self.context))

    def copyto(self, other: Union[NDArray, Context]) -> NDArray:
        """Copies into another array, or onto another device."""
        if isinstance(other, Context):
            other = _empty_like(self, other)
        elif not isinstance(other, NDArrayBase):
            raise TypeError(f"given {type(other).__name__}, expected an NDArray or a Context")
        elif other is self or other.handle == self.handle:
            return other
        return _op("_copyto")(self, out=other)

    def as_in_context(self, context: Context) -> NDArray:
        """The array itself if it is there, else a copy."""
        return self if self.context == context else self.copyto(context)

    as_in_ctx = as_in_context
    to_device = as_in_context

    def as_nd_ndarray(self) -> NDArray:
        """The same memory as an mx.nd array."""
        return self

    def as_np_ndarray(self) -> Any:
        """The same memory as an mx.np array."""
        from .. import numpy as _  # noqa: F401  (leaves its class with the binding)

        return self._as_kind(True)

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """The elements as another type."""
        if not copy and dtype_number(dtype) == self._dtype_id:
            return self
        return _op("cast")(self, dtype=dtype_name(dtype))

    def tostype(self, stype: str) -> NDArray:
        """The array in another storage type."""
        return _op("cast_storage")(self, stype=stype)

    def detach(self) -> NDArray:
        """The same memory, of which autograd knows nothing."""
        return self._detach()

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Another shape on the same memory; 0, -1, -2, -3 and -4 as the operator reshape has them."""
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        elif not shape:
            shape = _ints(kwargs.pop("shape"))
        reverse = kwargs.pop("reverse", False)
        if kwargs:
            raise TypeError(f"reshape: given {', '.join(kwargs)}, expected shape and reverse")
        made = self._view(_ints(shape), bool(reverse))
        if made.size != self.size:
            raise ValueError(f"reshape: given shape {shape} for {self.size} elements")
        return made

    def transpose(self, *axes: Any) -> NDArray:
        """The array with its axes in another order, reversed by default."""
        if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)):
            axes = tuple(axes[0] or ())
        return _op("transpose")(self, axes=tuple(axes)) if axes else _op("transpose")(self)

    def expand_dims(self, axis: int) -> NDArray:
        """A dimension of one more."""
        return _op("expand_dims")(self, axis=axis)

    def broadcast_to(self, shape: Shape) -> NDArray:
        """Repeated along dimensions of one, and new ones at the front."""
        wanted = _ints(shape)
        lead = len(wanted) - self.ndim
        source = self._view((1,) * lead + self.shape, False) if lead > 0 else self
        return _op("broadcast_to")(source, shape=wanted)

    def split_v2(self, *args: Any, **kwargs: Any) -> Any:
        """See mx.nd.split_v2."""
        return split_v2(self, *args, **kwargs)

    def slice_assign(self, rhs: NDArray, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """A copy with a slice replaced by values."""
        return _op("_slice_assign")(self, rhs, begin=begin, end=end, step=step)

    def slice_assign_scalar(self, value: float, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """A copy with a slice replaced by a number."""
        return _op("_slice_assign_scalar")(self, scalar=value, begin=begin, end=end, step=step)

    # --- Autograd

    def attach_grad(self, grad_req: str = "write", stype: Optional[str] = None) -> None:
        """Makes it a leaf whose gradient autograd.backward leaves in `grad`."""
        grad = _op("zeros_like")(self)
        if stype is not None and stype != "default":
            grad = grad.tostype(stype)
        _core.mark_variables([self], [grad], [_GRAD_REQ_MAP[grad_req]])

    def backward(
        self, out_grad: Optional[NDArray] = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Gradients of this with respect to all leaves behind it."""
        grads = None if out_grad is None else [out_grad]
        _core.backward([self], grads, [], retain_graph, False, train_mode, False)


for _name in METHODS:
    if not hasattr(NDArray, _name):
        setattr(NDArray, _name, _op(_name))


def _restore(cls: Any, state: dict) -> Any:
    made = cls.__new__(cls)
    made.__setstate__(state)
    return made


def _empty_like(array: Any, context: Context) -> Any:
    if array.stype != "default":
        return array._empty_on(context)
    return _core.create(
        array.shape,
        context.device_typeid,
        context.device_id,
        True,
        array._dtype_id,
        not isinstance(array, NDArray) or type(array) is not NDArray,
    )


def _from_numpy(values: Any, context: Optional[Context], dtype: Any, cls: Any = NDArray) -> Any:
    """An array of NumPy's values, as mx.nd or mx.np array."""
    number = dtype_number(dtype)
    context = current_context() if context is None else context
    kind = _DTYPE_MX_TO_NP[number]
    values = np.array(values, dtype=np.float32 if kind is bfloat16 else kind, order="C", copy=None if _NUMPY_2 else False)
    numpy = getattr(cls, "_is_np", False)
    if kind is bfloat16:
        return _from_numpy(values, context, np.float32, cls).astype("bfloat16")
    made = _core.create(values.shape, context.device_typeid, context.device_id, False, number, numpy)
    if values.size:
        made._copy_from(values)
    return made


_NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


def array(source_array: Any, ctx: Optional[Context] = None, dtype: Any = None) -> NDArray:
    """An array of numbers, nested lists, NumPy or other arrays; float32 unless `dtype` says otherwise."""
    if isinstance(source_array, NDArrayBase):
        dtype = source_array.dtype if dtype is None else dtype
        if ctx is None:
            ctx = current_context()
        source_array = source_array.asnumpy()
    elif hasattr(source_array, "tocsr"):
        from . import sparse

        return sparse.array(source_array, ctx, dtype)
    if dtype is None:
        dtype = np.float32
    if not isinstance(source_array, np.ndarray):
        try:
            source_array = np.asarray(_plain(source_array))
        except (TypeError, ValueError) as error:
            raise TypeError(f"given {type(source_array).__name__}, expected what becomes an array: {error}") from None
    made = source_array
    if made.ndim == 0 and not _core.is_np_shape():
        made = made.reshape(1)
    return _from_numpy(made, ctx, dtype)


def _plain(value: Any) -> Any:
    """Lists of arrays as lists of NumPy's."""
    if isinstance(value, NDArrayBase):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def empty(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None) -> NDArray:
    """An array whose elements are whatever the memory holds."""
    context = current_context() if ctx is None else ctx
    number = dtype_number(np.float32 if dtype is None else dtype)
    return _core.create(_ints(shape), context.device_typeid, context.device_id, False, number, False)


def _made(name: str, shape: Any, ctx: Any, dtype: Any, out: Any, /, **params: Any) -> NDArray:
    context = current_context() if ctx is None else ctx
    dtype = "float32" if dtype is None else dtype_name(dtype)
    return _op(name)(shape=_ints(shape), ctx=str(context), dtype=dtype, out=out, **params)


def zeros(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None, stype: Optional[str] = None, out: Any = None, **kwargs: Any) -> NDArray:
    """Zeros."""
    if stype not in (None, "default"):
        from . import sparse

        return sparse.zeros(stype, shape, ctx, dtype, **kwargs)
    return _made("_zeros", shape, ctx, dtype, out, **kwargs)


def ones(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None, out: Any = None, **kwargs: Any) -> NDArray:
    """Ones."""
    return _made("_ones", shape, ctx, dtype, out, **kwargs)


def full(shape: Shape, val: float, ctx: Optional[Context] = None, dtype: Any = np.float32, out: Any = None) -> NDArray:
    """The same number everywhere."""
    return _made("_full", shape, ctx, dtype, out, value=val)


def arange(start: float, stop: Any = None, step: float = 1.0, repeat: int = 1, infer_range: Any = None, ctx: Any = None, dtype: Any = np.float32) -> NDArray:
    """Numbers from start to before stop, each `repeat` times."""
    if infer_range is not None:
        import warnings

        warnings.warn("`infer_range` argument has been deprecated", DeprecationWarning, stacklevel=2)
    context = str(current_context() if ctx is None else ctx)
    return _op("_arange")(start=start, stop=stop, step=step, repeat=repeat, infer_range=False, dtype=dtype_name(dtype), ctx=context)


def linspace(start: float, stop: float, num: int, endpoint: bool = True, ctx: Any = None, dtype: Any = np.float32) -> NDArray:
    """`num` numbers at equal distances."""
    context = str(current_context() if ctx is None else ctx)
    return _op("_linspace")(start=start, stop=stop, num=num, endpoint=endpoint, ctx=context, dtype=dtype_name(dtype))


def eye(N: int, M: int = 0, k: int = 0, ctx: Any = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """Ones on a diagonal."""
    context = str(current_context() if ctx is None else ctx)
    return _op("_eye")(N=N, M=M, k=k, ctx=context, dtype="float32" if dtype is None else dtype_name(dtype), **kwargs)


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Arrays one after the other."""
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return _op("concat")(*arrays, dim=axis)


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """Axes at other places, the others in their order."""
    order = np.moveaxis(np.empty((0,) * tensor.ndim), source, destination).ndim  # checks the axes
    places = list(range(order))
    sources = [axis % order for axis in _ints(source)]
    rest = [axis for axis in places if axis not in sources]
    for to, axis in sorted(zip((axis % order for axis in _ints(destination)), sources)):
        rest.insert(to, axis)
    return _op("transpose")(tensor, axes=tuple(rest))


def split_v2(ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """Parts of an array: so many equal ones, or between the given places."""
    if isinstance(indices_or_sections, int):
        return _op("_split_v2")(ary, indices=(), axis=axis, squeeze_axis=squeeze_axis, sections=indices_or_sections)
    places = (0, *_ints(indices_or_sections))
    return _op("_split_v2")(ary, indices=places, axis=axis, squeeze_axis=squeeze_axis, sections=0)


def histogram(a: NDArray, bins: Any = 10, range: Any = None) -> Any:  # pylint: disable=redefined-builtin
    """Counts of elements in bins, and the bins' edges."""
    if isinstance(bins, NDArrayBase):
        return _op("_histogram")(a, bins)
    low, high = range if range is not None else (a.min().asscalar(), a.max().asscalar())
    return _op("_histogram")(a, bin_cnt=int(bins), range=(float(low), float(high)))


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Rows of zeros with a one at the index."""
    return _op("_onehot_encode")(indices, out, out=out)


def waitall() -> None:
    """Waits for all work; the first failure that nobody has seen raises here."""
    _core.wait_all()


def from_dlpack(dlpack: Any) -> NDArray:
    """An array on another framework's memory: from a capsule, or an object that has __dlpack__."""
    if hasattr(dlpack, "__dlpack__"):
        dlpack = dlpack.__dlpack__()
    return _core.from_dlpack(dlpack, False)


def to_dlpack_for_read(data: NDArray) -> Any:
    """See NDArray.to_dlpack_for_read."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data: NDArray) -> Any:
    """See NDArray.to_dlpack_for_write."""
    return data.to_dlpack_for_write()


def from_numpy(ndarray: np.ndarray, zero_copy: bool = True) -> NDArray:
    """An array of NumPy's, on the same memory if `zero_copy`; NumPy may then no longer write to it."""
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("given an array that is not C-contiguous, expected one for zero_copy")
    made = _core.from_dlpack(ndarray.__dlpack__(), False)
    ndarray.flags["WRITEABLE"] = False
    return made


def _function(name: str, arrays: str, scalar: str, reversed_scalar: str, python: Any) -> Any:
    """A function of two operands of which each may be a number."""

    def call(lhs: Any, rhs: Any) -> Any:
        left, right = isinstance(lhs, NDArrayBase), isinstance(rhs, NDArrayBase)
        if left and right:
            return _op(arrays)(lhs, rhs)
        if left and isinstance(rhs, (int, float, np.generic)):
            return _op(scalar)(lhs, scalar=rhs)
        if right and isinstance(lhs, (int, float, np.generic)):
            return _op(reversed_scalar)(rhs, scalar=lhs)
        if not left and not right:
            return python(lhs, rhs)
        raise TypeError(f"{name}: given {type(lhs).__name__} and {type(rhs).__name__}, expected arrays or numbers")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{arrays} of two arrays, or of an array and a number."
    return call


# Name: (arrays, array OP number, number OP array, of two numbers).
_ARITHMETIC = {
    "add": ("broadcast_add", "_plus_scalar", "_plus_scalar", np.add),
    "subtract": ("broadcast_sub", "_minus_scalar", "_rminus_scalar", np.subtract),
    "multiply": ("broadcast_mul", "_mul_scalar", "_mul_scalar", np.multiply),
    "divide": ("broadcast_div", "_div_scalar", "_rdiv_scalar", np.divide),
    "modulo": ("broadcast_mod", "_mod_scalar", "_rmod_scalar", np.mod),
    "power": ("broadcast_power", "_power_scalar", "_rpower_scalar", np.power),
    "less": ("broadcast_lesser", "_lesser_scalar", "_greater_scalar", np.less),
    "less_equal": ("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar", np.less_equal),
    "equal": ("broadcast_equal", "_equal_scalar", "_equal_scalar", np.equal),
    "not_equal": ("broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar", np.not_equal),
    "greater": ("broadcast_greater", "_greater_scalar", "_lesser_scalar", np.greater),
    "greater_equal": ("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar", np.greater_equal),
}
_FUNCTIONS = {
    **_ARITHMETIC,
    "maximum": ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar", np.maximum),
    "minimum": ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar", np.minimum),
    "logical_and": ("broadcast_logical_and", "_logical_and_scalar", "_logical_and_scalar", np.logical_and),
    "logical_or": ("broadcast_logical_or", "_logical_or_scalar", "_logical_or_scalar", np.logical_or),
    "logical_xor": ("broadcast_logical_xor", "_logical_xor_scalar", "_logical_xor_scalar", np.logical_xor),
}
for _name, _row in _FUNCTIONS.items():
    globals()[_name] = _function(_name, *_row)
lesser, lesser_equal, true_divide = globals()["less"], globals()["less_equal"], globals()["divide"]

_core.set_arithmetic(
    False,
    {
        **{name: tuple(_op(op) for op in row[:3]) for name, row in _ARITHMETIC.items()},
        "negative": _op("negative"),
        "absolute": _op("abs"),
    },
)

__all__ = [
    "NDArray", "arange", "array", "concatenate", "empty", "eye", "from_dlpack", "from_numpy", "full", "histogram",
    "lesser", "lesser_equal", "linspace", "moveaxis", "ones", "onehot_encode", "split_v2", "to_dlpack_for_read",
    "to_dlpack_for_write", "true_divide", "waitall", "zeros", *(name for name in _FUNCTIONS if not name.startswith("less")),
]
