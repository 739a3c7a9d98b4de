# SPDX-License-Identifier: Apache-2.0
"""Arrays and operators on them: mx.nd."""

import importlib
from typing import Any

from . import _generate
from .ndarray import *  # noqa: F403
from .ndarray import NDArray, NDArrayBase
from .sparse import CSRNDArray, RowSparseNDArray
from .utils import load, load_frombuffer, save
from . import _internal, contrib, image, linalg, op, random, sparse, utils  # noqa: E402
from ._generate import _Null

_operator = _generate.fill(__name__, "")
_PARTS = {"np": "numpy", "npx": "numpy_extension", "numpy": "numpy", "numpy_extension": "numpy_extension"}


def __getattr__(name: str) -> Any:
    if name in _PARTS:  # F.np and F.npx of Gluon's blocks, loaded when they are first asked for
        return importlib.import_module(f"{__name__}.{_PARTS[name]}")
    return _operator(name)


def __dir__() -> list:
    return sorted({*globals(), *_PARTS, *_generate.names_in("")})
