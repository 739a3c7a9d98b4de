# SPDX-License-Identifier: Apache-2.0
"""Ranges of a network's values, collected while it runs on examples: what quantization is calibrated with."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy as np

from .. import ndarray as nd
from ..io import DataBatch, DataDesc, DataIter
from ..ndarray import NDArray

Range = Tuple[float, float]


def _extremes(array: Any) -> Range:
    return float(nd.min(array).asscalar()), float(nd.max(array).asscalar())


class _Collector:
    """What is kept of the values of some layers, or of all; `collect` is a monitor's callback."""

    def __init__(self, include_layer: Optional[List[str]], logger: Any) -> None:
        self.include_layer = include_layer
        self.logger = logger

    def collect(self, name: Any, arr: Any) -> None:
        """Takes one array of the value `name`."""
        name = name.decode() if isinstance(name, bytes) else name
        if self.include_layer is not None and name not in self.include_layer:
            return
        array = arr if isinstance(arr, NDArray) else NDArray(arr)
        low, high = _extremes(array)
        self._keep(name, array, low, high)
        if self.logger:
            self.logger.debug("%s: between %f and %f", name, low, high)

    def _keep(self, name: str, array: NDArray, low: float, high: float) -> None:
        raise NotImplementedError(f"{type(self).__name__}._keep")


class _LayerOutputMinMaxCollector(_Collector):
    """The least and greatest number of each value."""

    def __init__(self, quantized_dtype: str, include_layer: Optional[List[str]] = None, logger: Any = None) -> None:
        super().__init__(include_layer, logger)
        self.min_max_dict: Dict[str, Range] = {}
        self.quantized_dtype = quantized_dtype

    def _keep(self, name: str, array: NDArray, low: float, high: float) -> None:
        known = self.min_max_dict.get(name, (low, high))
        self.min_max_dict[name] = (min(low, known[0]), max(high, known[1]))


class _LayerHistogramCollector(_Collector):
    """A histogram of each value, symmetrical around zero."""

    def __init__(self, num_bins: int = 8001, include_layer: Optional[List[str]] = None, logger: Any = None) -> None:
        super().__init__(include_layer, logger)
        self.hist_dict: Dict[str, Tuple[Any, Any, float, float, float]] = {}
        self.num_bins = num_bins

    def _keep(self, name: str, array: NDArray, low: float, high: float) -> None:
        threshold = max(abs(low), abs(high))
        if name in self.hist_dict:
            self.hist_dict[name] = combine_histogram(self.hist_dict[name], array, low, high, threshold)
        else:
            hist, edges = np.histogram(array.asnumpy(), bins=self.num_bins, range=(-threshold, threshold))
            self.hist_dict[name] = (hist, edges, low, high, threshold)


def combine_histogram(old_hist: Any, arr: Any, new_min: float, new_max: float, new_th: float) -> Tuple[Any, Any, float, float, float]:
    """A histogram over [-threshold, threshold], with more values: widened by whole bins where they need it."""
    hist, edges, old_min, old_max, old_th = old_hist
    arr = np.asarray(arr.asnumpy() if hasattr(arr, "asnumpy") else arr)
    low, high = min(old_min, new_min), max(old_max, new_max)
    if new_th <= old_th:
        more, _ = np.histogram(arr, bins=len(hist), range=(-old_th, old_th))
        return hist + more, edges, low, high, old_th
    step = 2 * old_th / len(hist)
    if step == 0:  # nothing but zeros so far
        wider, edges = np.histogram(arr, bins=len(hist), range=(-new_th, new_th))
        wider[len(hist) // 2] += hist.sum()
        return wider, edges, low, high, new_th
    extra = int((new_th - old_th) // step + 1)
    threshold = extra * step + old_th
    more, edges = np.histogram(arr, bins=len(hist) + 2 * extra, range=(-threshold, threshold))
    more[extra : extra + len(hist)] += hist
    return more, edges, low, high, threshold


def _get_optimal_thresholds(
    hist_dict: Dict[str, Tuple[Any, Any, float, float, float]], quantized_dtype: str, num_quantized_bins: int = 255,
    logger: Any = None,
) -> Dict[str, Range]:  # fmt: skip
    """The ranges that lose least of what the histograms tell."""
    ranges = {}
    for name, (hist, edges, low, _, threshold) in hist_dict.items():
        positive = low >= 0 and quantized_dtype in ("auto", "uint8")
        bins = num_quantized_bins  # one side of a symmetrical range has all 256 steps of uint8
        if positive:
            bins = 2 * bins + 1
        if len(hist) >= bins and threshold > 0:
            best, divergence = nd.contrib.calibrate_entropy(
                nd.array(hist, dtype="float32"), nd.array(edges, dtype="float32"), num_quantized_bins=bins
            )
            lost, chosen = float(divergence.asscalar()), float(best.asscalar())
            if np.isfinite(lost) and _holds_most(hist, edges, chosen):
                threshold = chosen
            if logger:
                logger.debug("%s: threshold %f, divergence %f", name, threshold, lost)
        ranges[name] = (0.0 if positive else -threshold, threshold)
    return ranges


def _holds_most(hist: Any, edges: Any, threshold: float) -> bool:
    """Whether most numbers but zero, which is in every range, lie within one. Where all lie far from zero (behind a sigmoid), or a
    few in very many bins, nothing seems lost by a range that makes them all its end: they keep the whole one."""
    centres = np.abs((edges[1:] + edges[:-1]) / 2)
    others = np.where(centres == centres.min(), 0, hist)
    return bool(2 * others[centres <= threshold].sum() >= others.sum())


def input_names(count: int) -> List[str]:
    """What a block's export calls so many inputs."""
    return ["data"] if count == 1 else [f"data{i}" for i in range(count)]


def in_input_names(provided: Iterable[Any]) -> List[DataDesc]:
    """What an iterator provides, in its order, under the names of a block's inputs: its own, or those of their places."""
    given = [each if isinstance(each, DataDesc) else DataDesc(*each) for each in provided]
    names = input_names(len(given))
    if {each.name for each in given} == set(names):
        return given
    return [DataDesc(name, each.shape, each.dtype) for name, each in zip(names, given)]


class _BatchIter(DataIter):
    """The batches of a DataLoader, or of anything that gives lists of arrays, as a DataIter."""

    def __init__(self, batches: Iterable[Any], shapes: Optional[List[DataDesc]], num_data: Optional[int] = None) -> None:
        super().__init__()
        self._batches = batches
        self._iterator = iter(batches)
        first = next(self._iterator, None)
        if first is None:
            raise ValueError("given calib_data without a batch, expected one or more")
        self._first: Optional[List[Any]] = self._listed(first)
        count = num_data if num_data is not None else len(shapes) if shapes else 1
        if shapes is None:
            shapes = [DataDesc(name, array.shape) for name, array in zip(input_names(count), self._first)]
        self.provide_data: List[Any] = shapes
        self.provide_label: List[Any] = []
        self.batch_size = shapes[0].shape[0]

    @staticmethod
    def _listed(batch: Any) -> List[Any]:
        parts = list(batch) if isinstance(batch, (list, tuple)) else [batch]
        return [part if isinstance(part, NDArray) else nd.array(part) for part in parts]

    def reset(self) -> None:
        """Back to the first batch."""
        self._iterator, self._first = iter(self._batches), None

    def next(self) -> DataBatch:
        """The next batch, without labels."""
        arrays = self._first if self._first is not None else self._listed(next(self._iterator))
        self._first = None
        return DataBatch(data=arrays[: len(self.provide_data)], label=[], pad=0)


def run_examples(
    sym: Any, arg_params: Dict[str, Any], aux_params: Dict[str, Any], data: Any, collector: Any, ctx: Any,
    max_num_examples: Optional[int] = None, descriptions: Optional[List[Any]] = None,
) -> int:  # fmt: skip
    """Runs the network on examples, whole batches, with the collector watching; returns how many examples it saw.

    `descriptions` has the network's names for the arrays of a batch, where the iterator's own are others.
    """
    descriptions = descriptions or list(data.provide_data)
    executor = sym.simple_bind(ctx, grad_req="null", **{each[0]: tuple(each[1]) for each in descriptions})
    executor.copy_params_from(arg_params, aux_params, allow_extra_params=True)
    executor.set_monitor_callback(collector.collect, monitor_all=True)
    seen = 0
    data.reset()
    for batch in _batches(data):
        arrays = {each[0]: array for each, array in zip(descriptions, batch.data)}
        executor.forward(is_train=False, **arrays)
        nd.waitall()
        seen += batch.data[0].shape[0]
        if max_num_examples is not None and seen >= max_num_examples:
            break
    if seen == 0:
        raise ValueError("calib_data: given no batch, expected one or more")
    return seen


def _batches(data: DataIter) -> Iterator[DataBatch]:
    while True:
        try:
            batch = data.next()
        except StopIteration:
            return
        yield batch
