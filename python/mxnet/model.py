# SPDX-License-Identifier: Apache-2.0
"""Checkpoints (PREFIX-symbol.json and PREFIX-0001.params), updates through a store; FeedForward is public here."""

from __future__ import annotations

import importlib.util
import logging
from collections import namedtuple
from typing import Any, Dict, List, Tuple

from . import config

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]

# What is handed to callbacks after each batch.
BatchEndParam = namedtuple("BatchEndParams", ["epoch", "nbatch", "eval_metric", "locals"])  # type: ignore[name-match]  # printed so by 1.9.1

SKLEARN_INSTALLED = importlib.util.find_spec("sklearn") is not None

_BIG = 16 * 1024 * 1024  # elements; an array above it is updated by the devices, not by a local store


def save_checkpoint(
    prefix: str,
    epoch: int,
    symbol: Any,
    arg_params: Dict[str, Any],
    aux_params: Dict[str, Any],
    remove_amp_cast: bool = True,
) -> None:
    """Writes the network (unless None) and the parameters of an epoch."""
    from . import ndarray as nd

    if symbol is not None:
        _save_symbol(symbol, f"{prefix}-symbol.json", remove_amp_cast)
    named = {f"arg:{name}": array.as_in_context(_cpu()) for name, array in arg_params.items()}
    named.update({f"aux:{name}": array.as_in_context(_cpu()) for name, array in aux_params.items()})
    fname = f"{prefix}-{epoch:04d}.params"
    nd.save(fname, named)
    logging.info('Saved checkpoint to "%s"', fname)


def _save_symbol(symbol: Any, fname: str, remove_amp_cast: bool) -> None:
    symbol.save(fname, remove_amp_cast=remove_amp_cast)


def _cpu() -> Any:
    from .context import cpu

    return cpu()


def split_params(saved: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Arguments and states of a dictionary whose names start with "arg:" and "aux:"."""
    parts: Dict[str, Dict[str, Any]] = {"arg": {}, "aux": {}}
    for key, array in (saved or {}).items():
        kind, colon, name = key.partition(":")
        if not colon or kind not in parts:
            raise ValueError(f"given parameter {key!r}, expected names of the form arg:NAME and aux:NAME")
        parts[kind][name] = array
    return parts["arg"], parts["aux"]


def load_params(prefix: str, epoch: int) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Arguments and states that save_checkpoint has written for an epoch."""
    from . import ndarray as nd

    fname = f"{prefix}-{epoch:04d}.params"
    saved = nd.load(fname)
    if not saved:
        logging.warning("Params file '%s' is empty", fname)
        return {}, {}
    if not isinstance(saved, dict):
        raise ValueError(f"{fname}: given a list of arrays, expected names of the form arg:NAME and aux:NAME")
    return split_params(saved)


def load_checkpoint(prefix: str, epoch: int) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """Network, arguments and states that save_checkpoint has written."""
    from . import symbol

    return (symbol.load(f"{prefix}-symbol.json"), *load_params(prefix, epoch))


# --- Stores


def _create_kvstore(kvstore: Any, num_device: int, arg_params: Dict[str, Any]) -> Tuple[Any, bool]:
    """The store that is meant, None where one device needs none; and whether it updates the weights."""
    update_on_kvstore = config.get("MXNET_UPDATE_ON_KVSTORE") == "1"
    if kvstore is None or (isinstance(kvstore, str) and num_device == 1 and "dist" not in kvstore):
        return None, False
    from . import kvstore as kv

    if isinstance(kvstore, str):
        store = kv.create(kvstore)
        if kvstore == "local" and max((array.size for array in arg_params.values()), default=0) > _BIG:
            update_on_kvstore = False
    elif isinstance(kvstore, kv.KVStoreBase):
        store = kvstore
    else:
        raise TypeError(f"given a kvstore of type {type(kvstore).__name__}, expected a KVStore, its name or None")
    return store, update_on_kvstore and _can_update(store)


def _can_update(store: Any) -> bool:
    able = getattr(store, "is_capable", None)
    return True if able is None else able("optimizer")


def _initialize_kvstore(kvstore: Any, param_arrays: Any, arg_params: Any, param_names: List[str], update_on_kvstore: bool) -> None:
    for place, arrays in enumerate(param_arrays):
        name = param_names[place]
        if arrays[0].stype != "default":
            kvstore.init(name, arg_params[name])
        else:
            kvstore.broadcast(name, arg_params[name], out=arrays, priority=-place)
        if update_on_kvstore and arrays[0].stype == "default":
            kvstore.pull(name, arrays, priority=-place)


def _update_params_on_kvstore(param_arrays: Any, grad_arrays: Any, kvstore: Any, param_names: List[str]) -> None:
    """The store adds up gradients, updates, and gives the weights back."""
    together: List[Tuple[int, str, Any, Any]] = []
    for place, (args, grads) in enumerate(zip(param_arrays, grad_arrays)):
        if grads[0] is None:
            continue
        # The first layers are needed first in the next forward.
        if grads[0].stype == "default" and args[0].stype == "default":
            together.append((place, param_names[place], grads, args))
        else:
            kvstore.push(param_names[place], grads, priority=-place)
    size = _update_aggregation_size(kvstore)
    for first in range(0, len(together), size):
        places, names, grads, args = zip(*together[first : first + size])
        if len(names) == 1:
            kvstore.pushpull(names[0], grads[0], out=args[0], priority=-places[0])
        else:
            kvstore.pushpull(list(names), list(grads), out=list(args), priority=-places[0])


def _update_aggregation_size(kvstore: Any) -> int:
    """How many arrays go to a store together: MXNET_UPDATE_AGGREGATION_SIZE; by itself 16 where they share a ring, else one."""
    given = config.get("MXNET_UPDATE_AGGREGATION_SIZE")
    if given != "auto":
        return int(given)
    return 16 if "nccl" in kvstore.type else 1


def _update_params(
    param_arrays: Any, grad_arrays: Any, updater: Any, num_device: int, kvstore: Any = None, param_names: Any = None
) -> None:
    """Every device updates its weights, with gradients that a store has added up."""
    updates: List[List[Tuple[int, Any, Any]]] = [[] for _ in range(num_device)]
    for place, (args, grads) in enumerate(zip(param_arrays, grad_arrays)):
        if grads[0] is None:
            continue
        if kvstore:
            name = param_names[place]
            if grads[0].stype == "default" and args[0].stype == "default":
                kvstore.pushpull(name, grads, priority=-place)
            else:
                kvstore.push(name, grads, priority=-place)
                kvstore.pull(name, grads, priority=-place, ignore_sparse=False)
        for device, (arg, grad) in enumerate(zip(args, grads)):
            updates[device].append((place * num_device + device, grad, arg))
    for steps in updates:
        if steps:
            indices, grads, args = zip(*steps)
            updater(list(indices), list(grads), list(args))


def __getattr__(name: str) -> Any:
    if name == "FeedForward":  # when it is used: what it stands on imports this module
        from ._feed_forward import FeedForward

        FeedForward.__module__ = __name__  # pickles of other versions look for it here
        return FeedForward
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return [*globals(), "FeedForward"]
