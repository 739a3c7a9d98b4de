# SPDX-License-Identifier: Apache-2.0
"""The executors of a network on several devices, each with its part of every batch."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..executor_manager import load_slices, split_input_slice
from ..io import DataDesc

__all__ = ["DataParallelExecutorGroup"]


def _along(array: Any, axis: int, part: slice) -> Any:
    """A part of a batch."""
    if axis < 0 or (part.start == 0 and part.stop >= array.shape[axis]):
        return array
    if axis == 0:
        return array[part]
    return array.slice_axis(axis=axis, begin=part.start, end=part.stop)


def _merge_multi_context(outputs: List[List[Any]], major_axis: Sequence[int]) -> List[Any]:
    """Parts of batches as whole ones, on the first device."""
    from .. import ndarray as nd

    whole = []
    for parts, axis in zip(outputs, major_axis):
        if len(parts) == 1 or axis < 0:
            whole.append(parts[0])
        else:
            whole.append(nd.concat(*[part.as_in_context(parts[0].context) for part in parts], dim=axis))
    return whole


# What executor groups of programs call.


def _load_general(data: Sequence[Any], targets: Sequence[Any], major_axis: Sequence[int]) -> None:
    load_slices(data, targets, major_axis)


def _load_data(batch: Any, targets: Sequence[Any], major_axis: Sequence[int]) -> None:
    load_slices(batch.data, targets, major_axis)


def _load_label(batch: Any, targets: Sequence[Any], major_axis: Sequence[int]) -> None:
    load_slices(batch.label, targets, major_axis)


class DataParallelExecutorGroup:
    """One executor per device. Batches are split along their batch axis by the devices' workloads.

    `param_arrays`, `grad_arrays` and `aux_arrays` hold a list per parameter with an array per device.
    """

    def __init__(
        self,
        symbol: Any,
        contexts: List[Any],
        workload: Optional[List[float]],
        data_shapes: List[DataDesc],
        label_shapes: Optional[List[DataDesc]],
        param_names: List[str],
        for_training: bool,
        inputs_need_grad: bool,
        shared_group: Optional[DataParallelExecutorGroup] = None,
        logger: Any = logging,
        fixed_param_names: Optional[List[str]] = None,
        grad_req: Any = "write",
        state_names: Optional[List[str]] = None,
        group2ctxs: Any = None,
    ) -> None:
        self.symbol = symbol
        self.contexts = contexts
        self.workload = workload or [1] * len(contexts)
        self.param_names = param_names
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.output_names = symbol.list_outputs()
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.logger = logger
        self.fixed_param_names = fixed_param_names or []
        self.state_names = state_names or []
        self.group2ctxs = _groups(group2ctxs, len(contexts))
        self.label_names = [desc[0] for desc in label_shapes or []]
        self.grad_req = self._requests(grad_req, [desc[0] for desc in data_shapes])
        # Memory that networks of other sizes or buckets may use too, by device and by name of the input.
        self.shared_data_arrays: List[Dict[str, Any]] = (
            shared_group.shared_data_arrays if shared_group is not None else [{} for _ in contexts]
        )
        layouts = [_layout_axis(symbol[i]) for i in range(len(symbol))]
        self.output_layouts = layouts
        self.batch_size: int = 0
        self.slices: List[slice] = []
        self.execs: List[Any] = []
        self._bound: List[Any] = []
        self.data_shapes: List[DataDesc] = []
        self.label_shapes: Optional[List[DataDesc]] = None
        self.bind_exec(data_shapes, label_shapes, shared_group)

    def _requests(self, grad_req: Any, data_names: List[str]) -> Dict[str, str]:
        """For each argument whether its gradient is written, added or left out."""
        if not self.for_training:
            return dict.fromkeys(self.arg_names, "null")
        if isinstance(grad_req, (list, tuple)):
            if len(grad_req) != len(self.arg_names):
                raise ValueError(f"given {len(grad_req)} gradient requests, expected one for each of {len(self.arg_names)} arguments")
            return dict(zip(self.arg_names, grad_req))
        default = grad_req if isinstance(grad_req, str) else "write"
        requests = {}
        for name in self.arg_names:
            if name in self.param_names:
                requests[name] = "null" if name in self.fixed_param_names else default
            elif name in data_names:
                requests[name] = default if self.inputs_need_grad else "null"
            else:
                requests[name] = "null"
        if isinstance(grad_req, dict):
            requests.update(grad_req)
        return requests

    # --- Binding

    def decide_slices(self, data_shapes: List[DataDesc]) -> List[int]:
        """Splits the batch over the devices; the batch axis of each input."""
        axes = [DataDesc.get_batch_axis(getattr(desc, "layout", "NCHW")) for desc in data_shapes]
        for desc, axis in zip(data_shapes, axes):
            if axis == -1:
                continue
            size = desc[1][axis]
            if self.batch_size and size != self.batch_size:
                raise ValueError(f"{desc[0]}: given shape {desc[1]}, expected {self.batch_size} along axis {axis} as the other inputs")
            self.batch_size = size
            self.slices = split_input_slice(size, self.workload)
        return axes

    def bind_exec(
        self,
        data_shapes: List[DataDesc],
        label_shapes: Optional[List[DataDesc]],
        shared_group: Optional[DataParallelExecutorGroup] = None,
        reshape: bool = False,
    ) -> None:
        """Makes the executors, with `reshape` from those that were bound first: their memory serves all that is no larger."""
        self.batch_size = 0
        self.data_layouts = self.decide_slices(data_shapes)
        self.label_layouts = self.decide_slices(label_shapes) if label_shapes is not None else []
        made = []
        for i in range(len(self.contexts)):
            shapes = dict(self._part(data_shapes, self.data_layouts, i))
            shapes.update(self._part(label_shapes or [], self.label_layouts, i))
            if reshape:
                made.append(self._bound[i].reshape(allow_up_sizing=True, **shapes))
            else:
                types = {desc.name: desc.dtype for desc in [*data_shapes, *(label_shapes or [])] if isinstance(desc, DataDesc)}
                made.append(self._bind_one(i, shapes, types, shared_group))
        if not reshape:
            self._bound = made
        self.execs = made
        self.data_shapes = data_shapes
        self.label_shapes = label_shapes
        self.data_names = [desc[0] for desc in data_shapes]
        if label_shapes is not None:
            self.label_names = [desc[0] for desc in label_shapes]
        self._collect_arrays()

    def _part(self, shapes: List[DataDesc], axes: List[int], device: int) -> List[Tuple[str, Tuple[int, ...]]]:
        """Names and shapes of inputs on one device."""
        part = self.slices[device]
        found = []
        for desc, axis in zip(shapes, axes):
            shape = list(desc[1])
            if axis >= 0:
                shape[axis] = part.stop - part.start
            found.append((desc[0], tuple(shape)))
        return found

    def _bind_one(self, device: int, shapes: Dict[str, Any], types: Dict[str, Any], shared_group: Any) -> Any:
        return self.symbol.simple_bind(
            ctx=self.contexts[device],
            grad_req=self.grad_req,
            type_dict=types,
            shared_arg_names=self.param_names,
            shared_exec=None if shared_group is None else shared_group.execs[device],
            group2ctx=self.group2ctxs[device],
            shared_buffer=self.shared_data_arrays[device],
            **{name: shape for name, shape in shapes.items() if name in self.arg_names},
        )

    def _collect_arrays(self) -> None:
        places = {name: i for i, name in enumerate(self.arg_names)}

        def of(name: str) -> List[Any]:
            return [executor.arg_arrays[places[name]] for executor in self.execs]

        def gradients(name: str) -> List[Any]:
            return [executor.grad_arrays[places[name]] for executor in self.execs]

        params = [name for name in self.arg_names if name in self.param_names]
        self.data_arrays = [list(zip(self.slices, of(name))) for name in self.data_names]
        used = [name for name in self.label_names if name in places]
        self.label_arrays = [list(zip(self.slices, of(name))) for name in used] if self.label_shapes is not None else None
        self.state_arrays = [of(name) for name in self.state_names]
        self.param_arrays = [of(name) for name in params]
        self.grad_arrays = [gradients(name) for name in params] if self.for_training else None
        self.input_grad_arrays = [gradients(name) for name in self.data_names if name in places] if self.inputs_need_grad else None
        self.aux_arrays = [[executor.aux_arrays[i] for executor in self.execs] for i in range(len(self.aux_names))]

    def reshape(self, data_shapes: List[DataDesc], label_shapes: Optional[List[DataDesc]]) -> None:
        """Executors for other shapes, on the same parameters."""
        if data_shapes != self.data_shapes or label_shapes != self.label_shapes:
            self.bind_exec(data_shapes, label_shapes, reshape=True)

    # --- Parameters

    def set_params(self, arg_params: Dict[str, Any], aux_params: Dict[str, Any], allow_extra: bool = False) -> None:
        """Copies parameters to all devices."""
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params: Dict[str, Any], aux_params: Dict[str, Any]) -> None:
        """Copies the mean of the devices' parameters into the given arrays."""
        names = [name for name in self.arg_names if name in self.param_names]
        for targets, named in ((arg_params, zip(names, self.param_arrays)), (aux_params, zip(self.aux_names, self.aux_arrays))):
            for name, arrays in named:
                target = targets.get(name)
                mean = arrays[0]
                if len(arrays) > 1:
                    context = arrays[0].context
                    mean = sum((array.as_in_context(context) for array in arrays[1:]), arrays[0]) / len(arrays)
                if target is None:
                    targets[name] = mean.as_in_context(_cpu()).copy()
                else:
                    mean.astype(target.dtype, copy=False).copyto(target)

    def get_states(self, merge_multi_context: bool = True) -> Any:
        """The inputs that are states between batches."""
        return _merge_multi_context(self.state_arrays, self.data_layouts[:1] * len(self.state_arrays)) if merge_multi_context else self.state_arrays

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the states: by arrays, or all to a number."""
        if (states is None) == (value is None):
            raise ValueError("expected either states or a value")
        if states is None:
            for arrays in self.state_arrays:
                for array in arrays:
                    array[:] = value
        elif states and isinstance(states[0], (list, tuple)):
            for arrays, given in zip(self.state_arrays, states):
                for array, part in zip(arrays, given):
                    part.copyto(array)
        else:
            load_slices(states, [list(zip(self.slices, arrays)) for arrays in self.state_arrays], [0] * len(states))

    # --- Computing

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        """Copies a batch, or lists of batches that are split already, to the devices, and runs them. Where no labels were
        bound a batch needs none: programs make one of a class that has `data` and nothing else.
        """
        is_train = self.for_training if is_train is None else is_train
        label: Any = None
        if isinstance(data_batch, list):
            data = [list(parts) for parts in zip(*[batch.data for batch in data_batch])]
            if self.label_arrays:
                label = [list(parts) for parts in zip(*[batch.label or [] for batch in data_batch])]
        else:
            data = data_batch.data
            if self.label_arrays:
                label = data_batch.label
        load_slices(data, self.data_arrays, self.data_layouts)
        if label and self.label_arrays:
            used = [i for i, name in enumerate(self.label_names) if name in self.arg_names]
            load_slices([label[i] for i in used], self.label_arrays, [self.label_layouts[i] for i in used])
        for executor in self.execs:
            executor.forward(is_train=is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Gradients on all devices, from those of the outputs where they are no losses."""
        if not self.for_training:
            raise RuntimeError("backward: the executors were bound with for_training=False")
        grads = [] if out_grads is None else ([out_grads] if not isinstance(out_grads, (list, tuple)) else list(out_grads))
        for i, (executor, part) in enumerate(zip(self.execs, self.slices)):
            mine = []
            for grad, axis in zip(grads, self.output_layouts):
                piece = _along(grad, axis if axis < len(grad.shape) else -1, part) if len(self.execs) > 1 else grad
                mine.append(piece.as_in_context(self.contexts[i]))
            executor.backward(out_grads=mine or None)

    def get_output_shapes(self) -> List[Tuple[str, Tuple[int, ...]]]:
        """(name, shape) of the outputs for a whole batch."""
        found = []
        for i, (name, axis) in enumerate(zip(self.output_names, self.output_layouts)):
            shape = list(self.execs[0].outputs[i].shape)
            if len(self.execs) > 1 and 0 <= axis < len(shape):
                shape[axis] = self.batch_size
            found.append((name, tuple(shape)))
        return found

    def get_outputs(self, merge_multi_context: bool = True, begin: int = 0, end: Optional[int] = None) -> Any:
        """The outputs from number `begin` to before `end`; by device without `merge_multi_context`."""
        end = len(self.output_names) if end is None else end
        outputs = [[executor.outputs[i] for executor in self.execs] for i in range(begin, end)]
        return _merge_multi_context(outputs, self.output_layouts[begin:end]) if merge_multi_context else outputs

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the inputs."""
        if self.input_grad_arrays is None:
            raise RuntimeError("gradients of inputs are not there: bind was called without inputs_need_grad=True")
        return _merge_multi_context(self.input_grad_arrays, self.data_layouts) if merge_multi_context else self.input_grad_arrays

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool) -> None:
        """Adds every device's outputs to a metric, with its part of the labels."""
        for i, (executor, part) in enumerate(zip(self.execs, self.slices)):
            if pre_sliced:
                mine = labels[i]
            else:
                axes = self.label_layouts or [0] * len(labels or [])
                mine = [_along(label, axis, part) for label, axis in zip(labels or [], axes)]
            named = OrderedDict(zip(self.label_names, mine))
            eval_metric.update_dict(named, OrderedDict(zip(self.output_names, executor.outputs)))

    def install_monitor(self, mon: Any) -> None:
        """Lets a Monitor see the values of all nodes."""
        for executor in self.execs:
            mon.install(executor)


def _layout_axis(output: Any) -> int:
    """The batch axis of an output, by the attribute __layout__ of its node."""
    layout = output.attr("__layout__") if hasattr(output, "attr") else None
    return DataDesc.get_batch_axis(layout)


def _groups(group2ctxs: Any, count: int) -> List[Any]:
    """Groups of nodes and their devices, for each executor."""
    if group2ctxs is None:
        return [None] * count
    if isinstance(group2ctxs, (list, tuple)):
        if len(group2ctxs) != count:
            raise ValueError(f"given {len(group2ctxs)} entries in group2ctxs, expected {count} as contexts")
        return list(group2ctxs)
    made: List[Dict[str, Any]] = [{} for _ in range(count)]
    for name, contexts in group2ctxs.items():
        devices = list(contexts) if isinstance(contexts, (list, tuple)) else [contexts]
        devices = devices * count if len(devices) == 1 else devices
        if len(devices) != count:
            raise ValueError(f"group {name}: given {len(devices)} devices, expected {count} as contexts")
        for i in range(count):
            made[i][name] = devices[i]
    return made


def _cpu() -> Any:
    from ..context import cpu

    return cpu()
