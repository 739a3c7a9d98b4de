# SPDX-License-Identifier: Apache-2.0
"""The operators that layers use, under mx.nd's names, for mx.nd and for mx.np arrays.

A layer calls `op(F, "FullyConnected")(...)`: with NumPy's arrays that is F.npx.fully_connected. What np and npx do
not have runs as the operator of mx.nd, on the same memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, Dict, Tuple

from .._core import is_np_array

# Names in mx.nd and, where another function or other parameters are needed, what has them in np or npx.
_OTHERS: Dict[str, str] = {
    "Activation": "npx.activation",
    "BatchNorm": "npx.batch_norm",
    "Convolution": "npx.convolution",
    "Deconvolution": "npx.deconvolution",
    "Dropout": "npx.dropout",
    "Embedding": "npx.embedding",
    "Flatten": "npx.batch_flatten",
    "FullyConnected": "npx.fully_connected",
    "LayerNorm": "npx.layer_norm",
    "LeakyReLU": "npx.leaky_relu",
    "Pooling": "npx.pooling",
    "RNN": "npx.rnn",
    "SequenceMask": "npx.sequence_mask",
    "broadcast_maximum": "np.maximum",
    "broadcast_mul": "np.multiply",
    "concat": "np.concatenate",
    "identity": "np.copy",
    "log_softmax": "npx.log_softmax",
    "pad": "npx.pad",  # np.pad is another function
    "pick": "npx.pick",
    "relu": "npx.relu",
    "reshape_like": "npx.reshape_like",
    "sigmoid": "npx.sigmoid",
    "smooth_l1": "npx.smooth_l1",
    "softmax": "npx.softmax",
}
_NUMPY: Dict[str, Tuple[str, str]] = {name: tuple(path.split(".")) for name, path in _OTHERS.items()}  # type: ignore[misc]


def op(F: Any, name: str) -> Callable[..., Any]:
    """An operator for the kind of arrays that the thread works with."""
    if not is_np_array():
        return getattr(F, name)
    module, function = _NUMPY.get(name) or ("np", name)
    found = getattr(getattr(F, module), function, None)
    if found is None:
        return _bridged(getattr(F, name))
    return _without_name(found) if module == "np" else found


@lru_cache(maxsize=None)
def _without_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's functions do not take names of nodes."""
    return lambda *args, name=None, **kwargs: function(*args, **kwargs)


def _bridged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of mx.nd or mx.sym, for arrays or symbols of mx.np."""

    def plain(value: Any) -> Any:
        return value.as_nd_ndarray() if hasattr(value, "as_nd_ndarray") else value

    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})
        return [part.as_np_ndarray() for part in made] if isinstance(made, list) else made.as_np_ndarray()

    return call
