# SPDX-License-Identifier: Apache-2.0
"""Classes under which programs file additions to the docstrings of operators on symbols."""

from __future__ import annotations

from typing import Any, Dict

__all__ = [
    "ActivationDoc", "BroadcastPlusDoc", "ConcatDoc", "DropoutDoc", "EmbeddingDoc", "FlattenDoc", "FullyConnectedDoc",
    "SymbolDoc",
]


class SymbolDoc:
    """The base: NameDoc belongs to the operator Name."""

    @staticmethod
    def get_output_shape(sym: Any, **input_shapes: Any) -> Dict[str, Any]:
        """The shapes of the outputs by name, for given shapes of inputs."""
        return dict(zip(sym.list_outputs(), sym.infer_shape(**input_shapes)[1]))


class ActivationDoc(SymbolDoc):
    """Examples
    --------
    >>> SymbolDoc.get_output_shape(mx.sym.Activation(mx.sym.var("x"), act_type="relu", name="a"), x=(2, 3))
    {'a_output': (2, 3)}
    """


class DropoutDoc(SymbolDoc):
    """Examples
    --------
    >>> SymbolDoc.get_output_shape(mx.sym.Dropout(mx.sym.var("x"), p=0.5, name="d"), x=(2, 3))
    {'d_output': (2, 3)}
    """


class EmbeddingDoc(SymbolDoc):
    """Examples
    --------
    >>> embedded = mx.sym.Embedding(mx.sym.var("x"), input_dim=26, output_dim=16, name="e")
    >>> SymbolDoc.get_output_shape(embedded, x=(8,))
    {'e_output': (8, 16)}
    """


class FlattenDoc(SymbolDoc):
    """Examples
    --------
    >>> SymbolDoc.get_output_shape(mx.sym.Flatten(mx.sym.var("x"), name="f"), x=(2, 3, 4))
    {'f_output': (2, 12)}
    """


class FullyConnectedDoc(SymbolDoc):
    """Examples
    --------
    >>> SymbolDoc.get_output_shape(mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=5, name="fc"), x=(2, 3))
    {'fc_output': (2, 5)}
    """


class ConcatDoc(SymbolDoc):
    """Examples
    --------
    >>> joined = mx.sym.concat(mx.sym.var("x"), mx.sym.var("y"), dim=1, name="c")
    >>> SymbolDoc.get_output_shape(joined, x=(2, 3), y=(2, 4))
    {'c_output': (2, 7)}
    """


class BroadcastPlusDoc(SymbolDoc):
    """Examples
    --------
    >>> SymbolDoc.get_output_shape(mx.sym.broadcast_plus(mx.sym.var("x"), mx.sym.var("y"), name="p"), x=(2, 1), y=(1, 3))
    {'p_output': (2, 3)}
    """
