# SPDX-License-Identifier: Apache-2.0
"""Classes under which programs file additions to the docstrings of operators on arrays."""

from __future__ import annotations

__all__ = ["BroadcastToDoc", "CustomDoc", "NDArrayDoc", "ReshapeDoc", "StackDoc", "elemwise_addDoc"]


class NDArrayDoc:
    """The base: NameDoc belongs to the operator Name."""


class ReshapeDoc(NDArrayDoc):
    """Examples
    --------
    >>> mx.nd.arange(6).reshape((2, -1)).shape
    (2, 3)
    """


class elemwise_addDoc(NDArrayDoc):  # pylint: disable=invalid-name
    """Examples
    --------
    >>> mx.nd.elemwise_add(mx.nd.ones(2), mx.nd.ones(2)).asnumpy()
    array([2., 2.], dtype=float32)
    """


class BroadcastToDoc(NDArrayDoc):
    """Examples
    --------
    >>> mx.nd.ones((1, 3)).broadcast_to((2, 3)).shape
    (2, 3)
    """


class StackDoc(NDArrayDoc):
    """Examples
    --------
    >>> mx.nd.stack(mx.nd.ones(3), mx.nd.ones(3)).shape
    (2, 3)
    """


class CustomDoc(NDArrayDoc):
    """Examples
    --------
    >>> mx.nd.Custom(mx.nd.ones(2), op_type="registered_name")
    """
