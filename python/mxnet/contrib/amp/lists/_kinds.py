# SPDX-License-Identifier: Apache-2.0
"""Kinds of operators by what 16 bits do to them. Only what is delicate is named; the rest follows from the registry."""

from __future__ import annotations

import functools
from typing import Dict, Iterable, List, Tuple

from ...._core import op_info, op_names

# Their work is multiply-and-add, which hardware does in 16 bits with sums in 32.
PRODUCTS = ("Convolution", "Deconvolution", "FullyConnected", "RNN")

# Sums of many terms, a range that 16 bits do not have, or results that are positions.
DELICATE = """
softmax log_softmax softmin masked_softmax masked_log_softmax SoftmaxActivation softmax_cross_entropy CTCLoss smooth_l1 MakeLoss make_loss SVMOutput
exp expm1 log log10 log1p log2 gamma gammaln digamma erfinv rsqrt rcbrt reciprocal broadcast_power broadcast_hypot square
cosh sinh tan arccos arcsin arccosh arcsinh arctan arctanh
sum mean nansum prod nanprod norm cumsum moments L2Normalization InstanceNorm LayerNorm GroupNorm LRN IdentityAttachKLSparseReg
_power _power_scalar _rpower_scalar _rdiv_scalar _hypot _hypot_scalar _square_sum topk argsort
linalg_det linalg_extractdiag linalg_extracttrian linalg_gelqf linalg_gemm linalg_gemm2 linalg_inverse linalg_makediag linalg_maketrian
linalg_potrf linalg_potri linalg_slogdet linalg_sumlogdiag linalg_syevd linalg_syrk linalg_trmm linalg_trsm
_contrib_fft _contrib_ifft _contrib_MultiBoxDetection _contrib_MultiBoxPrior _contrib_MultiBoxTarget _contrib_MultiProposal
_contrib_Proposal _contrib_PSROIPooling _contrib_count_sketch _contrib_box_nms _contrib_hawkesll _contrib_SyncBatchNorm
_contrib_DeformableConvolution _contrib_ModulatedDeformableConvolution _contrib_DeformablePSROIPooling Convolution_v1 Custom
""".split()

LOSSES = ("SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")

# (operator, parameter, values with which it is delicate)
CONDITIONAL: List[Tuple[str, str, List[str]]] = [
    ("Activation", "act_type", ["softrelu"]),
    ("LeakyReLU", "act_type", ["elu", "selu"]),
]

# Several arrays that meet in one result, under names of their own or in any number.
_JOINED = """
Concat stack add_n where dot batch_dot khatri_rao Correlation BilinearSampler SpatialTransformer ROIPooling
_contrib_ROIAlign _contrib_RROIAlign _contrib_box_decode _contrib_interleaved_matmul_encdec_qk _contrib_interleaved_matmul_encdec_valatt
_contrib_interleaved_matmul_selfatt_valatt _contrib_dgl_subgraph _contrib_dgl_csr_neighbor_uniform_sample
_contrib_dgl_csr_neighbor_non_uniform_sample _contrib_edge_id random_pdf_dirichlet random_pdf_exponential random_pdf_gamma
random_pdf_generalized_negative_binomial random_pdf_negative_binomial random_pdf_normal random_pdf_poisson random_pdf_uniform
""".split()

# The right one gives a shape, or is written into the left one: the type is that of the left one.
_LEFT = ("reshape_like", "broadcast_like", "_identity_with_attr_like_rhs", "_slice_assign", "_onehot_encode")


def _array_names(name: str) -> List[str]:
    return [item[0] for item in op_info(name)[2] if "NDArray" in item[1]]


def _known() -> List[str]:
    return [name for name in op_names() if not name.startswith(("_np", "_backward", "_random", "_sample"))]


@functools.lru_cache(maxsize=None)
def _operators() -> Dict[str, str]:
    """The operator that each name stands for."""
    return {name: op_info(name)[0] for name in op_names()}


def _with_aliases(names: Iterable[str]) -> List[str]:
    """All names of these operators, as far as this version has them."""
    wanted = {_operators().get(name) for name in names}
    return sorted(name for name, operator in _operators().items() if operator in wanted)


def delicate() -> List[str]:
    """Operators whose results lose too much with 16 bits: they are computed with 32."""
    return _with_aliases(DELICATE)


def losses() -> List[str]:
    """Operators that are losses: they are computed with 32 bits."""
    return _with_aliases(LOSSES)


def widest() -> List[str]:
    """Operators of two arrays, and of several: all inputs become of the widest type among them."""
    pairs = {name for name in _known() if _array_names(name) == ["lhs", "rhs"]}
    return sorted(pairs.union(_with_aliases(_JOINED)) - {*delicate(), *_with_aliases(_LEFT)})


def either() -> List[str]:
    """All others: they run in the type of their input."""
    others = {*PRODUCTS, *delicate(), *losses(), *widest(), *(row[0] for row in CONDITIONAL)}
    return sorted(name for name in _known() if name not in others)
