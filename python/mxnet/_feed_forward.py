# SPDX-License-Identifier: Apache-2.0
"""A network with fit, predict and score: the interface from before Module, which it uses."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional

from .callback import LogValidationMetricsCallback
from .initializer import Uniform
from .model import load_checkpoint, save_checkpoint


class _Epochs:
    """Data that begins anew as soon as an epoch's last batch is taken, before callbacks and evaluation see the epoch's end.

    Rows are shuffled where data is reset: seeded programs see the order of their rows in this one.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)

    def __iter__(self) -> Iterator[Any]:
        yield from self._data
        self._data.reset()

    def reset(self) -> None:
        """Nothing: it has begun anew."""


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
        y = y._values() if isinstance(y, NDArray) else np.asarray(y)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        size = min(rows, self.numpy_batch_size)
        handle = "roll_over" if is_train else "pad"
        return NDArrayIter(np.asarray(X) if isinstance(X, list) else X, y, size, shuffle=is_train, last_batch_handle=handle)

    def _evaluation(self, data: Any) -> Any:
        if isinstance(data, (tuple, list)) and len(data) == 2:
            # Shuffled as training data is, which seeded programs feel: both draw from the same numbers.
            return self._iterator(data[0], data[1], True)
        return data

    def _for(self, data: Any) -> Any:
        """A module for an iterator's inputs."""
        from .module import BucketingModule, Module

        names = [item[0] for item in data.provide_data]
        labels = [item[0] for item in data.provide_label or []]
        if self.sym_gen is not None:
            generate = self.sym_gen
            return BucketingModule(
                lambda key: (generate(key), names, labels), default_bucket_key=data.default_bucket_key, context=self.ctx
            )
        assert self.symbol is not None
        used = self.symbol.list_arguments()
        # Losses have labels though the data has none: nothing is read from them in prediction.
        unfed = [name for name in used if name.endswith("label") and name not in names and name not in (self.arg_params or {})]
        return Module(self.symbol, names, [label for label in labels if label in used] or unfed, context=self.ctx)

    def _ready(self, data: Any) -> Any:
        """A module for prediction, with the parameters."""
        if self.arg_params is None:
            raise RuntimeError("there are no parameters yet, expected fit() or load() before")
        module = self._for(data)
        labels = (data.provide_label or None) if module.label_names else None
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
            row = [output._values()[real] for output in module.get_outputs()]
            if return_data:
                row += [array._values()[real] for array in [*batch.data, *batch.label]]
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
        from . import metric
        from .io import ResizeIter
        from .module import _inputs
        from .optimizer import Optimizer

        data = self._iterator(X, y, True)
        evaluation = self._evaluation(eval_data)
        data.reset()  # so that seeded programs see their rows in the order that they always had
        data = _Epochs(data) if self.epoch_size is None else ResizeIter(data, self.epoch_size, reset_internal=False)
        module = self._for(data)
        made = metric.create(eval_metric)

        def end_epoch(epoch: int, *trained: Any) -> None:
            _inputs.call_all(epoch_end_callback, epoch, *trained)
            if evaluation is None:
                return
            module.score(
                evaluation, made, score_end_callback=eval_end_callback, batch_end_callback=eval_batch_end_callback, epoch=epoch
            )
            evaluation.reset()

        def end_batch(param: Any) -> None:
            _inputs.call_all(batch_end_callback, param._replace(nbatch=param.nbatch + 1))  # counted from 1 here, from 0 by Module

        if logger is not None:
            module.logger = logger
        if work_load_list is not None:
            module._work_load_list = work_load_list
        module.fit(
            data,
            eval_metric=made,
            epoch_end_callback=end_epoch,
            batch_end_callback=end_batch,
            kvstore=kvstore,
            optimizer=self.optimizer,
            optimizer_params={} if isinstance(self.optimizer, Optimizer) else self.kwargs,
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

