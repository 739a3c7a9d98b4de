# SPDX-License-Identifier: Apache-2.0
"""Containers, dense layers, dropout, embedding, and functions as layers. Normalizations are in _norm."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Union

from .._errors import MismatchError
from .._ops import op
from ..block import Block, HybridBlock
from ._norm import BatchNorm, BatchNormReLU, GroupNorm, InstanceNorm, LayerNorm
from .activations import Activation

__all__ = [
    "BatchNorm", "BatchNormReLU", "Dense", "Dropout", "Embedding", "Flatten", "GroupNorm", "HybridLambda", "HybridSequential",
    "InstanceNorm", "Lambda", "LayerNorm", "Sequential",
]

for _class in (BatchNorm, BatchNormReLU, GroupNorm, InstanceNorm, LayerNorm):
    _class.__module__ = __name__  # pickles of other versions look for it here


class _Container:
    """What Sequential and HybridSequential have in common."""

    _children: Any
    prefix: str

    def add(self, *blocks: Block) -> None:
        """Puts blocks at the end."""
        for block in blocks:
            self.register_child(block)  # type: ignore[attr-defined]

    def _shown_children(self) -> Any:
        return self._children.items()

    def __getitem__(self, key: Union[int, slice]) -> Any:
        """A child, or a container of some of them."""
        chosen = list(self._children.values())[key]
        if not isinstance(chosen, list):
            return chosen
        made = type(self)(prefix=self.prefix)  # type: ignore[call-arg]
        with made.name_scope():  # type: ignore[attr-defined]
            made.add(*chosen)
        return made

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(list(self._children.values()))


class Sequential(_Container, Block):
    """Blocks, each of which gets what the one before it returned."""

    def forward(self, x: Any) -> Any:
        """Calls the blocks in order, each with what the one before has returned."""
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridizes the children; where all can be, HybridSequential makes one graph of them."""
        if self._children and all(isinstance(child, HybridBlock) for child in self._children.values()):
            import warnings

            warnings.warn(
                f"All children of {self.prefix or type(self).__name__} can be hybridized: HybridSequential instead of "
                "Sequential makes one graph of them, which is faster",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Container, HybridBlock):
    """HybridBlocks, each of which gets what the one before it returned; hybridized they are one graph."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Calls the blocks in order, each with what the one before has returned."""
        for block in self._children.values():
            x = block(x)
        return x


class Dense(HybridBlock):
    """activation(x * weight^T + bias) with a weight of (units, in_units). With `flatten` all axes but the first are
    one, else only the last is multiplied. With `in_units` of 0 the first call says how many there are."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._flatten = flatten
        with self.name_scope():
            self._units = units
            self._in_units = in_units
            self.weight = self.params.get(
                "weight", shape=(units, in_units), init=weight_initializer, dtype=dtype, allow_deferred_init=True
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(units,), init=bias_initializer, dtype=dtype, allow_deferred_init=True
                )
            self.act = None if activation is None else Activation(activation, prefix=activation + "_")

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """Returns (batch, units) of (batch, ...), or with `flatten=False` (..., units) of (..., in_units)."""
        made = op(F, "FullyConnected")(
            x, weight, bias, no_bias=bias is None, num_hidden=self._units, flatten=self._flatten, name="fwd"
        )
        return made if self.act is None else self.act(made)

    def __repr__(self) -> str:
        units = self.weight.shape
        layout = f"{units[1] if units[1] else None} -> {units[0]}"
        return f"{type(self).__name__}({layout}, {self.act if self.act else 'linear'})"


class Dropout(HybridBlock):
    """In training, zeros for a share of the elements, and the others scaled up; along `axes` the same ones."""

    def __init__(self, rate: float, axes: Any = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an array as `x`, which in inference or for a rate of 0 is `x` itself."""
        if self._rate > 0:
            return op(F, "Dropout")(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return op(F, "identity")(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Rows of a trained table of (input_dim, output_dim), by their numbers; with `sparse_grad` its gradient holds only
    the rows that were used."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {"input_dim": input_dim, "output_dim": output_dim, "dtype": dtype, "sparse_grad": sparse_grad}
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(input_dim, output_dim),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
                grad_stype="row_sparse" if sparse_grad else "default",
            )

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        """Returns (..., output_dim) of numbers (...), each from 0 to before `input_dim`."""
        return op(F, "Embedding")(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(type(self).__name__, **self._kwargs)


class Flatten(HybridBlock):
    """All axes but the first as one."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns (batch, size of a sample)."""
        return op(F, "Flatten")(x)

    def __repr__(self) -> str:
        return type(self).__name__


class Lambda(Block):
    """A function, or one of mx.nd's by its name, as a block."""

    def __init__(self, function: Union[str, Callable[..., Any]], prefix: Any = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            self._func_impl = _named(function)
            self._func_name = function
        elif callable(function):
            self._func_impl = function
            self._func_name = function.__name__
        else:
            raise ValueError(f"given {function} of type {type(function).__name__}, expected a function or its name")

    def forward(self, *args: Any) -> Any:
        """Calls the function."""
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


class HybridLambda(HybridBlock):
    """A function of F and arrays or symbols, or one of F's by its name, as a block."""

    def __init__(self, function: Union[str, Callable[..., Any]], prefix: Any = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            _named(function)
            self._func: Callable[..., Any] = _FunctionOf(function)
            self._func_name = function
        elif callable(function):
            self._func = function
            self._func_name = function.__name__
        else:
            raise ValueError(f"given {function} of type {type(function).__name__}, expected a function or its name")

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        """Calls the function, with F before its arguments unless it was given by its name."""
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


class _FunctionOf:
    """The function of a name, of whatever F is. A class, not a closure: it can be pickled."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, F: Any, *args: Any) -> Any:
        return getattr(_module(F, self._name), self._name)(*args)


def _module(F: Any, name: str) -> Any:
    """Where a function of the name is for the thread's kind of arrays."""
    from ...util import is_np_array

    if not is_np_array():
        return F
    return F.np if hasattr(F.np, name) else F.npx


def _named(name: str) -> Callable[..., Any]:
    from ... import ndarray

    module = _module(ndarray, name)
    if not hasattr(module, name):
        raise MismatchError(f"given function {name!r}, expected one of {module.__name__}")
    return getattr(module, name)
