# SPDX-License-Identifier: Apache-2.0
"""Layers side by side, identity, sparse embedding, batch normalization over devices, pixel shuffling."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from ...._core import gpu_count
from ....util import is_np_array
from ..._errors import MismatchError
from ..._ops import op
from ...block import Block, HybridBlock
from ...nn import BatchNorm, HybridSequential, Sequential

__all__ = [
    "Concurrent", "HybridConcurrent", "Identity", "PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D", "SparseEmbedding",
    "SyncBatchNorm",
]


class Concurrent(Sequential):
    """Blocks that all get the same input; their outputs are concatenated along an axis."""

    def __init__(self, axis: int = -1, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any) -> Any:
        """Calls each block with `x`, and joins what they return along `axis`."""
        from .... import ndarray, np

        outputs = [block(x) for block in self._children.values()]
        if is_np_array():
            return np.concatenate(outputs, axis=self.axis)
        return ndarray.concat(*outputs, dim=self.axis)


class HybridConcurrent(HybridSequential):
    """HybridBlocks that all get the same input; their outputs are concatenated along an axis."""

    def __init__(self, axis: int = -1, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Calls each block with `x`, and joins what they return along `axis`."""
        outputs = [block(x) for block in self._children.values()]
        if is_np_array():
            return F.np.concatenate(outputs, axis=self.axis)
        return F.concat(*outputs, dim=self.axis)


class Identity(HybridBlock):
    """What comes in goes out."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns `x`."""
        return x


class SparseEmbedding(Block):
    """Rows of a row_sparse table by their numbers; a step pulls only the rows that it needs."""

    def __init__(
        self, input_dim: int, output_dim: int, dtype: Any = "float32", weight_initializer: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {"input_dim": input_dim, "output_dim": output_dim, "dtype": dtype, "sparse_grad": True}
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            grad_stype="row_sparse",
            stype="row_sparse",
        )

    def forward(self, x: Any) -> Any:
        """Returns (..., output_dim) of numbers (...), each from 0 to before `input_dim`."""
        from .... import ndarray

        return ndarray.Embedding(x, self.weight.row_sparse_data(x), name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(type(self).__name__, **self._kwargs)


class SyncBatchNorm(BatchNorm):
    """BatchNorm with mean and variance over the batches of all devices."""

    def __init__(
        self,
        in_channels: int = 0,
        num_devices: Optional[int] = None,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1, momentum, epsilon, center, scale, use_global_stats, beta_initializer, gamma_initializer,
            running_mean_initializer, running_variance_initializer, in_channels, **kwargs,
        )
        devices = num_devices if num_devices is not None else max(gpu_count(), 1)
        self._kwargs: Dict[str, Any] = {
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
            "ndev": devices,
            "key": self.prefix,
        }

    def _run(self, F: Any) -> Any:
        return F.npx.sync_batch_norm if is_np_array() else F.contrib.SyncBatchNorm


class _PixelShuffle(HybridBlock):
    """Turns channels into space: each pixel becomes a block of `factor` pixels."""

    def __init__(self, factor: Any, dims: int) -> None:
        super().__init__()
        self._factor = factor
        factors = (int(factor),) * dims if isinstance(factor, (int, float)) else tuple(int(f) for f in factor)
        if len(factors) != dims:
            raise MismatchError(f"given factor {factor}, expected a number or {dims} of them")
        self._factors: Tuple[int, ...] = factors

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors[0] if len(self._factors) == 1 else self._factors})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns (batch, channels / product of the factors, sizes * factors) of (batch, channels, sizes)."""
        dims = len(self._factors)
        spread: list = []
        total = 1
        for factor in self._factors:
            total *= factor
        # (N, f1*f2*C, D1, D2) -> (N, C, f1*f2, D1, D2) -> (N, C, f1, f2, D1, D2): factors one by one,
        # since a reshape splits one axis in two.
        x = _reshape(F, x, (0, -4, -1, total, *(0,) * dims))
        for i, factor in enumerate(self._factors[:-1]):
            total //= factor
            x = _reshape(F, x, (0, 0, *(0,) * i, -4, factor, total, *(0,) * dims))
        axes = [0, 1]
        for i in range(dims):
            axes += [2 + dims + i, 2 + i]
            spread.append(-3)
        return _reshape(F, op(F, "transpose")(x, axes=tuple(axes)), (0, 0, *spread))


def _reshape(F: Any, x: Any, shape: Tuple[int, ...]) -> Any:
    if not is_np_array():
        return F.reshape(x, shape=shape)
    # NumPy's reshape has other codes for the same: copy, rest, merge two, split one.
    codes = {0: -2, -3: -5, -4: -6}
    return F.npx.reshape(x, tuple(codes.get(dim, dim) for dim in shape))


class PixelShuffle1D(_PixelShuffle):
    """(N, f*C, W) becomes (N, C, f*W)."""

    def __init__(self, factor: Any) -> None:
        super().__init__(factor, 1)


class PixelShuffle2D(_PixelShuffle):
    """(N, f1*f2*C, H, W) becomes (N, C, f1*H, f2*W)."""

    def __init__(self, factor: Any) -> None:
        super().__init__(factor, 2)


class PixelShuffle3D(_PixelShuffle):
    """(N, f1*f2*f3*C, D, H, W) becomes (N, C, f1*D, f2*H, f3*W)."""

    def __init__(self, factor: Any) -> None:
        super().__init__(factor, 3)
