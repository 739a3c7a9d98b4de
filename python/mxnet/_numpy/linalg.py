# SPDX-License-Identifier: Apache-2.0
"""np.linalg."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as onp

from .frontend import ints, is_number

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


def _vector_norm(F: Any, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:  # pylint: disable=redefined-builtin
    if ord in (None, 2):
        return F.sqrt(F.sum(F.square(x), axis=axis, keepdims=keepdims))
    if ord == onp.inf:
        return F.max(F.abs(x), axis=axis, keepdims=keepdims)
    if ord == -onp.inf:
        return F.min(F.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return F.sum(F.not_equal(x, 0).astype(x.dtype), axis=axis, keepdims=keepdims)
    if not is_number(ord):
        raise ValueError(f"norm: given ord={ord!r} for vectors, expected a number")
    if ord == 1:
        return F.sum(F.abs(x), axis=axis, keepdims=keepdims)
    return F.power(F.sum(F.power(F.abs(x), ord), axis=axis, keepdims=keepdims), 1.0 / ord)


def _singular_values(F: Any, x: Any, axes: Tuple[int, int]) -> Any:
    matrices = F.moveaxis(x, axes, (-2, -1))
    rows, columns = F.shape(matrices, "norm by singular values")[-2:]
    if rows > columns:  # the operator takes matrices that are no higher than wide
        matrices = F.swapaxes(matrices, -1, -2)
    return svd(F, matrices)[1]


def _matrix_norm(F: Any, x: Any, ord: Any, axes: Tuple[int, int], keepdims: bool) -> Any:  # pylint: disable=redefined-builtin
    row, column = axes
    if ord in (None, "fro"):
        return F.sqrt(F.sum(F.square(x), axis=axes, keepdims=keepdims))
    if ord in (1, -1, onp.inf, -onp.inf):
        over, then = (row, column) if ord in (1, -1) else (column, row)
        sums = F.sum(F.abs(x), axis=over, keepdims=True)
        made = (F.max if ord > 0 else F.min)(sums, axis=then, keepdims=True)
        return made if keepdims else F.squeeze(made, axis=axes)
    if ord in (2, -2, "nuc"):
        values = _singular_values(F, x, axes)
        made = {2: F.max, -2: F.min, "nuc": F.sum}[ord](values, axis=-1)
        if not keepdims:
            return made
        dims = F.ndim(x, "norm with keepdims")
        for axis in sorted(place % dims for place in axes):
            made = F.expand_dims(made, axis)
        return made
    raise ValueError(f"norm: given ord={ord!r} for matrices, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")


def norm(F: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # pylint: disable=redefined-builtin
    """Norms of vectors (one axis) or matrices (two); without ord and axis that of all elements."""
    if axis is None and ord is None:
        return F.sqrt(F.sum(F.square(x), keepdims=keepdims))
    if axis is None:
        axis = tuple(range(F.ndim(x, "norm without an axis")))
    axes = ints(axis)
    if len(axes) == 1:
        return _vector_norm(F, x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(F, x, ord, axes, keepdims)  # type: ignore[arg-type]
    if ord is None:
        return F.sqrt(F.sum(F.square(x), axis=axes, keepdims=keepdims))
    raise ValueError(f"norm: given {len(axes)} axes, expected one or two")
