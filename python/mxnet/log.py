# SPDX-License-Identifier: Apache-2.0
"""Loggers: what they write to the error stream begins with level, time, process and place, in colours on a terminal."""

from __future__ import annotations

import logging
import sys
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING
from typing import Any, Optional

__all__ = ["CRITICAL", "DEBUG", "ERROR", "INFO", "NOTSET", "WARNING", "getLogger", "get_logger"]

_COLOURS = {WARNING: "\x1b[33m", ERROR: "\x1b[31m", CRITICAL: "\x1b[31m"}


class _Formatter(logging.Formatter):
    def __init__(self, colored: bool) -> None:
        super().__init__(datefmt="%m%d %H:%M:%S")
        self._colored = colored

    def format(self, record: logging.LogRecord) -> str:
        letter = record.levelname[0]
        head = f"{letter}%(asctime)s %(process)d %(pathname)s:%(funcName)s:%(lineno)d"
        if self._colored:
            head = f"{_COLOURS.get(record.levelno, chr(27) + '[32m')}{head}\x1b[0m"
        self._style._fmt = f"{head}] %(message)s"
        return super().format(record)


def get_logger(name: Optional[str] = None, filename: Optional[str] = None, filemode: Optional[str] = None, level: int = WARNING) -> logging.Logger:
    """The logger of that name, which writes to a file, the messages alone, or to the error stream."""
    logger = logging.getLogger(name)
    if name is not None and not getattr(logger, "_init_done", False):
        logger._init_done = True  # type: ignore[attr-defined]
        handler: logging.Handler
        if filename:
            handler = logging.FileHandler(filename, filemode or "a")
        else:
            handler = logging.StreamHandler()
            handler.setFormatter(_Formatter(colored=sys.stderr.isatty()))
        logger.addHandler(handler)
        logger.setLevel(level)
    return logger


def getLogger(name: Any = None, filename: Any = None, filemode: Any = None, level: int = WARNING) -> logging.Logger:  # pylint: disable=invalid-name
    """Is get_logger; old programs name it."""
    warnings.warn("getLogger is deprecated, use get_logger", DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)
