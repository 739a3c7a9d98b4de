# SPDX-License-Identifier: Apache-2.0
"""Operators that are written in Python: mx.nd.Custom(..., op_type=name) and mx.sym.Custom.

A CustomOpProp describes an operator (names, shapes, types), a CustomOp computes it. They run on the thread
that calls the operator, and may use the whole library.
"""

from __future__ import annotations

import itertools
from collections import namedtuple
from typing import Any, Callable, List, Sequence, Tuple

from . import _core, _custom

__all__ = [
    "CustomOp", "CustomOpProp", "NDArrayOp", "NumpyOp", "OperatorArguments", "PythonOp", "get_all_registered_operators",
    "get_operator_arguments", "register",
]  # fmt: skip

OperatorArguments = namedtuple("OperatorArguments", ["narg", "names", "types"])


class CustomOp:
    """The base of operators: what computes."""

    def __init__(self) -> None:
        pass

    def forward(self, is_train: bool, req: List[str], in_data: List[Any], out_data: List[Any], aux: List[Any]) -> None:
        """Computes `out_data` from `in_data`. `req` says for each output: null, write, inplace or add."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(
        self, req: List[str], out_grad: List[Any], in_data: List[Any], out_data: List[Any], in_grad: List[Any], aux: List[Any]
    ) -> None:
        """Computes `in_grad`. `req` is for each of these."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def assign(self, dst: Any, req: str, src: Any) -> None:
        """Writes or adds values to an array, as requested."""
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src
        elif req != "null":
            raise ValueError(f"given request {req!r}, expected null, write, inplace or add")


class CustomOpProp:
    """The base of descriptions. Parameters of a call reach the constructor as texts.

    `need_top_grad`: the gradient needs the gradients of the outputs; of a loss at the end it does not.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> List[str]:
        """Names of the inputs."""
        return ["data"]

    def list_outputs(self) -> List[str]:
        """Names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> List[str]:
        """Names of the states, which forward and backward may change."""
        return []

    def infer_shape(self, in_shape: List[Any]) -> Tuple[Any, ...]:
        """Shapes of inputs, outputs and states. By default all are as the first input, without states."""
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type: List[Any]) -> Tuple[Any, ...]:
        """Types of inputs, outputs and states. By default all are as the first input."""
        return in_type, [in_type[0]] * len(self.list_outputs()), [in_type[0]] * len(self.list_auxiliary_states())

    def infer_storage_type(self, in_stype: List[str]) -> Tuple[Any, ...]:
        """Storage types of inputs, outputs and states; for dense arrays by default."""
        for i, stype in enumerate(in_stype):
            if stype not in ("default", "undefined"):
                raise ValueError(
                    f"input {i}: given storage type {stype}, expected default, or an infer_storage_type of the operator's own"
                )
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(
        self, ograd_stype: List[str], in_stype: List[str], out_stype: List[str], igrad_stype: List[str], aux_stype: List[str]
    ) -> Tuple[Any, ...]:
        """Storage types of output gradients, inputs, outputs, input gradients and states; dense by default."""
        for stype in (*ograd_stype, *in_stype, *out_stype, *igrad_stype, *aux_stype):
            if stype not in ("default", "undefined"):
                raise ValueError(
                    f"given storage type {stype}, expected default, or an infer_storage_type_backward of the operator's own"
                )
        lists = (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype)
        return tuple(["default"] * len(stypes) for stypes in lists)

    def declare_backward_dependency(self, out_grad: Sequence[int], in_data: Sequence[int], out_data: Sequence[int]) -> List[int]:
        """Of the numbered arrays those that backward reads."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: List[Any], in_dtypes: List[Any]) -> CustomOp:
        """The operator for inputs (arguments and states) of these shapes, and types by number."""
        del ctx, in_shapes, in_dtypes  # any
        return CustomOp()


def register(reg_name: str) -> Callable[[type], type]:
    """Makes a subclass of CustomOpProp the operator Custom(op_type=reg_name)."""

    def decorate(prop_cls: type) -> type:
        if not (isinstance(prop_cls, type) and issubclass(prop_cls, CustomOpProp)):
            raise TypeError(f"given {prop_cls!r}, expected a subclass of CustomOpProp")
        _custom.register(reg_name, prop_cls)
        return prop_cls

    return decorate


register("custom_op")(CustomOpProp)


def get_all_registered_operators() -> List[str]:
    """Names of all operators."""
    return list(_core.op_names())


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """Number, names and types of an operator's arguments."""
    arguments = _core.op_info(op_name)[2]
    return OperatorArguments(len(arguments), [item[0] for item in arguments], [item[1] for item in arguments])


# --- The interface of the first versions


class PythonOp:
    """The base of NumpyOp and NDArrayOp: description and operator in one object."""

    _numbers = itertools.count()

    def __init__(self, need_top_grad: bool = True) -> None:
        self.info_ = None
        self.need_top_grad_ = need_top_grad

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The operator on symbols, as get_symbol gives it."""
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """The operator on symbols."""
        raise NotImplementedError(f"{type(self).__name__} has no get_symbol; NumpyOp and NDArrayOp have")

    def forward(self, in_data: List[Any], out_data: List[Any]) -> None:
        """Computes the outputs, in place. By default the input."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad: List[Any], in_data: List[Any], out_data: List[Any], in_grad: List[Any]) -> None:
        """Computes the gradients, in place. By default ones."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: List[Any]) -> Tuple[Any, Any]:
        """Shapes of inputs and outputs. By default the output's is the input's."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> List[str]:
        """Names of the outputs."""
        return ["output"]

    def list_arguments(self) -> List[str]:
        """Names of the inputs."""
        return ["data"]

    def need_top_grad(self) -> bool:
        """Whether the gradient needs the gradients of the outputs."""
        return self.need_top_grad_

    def _declared(self, out_grad: Sequence[int], in_data: Sequence[int], out_data: Sequence[int]) -> List[int]:
        return [*(out_grad if self.need_top_grad() else []), *in_data, *out_data]

    def _as_symbol(self, operator: Callable[[PythonOp], CustomOp], args: Any, kwargs: Any) -> Any:
        """A custom operator of this object's own, on symbols."""
        from . import symbol

        owner = self

        class Described(CustomOpProp):
            """What the object says of itself."""

            def list_arguments(self) -> List[str]:
                return owner.list_arguments()

            def list_outputs(self) -> List[str]:
                return owner.list_outputs()

            def infer_shape(self, in_shape: List[Any]) -> Tuple[Any, ...]:
                return (*owner.infer_shape(in_shape), [])

            def declare_backward_dependency(self, out_grad: Any, in_data: Any, out_data: Any) -> List[int]:
                return owner._declared(out_grad, in_data, out_data)

            def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
                return operator(owner)

        name = f"_python_op_{next(self._numbers)}"
        register(name)(Described)
        return symbol.Custom(*args, op_type=name, **kwargs)


class _OnArrays(CustomOp):
    """Calls the methods of an NDArrayOp."""

    def __init__(self, owner: PythonOp) -> None:
        super().__init__()
        self._owner = owner

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        """Lets the owner fill the outputs, which is all that it is told about."""
        self._owner.forward(in_data=in_data, out_data=out_data)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        """Lets the owner fill the gradients of the inputs."""
        self._owner.backward(out_grad=out_grad, in_data=in_data, out_data=out_data, in_grad=in_grad)


class _OnNumpy(_OnArrays):
    """Calls the methods of a NumpyOp, with copies as NumPy arrays."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        results = [array.asnumpy() for array in out_data]
        self._owner.forward(in_data=[array.asnumpy() for array in in_data], out_data=results)
        for target, request, values in zip(out_data, req, results):
            self.assign(target, request, values)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        inputs, outputs, results = ([array.asnumpy() for array in arrays] for arrays in (in_data, out_data, in_grad))
        slopes = [array.asnumpy() for array in out_grad] if self._owner.need_top_grad() else []
        self._owner.backward(out_grad=slopes, in_data=inputs, out_data=outputs, in_grad=results)
        for target, request, values in zip(in_grad, req, results):
            self.assign(target, request, values)


class NumpyOp(PythonOp):
    """An operator whose forward and backward fill NumPy arrays; CustomOp is for new programs."""

    def __init__(self, need_top_grad: bool = True) -> None:
        super().__init__(need_top_grad)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a node of this operator; the arguments are its inputs and its `name`."""
        return self._as_symbol(_OnNumpy, args, kwargs)


class NDArrayOp(PythonOp):
    """An operator whose forward and backward fill NDArrays; CustomOp is for new programs."""

    def __init__(self, need_top_grad: bool = True) -> None:
        super().__init__(need_top_grad)

    def declare_backward_dependency(self, out_grad: Sequence[int], in_data: Sequence[int], out_data: Sequence[int]) -> List[int]:
        """Of the numbered arrays those that backward reads."""
        return self._declared(out_grad, in_data, out_data)

    def _declared(self, out_grad: Sequence[int], in_data: Sequence[int], out_data: Sequence[int]) -> List[int]:
        if type(self).declare_backward_dependency is not NDArrayOp.declare_backward_dependency:
            return list(self.declare_backward_dependency(out_grad, in_data, out_data))
        return super()._declared(out_grad, in_data, out_data)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a node of this operator; the arguments are its inputs and its `name`."""
        return self._as_symbol(_OnArrays, args, kwargs)
