# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions, written once for arrays and for symbols.

A function takes a front end F first: F.op(name) is an operator on F's tensors (mx.np arrays, or symbols),
F.concatenate another of these functions. mxnet.numpy, mxnet.ndarray.numpy and mxnet.symbol.numpy show
them bound to a front end. What is here turns arguments into an operator's parameters; the numbers are
made by the library.
"""

from .. import ndarray  # noqa: F401  (whole, before what lies in it)
from .frontend import Frontend

__all__ = ["Frontend"]
