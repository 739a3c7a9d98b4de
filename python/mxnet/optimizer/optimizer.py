# SPDX-License-Identifier: Apache-2.0
"""All optimizers in the module by which files of states name them."""

from __future__ import annotations

from typing import Any

from .. import ndarray as _nd
from ._adaptive import FTML, AdaDelta, Adam, AdaGrad, Adamax, Ftrl, Nadam, RMSProp
from ._base import Optimizer, register
from ._layerwise import LAMB, LARS, LBSGD
from ._sgd import DCASGD, NAG, SGD, SGLD, Signum, Test, ccSGD
from ._updater import Updater, get_updater

__all__ = [
    "AdaDelta", "AdaGrad", "Adam", "Adamax", "DCASGD", "FTML", "Ftrl", "LAMB", "LARS", "LBSGD", "NAG", "Nadam",
    "Optimizer", "RMSProp", "SGD", "SGLD", "Signum", "Test", "Updater", "ccSGD", "create", "get_updater", "register",
]  # fmt: skip

create = Optimizer.create_optimizer

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__  # pickles of other versions look for it here

_OPERATOR_NAMES = {"NDabs": "abs", "NDnorm": "norm"}


def __getattr__(name: str) -> Any:
    """Operators, which programs import from here too."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_nd, _OPERATOR_NAMES.get(name, name))
