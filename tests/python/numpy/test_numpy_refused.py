# SPDX-License-Identifier: Apache-2.0
"""What mx.np does not have is refused with an error that names what was given."""

import numpy as onp
import pytest

from mxnet import np

REFUSED = [
    ("np.zeros(3, order='F')", NotImplementedError, "order"),
    ("np.add(a, a, where=False)", NotImplementedError, "where=False"),
    ("np.add(a, a, where=np.array([False]))", TypeError, "where"),
    ("np.add(a, a, where=a)", TypeError, "where"),
    ("np.exp(a, dtype='float64')", NotImplementedError, "dtype"),
    ("np.add(a, a, foo=1)", TypeError, "foo"),
    ("np.sin([1, 2])", TypeError, "given list"),
    ("np.sin(onp.ones(3))", TypeError, "given ndarray"),
    ("np.add(a, None)", TypeError, "given NoneType"),
    ("np.concatenate([a, onp.ones((2, 3))])", TypeError, "expected an mx.np array"),
    ("np.concatenate(3)", TypeError, "given int"),
    ("np.split(a, 4, axis=1)", ValueError, "equal division"),
    ("np.vsplit(a[0], 2)", ValueError, "given 1 dimensions"),
    ("np.concatenate(a, a)", TypeError, "concatenate: axis: given ndarray, expected an integer; mx.np arrays to join are one sequence"),
    ("np.stack(a, a)", TypeError, "stack: axis: given ndarray"),
    ("np.zeros('23')", TypeError, "zeros: given '23', expected an integer or"),
    ("np.ones(2.5)", TypeError, "ones: given 2.5, expected an integer or"),
    ("np.full((2, None), 1)", TypeError, "full: given .2, None., expected an integer or"),
    ("a.reshape(2.5)", TypeError, "reshape: given 2.5, expected an integer or"),
    ("np.reshape(a, 'ab')", TypeError, "reshape: given 'ab', expected an integer or"),
    ("np.broadcast_to(a, (2.5, 3))", TypeError, "broadcast_to: given .2.5, 3., expected an integer or"),
    ("np.array_split(a, 0)", ValueError, "given 0 sections"),
    ("np.sort(a, order='x')", NotImplementedError, "order"),
    ("np.clip(a, None, None)", ValueError, "max or min"),
    ("np.take(a, 1, mode='drop')", NotImplementedError, "drop"),
    ("np.where(a, a)", ValueError, "one of x and y"),
    ("np.arange(0, 3, 0)", ZeroDivisionError, "step=0"),
    ("np.arange(None)", ValueError, "neither"),
    ("np.linspace(a, a)", NotImplementedError, "ends"),
    ("np.histogram(a, bins=3, range=(0, 1), density=True)", NotImplementedError, "density"),
    ("np.pad(a, 1, mode='wrap')", ValueError, "wrap"),
    ("np.pad(a, 1, constant_values=(1, 2))", NotImplementedError, "constant_values"),
    ("np.pad(a, 1, mode='edge', constant_values=1)", ValueError, "constant_values"),
    ("np.einsum(a, 'ij')", TypeError, "subscripts"),
    ("np.tensordot(a, a, axes=((0, 1), (0,)))", ValueError, "as many"),
    ("np.eye(2, foo=1)", TypeError, "foo"),
    ("np.identity(-1)", ValueError, "n=-1"),
    ("np.linalg.norm(a, 'no')", ValueError, "ord='no'"),
    ("np.linalg.norm(np.zeros((1, 1, 1)), 2, (0, 1, 2))", ValueError, "3 axes"),
    ("np.linalg.norm(a[0], 'nuc')", ValueError, "1 axes"),
    ("np.linalg.pinv(a, hermitian=True)", NotImplementedError, "hermitian"),
    ("np.bincount(a, minlength=-1)", ValueError, "minlength"),
    ("np.bincount(np.array([1, 2**40], dtype='int64'))", ValueError, "given 1099511627776"),
    ("np.bincount(np.array([2**63 - 1], dtype='int64'))", ValueError, "given 9223372036854775807"),
    ("np.empty_like(a, subok=True)", NotImplementedError, "subok"),
    ("np.array(a.as_nd_ndarray())", ValueError, "as_np_ndarray"),
    ("np.array([[1, 2], [3]])", TypeError, "becomes an array|one length"),
    ("np.array(onp.ones(2, 'complex64'))", TypeError, "complex64"),
    ("np.median(a)", AttributeError, "median"),
    ("np.ravel(a, order='F')", NotImplementedError, "order"),
    ("np.unravel_index(a, (2, 3), order='F')", NotImplementedError, "order"),
    ("np.meshgrid(a, foo=1)", TypeError, "foo"),
    ("np.meshgrid(a[0], a[0], copy=False)", NotImplementedError, "copy"),
    ("np.meshgrid(a[0], a[0], indexing='zz')", ValueError, "indexing"),
]


@pytest.mark.parametrize("expression, error, said", REFUSED)
def test_what_there_is_not_is_refused_with_what_was_given(expression, error, said):
    with pytest.raises(error, match=said):
        eval(expression, {"np": np, "onp": onp, "a": np.ones((2, 3))})
