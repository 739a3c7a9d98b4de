# SPDX-License-Identifier: Apache-2.0
"""Values that are made rather than computed from inputs: constants, which the core computes here and now; random numbers; boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._package import number_of_type
from ._rows import writes


@writes("_zeros", "_ones", "_full", "_arange", "_eye", "_npi_zeros", "_npi_ones", "_npi_arange")
def _constant(g: Any, n: Any) -> str:
    from ...ndarray._generate import operator

    given = {name: value for name, value in vars(n.params).items() if value is not None and name != "ctx"}
    if "shape" in given:  # sizes left open are those that the network needs
        given["shape"] = n.out_shapes[0]
    return g.const(operator(n.op)(**given).asnumpy())


@writes("_contrib_MultiBoxPrior")
def _multibox_prior(g: Any, n: Any) -> str:
    """Anchors depend on the shape of the input alone."""
    from ... import ndarray

    image = ndarray.zeros(n.shapes[0])
    return g.const(ndarray.contrib.MultiBoxPrior(image, **vars(n.params)).asnumpy())


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


@writes("_contrib_box_decode")
def _box_decode(g: Any, n: Any) -> str:
    p, dtype = n.params, n.dtypes[0]
    deltas = g.op("Mul", n.inputs[0], g.const(np.array([p.std0, p.std1, p.std2, p.std3]), dtype))
    anchors = n.inputs[1]
    if p.format == "corner":
        low, high = (g.slice(anchors, [2 * i], [2 * i + 2], [2]) for i in range(2))
        size = g.op("Sub", high, low)
        center = g.op("Add", low, g.op("Mul", size, g.const(0.5, dtype)))
    else:
        center, size = (g.slice(anchors, [2 * i], [2 * i + 2], [2]) for i in range(2))
    shift, growth = (g.slice(deltas, [2 * i], [2 * i + 2], [2]) for i in range(2))
    if p.clip > 0:
        growth = g.op("Min", growth, g.const(p.clip, dtype))
    center = g.op("Add", g.op("Mul", shift, size), center)
    half = g.op("Mul", g.op("Mul", g.op("Exp", growth), size), g.const(0.5, dtype))
    return g.op("Concat", g.op("Sub", center, half), g.op("Add", center, half), axis=2)
