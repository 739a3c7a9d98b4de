# SPDX-License-Identifier: Apache-2.0
"""Products of tensors."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ..util import check_ufunc_options
from ..ndarray._integers import ints
from .frontend import is_number

__all__ = ["dot", "einsum", "inner", "matmul", "outer", "tensordot", "vdot"]


def dot(F: Any, a: Any, b: Any, out: Any = None) -> Any:
    """Over the last axis of a and the last but one of b."""
    if is_number(a) or is_number(b):
        return F.multiply(a, b, out=out)
    return F.op("_np_dot")(a, b, out=out)


def matmul(F: Any, a: Any, b: Any, out: Any = None, **kwargs: Any) -> Any:
    """The product of matrices, or of stacks of them."""
    if kwargs:
        check_ufunc_options("matmul", kwargs)
    return F.op("_npi_matmul")(a, b, out=out)


def tensordot(F: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """Over the last `axes` of a and the first of b, or over given axes of each."""
    if isinstance(axes, (int, onp.integer)):
        return F.op("_npi_tensordot_int_axes")(a, b, axes=axes)
    of_a, of_b = axes
    if len(ints(of_a)) != len(ints(of_b)):
        raise ValueError(f"tensordot: given axes {of_a} and {of_b}, expected as many of each")
    return F.op("_npi_tensordot")(a, b, a_axes_summed=ints(of_a), b_axes_summed=ints(of_b))


def inner(F: Any, a: Any, b: Any) -> Any:
    """Over the last axes of both."""
    return tensordot(F, a, b, (-1, -1))


def outer(F: Any, a: Any, b: Any) -> Any:
    """Every element of a with every element of b."""
    return tensordot(F, as_vector(F, a), as_vector(F, b), 0)


def as_vector(F: Any, value: Any) -> Any:
    """Its elements, or the number itself; what is a vector stays as it is."""
    if is_number(value):
        return F.full((1,), value)
    return value if F.known_ndim(value, 0) == 1 else F.ravel(value)


def vdot(F: Any, a: Any, b: Any) -> Any:
    """Of both as vectors."""
    dims = F.known_ndim(a, 0)
    lengths = [(F.known_length(a, axis), F.known_length(b, axis)) for axis in range(dims) if F.known_ndim(b, 0) == dims]
    if lengths and all(one == other is not None for one, other in lengths):
        return tensordot(F, a, b, dims)  # as they lie
    return tensordot(F, F.ravel(a), F.ravel(b), 1)


def einsum(F: Any, *operands: Any, **kwargs: Any) -> Any:
    """The sum that subscripts such as "ij,jk->ik" describe; keywords: optimize, out."""
    optimize, out = kwargs.pop("optimize", False), kwargs.pop("out", None)
    if kwargs:
        raise TypeError(f"einsum: given {', '.join(kwargs)}, expected optimize and out")
    if not operands or not isinstance(operands[0], str):
        raise TypeError("einsum: expected subscripts as a text first")
    return F.op("_npi_einsum")(*operands[1:], subscripts=operands[0], optimize=int(bool(optimize)), out=out)
