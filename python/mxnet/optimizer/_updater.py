# SPDX-License-Identifier: Apache-2.0
"""What a store or a module calls with gradients: an optimizer together with the states it needs."""

from __future__ import annotations

import operator
import pickle
from typing import Any, Dict, List, Optional, Tuple

from ._base import Optimizer


def _same(one: Tuple[int, List[Any], List[Any]], other: Tuple[int, List[Any], List[Any]]) -> bool:
    """Whether sizes and indices are equal, and the arrays are the same objects."""
    return one[0] == other[0] and one[1] == other[1] and all(map(operator.is_, one[2], other[2]))


class Updater:
    """Calls an optimizer, and keeps its states by index."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: Dict[Any, Any] = {}
        self.states_synced: Dict[Any, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 0
        self._asked: Optional[Tuple[int, List[Any], List[Any]]] = None
        self._answer: List[List[int]] = []

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Updates a weight, or weights by lists, by gradients."""
        if isinstance(index, (list, tuple)):
            indices, grads, weights = list(index), list(grad), list(weight)
        else:
            indices, grads, weights = [index], [grad], [weight]
        if weights:
            self.optimizer._set_current_context(weights[0].context.device_id)
        for key, array in zip(indices, weights):
            self._prepare_state(key, array)
        if not self.aggregate_updates:
            for key, array, slope in zip(indices, weights, grads):
                self.optimizer.update_multi_precision(key, array, slope, self.states[key])
            return
        states = [self.states[key] for key in indices]
        for part in self._parts(indices, weights):
            self.optimizer.update_multi_precision(*([those[i] for i in part] for those in (indices, weights, grads, states)))

    def _parts(self, indices: List[Any], weights: List[Any]) -> List[List[int]]:
        """Which weights one call updates: as many of one type as the optimizer takes. The last answer is kept."""
        asked = (self.optimizer.aggregate_num, indices, weights)
        if self._asked is not None and _same(self._asked, asked):
            return self._answer
        size, by_type = asked[0], {}
        for i, array in enumerate(weights):
            by_type.setdefault(array.dtype, []).append(i)
        self._asked = asked
        self._answer = [places[first : first + size] for places in by_type.values() for first in range(0, len(places), size)]
        return self._answer

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
        loaded = pickle.loads(states)
        if isinstance(loaded, tuple) and len(loaded) == 2:
            self.states, self.optimizer = loaded
            self.aggregate_updates = self.optimizer.aggregate_num > 0
        else:
            self.states = loaded
        self.states_synced = dict.fromkeys(self.states, False)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as a pickle, with `dump_optimizer` together with the optimizer."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)


def get_updater(optimizer: Optimizer) -> Updater:
    """The updater of an optimizer."""
    return Updater(optimizer)
