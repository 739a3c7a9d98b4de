# SPDX-License-Identifier: Apache-2.0
"""The base of initializers. One is called with a parameter's name and its array.

The name's ending says what a parameter is for (weight, bias, gamma ...); an attribute `__init__` of the
variable (an InitDesc carries them) says it exactly.
"""

from __future__ import annotations

import json
import logging
import math
from typing import Any, Callable, Dict, Optional

from . import registry


class InitDesc(str):
    """A parameter's name, with the attributes of its variable and the initializer of the whole network."""

    attrs: Dict[str, str]
    global_init: Any

    def __new__(cls, name: str, attrs: Optional[Dict[str, str]] = None, global_init: Any = None) -> InitDesc:
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


def _spread(arr: Any) -> str:
    return str((arr.norm() / math.sqrt(arr.size)).asscalar())


class Initializer:
    """The base. A subclass defines `_init_weight(name, arr)`; keyword arguments are what `dumps` writes."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Optional[Callable[[Any], str]] = None

    def set_verbosity(self, verbose: bool = False, print_func: Optional[Callable[[Any], str]] = None) -> Initializer:
        """Logs each parameter that is initialized, with what `print_func(arr)` says of it."""
        self._verbose = verbose
        self._print_func = print_func or _spread
        return self

    def _verbose_print(self, desc: str, init: str, arr: Any) -> None:
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", desc, init, self._print_func(arr))

    def dumps(self) -> str:
        """The initializer as JSON, as the attribute `__init__` of a variable holds it."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc: str, arr: Any) -> None:
        """Fills an array as the parameter's description asks for."""
        if not isinstance(desc, InitDesc):
            self._by_old_rules(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            create(own)._init_weight(desc, arr)
            self._verbose_print(desc, own, arr)
            return
        for endings, kind in _ENDINGS:
            if desc.endswith(endings):
                getattr(self, f"_init_{kind}")(desc, arr)
                self._verbose_print(desc, kind, arr)
                return
        self._init_default(desc, arr)

    def _by_old_rules(self, name: str, arr: Any) -> None:
        """For plain texts as names: more endings, and two layers by the beginning."""
        if not isinstance(name, str):
            raise TypeError(f"given a name of type {type(name).__name__}, expected str or InitDesc")
        if name.startswith("upsampling"):
            self._init_bilinear(name, arr)
            return
        if name.startswith("stn_loc") and name.endswith(("weight", "bias")):
            (self._init_zero if name.endswith("weight") else self._init_loc_bias)(name, arr)
            return
        for ending, kind in _OLD_ENDINGS:
            if name.endswith(ending):
                getattr(self, f"_init_{kind}")(name, arr)
                return
        self._init_default(name, arr)

    # --- What a kind of parameter starts with, whatever the initializer

    def _init_bilinear(self, _: str, arr: Any) -> None:
        import numpy as np

        shape = arr.shape
        if len(shape) != 4:
            raise ValueError(f"given a weight of shape {shape} for bilinear upsampling, expected four dimensions")
        half = math.ceil(shape[3] / 2.0)
        center = (2 * half - 1 - half % 2) / (2.0 * half)
        rows = 1 - np.abs(np.arange(shape[2]) / half - center)
        columns = 1 - np.abs(np.arange(shape[3]) / half - center)
        arr[:] = np.broadcast_to(np.outer(rows, columns).astype(np.float32), shape)

    def _init_loc_bias(self, _: str, arr: Any) -> None:
        if arr.shape[0] != 6:
            raise ValueError(f"given a bias of shape {arr.shape}, expected the 6 numbers of an affine transformation")
        import numpy as np

        arr[:] = np.array([1.0, 0, 0, 0, 1.0, 0], np.float32)

    def _init_zero(self, _: str, arr: Any) -> None:
        arr[...] = 0.0

    def _init_one(self, _: str, arr: Any) -> None:
        arr[...] = 1.0

    _init_bias = _init_zero
    _init_gamma = _init_one
    _init_beta = _init_zero

    def _init_quantized_weight(self, _: str, arr: Any) -> None:
        from .ndarray import random

        arr[:] = random.randint(-127, 127, dtype="int32", shape=arr.shape, ctx=arr.context).astype("int8")

    _init_quantized_bias = _init_zero

    def _init_weight(self, name: str, arr: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no _init_weight(name, arr)")

    def _init_default(self, name: str, _: Any) -> None:
        raise ValueError(
            f"given parameter {name!r}, expected a name that ends in one of weight, bias, gamma (1), beta (0), or an "
            "initializer of its own: mx.sym.Variable(name, init=mx.init...)"
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._kwargs == other._kwargs  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]  # arguments may be lists


# What the end of a name says, the first that fits; by descriptions, and by plain texts.
_ENDINGS = (
    (("weight",), "weight"),
    (("bias",), "bias"),
    (("gamma",), "gamma"),
    (("beta",), "beta"),
    (("min",), "zero"),
    (("max",), "one"),
    (("weight_quantize",), "quantized_weight"),
    (("bias_quantize",), "quantized_bias"),
)
_OLD_ENDINGS = (
    ("bias", "bias"),
    ("gamma", "gamma"),
    ("beta", "beta"),
    ("weight", "weight"),
    ("moving_mean", "zero"),
    ("moving_var", "one"),
    ("moving_inv_var", "zero"),
    ("moving_avg", "zero"),
    ("min", "zero"),
    ("max", "one"),
)

register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")
