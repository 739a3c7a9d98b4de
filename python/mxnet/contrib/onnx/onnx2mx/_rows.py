# SPDX-License-Identifier: Apache-2.0
"""The table of what can be read: a function for each ONNX operator. It gets the node and returns a symbol, a constant, or a list."""

from __future__ import annotations

from typing import Any, Callable, Dict

Reader = Callable[[Any], Any]

convert_map: Dict[str, Reader] = {}


def reads(*names: str) -> Callable[[Reader], Reader]:
    """Declares a function as the reader of these ONNX operators."""

    def add(reader: Reader) -> Reader:
        convert_map.update(dict.fromkeys(names, reader))
        return reader

    return add
