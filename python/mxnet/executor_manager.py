# SPDX-License-Identifier: Apache-2.0
"""Batches split over devices: by Module's executor groups, and by the interface from before Module."""

from __future__ import annotations

import logging
from typing import Any, Dict, List, Optional, Sequence

from ._core import NDArrayBase

__all__ = ["DataParallelExecutorGroup", "DataParallelExecutorManager"]


def split_input_slice(batch_size: int, work_load_list: Sequence[float]) -> List[slice]:
    """Parts of a batch in proportion to the workloads; the last one takes what rounding leaves."""
    total = sum(work_load_list)
    counts = [round(load * batch_size / total) for load in work_load_list]
    counts[-1] += max(0, batch_size - sum(counts))
    slices = []
    end = 0
    for count in counts:
        begin, end = min(end, batch_size), min(end + count, batch_size)
        if begin >= end:
            raise ValueError(f"given a batch of {batch_size} for workloads {list(work_load_list)}, expected an example for each device")
        slices.append(slice(begin, end))
    return slices


_split_input_slice = split_input_slice


def load_slices(sources: Sequence[Any], targets: Sequence[Any], axes: Sequence[int]) -> None:
    """Copies batches to devices. A target is a list of (part of the batch, array on the device), or one array.

    A source that is a list holds the devices' parts already.
    """
    for source, target, axis in zip(sources, targets, axes):
        if isinstance(target, NDArrayBase):
            target = [(slice(0, target.shape[axis]), target)]
        if isinstance(source, (list, tuple)):
            for part, (_, array) in zip(source, target):
                part.copyto(array)
            continue
        for part, array in target:
            if axis < 0 or part.stop - part.start == source.shape[axis]:
                piece = source
            elif axis == 0:
                piece = source[part]
            else:
                piece = source.slice_axis(axis=axis, begin=part.start, end=part.stop)
            if piece.shape != array.shape:
                raise ValueError(f"given an input of shape {piece.shape}, expected {array.shape} as bound")
            (piece if piece.dtype == array.dtype else piece.astype(array.dtype)).copyto(array)


# What executor groups of programs call.


def _load_general(data: Sequence[Any], targets: Sequence[Any]) -> None:
    load_slices(data, targets, [0] * len(targets))


def _load_data(batch: Any, targets: Sequence[Any]) -> None:
    _load_general(batch.data, targets)


def _load_label(batch: Any, targets: Sequence[Any]) -> None:
    _load_general(batch.label, targets)


def _check_arguments(symbol: Any) -> None:
    """Raises for names that are there more than once."""
    for what, names in (("argument", symbol.list_arguments()), ("state", symbol.list_auxiliary_states())):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{what} {', '.join(twice)} is there more than once, expected different names")


class DataParallelExecutorGroup:
    """Executors of a network on several devices, with shapes from an iterator."""

    def __init__(
        self,
        sym: Any,
        arg_names: List[str],
        param_names: List[str],
        ctx: List[Any],
        slices: List[slice],
        train_data: Any,
        shared_group: Optional[DataParallelExecutorGroup] = None,
    ) -> None:
        _check_arguments(sym)
        self.sym = sym
        self.slices = slices
        self.data_names = [item[0] for item in train_data.provide_data]
        self.label_names = [item[0] for item in train_data.provide_label]
        self.aux_names = sym.list_auxiliary_states()
        self.param_idx = [i for i, name in enumerate(arg_names) if name in param_names]
        self.param_names = [arg_names[i] for i in self.param_idx]
        self.shared_data_arrays: List[Dict[str, Any]] = (
            shared_group.shared_data_arrays if shared_group is not None else [{} for _ in ctx]
        )
        requests = {name: "write" if name in param_names else "null" for name in arg_names}
        self.train_execs: List[Any] = []
        for i, context in enumerate(ctx):
            size = slices[i].stop - slices[i].start
            shapes = {item[0]: (size, *item[1][1:]) for item in [*train_data.provide_data, *train_data.provide_label]}
            executor = sym.simple_bind(
                context,
                grad_req=requests,
                shared_arg_names=self.param_names,
                shared_exec=None if shared_group is None else shared_group.train_execs[i],
                shared_buffer=self.shared_data_arrays[i],
                **shapes,
            )
            self.train_execs.append(executor)
        self.data_arrays = [self._parts(name) for name in self.data_names]
        self.label_arrays = [self._parts(name) for name in self.label_names]
        self.param_arrays = [[executor.arg_arrays[i] for executor in self.train_execs] for i in self.param_idx]
        self.grad_arrays = [[executor.grad_arrays[i] for executor in self.train_execs] for i in self.param_idx]
        self.aux_arrays = [[executor.aux_arrays[i] for executor in self.train_execs] for i in range(len(self.aux_names))]

    def _parts(self, name: str) -> List[Any]:
        return [(self.slices[i], executor.arg_dict[name]) for i, executor in enumerate(self.train_execs)]

    def load_data_batch(self, data_batch: Any) -> None:
        """Copies a batch to the devices."""
        _load_data(data_batch, self.data_arrays)
        _load_label(data_batch, self.label_arrays)

    def forward(self, is_train: bool = False) -> None:
        """Computes the outputs on all devices."""
        for executor in self.train_execs:
            executor.forward(is_train=is_train)

    def backward(self) -> None:
        """Computes the gradients on all devices."""
        for executor in self.train_execs:
            executor.backward()

    def update_metric(self, metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds every device's outputs to a metric."""
        for i, (executor, part) in enumerate(zip(self.train_execs, self.slices)):
            metric.update(labels[i] if pre_sliced else [label[part] for label in labels], executor.outputs)


class DataParallelExecutorManager:
    """Executor groups of a network, or of one network per bucket."""

    def __init__(
        self,
        symbol: Any,
        ctx: List[Any],
        train_data: Any,
        arg_names: List[str],
        param_names: List[str],
        aux_names: List[str],
        work_load_list: Optional[List[float]] = None,
        logger: Any = None,
        sym_gen: Any = None,
    ) -> None:
        logger = logging if logger is None else logger
        work_load_list = [1] * len(ctx) if work_load_list is None else work_load_list
        if len(work_load_list) != len(ctx):
            raise ValueError(f"given {len(work_load_list)} workloads, expected {len(ctx)} as devices")
        logger.info("Start training with %s", str(ctx))
        self.slices = split_input_slice(train_data.batch_size, work_load_list)
        self.arg_names = arg_names
        self.param_names = param_names
        self.aux_names = aux_names
        self.ctx = ctx
        self.symbol = symbol
        self.sym_gen = sym_gen
        self.execgrp = DataParallelExecutorGroup(symbol, arg_names, param_names, ctx, self.slices, train_data)
        self.curr_execgrp = self.execgrp
        self.execgrp_bucket = {} if sym_gen is None else {train_data.default_bucket_key: self.execgrp}

    def install_monitor(self, monitor: Any) -> None:
        """Lets a Monitor see the values of all nodes."""
        if self.sym_gen is not None:
            raise NotImplementedError("a monitor is not there for buckets; BucketingModule has one")
        for executor in self.execgrp.train_execs:
            monitor.install(executor)

    def set_params(self, arg_params: Dict[str, Any], aux_params: Dict[str, Any]) -> None:
        """Copies parameters to all devices."""
        for executor in self.execgrp.train_execs:
            executor.copy_params_from(arg_params, aux_params)

    def copy_to(self, arg_params: Dict[str, Any], aux_params: Dict[str, Any]) -> None:
        """Copies the mean of the devices' parameters into the given arrays."""
        for targets, names, arrays in (
            (arg_params, self.execgrp.param_names, self.param_arrays),
            (aux_params, self.aux_names, self.aux_arrays),
        ):
            for name, parts in zip(names, arrays):
                context = parts[0].context
                mean = sum((part.as_in_context(context) for part in parts[1:]), parts[0]) / len(parts)
                mean.astype(targets[name].dtype).copyto(targets[name])

    @property
    def param_arrays(self) -> Any:
        """Parameters: a list of each, with an array per device."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self) -> Any:
        """Their gradients."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self) -> Any:
        """States."""
        return self.execgrp.aux_arrays

    def load_data_batch(self, data_batch: Any) -> None:
        """Copies a batch to the devices, to the network of its bucket."""
        self.curr_execgrp = self.execgrp
        if self.sym_gen is not None:
            key = data_batch.bucket_key
            if key not in self.execgrp_bucket:
                symbol = self.sym_gen(key)
                self.execgrp_bucket[key] = DataParallelExecutorGroup(
                    symbol, symbol.list_arguments(), self.param_names, self.ctx, self.slices, data_batch, self.execgrp
                )
            self.curr_execgrp = self.execgrp_bucket[key]
        self.curr_execgrp.load_data_batch(data_batch)

    def forward(self, is_train: bool = False) -> None:
        """Computes the outputs."""
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self) -> None:
        """Computes the gradients."""
        self.curr_execgrp.backward()

    def update_metric(self, metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs to a metric."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)
