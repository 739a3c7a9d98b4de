# SPDX-License-Identifier: Apache-2.0
"""The base of optimizers: learning rates, weight decay and their multipliers, counts of updates, and
weights of half precision with a copy of full precision."""

from __future__ import annotations

import inspect
import warnings
from itertools import chain
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._core import update_weights
from ..ndarray import _generate
from ..ndarray._dtypes import bfloat16

_op = _generate.operator


def zeros_like(weight: Any, dtype: Any = None, stype: Optional[str] = None) -> Any:
    """A state of zeros for a weight, on its device and of its storage type."""
    from ..ndarray import zeros

    return zeros(
        weight.shape,
        ctx=weight.context,
        dtype=weight.dtype if dtype is None else dtype,
        stype=weight.stype if stype is None else stype,
    )


def interleaved(*lists: Sequence[Any]) -> List[Any]:
    """[a0, b0, a1, b1, ...]: the inputs of an operator on several weights."""
    return list(chain.from_iterable(zip(*lists)))


def has_master(weight: Any) -> bool:
    """Whether a weight is of a type so coarse that updates need a copy in float32."""
    return weight.dtype == np.float16 or weight.dtype == bfloat16


def _argument_names(klass: type) -> List[str]:
    """What the constructor takes by name: each hands what it does not know to its base's."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    signatures = [inspect.signature(vars(base)["__init__"]) for base in klass.__mro__[:-1] if "__init__" in vars(base)]
    found = [one.name for signature in signatures for one in signature.parameters.values() if one.kind in kinds]
    return sorted({*found} - {"self"})


class Optimizer:
    """The base of optimizers.

    A subclass defines `create_state(index, weight)` and `update(index, weight, grad, state)`. One whose
    `aggregate_num` is above 0 takes lists of up to so many in `update`.
    """

    opt_registry: Dict[str, type] = {}
    # update_multi_precision for lists of any length, in classes that have it.
    _update_all: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if "_update_all" not in own and ("update" in own or "update_multi_precision" in own):
            cls._update_all = None  # the base's would not call what this class defines

    @staticmethod
    def register(klass: type) -> type:
        """Makes a class known to `create` by its lower-case name."""
        name = klass.__name__.lower()
        if name in Optimizer.opt_registry:
            old = Optimizer.opt_registry[name]
            warnings.warn(f"optimizer {name!r} was {old.__module__}.{old.__name__} and is now {klass.__module__}.{klass.__name__}", stacklevel=2)
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """An optimizer by its lower-case name, with its arguments."""
        klass = Optimizer.opt_registry.get(name.lower())
        if klass is None:
            raise ValueError(f"given optimizer {name!r}, expected one of {', '.join(sorted(Optimizer.opt_registry))}")
        try:
            return klass(**kwargs)
        except TypeError as error:
            names = _argument_names(klass)
            unknown = [key for key in kwargs if key not in names]
            # A class of somebody else's may take what its signature does not show.
            if unknown and klass.__module__.startswith(__package__):
                raise TypeError(f"optimizer {name}: given {', '.join(unknown)}, expected some of {', '.join(names)}") from error
            raise

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Optional[Dict[int, str]] = None,
        wd: float = 0.0,
        clip_gradient: Optional[float] = None,
        learning_rate: Optional[float] = None,
        lr_scheduler: Any = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Optional[Dict[Any, Any]] = None,
    ) -> None:
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise TypeError(f"given param_idx2name of type {type(param_idx2name).__name__}, expected a dictionary")
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is not None and learning_rate is not None:
            if lr_scheduler.base_lr != learning_rate:
                warnings.warn(f"the scheduler's base_lr {lr_scheduler.base_lr} is replaced by learning_rate {learning_rate}", stacklevel=2)
            lr_scheduler.base_lr = learning_rate
        self.lr: Any = 0.01 if learning_rate is None and lr_scheduler is None else learning_rate
        self.wd = wd
        self.lr_mult: Dict[Any, float] = {}
        self.wd_mult: Dict[Any, float] = {}
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        # A count per device: every device updates every index.
        self._all_index_update_counts: Dict[int, Dict[Any, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        self.idx2name = {} if param_idx2name is None else param_idx2name.copy()
        self.sym_info = () if sym is None else (sym.attr_dict(), sym.list_arguments())
        self.param_dict = param_dict if param_dict else {}
        self.allow_np_array = False
        self.set_lr_mult({})
        self.set_wd_mult({})

    # --- For subclasses to define

    def create_state(self, index: Any, weight: Any) -> Any:
        """Returns what is kept from update to update for a weight: None, an array or a tuple. A subclass defines
        it.
        """
        del index, weight  # nothing
        return None

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Changes a weight by its gradient and its state, in place; a subclass defines it.

        `index` names the weight for counts and multipliers. With `aggregate_num` above 0 all four may be lists.
        """
        raise NotImplementedError(f"{type(self).__name__} has no update(index, weight, grad, state)")

    # --- Half precision

    def create_state_multi_precision(self, index: Any, weight: Any) -> Any:
        """As create_state; with `multi_precision`, (copy in float32, state) for weights of 16 bits."""
        if has_master(weight):
            if self.multi_precision:
                master = weight.astype(np.float32)
                return master, self.create_state(index, master)
            warnings.warn(
                f"{type(self).__name__} accumulates in {weight.dtype}, which is slow or inexact to converge; "
                "multi_precision=True keeps a copy of the weight in float32",
                stacklevel=2,
            )
        return self.create_state(index, weight)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """As update; with `multi_precision`, on the copy in float32."""
        if self.multi_precision and has_master(weight):
            master, own = state
            self.update(index, master, grad.astype(np.float32), own)
            _op("cast")(master, dtype="bfloat16" if weight.dtype == bfloat16 else "float16", out=weight)
        else:
            self.update(index, weight, grad, state)

    # --- Learning rates and weight decay

    @property
    def learning_rate(self) -> float:
        """The rate now, before multipliers."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def set_learning_rate(self, lr: float) -> None:
        """Sets the rate; not with a scheduler, which says it."""
        if self.lr_scheduler is not None:
            raise UserWarning("given a learning rate, but the lr_scheduler says it")
        self.lr = lr

    def set_lr_scale(self, args_lrscale: Any) -> None:
        """Is gone; set_lr_mult does it."""
        raise DeprecationWarning(f"given {args_lrscale!r} to set_lr_scale, expected set_lr_mult to be called")

    def set_lr_mult(self, args_lr_mult: Dict[Any, float]) -> None:
        """Factors of the learning rate by index or name; those of the symbol's attributes hold as well."""
        self.lr_mult = {**self._multipliers("__lr_mult__"), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult: Dict[Any, float]) -> None:
        """Factors of weight decay. Without one, what is neither a weight nor a gamma does not decay."""
        self.wd_mult = {name: 0.0 for name in self.idx2name.values() if not self._decays(name)}
        self.wd_mult.update(self._multipliers("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    def _decays(self, name: str) -> bool:
        return name.endswith(("_weight", "_gamma"))

    def _multipliers(self, attribute: str) -> Dict[Any, float]:
        if not self.sym_info:
            return {}
        attributes, names = self.sym_info
        return {name: float(attributes[name][attribute]) for name in names if attribute in attributes.get(name, {})}

    def _multiplied(self, rate: float, indices: Sequence[Any], of_parameter: str, factors: Dict[Any, float]) -> List[float]:
        """A rate for each weight: times an attribute of its parameter, or a factor by its index or name."""
        if not self.param_dict and not factors:
            return [rate] * len(indices)
        return _core.multiplied(rate, indices, of_parameter, self.param_dict, factors, self.idx2name)

    def _get_lrs(self, indices: Sequence[Any]) -> List[float]:
        return self._multiplied(self.learning_rate, indices, "lr_mult", self.lr_mult)

    def _get_lr(self, index: Any) -> float:
        return self._get_lrs([index])[0]

    def _get_wds(self, indices: Sequence[Any]) -> List[float]:
        return self._multiplied(self.wd, indices, "wd_mult", self.wd_mult)

    def _get_wd(self, index: Any) -> float:
        return self._get_wds([index])[0]

    # A subclass may have its own `_get_lr` or `_get_wd` (Keras has): it then says the rate of each weight, together too.

    def _lrs(self, indices: Sequence[Any]) -> List[float]:
        plain = type(self)._get_lr is Optimizer._get_lr
        return self._get_lrs(indices) if plain else [self._get_lr(i) for i in indices]

    def _wds(self, indices: Sequence[Any]) -> List[float]:
        plain = type(self)._get_wd is Optimizer._get_wd
        return self._get_wds(indices) if plain else [self._get_wd(i) for i in indices]

    # --- Counts

    def _set_current_context(self, device_id: int) -> None:
        """The device whose counts the next updates advance."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _update_count(self, index: Any) -> None:
        indices = index if isinstance(index, (list, tuple)) else (index,)
        self.num_update = _core.counted(self._index_update_count, indices, self.begin_num_update, self.num_update)

    def _counts(self, indices: Sequence[Any]) -> List[int]:
        """How often each weight was updated."""
        return list(map(self._index_update_count.__getitem__, indices))

    # --- For updates

    def _begin(self, index: Any) -> Tuple[float, float]:
        """Counts an update; its learning rate and weight decay."""
        self._update_count(index)
        return self._get_lr(index), self._get_wd(index)

    def _scaling(self, clips_at_zero: bool = False) -> Dict[str, float]:
        """How operators are to scale and clip the gradient. A bound of 0 is none for most optimizers, as it has always been."""
        given = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient or (clips_at_zero and self.clip_gradient is not None):
            given["clip_gradient"] = self.clip_gradient
        return given

    def _scaled(self, grad: Any) -> Any:
        """The gradient, scaled and clipped, for updates of several operators."""
        return self._clipped(grad.as_nd_ndarray() * self.rescale_grad)

    def _clipped(self, grad: Any) -> Any:
        bound = self.clip_gradient
        return grad if bound is None or bound < 0 else _op("clip")(grad, a_min=-bound, a_max=bound)

    # --- Files

    def __getstate__(self) -> Dict[str, Any]:
        state = self.__dict__.copy()
        del state["param_dict"]  # parameters are saved on their own
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__ = state
        self.param_dict = {}


class ByOperator(Optimizer):
    """For optimizers whose update is one operator for each weight: those of many weights run in one call.

    A subclass says which operator and with which parameters, and of how many arrays a state consists.
    """

    _states = 0

    def create_state(self, index: Any, weight: Any) -> Any:
        """The arrays that the operator keeps for a weight, zeros: a tuple, or None for an operator that keeps
        nothing.
        """
        return tuple(zeros_like(weight, stype="default") for _ in range(self._states)) or None

    def _operator(self, state: Any) -> str:
        """The operator, by what is kept for a weight."""
        raise NotImplementedError(f"{type(self).__name__} has no _operator(state)")

    def _parameters(self, state: Any) -> Dict[str, Any]:
        """Its parameters, which are the same for all weights."""
        raise NotImplementedError(f"{type(self).__name__} has no _parameters(state)")

    def _rates(self, index: Sequence[Any]) -> Dict[str, List[Any]]:
        """Its parameters with a value for each weight, whose updates are counted already."""
        return {"lr": self._lrs(index), "wd": self._wds(index)}

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Counts an update, and runs the operator."""
        self._run([index], [weight], [grad], [state])

    def _update_all(self, index: Sequence[Any], weight: Sequence[Any], grad: Sequence[Any], state: Sequence[Any]) -> None:
        if self.multi_precision and has_master(weight[0]):
            for one in zip(index, weight, grad, state):
                self.update_multi_precision(*one)
        else:
            self._run(index, weight, grad, state)

    def _run(self, index: Sequence[Any], weight: Sequence[Any], grad: Sequence[Any], state: Sequence[Any]) -> None:
        self._update_count(index)
        first = state[0]
        columns = [weight, grad]
        if isinstance(first, tuple):
            columns += zip(*state)
        elif first is not None:
            columns.append(state)
        update_weights(_op(self._operator(first)), 0, columns, self._rates(index), self._parameters(first))


class AtOnce(Optimizer):
    """For optimizers that update one weight or a list of them by the same method."""

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Updates one weight, or a list of weights in a few operators."""
        self._update_impl(index, weight, grad, state)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """As update; with `multi_precision`, weights of 16 bits through their copies in float32."""
        first = weight[0] if isinstance(weight, (list, tuple)) else weight
        self._update_impl(index, weight, grad, state, self.multi_precision and has_master(first))

    def _update_impl(self, index: Any, weight: Any, grad: Any, state: Any, multi_precision: bool = False) -> None:
        """What both updates do; optimizers derived from these override it by this name."""
        raise NotImplementedError(f"{type(self).__name__} has no _update_impl(index, weight, grad, state, multi_precision)")


register = Optimizer.register


def aggregation_size(default: int) -> int:
    """How many weights one operator updates: MXNET_OPTIMIZER_AGGREGATION_SIZE, from 1 to 60."""
    from ..util import getenv

    given = getenv("MXNET_OPTIMIZER_AGGREGATION_SIZE")
    return max(1, min(60, int(given) if given else default))  # empty is unset
