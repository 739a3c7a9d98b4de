# SPDX-License-Identifier: Apache-2.0
"""A look at the values inside of a network while it is trained."""

from __future__ import annotations

import logging
import math
import re
from typing import Any, Callable, List, Optional, Tuple

from ._core import NDArrayBase

__all__ = ["Monitor"]


def _mean_size(array: Any) -> Any:
    """|x| / sqrt(number of elements)."""
    return array.norm() / math.sqrt(array.size)


class Monitor:
    """Every `interval` batches, a statistic of all values whose names match `pattern`.

    `stat_func` makes an array (or a list) of an array; with `sort` the results are ordered by name, with
    `monitor_all` inputs of nodes are seen as well.
    """

    def __init__(
        self,
        interval: int,
        stat_func: Optional[Callable[[Any], Any]] = None,
        pattern: str = ".*",
        sort: bool = False,
        monitor_all: bool = False,
    ) -> None:
        self.stat_func = stat_func or _mean_size
        self.interval = interval
        self.activated = False
        self.queue: List[Tuple[int, str, Any]] = []
        self.step = 0
        self.exes: List[Any] = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name: Any, array: Any) -> None:
        """Is called with each value while the monitor is active."""
        name = name.decode() if isinstance(name, bytes) else name
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: Any) -> None:
        """Sees the values of an executor."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def _wait(self) -> None:
        for exe in self.exes:
            for array in [*exe.arg_arrays, *exe.aux_arrays]:
                array.wait_to_read()

    def tic(self) -> None:
        """Before a batch: begins to look, if it is the turn."""
        if self.step % self.interval == 0:
            self._wait()
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> List[Tuple[int, str, str]]:
        """After a batch: (step, name, statistic as text) of what was seen, parameters and states included."""
        if not self.activated:
            return []
        self._wait()
        for exe in self.exes:
            named = [*zip(exe._symbol.list_arguments(), exe.arg_arrays), *zip(exe._symbol.list_auxiliary_states(), exe.aux_arrays)]
            for name, array in named:
                if self.re_prog.match(name):
                    self.queue.append((self.step, name, self.stat_func(array)))
        self.activated = False
        if self.sort:
            self.queue.sort(key=lambda item: item[1])
        found = []
        for step, name, values in self.queue:
            values = values if isinstance(values, list) else [values]
            for value in values:
                if not isinstance(value, NDArrayBase):
                    raise TypeError(f"{name}: given a {type(value).__name__} by stat_func, expected an array or a list of arrays")
            found.append((step, name, "".join(f"{_text(value)}\t" for value in values)))
        self.queue = []
        return found

    def toc_print(self) -> None:
        """After a batch: writes what was seen to the log."""
        for step, name, text in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, text)


def _text(value: Any) -> str:
    if value.shape in ((), (1,)):
        return str(value.asscalar())
    return str(value._values())
