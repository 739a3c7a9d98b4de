# SPDX-License-Identifier: Apache-2.0
"""The class Block: a part of a network, made of parameters and other blocks."""

from __future__ import annotations

import os
import re
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Optional

from .. import initializer, ndarray
from ._errors import MismatchError
from ._naming import BlockScope
from ._parameter_loading import named_arrays
from .parameter import Parameter, ParameterDict
from .parameter_dict import some_of, without_kind
from .utils import HookHandle, indented


class Block:
    """A part of a network: subclass it, make parameters and children in __init__, compute in forward.

    A block or parameter that becomes an attribute is registered as a child or parameter of this one.
    """

    # Attributes that hold blocks by design, or never any.
    _own_containers = frozenset(("_children", "_reg_params", "_forward_hooks", "_forward_pre_hooks"))

    def __init__(self, prefix: Optional[str] = None, params: Optional[ParameterDict] = None) -> None:
        self._empty_prefix = prefix == ""
        self._prefix, self._params = BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith("_") else self._prefix
        self._scope = BlockScope(self)
        self._children: "OrderedDict[str, Block]" = OrderedDict()
        self._reg_params: Dict[str, Parameter] = {}
        self._forward_hooks: "OrderedDict[int, Any]" = OrderedDict()
        self._forward_pre_hooks: "OrderedDict[int, Any]" = OrderedDict()

    def __repr__(self) -> str:
        lines = "\n".join(f"  ({name}): {indented(repr(child))}" for name, child in self._shown_children())
        return f"{type(self).__name__}(\n{lines}\n)"

    def _repr_html_(self) -> str:
        from ._summary import as_html

        return as_html(self)

    def _shown_children(self) -> Any:
        return [(name, value) for name, value in self.__dict__.items() if isinstance(value, Block)]

    def __setattr__(self, name: str, value: Any) -> None:
        before = self.__dict__.get(name)
        if isinstance(before, (Parameter, Block)) and not isinstance(value, type(before)):
            raise TypeError(
                f"attribute {name}: given {type(value).__name__}, expected a {type(before).__name__} as it was before"
            )
        if isinstance(value, (Block, Parameter)) and "_children" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}: given attribute {name} before super().__init__() was called")
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            if self._reg_params.get(name, value) is not value:
                raise MismatchError(
                    f"attribute {name}: given another parameter; to share one, give `params` when the block is made"
                )
            self._reg_params[name] = value
        super().__setattr__(name, value)

    if not TYPE_CHECKING:  # a checker is to find what is misspelt

        def __getattr__(self, name: str) -> Any:
            # Only what is nowhere gets here. A class whose own __init__ forgot its base's has nothing of what blocks rest on.
            if "_children" not in self.__dict__ and not name.startswith("__"):
                raise AttributeError(f"{type(self).__name__}: given a use of {name} before super().__init__() was called")
            return object.__getattribute__(self, name)  # fails once more: a property says itself what it lacks

    def _alias(self) -> str:
        return type(self).__name__.lower()

    # --- Names and parameters

    @property
    def prefix(self) -> str:
        """What the names of its parameters start with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without the underscore at its end."""
        return self._name

    def name_scope(self) -> BlockScope:
        """`with self.name_scope():` blocks and parameters made inside have this block's prefix."""
        return self._scope

    @property
    def params(self) -> ParameterDict:
        """Its own parameters, without those of its children."""
        return self._params

    def collect_params(self, select: Optional[str] = None) -> ParameterDict:
        """All parameters, those of children too; or those whose names start with the regular expression."""
        found = ParameterDict(self._params.prefix)
        self._add_params(found, select, re.compile(select).match if select else None)
        return found

    def _add_params(self, found: ParameterDict, select: Optional[str], chosen: Optional[Callable[[str], Any]]) -> None:
        """Adds its parameters and those of its children: into one dictionary, whatever the depth."""
        self._check_container_with_block()
        own = self.params._params
        if own:
            found.update(own if chosen is None else {name: value for name, value in own.items() if chosen(name)})
        for child in self._children.values():
            if getattr(type(child), "collect_params", None) is Block.collect_params and "collect_params" not in child.__dict__:
                child._add_params(found, select, chosen)
            else:  # the program's own
                found.update(child.collect_params(select))

    def _check_container_with_block(self) -> None:
        for name, value in self.__dict__.copy().items():  # another thread's call may add to it
            if type(value) in _LEAVES or not isinstance(value, _CONTAINERS) or not value:
                continue
            if name in self._own_containers or name.startswith("__"):
                continue
            held = {id(block) for block in _blocks_in(value)}
            if held and not held.issubset(map(id, self._children.values())):
                warnings.warn(
                    f"{type(self).__name__}.{name} holds blocks that are no children of {self.name}: their parameters are "
                    "left out. Register them with register_child(), or use nn.Sequential",
                    stacklevel=4,
                )

    def _collect_params_with_prefix(self, prefix: str = "") -> Dict[str, Parameter]:
        """All parameters under their path of attributes, as files name them."""
        if prefix:
            prefix += "."
        found = {prefix + name: parameter for name, parameter in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def initialize(
        self, init: Any = initializer.Uniform(), ctx: Any = None, verbose: bool = False, force_reinit: bool = False
    ) -> None:
        """Initializes all parameters on one or several devices."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    # --- Files

    def save_parameters(self, filename: Any, deduplicate: bool = False) -> None:
        """Writes all parameters under their path of attributes (`features.0.weight`).

        `deduplicate` writes a parameter that several blocks share once.
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            last_names = {parameter: name for name, parameter in params.items()}  # in the order of the first ones
            params = {name: parameter for parameter, name in last_names.items()}
        ndarray.save(os.fspath(filename), {name: parameter._reduce() for name, parameter in params.items()})

    def save_params(self, filename: Any) -> None:
        """The old name of saving, with parameters' own names. Use save_parameters."""
        warnings.warn("save_params is deprecated; use save_parameters", DeprecationWarning, stacklevel=2)
        try:
            self.collect_params().save(filename, strip_prefix=self.prefix)
        except ValueError as error:
            raise ValueError(f"{error}; save_parameters does not need it") from None

    def load_parameters(
        self,
        filename: Any,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Reads parameters: what save_parameters, export, ParameterDict.save or Module has written."""
        filename = os.fspath(filename)
        loaded = named_arrays(filename)
        params = self._collect_params_with_prefix()
        if not loaded and not params:
            return
        if not any("." in name for name in loaded):
            own = self.collect_params()
            plain = [without_kind(name) for name in loaded]
            prefix = "" if any(name in own for name in plain) else self.prefix  # which may have been left out
            # A SymbolBlock has paths without dots, which are no ends of names.
            if any(prefix + name in own for name in plain) or not (loaded and params.keys() >= loaded.keys()):
                own._take(loaded, ctx, allow_missing, ignore_extra, prefix, filename, cast_dtype, dtype_source)
                return
        if not allow_missing:
            there = {id(params[name]) for name in loaded if name in params}
            for name, parameter in params.items():
                if id(parameter) not in there:
                    raise MismatchError(f"Parameter {name} is missing in file {filename}, which has {some_of(loaded)}")
        for name, array in loaded.items():
            if name in params:
                params[name]._load_own(array, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise MismatchError(
                    f"file {filename} has {name}, expected one of {some_of(params)}; ignore_extra=True passes over it"
                )

    def load_params(
        self, filename: Any, ctx: Any = None, allow_missing: bool = False, ignore_extra: bool = False
    ) -> None:
        """The old name of load_parameters."""
        warnings.warn("load_params is deprecated; use load_parameters", DeprecationWarning, stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix: str) -> None:
        """Writes PREFIX-model.json, the tree of blocks with the graphs of hybridized ones, and PREFIX-model.params."""
        from ._saved_tree import save

        save(self, prefix)

    def load(self, prefix: str) -> None:
        """Reads what `save` has written into a block of the same kind."""
        from ._saved_tree import load

        load(self, prefix)

    # --- Children and hooks

    def register_child(self, block: Block, name: Optional[str] = None) -> None:
        """Makes a block a child of this one. What is called like one will do: a function as a step of transforms."""
        if not isinstance(block, Block) and (isinstance(block, type) or not callable(block)):
            made = f"; {block.__name__}() makes one" if isinstance(block, type) and issubclass(block, Block) else ""
            raise ValueError(f"given child {block!r} of type {type(block).__name__}, expected a Block{made}")
        self._children[str(len(self._children)) if name is None else name] = block

    def register_forward_pre_hook(self, hook: Callable[[Block, Any], None]) -> HookHandle:
        """hook(block, inputs) runs before forward."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook: Callable[[Block, Any, Any], None]) -> HookHandle:
        """hook(block, inputs, outputs) runs after forward."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback: Callable[[str, str, Any], None], monitor_all: bool = False) -> None:
        """callback(name, operator, array) sees outputs, or all arrays, of operators in hybridized blocks."""
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Calls fn on all descendants and on the block itself."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridizes those children that can be."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def cast(self, dtype: Any) -> None:
        """Converts all parameters."""
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self.params.values():
            parameter.cast(dtype)

    # --- Computing

    def __call__(self, *args: Any) -> Any:
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        out = self.forward(args[0]) if len(args) == 1 else self.forward(*args)
        if self._forward_hooks:
            for hook in list(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def forward(self, *args: Any) -> Any:
        """Computes outputs of inputs. To be overridden."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def summary(self, *inputs: Any) -> None:
        """Prints the blocks in the order in which they run on the inputs, with output shapes and parameters."""
        from ._summary import summary

        print(summary(self, *inputs))


_CONTAINERS = (list, tuple, dict)
_LEAVES = frozenset((bool, float, int, str, type(None), BlockScope, Parameter, ParameterDict))  # hold no blocks


def _blocks_in(nested: Any) -> Iterator[Block]:
    """The blocks in nested lists and dictionaries, whatever else is there."""
    for item in nested.values() if isinstance(nested, dict) else nested:
        if isinstance(item, Block):
            yield item
        elif isinstance(item, _CONTAINERS):
            yield from _blocks_in(item)
