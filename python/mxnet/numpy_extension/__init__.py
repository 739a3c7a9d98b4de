# SPDX-License-Identifier: Apache-2.0
"""What neural networks need beyond NumPy: mx.npx."""

from typing import Any

from .. import _lazy, base
from .. import numpy as _numpy  # noqa: F401  (results are its arrays)
from ..context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from ..ndarray import _generate
from ..ndarray.ndarray import waitall
from ..util import get_cuda_compute_capability, is_np_array, is_np_shape, reset_np, set_np
from . import image, random, utils
from .utils import load, save

_filled = _generate.fill(__name__, "_npx_")


def nonzero(a: Any) -> Any:
    """The places of elements other than zero, a row of int64 each."""
    return _generate.operator("_npx_nonzero")(a)


def constraint_check(x: Any, msg: str = "Constraint violated.") -> Any:
    """True if all elements are; an error with a message when the result is read otherwise."""
    return _generate.operator("_npx_constraint_check")(x, msg=msg)


def reshape(a: Any, newshape: Any, reverse: bool = False, order: str = "C") -> Any:
    """Another shape, with -2 to -6 for what stays, goes, is merged or split."""
    return _generate.operator("_npx_reshape")(a, newshape=newshape, reverse=reverse, order=order)


def __getattr__(name: str) -> Any:
    if name in ("check_call", "classproperty", "with_metaclass"):
        return getattr(base, name)
    return _filled(name)


def __dir__() -> list:
    return _lazy.listed(globals(), (name for name in _generate.names_in("_npx_") if name[0] != "_"))
