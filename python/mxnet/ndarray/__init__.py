# SPDX-License-Identifier: Apache-2.0
"""Arrays and operators on them: mx.nd."""

import multiprocessing.pool  # noqa: F401 # Sockeye says `multiprocessing.pool.Pool` and imports this package only
from typing import Any

from .. import _lazy
from .._core import CachedOp
from . import _generate
from .ndarray import *  # noqa: F403
from .ndarray import _DTYPE_MX_TO_NP, _DTYPE_NP_TO_MX, _GRAD_REQ_MAP, NDArray, NDArrayBase, _new_empty_handle, array, concatenate
from .sparse import CSRNDArray, RowSparseNDArray
from .utils import load, load_frombuffer, save
from . import _internal, contrib, image, linalg, op, random, sparse, utils  # noqa: E402
from ._generate import _Null

_operators = _generate.fill(__name__, "")
_MODULES = {"np": "numpy", "npx": "numpy_extension", "numpy": "numpy", "numpy_extension": "numpy_extension"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        return _operators(name)
    globals()[name] = module = _lazy.module(__name__, _MODULES[name])  # layers ask for it with every call
    return module


def __dir__() -> list:
    return _lazy.listed(globals(), _generate.names_in(""), _MODULES)
