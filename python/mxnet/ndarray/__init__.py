# SPDX-License-Identifier: Apache-2.0
"""Arrays and operators on them: mx.nd."""

from . import _generate
from .ndarray import *  # noqa: F403
from .._core import CachedOp
from .ndarray import NDArray, NDArrayBase
from .sparse import CSRNDArray, RowSparseNDArray
from .utils import load, load_frombuffer, save
from . import _internal, contrib, image, linalg, op, random, sparse, utils  # noqa: E402
from ._generate import _Null

__getattr__ = _generate.fill(__name__, "")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("")})
