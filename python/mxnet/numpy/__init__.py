# SPDX-License-Identifier: Apache-2.0
"""NumPy's interface on mx.np arrays: mx.np."""

from . import _array, arrayprint, fallback, fallback_linalg, function_base, io, linalg, multiarray, random, stride_tricks, utils
from ._array import ndarray
from .arrayprint import set_printoptions
from .function_base import meshgrid
from .io import genfromtxt
from .multiarray import *  # noqa: F403
from .stride_tricks import broadcast_arrays
from .utils import *  # noqa: F403

__all__: list = []


def __getattr__(name: str):  # type: ignore[no-untyped-def]
    return fallback.__getattr__(name)
