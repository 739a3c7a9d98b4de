# SPDX-License-Identifier: Apache-2.0
"""Libraries of operators, passes and partitioners made outside of this one."""

from __future__ import annotations

import ctypes
import os
from typing import Union

from ._ctypes.lib import _LIB, c_str, check_call
from .base import MXNetValueError

__all__ = ["load"]


def load(path: Union[str, os.PathLike], verbose: bool = True) -> None:
    """Loads a library, given by its absolute path; `verbose` prints what it registers."""
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise MXNetValueError(f"given {path!r}, expected the path of a file that exists")
    if not os.path.isabs(path):
        raise MXNetValueError(f"given {path!r}, expected an absolute path")
    if not path.endswith((".so", ".dll", ".dylib")):
        raise MXNetValueError(f"given {path!r}, expected a shared library (.so)")
    check_call(_LIB.MXLoadLib(c_str(path), ctypes.c_uint(bool(verbose))))
    from .ndarray import _generate

    _generate.forget_names()  # the registry has grown
