# SPDX-License-Identifier: Apache-2.0
"""Tables of a block: what runs on an input, with shapes and numbers of parameters."""

from __future__ import annotations

from html import escape
from typing import Any, Dict, List, Tuple

from ..ndarray import NDArray
from ._block import Block
from ._errors import MismatchError
from .parameter import Parameter

_WIDTH = 80


def _shapes(nested: Any) -> str:
    """Shapes of arrays in nested lists, as a text."""
    if isinstance(nested, (list, tuple)):
        return ", ".join(_within(item) for item in nested)
    return _within(nested)


def _within(nested: Any) -> str:
    if isinstance(nested, (list, tuple)):
        return "[" + ", ".join(_within(item) for item in nested) + "]"
    return str(nested.shape) if isinstance(nested, NDArray) else str(nested)


def _size(parameter: Parameter) -> int:
    size = 1
    for dim in parameter.shape or (0,):
        size *= dim
    return size


class _Counter:
    """Collects a row per block that runs, and counts parameters."""

    def __init__(self) -> None:
        self.rows: List[Tuple[str, Any, int]] = []
        self.total = self.trainable = self.shared = 0
        self._seen: Dict[int, Parameter] = {}

    def block_ran(self, block: Block, _: Any, outputs: Any) -> None:
        own = list(block.params.values())
        for parameter in own:
            size = _size(parameter)
            self.total += size
            self.trainable += size if parameter.grad_req != "null" else 0
            if id(parameter) in self._seen:
                self.shared += size
            self._seen[id(parameter)] = parameter
        name = f"{type(block).__name__}-{len(self.rows)}"
        self.rows.append((name, _shapes(outputs), sum(map(_size, own))))


def _skipped(block: Block) -> bool:
    from .nn import HybridSequential, Sequential

    return isinstance(block, (Sequential, HybridSequential))


def summary(block: Block, *inputs: Any) -> str:
    """The table that Block.summary prints."""
    counter = _Counter()
    counter.rows.append(("Input", _shapes(inputs[0] if len(inputs) == 1 else inputs), 0))
    handles = []

    def watch(part: Block) -> None:
        if getattr(part, "_active", False):
            raise MismatchError(f"{part.name} is hybridized; a summary needs its blocks to run one by one")
        if not _skipped(part):
            handles.append(part.register_forward_hook(counter.block_ran))

    try:
        block.apply(watch)
        block(*inputs)
    finally:
        for handle in handles:
            handle.detach()
    unique = sum(_size(parameter) for parameter in block.collect_params().values())
    return "\n".join(_lines(counter, unique))


def _lines(counter: _Counter, unique: int) -> List[str]:
    def row(name: str, shape: Any, count: Any) -> str:
        return f"{name:>20}  {shape!s:>42} {count!s:>15}"

    return [
        "-" * _WIDTH,
        row("Layer (type)", "Output Shape", "Param #"),
        "=" * _WIDTH,
        *(row(*line) for line in counter.rows),
        "=" * _WIDTH,
        "Parameters in forward computation graph, duplicate included",
        f"   Total params: {counter.total}",
        f"   Trainable params: {counter.trainable}",
        f"   Non-trainable params: {counter.total - counter.trainable}",
        f"Shared params in forward computation graph: {counter.shared}",
        f"Unique parameters in model: {unique}",
        "-" * _WIDTH,
    ]


def as_html(block: Block) -> str:
    """The tree of a block as a table for notebooks: path, kind, parameters."""
    rows: List[str] = []

    def visit(part: Block, path: str) -> None:
        shapes = ", ".join(f"{name} {tuple(p.shape) if p.shape else '?'}" for name, p in part._reg_params.items())
        count = sum(_size(parameter) for parameter in part.collect_params().values())
        cells = (path or part.name, type(part).__name__, shapes, f"{count:,}")
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        for name, child in part._children.items():
            visit(child, f"{path}.{name}" if path else name)

    visit(block, "")
    head = "".join(f"<th>{name}</th>" for name in ("block", "kind", "parameters", "count"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
