# SPDX-License-Identifier: Apache-2.0
"""Checkpoints (PREFIX-symbol.json and PREFIX-0001.params), updates through a store, and FeedForward."""

from __future__ import annotations

import importlib.util
import logging
from collections import namedtuple
from typing import Any, Dict, List, Optional, Tuple

from .callback import LogValidationMetricsCallback
from .initializer import Uniform
from .util import getenv

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]

# What is handed to callbacks after each batch.
BatchEndParam = namedtuple("BatchEndParam", ["epoch", "nbatch", "eval_metric", "locals"])

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
    from .util import getenv

    update_on_kvstore = bool(int(getenv("MXNET_UPDATE_ON_KVSTORE") or "1"))
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
    given = getenv("MXNET_UPDATE_AGGREGATION_SIZE")
    if given is not None and given != "auto":
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


class FeedForward:
    """A network with fit, predict and score: the interface from before Module, which it uses."""

    def __init__(
        self,
        symbol: Any,
        ctx: Any = None,
        num_epoch: Optional[int] = None,
        epoch_size: Optional[int] = None,
        optimizer: Any = "sgd",
        initializer: Any = Uniform(0.01),  # noqa: B008
        numpy_batch_size: int = 128,
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        allow_extra_params: bool = False,
        begin_epoch: int = 0,
        **kwargs: Any,
    ) -> None:
        from .context import Context, current_context

        self.sym_gen = None if hasattr(symbol, "list_arguments") else symbol
        self.symbol = symbol if self.sym_gen is None else None
        ctx = [current_context()] if ctx is None else ctx
        self.ctx = [ctx] if isinstance(ctx, Context) else list(ctx)
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.kwargs = kwargs.copy()
        self.optimizer = optimizer
        self.initializer = initializer
        self.numpy_batch_size = numpy_batch_size
        self.arg_params = arg_params
        self.aux_params = aux_params
        self.allow_extra_params = allow_extra_params
        self.begin_epoch = begin_epoch
        self._module: Any = None

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_module": None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _iterator(self, X: Any, y: Any, is_train: bool) -> Any:
        """Data as an iterator: it may be one, or arrays."""
        import numpy as np

        from .io import DataIter, NDArrayIter
        from .ndarray import NDArray

        if isinstance(X, DataIter) or not isinstance(X, (np.ndarray, NDArray, list)):
            return X
        rows = len(X)
        if y is None:
            if is_train:
                raise ValueError("given no labels y, expected them for training")
            y = np.zeros(rows, np.float32)
        y = y.asnumpy() if isinstance(y, NDArray) else np.asarray(y)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        size = min(rows, self.numpy_batch_size)
        handle = "roll_over" if is_train else "pad"
        return NDArrayIter(np.asarray(X) if isinstance(X, list) else X, y, size, shuffle=is_train, last_batch_handle=handle)

    def _evaluation(self, data: Any) -> Any:
        if isinstance(data, (tuple, list)) and len(data) == 2:
            return self._iterator(data[0], data[1], False)
        return data

    def _for(self, data: Any) -> Any:
        """A module for an iterator's inputs."""
        from .module import BucketingModule, Module

        names = [item[0] for item in data.provide_data]
        labels = [item[0] for item in data.provide_label]
        if self.sym_gen is not None:
            generate = self.sym_gen
            return BucketingModule(
                lambda key: (generate(key), names, labels), default_bucket_key=data.default_bucket_key, context=self.ctx
            )
        assert self.symbol is not None
        used = self.symbol.list_arguments()
        return Module(self.symbol, names, [label for label in labels if label in used], context=self.ctx)

    def _ready(self, data: Any) -> Any:
        """A module for prediction, with the parameters."""
        if self.arg_params is None:
            raise RuntimeError("there are no parameters yet, expected fit() or load() before")
        module = self._for(data)
        labels = data.provide_label if module.label_names else None
        module.bind(data.provide_data, labels, for_training=False)
        module.init_params(
            self.initializer,
            arg_params=self.arg_params,
            aux_params=self.aux_params or {},
            allow_extra=self.allow_extra_params,
        )
        return module

    def predict(self, X: Any, num_batch: Optional[int] = None, return_data: bool = False, reset: bool = True) -> Any:
        """Outputs as NumPy arrays; with `return_data` also data and labels."""
        import numpy as np

        data = self._iterator(X, None, False)
        module = self._ready(data)
        if reset:
            data.reset()
        found: List[List[Any]] = []
        for i, batch in enumerate(data):
            if num_batch is not None and i == num_batch:
                break
            module.forward(batch, is_train=False)
            real = slice(0, batch.data[0].shape[0] - (batch.pad or 0))
            row = [output.asnumpy()[real] for output in module.get_outputs()]
            if return_data:
                row += [array.asnumpy()[real] for array in [*batch.data, *batch.label]]
            found.append(row)
        columns = [np.concatenate(parts) for parts in zip(*found)]
        count = len(module.output_names)
        groups = [columns[:count]]
        if return_data:
            inputs = len(data.provide_data)
            groups += [columns[count : count + inputs], columns[count + inputs :]]
        single = [group[0] if len(group) == 1 else group for group in groups]
        return tuple(single) if return_data else single[0]

    def score(
        self, X: Any, eval_metric: Any = "acc", num_batch: Optional[int] = None, batch_end_callback: Any = None, reset: bool = True
    ) -> Any:
        """The value of a metric on data."""
        from . import metric

        data = self._iterator(X, None, False)
        module = self._ready(data)
        made = metric.create(eval_metric)
        module.score(data, made, num_batch=num_batch, batch_end_callback=batch_end_callback, reset=reset)
        return made.get()[1]

    def fit(
        self,
        X: Any,
        y: Any = None,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Any = None,
        monitor: Any = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008
        eval_batch_end_callback: Any = None,
    ) -> None:
        """Trains for `num_epoch` epochs, of `epoch_size` batches where that is set."""
        from .io import ResizeIter
        from .optimizer import Optimizer

        data = self._iterator(X, y, True)
        if self.epoch_size is not None:
            data = ResizeIter(data, self.epoch_size, reset_internal=False)
        module = self._for(data)
        if logger is not None:
            module.logger = logger
        if work_load_list is not None:
            module._work_load_list = work_load_list
        module.fit(
            data,
            eval_data=self._evaluation(eval_data),
            eval_metric=eval_metric,
            epoch_end_callback=epoch_end_callback,
            batch_end_callback=batch_end_callback,
            kvstore=kvstore,
            optimizer=self.optimizer,
            optimizer_params={} if isinstance(self.optimizer, Optimizer) else self.kwargs,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
            initializer=self.initializer,
            arg_params=self.arg_params,
            aux_params=self.aux_params,
            allow_missing=True,
            begin_epoch=self.begin_epoch,
            num_epoch=self.num_epoch,
            monitor=monitor,
        )
        self.arg_params, self.aux_params = module.get_params()

    def save(self, prefix: str, epoch: Optional[int] = None, remove_amp_cast: bool = True) -> None:
        """Writes a checkpoint, of the last epoch by default."""
        epoch = self.num_epoch if epoch is None else epoch
        if epoch is None:
            raise ValueError("given no epoch, expected it where num_epoch is not set")
        save_checkpoint(prefix, epoch, self.symbol, self.arg_params or {}, self.aux_params or {}, remove_amp_cast)

    @staticmethod
    def load(prefix: str, epoch: int, ctx: Any = None, **kwargs: Any) -> FeedForward:
        """What a checkpoint holds."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        return FeedForward(symbol, ctx=ctx, arg_params=arg_params, aux_params=aux_params, begin_epoch=epoch, **kwargs)

    @staticmethod
    def create(
        symbol: Any,
        X: Any,
        y: Any = None,
        ctx: Any = None,
        num_epoch: Optional[int] = None,
        epoch_size: Optional[int] = None,
        optimizer: Any = "sgd",
        initializer: Any = Uniform(0.01),  # noqa: B008
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Any = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008
        eval_batch_end_callback: Any = None,
        **kwargs: Any,
    ) -> FeedForward:
        """A trained network."""
        model = FeedForward(symbol, ctx, num_epoch, epoch_size, optimizer, initializer, **kwargs)
        model.fit(
            X,
            y,
            eval_data=eval_data,
            eval_metric=eval_metric,
            epoch_end_callback=epoch_end_callback,
            batch_end_callback=batch_end_callback,
            kvstore=kvstore,
            logger=logger,
            work_load_list=work_load_list,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
        )
        return model

