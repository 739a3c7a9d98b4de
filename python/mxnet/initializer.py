# SPDX-License-Identifier: Apache-2.0
"""First values of parameters: every initializer. Draws come from the library's random streams."""

from __future__ import annotations

import logging
import math
import os
import re
from typing import Any, List, Sequence

from ._initializer_base import InitDesc, Initializer, alias, create, register
from .base import string_types  # noqa: F401  (public here)
from .util import is_np_array

__all__ = [
    "Bilinear", "Constant", "FusedRNN", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed", "Normal",
    "One", "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create", "register",
]  # fmt: skip

InitDesc.__module__ = Initializer.__module__ = __name__  # pickles of other versions look for them here


def _draw(name: str, first: float, second: float, arr: Any) -> None:
    """Into the array, from the stream of the arrays in force: np.random has one of its own."""
    if is_np_array():
        from ._numpy.arrays import arrays

        arr[...] = arrays.section("random").names[name](first, second, arr.shape, ctx=arr.context)
        return
    from .ndarray import random

    getattr(random, name)(first, second, out=arr)


def _uniform(scale: float, arr: Any) -> None:
    _draw("uniform", -scale, scale, arr)


def _normal(sigma: float, arr: Any) -> None:
    _draw("normal", 0, sigma, arr)


class Load:
    """Values from a file or dictionary of arrays, by name; `default_init` for names that it lacks."""

    def __init__(self, param: Any, default_init: Any = None, verbose: bool = False) -> None:
        if isinstance(param, (str, os.PathLike)):
            from .ndarray import load

            param = load(param)
        if not isinstance(param, dict):
            raise TypeError(f"given {type(param).__name__}, expected a dictionary of arrays or the file of one")
        self.param = {name[4:] if name.startswith(("arg:", "aux:")) else name: arr for name, arr in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: Any) -> None:
        """Fills an array."""
        loaded = self.param.get(name)
        if loaded is not None:
            if arr.shape != loaded.shape:
                raise ValueError(f"parameter {name}: given shape {loaded.shape}, expected {arr.shape}")
            arr[...] = loaded
        elif self.default_init is None:
            raise ValueError(f"parameter {name}: expected it in what was loaded, or a default_init")
        else:
            self.default_init(name, arr)
        if self.verbose:
            logging.info("Initialized %s by %s", name, "default" if loaded is None else "loading")


class Mixed:
    """The initializer of the first pattern that matches the name's beginning."""

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Any]) -> None:
        if len(patterns) != len(initializers):
            raise ValueError(f"given {len(patterns)} patterns and {len(initializers)} initializers, expected as many of each")
        self.map: List[Any] = list(zip([re.compile(pattern) for pattern in patterns], initializers))

    def __call__(self, name: str, arr: Any) -> None:
        """Fills an array."""
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise ValueError(f"parameter {name}: no pattern matches; '.*' as the last one matches all")


@register
@alias("zeros")
class Zero(Initializer):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[...] = 0


@register
@alias("ones")
class One(Initializer):
    """Ones."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[...] = 1


@register
class Constant(Initializer):
    """A number, or an array of the parameter's shape."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[...] = self.value

    def dumps(self) -> str:
        """The initializer as JSON, with an array's numbers as a list."""
        if not isinstance(self._kwargs["value"], (int, float, list)):
            values = self._kwargs["value"]
            self._kwargs["value"] = values.tolist() if hasattr(values, "tolist") else list(values)
        return super().dumps()


@register
class Uniform(Initializer):
    """Evenly in [-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: Any) -> None:
        _uniform(self.scale, arr)


@register
class Normal(Initializer):
    """The normal distribution with standard deviation `sigma`."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: Any) -> None:
        _normal(self.sigma, arr)


@register
class Orthogonal(Initializer):
    """Orthogonal rows (or columns, of the shorter side) of length `scale`."""

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        if rand_type not in ("uniform", "normal"):
            raise ValueError(f"given rand_type {rand_type!r}, expected 'uniform' or 'normal'")
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: Any) -> None:
        import numpy as np

        from .ndarray import random

        shape = (arr.shape[0], int(np.prod(arr.shape[1:])))
        drawn = random.uniform(-1.0, 1.0, shape=shape) if self.rand_type == "uniform" else random.normal(0, 1, shape=shape)
        # NumPy's decomposition: its signs are part of the numbers that a seed promises.
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        basis = left if left.shape == shape else right
        arr[:] = (self.scale * basis).reshape(arr.shape)


@register
class Xavier(Initializer):
    """A spread of sqrt(magnitude / fan), so that signals keep their size from layer to layer."""

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: Any) -> None:
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(f"parameter {name}: given shape {shape}, expected at least 2 dimensions")
        area = math.prod(shape[2:])
        fans = {"in": shape[1] * area, "out": shape[0] * area, "avg": (shape[1] * area + shape[0] * area) / 2.0}
        if self.factor_type not in fans:
            raise ValueError(f"given factor_type {self.factor_type!r}, expected 'in', 'out' or 'avg'")
        scale = math.sqrt(self.magnitude / fans[self.factor_type])
        if self.rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f"given rnd_type {self.rnd_type!r}, expected 'uniform' or 'gaussian'")
        (_uniform if self.rnd_type == "uniform" else _normal)(scale, arr)


@register
class MSRAPrelu(Xavier):
    """Xavier's for layers before a rectifier with this slope on the negative side."""

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """The weights of bilinear upsampling."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        self._init_bilinear(name, arr)


@register
class LSTMBias(Initializer):
    """Zeros, but `forget_bias` for the second of an LSTM's four gates."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: Any) -> None:
        hidden = arr.shape[0] // 4
        arr[...] = 0.0
        arr[hidden : 2 * hidden] = self.forget_bias


@register
class FusedRNN(Initializer):
    """Each matrix and bias within the one vector of a fused recurrent layer by `init`."""

    def __init__(
        self,
        init: Any,
        num_hidden: int,
        num_layers: int,
        mode: str,
        bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        if isinstance(init, str):
            init = create(init)
        super().__init__(
            init=init.dumps() if init is not None else None,
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init = init
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _init_weight(self, name: str, arr: Any) -> None:
        from .rnn import rnn_cell

        cell = rnn_cell.FusedRNNCell(
            self._num_hidden,
            self._num_layers,
            self._mode,
            self._bidirectional,
            forget_bias=self._forget_bias,
            prefix="",
        )
        parts = cell.unpack_weights({"parameters": arr})
        whole = getattr(name, "global_init", None)
        for part, values in parts.items():
            desc = InitDesc(part, global_init=whole)
            if self._mode == "lstm" and part.endswith("_f_bias"):
                values[:] = self._forget_bias
            elif self._init is None:
                if whole is None:
                    raise ValueError(f"parameter {name}: FusedRNN(init=None) needs the initializer of a network")
                whole(desc, values)
            else:
                self._init(desc, values)
        arr[:] = cell.pack_weights(parts)["parameters"]
