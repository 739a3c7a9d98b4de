# SPDX-License-Identifier: Apache-2.0
"""Kinds of operators by what 16 bits do to them. Only what is delicate is named; the rest follows from the registry."""

from __future__ import annotations

from typing import Any, List, Tuple

from ...._core import op_info, op_names

# Their work is multiply-and-add, which hardware does in 16 bits with sums in 32.
PRODUCTS = ("Convolution", "Deconvolution", "FullyConnected", "RNN")

# Sums of many terms, or a range that 16 bits do not have.
DELICATE = """
softmax log_softmax softmin masked_softmax masked_log_softmax SoftmaxActivation softmax_cross_entropy CTCLoss ctc_loss smooth_l1 MakeLoss make_loss
exp expm1 log log10 log1p log2 gamma gammaln digamma erfinv rsqrt rcbrt reciprocal power broadcast_power square hypot
cosh sinh tan arccos arcsin arccosh arcsinh arctan arctanh
sum sum_axis mean nansum prod nanprod norm cumsum moments L2Normalization InstanceNorm LayerNorm GroupNorm LRN
_power _power_scalar _rpower_scalar _rdiv_scalar _hypot _hypot_scalar _square_sum
linalg_det linalg_inverse linalg_potrf linalg_potri linalg_slogdet linalg_syevd linalg_gelqf linalg_trsm linalg_sumlogdiag
_contrib_fft _contrib_ifft _contrib_MultiBoxDetection _contrib_MultiBoxPrior _contrib_MultiBoxTarget _contrib_MultiProposal
_contrib_Proposal _contrib_PSROIPooling _contrib_count_sketch _contrib_box_nms _contrib_hawkesll _contrib_SyncBatchNorm
""".split()

LOSSES = ("SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")

# (operator, parameter, values with which it is delicate)
CONDITIONAL: List[Tuple[str, str, List[str]]] = [
    ("Activation", "act_type", ["softrelu"]),
    ("LeakyReLU", "act_type", ["elu", "selu"]),
]

# Of any number of inputs, all of one type.
_JOINED = ("Concat", "concat", "stack", "add_n", "ElementWiseSum", "elemwise_sum", "where", "dot", "batch_dot", "khatri_rao")


def _array_names(name: str) -> List[str]:
    return [item[0] for item in op_info(name)[2] if "NDArray" in item[1]]


def _known() -> List[str]:
    return [name for name in op_names() if not name.startswith(("_np", "_backward", "_random", "_sample"))]


def delicate() -> List[str]:
    """Those of DELICATE that this version has."""
    known = set(op_names())
    return [name for name in DELICATE if name in known]


def widest() -> List[str]:
    """Operators of two arrays, and of several: all inputs become of the widest type among them."""
    delicate_names = set(DELICATE)
    pairs = [name for name in _known() if name not in delicate_names and _array_names(name) == ["lhs", "rhs"]]
    known = set(op_names())
    return sorted({*pairs, *(name for name in _JOINED if name in known)})


def either() -> List[str]:
    """All others: they run in the type of their input."""
    others: Any = {*PRODUCTS, *DELICATE, *LOSSES, *widest(), *(row[0] for row in CONDITIONAL)}
    return sorted(name for name in _known() if name not in others)
