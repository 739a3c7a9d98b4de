# SPDX-License-Identifier: Apache-2.0
"""Pooling over windows and over whole images, in one to three dimensions; conv_layers.py shows it."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from .._ops import op
from ..block import HybridBlock
from ._windows import one_of_layouts, per_dimension


class _Pooling(HybridBlock):
    """What all kinds of pooling have in common."""

    def __init__(
        self,
        pool_size: Tuple[int, ...],
        strides: Any,
        padding: Any,
        ceil_mode: bool,
        global_pool: bool,
        pool_type: str,
        layout: str,
        count_include_pad: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        dims = len(pool_size)
        self._kwargs: Dict[str, Any] = {
            "kernel": pool_size,
            "stride": per_dimension(pool_size if strides is None else strides, dims),
            "pad": per_dimension(padding, dims),
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns the pooled array, in the layout that it has."""
        return op(F, "Pooling")(x, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        facts = self._kwargs
        return (
            f"{type(self).__name__}(size={facts['kernel']}, stride={facts['stride']}, padding={facts['pad']}, "
            f"ceil_mode={facts['pooling_convention'] == 'full'}, global_pool={facts['global_pool']}, "
            f"pool_type={facts['pool_type']}, layout={facts['layout']})"
        )


class MaxPool1D(_Pooling):
    """The largest value of each window of `pool_size`; windows lie `strides` apart, by default side by side. With
    `ceil_mode` a last one that is not full counts."""

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: str = "NCW", ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        layout = one_of_layouts(layout, "NCW", "NWC")
        super().__init__(per_dimension(pool_size, 1), strides, padding, ceil_mode, False, "max", layout, **kwargs)


class MaxPool2D(_Pooling):
    """The largest value of each window of `pool_size`; windows lie `strides` apart, by default side by side. With
    `ceil_mode` a last one that is not full counts."""

    def __init__(
        self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = 0, layout: str = "NCHW",
        ceil_mode: bool = False, **kwargs: Any,
    ) -> None:
        layout = one_of_layouts(layout, "NCHW", "NHWC")
        super().__init__(per_dimension(pool_size, 2), strides, padding, ceil_mode, False, "max", layout, **kwargs)


class MaxPool3D(_Pooling):
    """The largest value of each window of `pool_size`; windows lie `strides` apart, by default side by side. With
    `ceil_mode` a last one that is not full counts."""

    def __init__(
        self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
        layout: str = "NCDHW", **kwargs: Any,
    ) -> None:
        layout = one_of_layouts(layout, "NCDHW", "NDHWC")
        super().__init__(per_dimension(pool_size, 3), strides, padding, ceil_mode, False, "max", layout, **kwargs)


class AvgPool1D(_Pooling):
    """The mean of each window of `pool_size`; windows lie `strides` apart, by default side by side. With `ceil_mode` a
    last one that is not full counts; `count_include_pad` says whether padding does."""

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: Any = 0, layout: str = "NCW", ceil_mode: bool = False,
        count_include_pad: bool = True, **kwargs: Any,
    ) -> None:
        layout = one_of_layouts(layout, "NCW", "NWC")
        super().__init__(
            per_dimension(pool_size, 1), strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs
        )


class AvgPool2D(_Pooling):
    """The mean of each window of `pool_size`; windows lie `strides` apart, by default side by side. With `ceil_mode` a
    last one that is not full counts; `count_include_pad` says whether padding does."""

    def __init__(
        self, pool_size: Any = (2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
        layout: str = "NCHW", count_include_pad: bool = True, **kwargs: Any,
    ) -> None:
        layout = one_of_layouts(layout, "NCHW", "NHWC")
        super().__init__(
            per_dimension(pool_size, 2), strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs
        )


class AvgPool3D(_Pooling):
    """The mean of each window of `pool_size`; windows lie `strides` apart, by default side by side. With `ceil_mode` a
    last one that is not full counts; `count_include_pad` says whether padding does."""

    def __init__(
        self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: Any = 0, ceil_mode: bool = False,
        layout: str = "NCDHW", count_include_pad: bool = True, **kwargs: Any,
    ) -> None:
        layout = one_of_layouts(layout, "NCDHW", "NDHWC")
        super().__init__(
            per_dimension(pool_size, 3), strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs
        )


class GlobalMaxPool1D(_Pooling):
    """The largest value of each channel: (batch, channels, ...) becomes (batch, channels, 1, ...)."""

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__((1,), None, 0, True, True, "max", one_of_layouts(layout, "NCW", "NWC"), **kwargs)


class GlobalMaxPool2D(_Pooling):
    """The largest value of each channel: (batch, channels, ...) becomes (batch, channels, 1, ...)."""

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__((1, 1), None, 0, True, True, "max", one_of_layouts(layout, "NCHW", "NHWC"), **kwargs)


class GlobalMaxPool3D(_Pooling):
    """The largest value of each channel: (batch, channels, ...) becomes (batch, channels, 1, ...)."""

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__((1, 1, 1), None, 0, True, True, "max", one_of_layouts(layout, "NCDHW", "NDHWC"), **kwargs)


class GlobalAvgPool1D(_Pooling):
    """The mean of each channel: (batch, channels, ...) becomes (batch, channels, 1, ...)."""

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__((1,), None, 0, True, True, "avg", one_of_layouts(layout, "NCW", "NWC"), **kwargs)


class GlobalAvgPool2D(_Pooling):
    """The mean of each channel: (batch, channels, ...) becomes (batch, channels, 1, ...)."""

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__((1, 1), None, 0, True, True, "avg", one_of_layouts(layout, "NCHW", "NHWC"), **kwargs)


class GlobalAvgPool3D(_Pooling):
    """The mean of each channel: (batch, channels, ...) becomes (batch, channels, 1, ...)."""

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__((1, 1, 1), None, 0, True, True, "avg", one_of_layouts(layout, "NCDHW", "NDHWC"), **kwargs)
