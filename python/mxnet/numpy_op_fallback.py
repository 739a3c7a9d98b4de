# SPDX-License-Identifier: Apache-2.0
"""Operators that run in NumPy, for networks: where mx.np's function needs a shape that a symbol does not have.

On arrays nothing here is used: mx.np makes the same of other operators there.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, List, Tuple

import numpy as onp

from . import operator
from .ndarray import array

__all__ = ["register"]


def register(op_name: str, imperative: bool = True, symbolic: bool = True) -> Callable[[type], type]:
    """Makes a CustomOpProp the operator Custom(op_type=op_name), and a function of that name of F.np._internal."""

    def decorate(prop_cls: type) -> type:
        from .ndarray import Custom as of_arrays
        from .ndarray.numpy import _internal as arrays
        from .symbol import Custom as of_symbols
        from .symbol.numpy import _internal as symbols

        registered = operator.register(op_name)(prop_cls)
        for wanted, module, custom in ((imperative, arrays, of_arrays), (symbolic, symbols, of_symbols)):
            if wanted:
                setattr(module, op_name, _named(op_name, custom))
        return registered

    return decorate


def _named(op_name: str, custom: Callable[..., Any]) -> Callable[..., Any]:
    def call(*inputs: Any, **params: Any) -> Any:
        return custom(*inputs, op_type=op_name, **params).as_np_ndarray()

    call.__name__ = call.__qualname__ = op_name
    return call


def _parsed(value: Any) -> Any:
    """A parameter's value from its text."""
    return ast.literal_eval(value) if isinstance(value, str) else value


class _InNumpy(operator.CustomOp):
    """An operator whose values NumPy computes; without a gradient unless a subclass has one."""

    def compute(self, *inputs: onp.ndarray) -> onp.ndarray:
        """The output of NumPy's arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no compute")

    def forward(self, is_train: bool, req: List[str], in_data: List[Any], out_data: List[Any], aux: List[Any]) -> None:
        """Computes on copies of the inputs."""
        made = self.compute(*(data.asnumpy() for data in in_data))
        self.assign(out_data[0], req[0], array(made, dtype=out_data[0].dtype))

    def backward(
        self, req: List[str], out_grad: List[Any], in_data: List[Any], out_data: List[Any], in_grad: List[Any], aux: List[Any]
    ) -> None:
        """There is no gradient."""
        raise NotImplementedError(f"{type(self).__name__} runs in NumPy and has no gradient")


class EmptyLike(_InNumpy):
    """np.empty_like."""

    def __init__(self, dtype: Any, order: str, subok: bool, shape: Any) -> None:
        super().__init__()
        self._arguments = {"dtype": dtype, "order": order, "subok": subok, "shape": shape}

    def compute(self, *inputs: onp.ndarray) -> onp.ndarray:
        """An array of the first input's shape and type, or of those that were given; its values are arbitrary."""
        return onp.empty_like(inputs[0], **self._arguments)


@register("empty_like_fallback")
class EmptyLikeProp(operator.CustomOpProp):
    """Describes EmptyLike."""

    def __init__(self, dtype: Any, order: str, subok: Any, shape: Any) -> None:
        super().__init__(need_top_grad=True)
        self._dtype = None if dtype in (None, "None") else onp.dtype(dtype)
        self._order, self._subok, self._shape = order, _parsed(subok), _parsed(shape)

    def list_arguments(self) -> List[str]:
        """The array whose shape and type are taken."""
        return ["prototype"]

    def infer_shape(self, in_shape: List[Any]) -> Tuple[Any, ...]:
        """The shape that was given, or else that of the input."""
        return (in_shape[0],), (in_shape[0] if self._shape is None else self._shape,), ()

    def infer_type(self, in_type: List[Any]) -> Tuple[Any, ...]:
        """The type that was given, or else that of the input."""
        return in_type, [in_type[0] if self._dtype is None else self._dtype.type], []

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> EmptyLike:
        """The operator with these parameters, on any device."""
        return EmptyLike(self._dtype, self._order, self._subok, self._shape)


class Resize(_InNumpy):
    """np.resize."""

    def __init__(self, new_shape: Any) -> None:
        super().__init__()
        self._new_shape = new_shape

    def compute(self, *inputs: onp.ndarray) -> onp.ndarray:
        """The elements in their order, again from the first one where the new shape has more."""
        return onp.resize(inputs[0], self._new_shape)

    def backward(
        self, req: List[str], out_grad: List[Any], in_data: List[Any], out_data: List[Any], in_grad: List[Any], aux: List[Any]
    ) -> None:
        """Adds up what came of each element."""
        shape, grads = in_data[0].shape, out_grad[0].asnumpy().reshape(-1)
        size = int(onp.prod(shape, dtype=onp.int64))
        total = onp.bincount(onp.arange(grads.size) % max(size, 1), weights=grads, minlength=size)[:size]
        self.assign(in_grad[0], req[0], array(total.reshape(shape), dtype=in_grad[0].dtype))


@register("resize_fallback")
class ResizeProp(operator.CustomOpProp):
    """Describes Resize."""

    def __init__(self, new_shape: Any) -> None:
        super().__init__(need_top_grad=True)
        shape = _parsed(new_shape)
        self._new_shape = (shape,) if isinstance(shape, int) else tuple(shape)

    def list_arguments(self) -> List[str]:
        """The array whose elements are taken."""
        return ["a"]

    def infer_shape(self, in_shape: List[Any]) -> Tuple[Any, ...]:
        """The new shape, whatever the input's is."""
        return (in_shape[0],), (self._new_shape,), ()

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Resize:
        """The operator with this shape, on any device."""
        return Resize(self._new_shape)


class Unravel_index(_InNumpy):  # pylint: disable=invalid-name
    """np.unravel_index, a row per dimension."""

    def __init__(self, shape: Any) -> None:
        super().__init__()
        self._shape = shape

    def compute(self, *inputs: onp.ndarray) -> onp.ndarray:
        """Of each flat index the index along each dimension."""
        return onp.stack(onp.unravel_index(inputs[0].astype(onp.int64), self._shape))


@register("unravel_index_fallback")
class Unravel_indexProp(operator.CustomOpProp):  # pylint: disable=invalid-name
    """Describes Unravel_index."""

    def __init__(self, shape: Any) -> None:
        super().__init__(need_top_grad=False)
        parsed = _parsed(shape)
        self._shape = (parsed,) if isinstance(parsed, int) else tuple(parsed)

    def list_arguments(self) -> List[str]:
        """The flat indices."""
        return ["indices"]

    def infer_shape(self, in_shape: List[Any]) -> Tuple[Any, ...]:
        """That of the indices, with a dimension in front that counts the dimensions of the shape."""
        return (in_shape[0],), ((len(self._shape), *in_shape[0]),), ()

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Unravel_index:
        """The operator with this shape, on any device."""
        return Unravel_index(self._shape)


class MultivariateNormal(_InNumpy):
    """np.random.multivariate_normal."""

    def __init__(self, size: Any = None) -> None:
        super().__init__()
        self._size = size

    def compute(self, *inputs: onp.ndarray) -> onp.ndarray:
        """Draws of a normal distribution by NumPy's own generator."""
        return onp.random.multivariate_normal(inputs[0], inputs[1], self._size)


@register("multivariate_normal_fallback")
class MultivariateNormalProp(operator.CustomOpProp):
    """Describes MultivariateNormal."""

    def __init__(self, size: Any = None) -> None:
        super().__init__(need_top_grad=True)
        parsed = _parsed(size)
        self._size = (parsed,) if isinstance(parsed, int) else parsed

    def list_arguments(self) -> List[str]:
        """The mean and the covariance."""
        return ["mean", "variance"]

    def infer_shape(self, in_shape: List[Any]) -> Tuple[Any, ...]:
        """The size and the length of the mean; a covariance that does not fit is an error."""
        mean, covariance = in_shape
        if len(mean) != 1 or tuple(covariance) != (mean[0], mean[0]):
            raise ValueError(f"given a mean of shape {mean} and a covariance of {covariance}, expected (n,) and (n, n)")
        return in_shape, ((*(self._size or ()), mean[0]),), ()

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> MultivariateNormal:
        """The operator with this size, on any device."""
        return MultivariateNormal(self._size)
