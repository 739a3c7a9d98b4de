# SPDX-License-Identifier: Apache-2.0
"""Arrays and operators on them: mx.nd."""

from .. import _lazy
from .._core import CachedOp
from . import _generate
from .ndarray import *  # noqa: F403
from .ndarray import NDArray, NDArrayBase
from .sparse import CSRNDArray, RowSparseNDArray
from .utils import load, load_frombuffer, save
from . import _internal, contrib, image, linalg, op, random, sparse, utils  # noqa: E402
from ._generate import _Null

_operators = _generate.fill(__name__, "")
_MODULES = {"np": "numpy", "npx": "numpy_extension", "numpy": "numpy", "numpy_extension": "numpy_extension"}


def __getattr__(name: str) -> object:
    return _lazy.module(__name__, _MODULES[name]) if name in _MODULES else _operators(name)


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in(""), *_MODULES})
