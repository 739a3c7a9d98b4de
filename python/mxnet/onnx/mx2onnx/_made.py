# SPDX-License-Identifier: Apache-2.0
"""Values that are made rather than computed from inputs: constants, which the core computes here and now; random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._package import number_of_type
from ._rows import writes


@writes("_zeros", "_ones", "_full", "_arange", "_eye", "_npi_zeros", "_npi_ones", "_npi_arange")
def _constant(g: Any, n: Any) -> str:
    from ...ndarray import _generate

    given = {name: value for name, value in vars(n.params).items() if value is not None and name != "ctx"}
    if "shape" in given:  # sizes left open are those that the network needs
        given["shape"] = n.out_shapes[0]
    return g.const(_generate.operator(n.op)(**given).asnumpy())


@writes("_contrib_arange_like")
def _arange_like(g: Any, n: Any) -> str:
    from ... import ndarray

    given = {name: value for name, value in vars(n.params).items() if value is not None and name != "ctx"}
    return g.const(ndarray.contrib.arange_like(ndarray.zeros(n.shapes[0], dtype=n.dtypes[0]), **given).asnumpy())


@writes("_random_uniform")
def _uniform(g: Any, n: Any) -> str:
    p = n.params
    return g.op("RandomUniform", dtype=number_of_type(n.out_dtypes[0]), shape=list(p.shape), low=p.low, high=p.high)


@writes("_random_normal")
def _normal(g: Any, n: Any) -> str:
    p = n.params
    return g.op("RandomNormal", dtype=number_of_type(n.out_dtypes[0]), shape=list(p.shape), mean=p.loc, scale=p.scale)


@writes("_random_uniform_like")
def _uniform_like(g: Any, n: Any) -> str:
    return g.op("RandomUniformLike", n.inputs[0], low=n.params.low, high=n.params.high)


@writes("_random_normal_like")
def _normal_like(g: Any, n: Any) -> str:
    return g.op("RandomNormalLike", n.inputs[0], mean=n.params.loc, scale=n.params.scale)


@writes("_sample_multinomial")
def _multinomial(g: Any, n: Any) -> str:
    if n.params.get_prob:
        raise n.refuse("get_prob", "samples alone")
    count = int(np.prod(n.params.shape or (1,)))
    logits = g.op("Log", n.inputs[0] if n.rank == 2 else g.unsqueeze(n.inputs[0], 0))
    drawn = g.cast(g.op("Multinomial", logits, dtype=number_of_type(np.int32), sample_size=count), n.out_dtypes[0])
    return g.reshape(drawn, n.out_shapes[0])
