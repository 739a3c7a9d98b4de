# SPDX-License-Identifier: Apache-2.0
"""Dictionaries of parameters, which blocks share."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, ItemsView, Iterator, KeysView, List, Mapping, Optional, Union, ValuesView

import numpy as np

from .. import initializer, ndarray
from ..context import Context
from ..ndarray import NDArray
from ._errors import MismatchError
from ._gradients import zero_gradients
from ._parameter_loading import named_arrays

if TYPE_CHECKING:
    from .parameter import Constant, Parameter

__all__ = ["ParameterDict"]


class ParameterDict:
    """Parameters by name, in order. `get` puts the prefix before the name and makes what is not there.

    What it does not have itself comes from `shared`: that is how blocks share parameters.
    """

    def __init__(self, prefix: str = "", shared: Optional[ParameterDict] = None) -> None:
        self._prefix = prefix
        self._shared = shared
        self._params: Dict[str, Parameter] = OrderedDict()

    @property
    def prefix(self) -> str:
        """What `get` puts before names."""
        return self._prefix

    def __repr__(self) -> str:
        lines = "\n".join(f"  {parameter}" for parameter in self.values())
        return f"{self._prefix + ' ' if self._prefix else ''}(\n{lines}\n)"

    def __getitem__(self, key: str) -> Parameter:
        if key not in self._params:
            raise KeyError(f"given {key!r}, expected one of {some_of(self._params)}")
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def __len__(self) -> int:
        return len(self._params)

    def __bool__(self) -> bool:
        return True  # an empty dictionary is still one that can be shared

    def items(self) -> ItemsView[str, Parameter]:
        """Names and parameters."""
        return self._params.items()

    def keys(self) -> KeysView[str]:
        """Names."""
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        """Parameters."""
        return self._params.values()

    # --- Getting and sharing

    def _find(self, name: str) -> Optional[Parameter]:
        if name not in self._params and self._shared is not None and name in self._shared._params:
            self._params[name] = self._shared._params[name]
        return self._params.get(name)

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter of that name behind the prefix, made with the other arguments if it is new."""
        from .parameter import Parameter

        full = self._prefix + name
        found = self._find(full)
        if found is None:
            self._params[full] = made = Parameter(full, **kwargs)
            return made
        for key, wanted in kwargs.items():
            _agree(found, key, wanted)
        return found

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant of that name behind the prefix; a new one needs a value."""
        from .parameter import Constant

        full = self._prefix + name
        found = self._find(full)
        if found is None:
            if value is None:
                raise KeyError(f"there is no constant {full!r}; a new one needs a value")
            self._params[full] = made = Constant(full, value)
            return made
        if value is not None:
            if not isinstance(found, Constant):
                raise MismatchError(f"given a value for {full}, expected none: it is no constant")
            wanted = value.asnumpy() if isinstance(value, NDArray) else np.asarray(value)
            if wanted.shape != found.shape or (wanted != found.value.asnumpy()).any():
                raise MismatchError(f"given another value for the constant {full} than it has")
        return found  # type: ignore[return-value]

    def update(self, other: Union[ParameterDict, Mapping[str, Parameter]]) -> None:
        """Takes all parameters of another dictionary, plain ones too."""
        known = self._params
        for name, parameter in other.items():
            if known.get(name, parameter) is not parameter:
                raise MismatchError(f"given two different parameters of the name {name}")
        for name, parameter in other.items():
            known[name] = parameter

    # --- All at once

    def initialize(
        self, init: Any = initializer.Uniform(), ctx: Any = None, verbose: bool = False, force_reinit: bool = False
    ) -> None:
        """Initializes all of them; `init` is for those without an initializer of their own."""
        if verbose:
            init.set_verbosity(verbose=verbose)
        for parameter in self.values():
            parameter.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Fills all gradients with zeros."""
        from .parameter import Parameter

        zero_gradients(parameter for parameter in self.values() if type(parameter).zero_grad is Parameter.zero_grad)
        for parameter in self.values():
            if type(parameter).zero_grad is not Parameter.zero_grad:
                parameter.zero_grad()  # the program's own

    def reset_ctx(self, ctx: Any) -> None:
        """Moves all of them to other devices."""
        for parameter in self.values():
            parameter.reset_ctx(ctx)

    def list_ctx(self) -> List[Context]:
        """All devices of all of them."""
        return list({context: None for parameter in self.values() for context in parameter.list_ctx()})

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all of them."""
        for parameter in self.values():
            setattr(parameter, name, value)

    # --- Files

    def save(self, filename: Any, strip_prefix: str = "") -> None:
        """Writes all arrays, under their names without a prefix."""
        arrays = {}
        for parameter in self.values():
            if not parameter.name.startswith(strip_prefix):
                raise ValueError(f"given prefix {strip_prefix!r}, expected one of the name {parameter.name!r}")
            arrays[parameter.name[len(strip_prefix) :]] = parameter._reduce()
        ndarray.save(os.fspath(filename), arrays)

    def load(
        self,
        filename: Any,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Reads what `save` has written; `restore_prefix` goes before the names in the file."""
        loaded = named_arrays(os.fspath(filename))
        self._take(
            loaded, ctx, allow_missing, ignore_extra, restore_prefix, os.fspath(filename), cast_dtype, dtype_source
        )

    def load_dict(
        self,
        param_dict: Any,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: Optional[str] = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """As `load`, from arrays by name; `arg:` and `aux:` before names are left out."""
        options = (cast_dtype, dtype_source, False)
        self._take(param_dict, ctx, allow_missing, ignore_extra, restore_prefix, filename, *options)

    def _take(
        self,
        arrays_by_name: Any,
        ctx: Any,
        allow_missing: bool,
        ignore_extra: bool,
        restore_prefix: str = "",
        filename: Optional[str] = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        own: bool = True,
    ) -> None:
        """`load_dict`; `own`: of arrays that nobody else has, as those of a file, which need not be copied."""
        source = f"file {filename}" if filename else "the dictionary"
        for name in self.keys():
            if not name.startswith(restore_prefix):
                raise MismatchError(f"given restore_prefix {restore_prefix!r}, expected one of the name {name!r}")
        arrays = {restore_prefix + without_kind(name): array for name, array in arrays_by_name.items()}
        if not allow_missing:
            for name in self.keys():
                if name not in arrays:
                    raise MismatchError(f"Parameter {name} is missing in {source}, which has {some_of(arrays)}")
        for name, array in arrays.items():
            if name in self._params:
                parameter = self._params[name]
                load = parameter._load_own if own else parameter._load_init
                load(array, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise MismatchError(
                    f"{source} has {name}, expected one of {some_of(self.keys())}; ignore_extra=True passes over it"
                )


def without_kind(name: str) -> str:
    """A name in a file of Module or of export, without what says whether it is a state."""
    return name[4:] if name.startswith(("arg:", "aux:")) else name


def some_of(names: Any, most: int = 20) -> str:
    """Names for an error text: not more than fit on a screen."""
    listed = [str(name) for name in names]
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")


def _agree(parameter: Parameter, key: str, wanted: Any) -> None:
    """Checks an attribute of a shared parameter against what another user of it asks for."""
    has = getattr(parameter, key, None)
    if has is None:
        setattr(parameter, key, wanted)
        return
    if key == "shape":
        wanted = (wanted,) if isinstance(wanted, int) else wanted
        if wanted is not None and len(wanted) == len(has):
            unknown = (-1, 0)
            merged = tuple(b if a in unknown else a for a, b in zip(has, wanted))
            if all(b in unknown or a == b for a, b in zip(merged, wanted)):
                parameter._shape = merged
                return
    elif key == "dtype" and np.dtype(wanted) == np.dtype(has):
        return
    elif key == "init":
        return  # whoever made it first decides
    if wanted is not None and wanted != has:
        raise MismatchError(f"Parameter {parameter.name}: given {key} {wanted}, expected {has} as it was made with")
