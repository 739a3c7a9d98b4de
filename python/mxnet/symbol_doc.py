# SPDX-License-Identifier: Apache-2.0
"""Classes whose docstrings add to those of operators in mx.symbol; the operators' own are made from the registry."""

from __future__ import annotations

from typing import Any, Dict, Tuple

__all__ = ["ActivationDoc", "BroadcastPlusDoc", "ConcatDoc", "DropoutDoc", "EmbeddingDoc", "FlattenDoc", "FullyConnectedDoc", "SymbolDoc"]


class SymbolDoc:
    """The base. A subclass XyzDoc adds its docstring to that of the operator Xyz."""

    @staticmethod
    def get_output_shape(sym: Any, **input_shapes: Any) -> Dict[str, Tuple[int, ...]]:
        """The shapes of a symbol's outputs by name."""
        return dict(zip(sym.list_outputs(), sym.infer_shape(**input_shapes)[1]))


class ActivationDoc(SymbolDoc):
    """sym.Activation(x, act_type="relu"): relu, sigmoid, tanh, softrelu or softsign."""


class BroadcastPlusDoc(SymbolDoc):
    """sym.broadcast_plus(x, y) repeats along dimensions of one."""


class ConcatDoc(SymbolDoc):
    """sym.Concat(x, y, dim=1) joins values along an axis."""


class DropoutDoc(SymbolDoc):
    """sym.Dropout(x, p=0.5) sets elements to zero while training."""


class EmbeddingDoc(SymbolDoc):
    """sym.Embedding(words, input_dim=1000, output_dim=16) gives each number its row of the weight."""


class FlattenDoc(SymbolDoc):
    """sym.Flatten(x) keeps the first axis and joins the others."""


class FullyConnectedDoc(SymbolDoc):
    """sym.FullyConnected(x, num_hidden=10) is x times the transposed weight, plus a bias."""
