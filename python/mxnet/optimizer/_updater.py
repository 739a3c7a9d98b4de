# SPDX-License-Identifier: Apache-2.0
"""What a store or a module calls with gradients: an optimizer together with the states it needs."""

from __future__ import annotations

import operator
import pickle
import sys
from itertools import accumulate
from typing import Any, Dict, List, Optional, Sequence

from ._base import Optimizer
from ._saved_states import states_of


def _are(those: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two sequences have the same objects."""
    return those is others or (len(those) == len(others) and all(map(operator.is_, those, others)))


class _Plan:
    """How the weights of one call are updated: their order, by type and device, and which of them go to the optimizer together."""

    def __init__(self, size: int, indices: Sequence[Any], weights: Sequence[Any]) -> None:
        self.size, self.indices, self.weights = size, indices, weights
        self.device = weights[0].context.device_id
        by_kind: Dict[Any, List[int]] = {}  # weights of a module may lie on several devices: group2ctxs
        for place, weight in enumerate(weights):
            by_kind.setdefault((weight.dtype, weight.context), []).append(place)
        self.order = None if len(by_kind) == 1 else [place for places in by_kind.values() for place in places]
        ends = list(accumulate(map(len, by_kind.values())))
        self.parts = [
            slice(first, min(first + size, end)) for start, end in zip([0, *ends], ends) for first in range(start, end, size)
        ]

    def serves(self, size: int, indices: Sequence[Any], weights: Sequence[Any]) -> bool:
        """Whether it was made for these."""
        return self.size == size and _are(self.weights, weights) and (self.indices is indices or self.indices == indices)

    def ordered(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values in the order of the parts."""
        return values if self.order is None else [values[place] for place in self.order]


class Updater:
    """Calls an optimizer, and keeps its states by index."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: Dict[Any, Any] = {}
        self.states_synced: Dict[Any, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 0
        self._plan: Optional[_Plan] = None

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Updates a weight, or weights by lists, by gradients."""
        if not isinstance(index, (list, tuple)):
            index, grad, weight = (index,), (grad,), (weight,)
        together = self.optimizer._update_all
        if together is None and not self.aggregate_updates:
            self._update_each(index, grad, weight)
        elif weight:
            self._update_together(tuple(index), tuple(grad), tuple(weight), together)

    def _update_each(self, indices: Sequence[Any], grads: Sequence[Any], weights: Sequence[Any]) -> None:
        if weights:
            self.optimizer._set_current_context(weights[0].context.device_id)
        for key, weight, grad in zip(indices, weights, grads):
            self._prepare_state(key, weight)
            self.optimizer.update_multi_precision(key, weight, grad, self.states[key])

    def _update_together(self, indices: Sequence[Any], grads: Sequence[Any], weights: Sequence[Any], together: Any) -> None:
        plan, size = self._plan, self.optimizer.aggregate_num if together is None else sys.maxsize
        if plan is None or not plan.serves(size, indices, weights):
            for key, weight in zip(indices, weights):
                self._prepare_state(key, weight)
            plan = self._plan = _Plan(size, indices, weights)
        self.optimizer._set_current_context(plan.device)
        update = self.optimizer.update_multi_precision if together is None else together
        states = [self.states[key] for key in indices]
        if plan.order is None and len(plan.parts) == 1:
            update(indices, weights, grads, states)
            return
        columns = [plan.ordered(column) for column in (indices, weights, grads, states)]
        for part in plan.parts:
            update(*(column[part] for column in columns))

    def _prepare_state(self, key: Any, weight: Any) -> None:
        if key not in self.states:
            self.states[key] = self.optimizer.create_state_multi_precision(key, weight)
            self.states_synced[key] = True
        elif not self.states_synced[key]:
            self.states[key] = self.sync_state_context(self.states[key], weight.context)
            self.states_synced[key] = True

    def sync_state_context(self, state: Any, context: Any) -> Any:
        """A state, with its arrays on another device."""
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state.as_in_context(context) if hasattr(state, "as_in_context") else state

    def set_states(self, states: bytes) -> None:
        """Takes what get_states has given, the optimizer too if it is in there."""
        self.states, optimizer = states_of(states)
        if optimizer is not None:
            self.optimizer = optimizer
            self.aggregate_updates = optimizer.aggregate_num > 0
        self.states_synced = dict.fromkeys(self.states, False)
        self._plan = None

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as a pickle, with `dump_optimizer` together with the optimizer."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)


def get_updater(optimizer: Optimizer) -> Updater:
    """The updater of an optimizer."""
    return Updater(optimizer)
