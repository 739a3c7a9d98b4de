# SPDX-License-Identifier: Apache-2.0
"""The class Symbol: some values of a network, and what can be done with them without arrays."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from .. import _core, attribute
from .._core import SymbolBase
from .._files import local_path, replacing
from ..base import MXNetError, NotImplementedForSymbol, integer_types, numeric_types, show_ctypes_names, string_types
from ..ndarray._dtypes import dtype_number
from ..ndarray._methods import METHODS
from . import _generate
from ._arithmetic import Arithmetic
from ._backend import Backends
from ._bind import _STORAGE_TYPE_STR_TO_ID, Binding
from ._infer import Inference

__all__ = ["Group", "Symbol", "Variable", "fromjson", "load", "load_json", "var"]
show_ctypes_names(__name__)

_fn = _generate.function


class Symbol(Arithmetic, Inference, Binding, Backends, SymbolBase):
    """Some values of a network. Operators on symbols make new ones."""

    __array_priority__ = 1000.0
    _is_np = False  # whether arrays that come out of it are those of mx.np

    def __init__(self, handle: Any = None) -> None:
        """Takes over a handle: a pointer of ctypes, a number, or that of a SymbolBase, which is empty afterwards."""
        super().__init__()
        if isinstance(handle, SymbolBase):
            self._take(handle)
        elif handle is not None:
            self._take_handle(handle)

    @classmethod
    def _of(cls, base: SymbolBase) -> Any:
        return cls(base)

    def __getattr__(self, name: str) -> Any:
        hint = ""
        if name in ("shape", "size", "ndim", "dtype", "context", "ctx"):
            hint = (
                ": they are known where it is bound. After hybridize() hybrid_forward is given Symbols: reshape takes 0 for "
                "a size that stays and -1 for one that follows, F.shape_array(x) is the shape, and infer_shape() tells it"
            )
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}")

    @property
    def name(self) -> Optional[str]:
        """The node's name; None for several nodes."""
        return self._name()

    def __repr__(self) -> str:
        name = self.name
        shown = f"group [{', '.join(output.name for output in self)}]" if name is None else name
        return f"<{type(self).__name__} {shown}>"

    def __len__(self) -> int:
        return self._num_outputs()

    @property
    def num_outputs(self) -> int:
        """The number of values."""
        return self._num_outputs()

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        count = len(self)
        if isinstance(index, slice):
            return Group([self[i] for i in range(*index.indices(count))], type(self))
        if isinstance(index, str):
            names = self.list_outputs()
            if names.count(index) != 1:
                raise ValueError(f"given output {index!r}, expected the name of one of {', '.join(names)}")
            index = names.index(index)
        if not isinstance(index, integer_types):
            raise TypeError(f"given {index!r} of type {type(index).__name__}, expected a number, a name or a slice of outputs")
        if not -count <= index < count:
            raise IndexError(f"given output {index}, expected one of {count}")
        return self._of(self._output(index + count if index < 0 else index))

    def __hash__(self) -> int:
        return id(self) >> 4

    def __copy__(self) -> Any:
        return self._of(self._copy())

    def __deepcopy__(self, _: Any) -> Any:
        return self._of(self._copy())

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (None,), self.__getstate__()

    def __getstate__(self) -> Dict[str, Any]:
        return {"handle": self.tojson()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._take(_core.symbol_from_json(state["handle"]))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A copy with variables replaced by other symbols, by place or by name; `name` renames its node."""
        name = kwargs.pop("name", None)
        if args and kwargs:
            raise TypeError("given inputs by place and by name, expected one of the two")
        for given in (*args, *kwargs.values()):
            if not isinstance(given, SymbolBase):
                raise TypeError(f"given {type(given).__name__} as an input, expected a Symbol")
        made = self.__copy__()
        made._compose(name or "", list(kwargs), list(args) or list(kwargs.values()))
        return made

    # --- The network

    def get_internals(self) -> Any:
        """Every value of the network as an output."""
        return self._of(self._internals())

    def get_children(self) -> Any:
        """The inputs of the outputs' nodes, None without any."""
        children = self._of(self._children())
        return children if children.list_outputs() else None

    def get_inputs(self) -> Any:
        """All variables of the network as outputs."""
        internals = self.get_internals()
        names = internals.list_outputs()
        return Group([internals[names.index(name)] for name in self.list_inputs()], type(self))

    def gradient(self, wrt: List[str]) -> Any:
        """The gradients of the outputs' sum by the variables of these names."""
        return self._of(self._gradient(list(wrt)))

    grad = gradient

    # --- Attributes

    def list_attr(self, recursive: bool = False) -> Dict[str, str]:
        """The outputs' own attributes."""
        if recursive:
            raise DeprecationWarning("list_attr: given recursive=True, expected a call of attr_dict()")
        return self._attributes(False)

    def attr_dict(self) -> Dict[str, Dict[str, str]]:
        """The attributes of all nodes by name."""
        nodes: Dict[str, Dict[str, str]] = {}
        for key, value in self._attributes(True).items():
            node, _, attr = key.partition("$")
            nodes.setdefault(node, {})[attr] = value
        return nodes

    def _set_attr(self, **kwargs: str) -> None:  # type: ignore[override]
        """Sets attributes of the outputs' node."""
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f"given an attribute {key} of type {type(value).__name__}, expected str")
            super()._set_attr(key, value)

    # --- Files

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The network as JSON, without the casts of mixed precision unless they are asked for."""
        return (self._without_amp_cast() if remove_amp_cast else self)._json()

    def save(self, fname: Union[str, os.PathLike], remove_amp_cast: bool = True) -> None:
        """Writes the network as JSON."""
        text = self.tojson(remove_amp_cast).encode()
        try:
            with replacing(_path(fname)) as file:
                file.write(text)
        except OSError as error:  # the class of those of mx.nd.save, as programs write both files together
            raise MXNetError(f"[save] given {os.fsdecode(fname)!r}: {error.strerror or error}") from error

    # --- The two kinds of symbols

    def as_np_ndarray(self) -> Any:
        """The same values as a symbol of mx.np."""
        return _generate.numpy_class()(self._shared())

    def as_nd_ndarray(self) -> Symbol:
        """The same values as a symbol of mx.sym."""
        return Symbol(self._shared())

    # --- Operators that are methods with arguments of their own

    def astype(self, dtype: Any, **kwargs: Any) -> Symbol:
        """See mx.sym.cast."""
        return _fn("cast")(self, dtype=dtype, **kwargs)

    def reshape(self, *args: Any, **kwargs: Any) -> Symbol:
        """See mx.sym.reshape; the shape may also be given as several integers."""
        if len(args) > 1:
            kwargs["shape"], args = tuple(args), ()
        return _fn("reshape")(self, *args, **kwargs)

    def transpose(self, *args: Any, **kwargs: Any) -> Symbol:
        """See mx.sym.transpose; the axes may also be given as several integers."""
        if len(args) > 1 or (args and isinstance(args[0], int)):
            kwargs["axes"], args = tuple(args), ()
        return _fn("transpose")(self, *args, **kwargs)

    def diag(self, k: int = 0, **kwargs: Any) -> Symbol:
        """See mx.sym.diag."""
        return _fn("diag")(self, k, **kwargs)

    def expand_dims(self, axis: int, inplace: bool = False, **kwargs: Any) -> Symbol:
        """See mx.sym.expand_dims; a symbol has no memory that `inplace` could share."""
        del inplace
        return _fn("expand_dims")(self, axis=axis, **kwargs)

    def flatten(self, inplace: bool = False, **kwargs: Any) -> Symbol:
        """See mx.sym.flatten; a symbol has no memory that `inplace` could share."""
        del inplace
        return _fn("flatten")(self, **kwargs)

    def squeeze(self, axis: Any = None, inplace: bool = False, **kwargs: Any) -> Symbol:
        """See mx.sym.squeeze; a symbol has no memory that `inplace` could share."""
        del inplace
        return _fn("squeeze")(self, axis=axis, **kwargs)

    def split_v2(self, *args: Any, **kwargs: Any) -> Symbol:
        """See mx.sym.split_v2."""
        from .functions import split_v2

        return split_v2(self, *args, **kwargs)


def _operator_method(name: str) -> Callable[..., Any]:
    def method(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        return _fn(name)(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Symbol.{name}"
    method.__doc__ = f"See mx.sym.{name}."
    return method


def _missing_method(name: str) -> Callable[..., Any]:
    def method(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedForSymbol(method, name, *args)

    method.__name__, method.__qualname__ = name, f"Symbol.{name}"
    method.__doc__ = "Only arrays have numbers: raises NotImplementedForSymbol."
    return method


for _name in METHODS:
    if _name not in Symbol.__dict__:
        setattr(Symbol, _name, _operator_method(_name))
for _name in ("as_in_context", "asnumpy", "asscalar", "backward", "copy", "detach", "wait_to_read", "__bool__"):
    setattr(Symbol, _name, _missing_method(_name))


def _path(fname: Any) -> str:
    if not isinstance(fname, (str, os.PathLike)):
        raise TypeError(f"given {type(fname).__name__} as a file name, expected str")
    return os.fspath(fname)


def var(
    name: str,
    attr: Optional[Dict[str, str]] = None,
    shape: Any = None,
    lr_mult: Optional[float] = None,
    wd_mult: Optional[float] = None,
    dtype: Any = None,
    init: Any = None,
    stype: Any = None,
    **kwargs: str,
) -> Symbol:
    """A variable: an argument of the network."""
    return _variable(Symbol, name, attr, shape, lr_mult, wd_mult, dtype, init, stype, kwargs)


def _shape_text(shape: Any) -> Optional[str]:
    """A shape as an attribute; a number is that of a vector."""
    if shape is None or isinstance(shape, str):
        return shape
    return str(int(shape) if isinstance(shape, integer_types) else tuple(shape))


def _variable(cls: Any, name: str, attr: Any, shape: Any, lr_mult: Any, wd_mult: Any, dtype: Any, init: Any, stype: Any, others: Dict[str, str]) -> Any:
    """A variable of a class of symbols; what is known of it becomes attributes."""
    if not isinstance(name, str):
        raise TypeError(f"given a name of type {type(name).__name__}, expected str")
    made = cls(_core.symbol_variable(name))
    texts = attribute.current().get(attr)
    given = {"__shape__": _shape_text(shape), "__lr_mult__": lr_mult, "__wd_mult__": wd_mult}
    texts.update({key: str(value) for key, value in given.items() if value is not None})
    if dtype is not None:
        texts["__dtype__"] = str(dtype_number(dtype))
    if init is not None:
        texts["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        texts["__storage_type__"] = str(_STORAGE_TYPE_STR_TO_ID[stype])
    for key, value in others.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(f"given attribute {key}, expected a name of the form __{key}__")
        texts[key] = str(value)
    made._set_attr(**texts)
    return made


Variable = var


def Group(symbols: Any, create_fn: Any = Symbol) -> Any:  # pylint: disable=invalid-name
    """All values of several symbols."""
    symbols = list(symbols)
    if not symbols or not all(isinstance(symbol, SymbolBase) for symbol in symbols):
        raise TypeError("expected at least one symbol, and nothing but symbols")
    return create_fn(_core.symbol_group(symbols))


def load_json(json_str: str) -> Symbol:
    """A network from its JSON."""
    if not isinstance(json_str, str):
        raise TypeError(f"given {type(json_str).__name__}, expected a str of JSON")
    return Symbol(_core.symbol_from_json(json_str))


fromjson = load_json


def load(fname: Union[str, os.PathLike]) -> Symbol:
    """A network from a file."""
    try:
        with open(local_path(_path(fname)), encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise MXNetError(f"cannot read a network from {fname!r}: {error}") from error
    try:
        return load_json(text)
    except MXNetError as error:
        raise type(error)(f"{error} (in {fname!r})") from error


from .functions import *  # noqa: E402,F403  (known as members of this module)
from .functions import __all__ as _functions  # noqa: E402

__all__ += _functions
