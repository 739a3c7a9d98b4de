# SPDX-License-Identifier: Apache-2.0
"""np.linalg."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as onp

from ..ndarray._integers import ints
from .frontend import is_number

__all__ = [
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "norm", "pinv", "slogdet", "solve", "svd", "tensorinv",
    "tensorsolve",
]


def cholesky(F: Any, a: Any) -> Any:
    """The lower triangular factor of positive definite matrices."""
    return F.op("_npi_cholesky")(a)


def det(F: Any, a: Any) -> Any:
    """The determinants of matrices."""
    return F.op("_npi_det")(a)


def slogdet(F: Any, a: Any) -> List[Any]:
    """The signs of determinants, and the logarithms of what is left without them."""
    return F.listed(F.op("_npi_slogdet")(a))


def inv(F: Any, a: Any) -> Any:
    """The inverses of matrices."""
    return F.op("_npi_inv")(a)


def pinv(F: Any, a: Any, rcond: Any = 1e-15, hermitian: bool = False) -> Any:
    """The pseudo-inverses of matrices; singular values below rcond times the largest count as zero."""
    if hermitian:
        raise NotImplementedError("pinv: given hermitian=True, expected False")
    if is_number(rcond):
        return F.op("_npi_pinv_scalar_rcond")(a, rcond=float(rcond), hermitian=False)
    return F.op("_npi_pinv")(a, rcond, hermitian=False)


def svd(F: Any, a: Any) -> Tuple[Any, ...]:
    """Matrices as ut, l and v with a = ut @ diag(l) @ v."""
    return tuple(F.listed(F.op("_npi_svd")(a)))


def eig(F: Any, a: Any) -> Tuple[Any, ...]:
    """Eigenvalues and right eigenvectors, where they are real."""
    return tuple(F.listed(F.op("_npi_eig")(a)))


def eigh(F: Any, a: Any, UPLO: str = "L") -> Tuple[Any, ...]:
    """Eigenvalues and eigenvectors of symmetric matrices, of which the lower or upper half is read."""
    return tuple(F.listed(F.op("_npi_eigh")(a, UPLO=UPLO)))


def eigvals(F: Any, a: Any) -> Any:
    """Eigenvalues, where they are real."""
    return F.op("_npi_eigvals")(a)


def eigvalsh(F: Any, a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of symmetric matrices, of which the lower or upper half is read."""
    return F.op("_npi_eigvalsh")(a, UPLO=UPLO)


def solve(F: Any, a: Any, b: Any) -> Any:
    """x with a @ x = b."""
    return F.op("_npi_solve")(a, b)


def tensorinv(F: Any, a: Any, ind: int = 2) -> Any:
    """The inverse with respect to tensordot over the first `ind` axes."""
    return F.op("_npi_tensorinv")(a, ind=ind)


def tensorsolve(F: Any, a: Any, b: Any, axes: Any = None) -> Any:
    """x with tensordot(a, x, x.ndim) = b, with some axes of a moved to its end."""
    return F.op("_npi_tensorsolve")(a, b, a_axes=() if axes is None else ints(axes))


# Values of the operator's parameter `flag`.
_OF_ALL, _OF_VECTORS, _OF_MATRICES, _FROBENIUS, _NUCLEAR = -2, -1, 0, 1, 2


def _kind_of_norm(ord: Any, count: int) -> Tuple[float, int]:  # pylint: disable=redefined-builtin
    """The operator's order and flag for a norm along so many axes."""
    if count == 1 and (ord is None or ord == "fro" or is_number(ord)):
        return (float(ord) if is_number(ord) else 2.0), _OF_VECTORS
    if count == 2 and ord in (1, -1, 2, -2, onp.inf, -onp.inf):
        return float(ord), _OF_MATRICES
    if count == 2 and ord == "nuc":
        return 2.0, _NUCLEAR
    if ord is None or (count == 2 and ord == "fro"):
        return 2.0, _FROBENIUS
    expected = {1: "a number", 2: "'fro', 'nuc', 1, -1, 2, -2, inf or -inf"}.get(count, "None")
    raise ValueError(f"norm: given ord={ord!r} along {count} axes, expected {expected}")


def norm(F: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # pylint: disable=redefined-builtin
    """Norms of vectors (one axis) or matrices (two); without ord and axis that of all elements."""
    if axis is None and ord is None:
        return F.op("_npi_norm")(x, ord=2.0, flag=_OF_ALL, keepdims=keepdims)
    if axis is not None:
        axes = ints(axis)
    else:  # of one vector, or of the matrices that the last two axes are
        ndim = F.known_ndim(x, 2) if isinstance(ord, str) else F.ndim(x, "norm without an axis")
        axes = (-2, -1) if ndim >= 2 else tuple(range(ndim))
    order, flag = _kind_of_norm(ord, len(axes))
    return F.op("_npi_norm")(x, ord=order, axis=axes, flag=flag, keepdims=keepdims)
