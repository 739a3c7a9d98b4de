# SPDX-License-Identifier: Apache-2.0
"""The operators that layers use, under mx.nd's names, for mx.nd and for mx.np arrays.

A layer calls `op(F, "FullyConnected")(...)`: with NumPy's arrays that is F.npx.fully_connected.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

from ..util import is_np_array

# Names in mx.nd and, where another function or other parameters are needed, what has them in np or npx.
_NUMPY: Dict[str, str] = {
    "Activation": "npx.activation",
    "BatchNorm": "npx.batch_norm",
    "Convolution": "npx.convolution",
    "Deconvolution": "npx.deconvolution",
    "Dropout": "npx.dropout",
    "Embedding": "npx.embedding",
    "Flatten": "npx.batch_flatten",
    "FullyConnected": "npx.fully_connected",
    "GroupNorm": "npx.group_norm",
    "InstanceNorm": "npx.instance_norm",
    "LayerNorm": "npx.layer_norm",
    "LeakyReLU": "npx.leaky_relu",
    "Pooling": "npx.pooling",
    "RNN": "npx.rnn",
    "CTCLoss": "npx.ctc_loss",
    "broadcast_maximum": "np.maximum",
    "broadcast_mul": "np.multiply",
    "concat": "np.concatenate",
    "identity": "np.copy",
    "log_softmax": "npx.log_softmax",
    "pad": "npx.pad",
    "pick": "npx.pick",
    "relu": "npx.relu",
    "reshape_like": "npx.reshape_like",
    "sigmoid": "npx.sigmoid",
    "softmax": "npx.softmax",
}


def op(F: Any, name: str) -> Callable[..., Any]:
    """An operator for the kind of arrays that the thread works with."""
    if not is_np_array():
        return getattr(F, name)
    module, _, function = _NUMPY.get(name, f"np.{name}").partition(".")
    return getattr(getattr(F, module), function)
