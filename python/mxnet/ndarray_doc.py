# SPDX-License-Identifier: Apache-2.0
"""Classes whose docstrings add to those of operators in mx.ndarray; the operators' own are made from the registry."""

from __future__ import annotations

__all__ = ["BroadcastToDoc", "CustomDoc", "NDArrayDoc", "ReshapeDoc", "StackDoc", "elemwise_addDoc"]


class NDArrayDoc:
    """The base. A subclass XyzDoc adds its docstring to that of the operator Xyz."""


class BroadcastToDoc(NDArrayDoc):
    """nd.ones((1, 3)).broadcast_to((2, 3)) repeats along dimensions of one."""


class CustomDoc(NDArrayDoc):
    """nd.Custom(x, op_type="name") calls an operator that mx.operator.register has made known."""


class ReshapeDoc(NDArrayDoc):
    """nd.reshape(x, shape=(-1, 4)): -1 is what follows from the number of elements, 0 keeps a dimension."""


class StackDoc(NDArrayDoc):
    """nd.stack(x, y, axis=0) joins arrays along a new axis."""


class elemwise_addDoc(NDArrayDoc):
    """nd.elemwise_add(x, y) needs equal shapes; broadcast_add does not."""
