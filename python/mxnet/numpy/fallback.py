# SPDX-License-Identifier: Apache-2.0
"""Functions that run in NumPy: those of mx.np that the library has no operator for.

NumPy calls back the arrays' own protocol (numpy_dispatch_protocol), which shows or copies the arrays, says so once, and
turns what comes out into mx.np arrays.
"""

from __future__ import annotations

from typing import Any, Dict

import numpy as onp

from .. import _lazy

_NAMES = """allclose apply_along_axis apply_over_axes argpartition argwhere array_equal array_equiv choose compress
corrcoef correlate count_nonzero cov digitize divmod extract flatnonzero float_power frexp heaviside histogram2d
histogram_bin_edges histogramdd i0 interp intersect1d isclose isin ix_ lexsort min_scalar_type modf nanargmax nanargmin
nancumprod nancumsum nanmax nanmedian nanmin nanpercentile nanprod nanquantile ndim partition piecewise packbits poly
polyadd polydiv polyfit polyint polymul polysub positive promote_types real result_type rollaxis roots searchsorted
select setdiff1d setxor1d signbit size spacing take_along_axis tril_indices_from trim_zeros triu_indices_from union1d
unpackbits unwrap vander""".split()

# What newer versions of NumPy no longer have, and what it is there.
_RENAMED: Dict[str, Any] = {
    "alltrue": lambda *args, **kwargs: onp.all(*args, **kwargs),
    "in1d": lambda ar1, ar2, *args, **kwargs: onp.isin(onp.ravel(ar1), ar2, *args, **kwargs),
    "msort": lambda a: onp.sort(a, axis=0),
    "trapz": lambda *args, **kwargs: getattr(onp, "trapezoid")(*args, **kwargs),
}
_FINANCIAL = ("mirr", "npv", "pmt", "ppmt", "pv", "rate")


def _financial(name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            import numpy_financial
        except ImportError:
            raise RuntimeError(f"{name}: NumPy has had no financial functions since 1.20; install numpy-financial") from None
        return getattr(numpy_financial, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} of the package numpy-financial."
    return call


def _renamed(name: str, function: Any) -> Any:
    if hasattr(onp, name):
        return getattr(onp, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}, which NumPy no longer has under this name."
    return function


_functions: Dict[str, Any] = {name: getattr(onp, name) for name in _NAMES}
_functions.update({name: _renamed(name, function) for name, function in _RENAMED.items()})
_functions.update({name: _financial(name) for name in _FINANCIAL if name != "pmt"})
globals().update(_functions)

__all__ = sorted(_functions)


def __getattr__(name: str) -> Any:
    raise _lazy.missing("mxnet.numpy", name, f"mx.np has no {name!r}; see docs/numpy.md for what there is")
