# SPDX-License-Identifier: Apache-2.0
"""Measures of a model: sums over examples, kept for a part of the data (local) and for all of it (global)."""

from .. import ndarray  # noqa: F401  (packages take it from here)
from ..base import numeric_types, string_types  # noqa: F401  (public here)
from ._base import CompositeEvalMetric, EvalMetric, alias, check_label_shapes, create, register
from ._classification import (
    F1,
    MCC,
    PCC,
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
    _BinaryClassificationMetrics,  # noqa: F401  (metrics of programs count with it)
)
from ._other import Caffe, CustomMetric, Loss, Torch, np
from ._regression import MAE, MSE, RMSE, PearsonCorrelation

__all__ = [
    "Accuracy", "Caffe", "CompositeEvalMetric", "CrossEntropy", "CustomMetric", "EvalMetric", "F1", "Loss", "MAE", "MCC",
    "MSE", "NegativeLogLikelihood", "PCC", "PearsonCorrelation", "Perplexity", "RMSE", "TopKAccuracy", "Torch", "alias",
    "check_label_shapes", "create", "np", "register",
]  # fmt: skip

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__  # pickles of other versions look for it here
