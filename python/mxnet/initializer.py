# SPDX-License-Identifier: Apache-2.0
"""First values of parameters. An initializer is called with a parameter's name and its array.

The name's ending says what a parameter is for (weight, bias, gamma ...); an attribute `__init__` of the
variable (an InitDesc carries them) says it exactly. Draws come from the library's random streams.
"""

from __future__ import annotations

import json
import logging
import math
import re
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import registry
from .base import string_types  # noqa: F401  (public here)

__all__ = [
    "Bilinear", "Constant", "FusedRNN", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed", "Normal",
    "One", "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create", "register",
]  # fmt: skip


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
        arr[:] = 0.0

    def _init_one(self, _: str, arr: Any) -> None:
        arr[:] = 1.0

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


def _uniform(scale: float, arr: Any) -> None:
    from .ndarray import random

    random.uniform(-scale, scale, out=arr)


def _normal(sigma: float, arr: Any) -> None:
    from .ndarray import random

    random.normal(0, sigma, out=arr)


class Load:
    """Values from a file or dictionary of arrays, by name; `default_init` for names that it lacks."""

    def __init__(self, param: Any, default_init: Any = None, verbose: bool = False) -> None:
        if isinstance(param, str):
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
            arr[:] = loaded
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
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Ones."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[:] = 1


@register
class Constant(Initializer):
    """A number, or an array of the parameter's shape."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[:] = self.value

    def dumps(self) -> str:
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
        arr[:] = 0.0
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
