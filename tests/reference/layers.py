# SPDX-License-Identifier: Apache-2.0
"""Calls of layers, and of operators that cut, for calls.py: windows in one to three dimensions, norms, sequences, parts of arrays."""
import numpy as np

from calls import FLOATS, NUMBERS, as_tuple, maker


def windows(draw, spatial, padded=True):
    """Parameters of windows over `spatial` dimensions, some left out; and the lengths of arrays that such windows fit."""
    kernel = [draw.whole(1, 3) for _ in range(spatial)]
    params = {"kernel": as_tuple(kernel)}
    for name, least, most, likely in (("stride", 1, 3, 0.7), ("dilate", 1, 2, 0.4), ("pad", 0, 2, 0.6)):
        if draw.chance(likely) and (padded or name != "pad"):
            params[name] = as_tuple(draw.whole(least, most) for _ in range(spatial))
    return params, [draw.whole(k + 2, k + 6) for k in kernel]


@maker("Convolution Deconvolution")
def convolution(draw, op):
    spatial, groups, batch = draw.whole(1, 3), draw.one_of([1, 1, 2, 3]), draw.whole(1, 3)
    params, lengths = windows(draw, spatial)
    inputs, filters = groups * draw.whole(1, 3), groups * draw.whole(1, 3)
    bare = draw.chance(0.4)
    params.update(num_filter=filters, num_group=groups, no_bias=str(bare))
    if op == "Deconvolution" and draw.chance(0.3) and "stride" in params:
        params["adj"] = as_tuple(draw.whole(0, 1) for _ in range(spatial))
    if op == "Deconvolution" and draw.chance(0.15):
        params["target_shape"] = as_tuple(draw.whole(6, 12) for _ in range(spatial))
    kernel = [int(k) for k in params["kernel"].strip("()").split(",") if k]
    weight = (filters, inputs // groups, *kernel) if op == "Convolution" else (inputs, filters // groups, *kernel)
    dtype = draw.one_of(["float32", "float32", "float64"])
    shapes = [(batch, inputs, *lengths), weight, *([] if bare else [(filters,)])]
    return [draw.array(s, dtype, False) for s in shapes], params


@maker("Pooling")
def pooling(draw, op):
    spatial = draw.whole(1, 3)
    params, lengths = windows(draw, spatial, padded=draw.chance(0.5))
    params.pop("dilate", None)
    params.update(pool_type=draw.one_of(["max", "avg", "sum", "lp"]), pooling_convention=draw.one_of(["valid", "full", "same"]),
                  global_pool=str(draw.chance(0.15)))
    if draw.chance(0.5):
        params["count_include_pad"] = draw.flag()
    if params["pool_type"] == "lp":
        params["p_value"] = draw.whole(1, 3)
    return [draw.array((draw.whole(1, 3), draw.whole(1, 4), *lengths), draw.one_of(["float32", "float32", "float64"]), False)], params


@maker("LayerNorm GroupNorm InstanceNorm L2Normalization LRN")
def norm(draw, op):
    shape = (draw.whole(1, 3), 2 * draw.whole(1, 3), draw.whole(1, 5), draw.whole(1, 5))[:draw.whole(2 + (op in ("LRN", "GroupNorm", "InstanceNorm")), 4)]
    shape = (*shape, 3, 2)[:4] if op == "LRN" else shape
    data, axis = draw.array(shape, draw.one_of(["float32", "float64"]), False), draw.axis(shape, none=False)
    eps = draw.one_of([1e-5, 1e-3, 0.5])
    if op == "L2Normalization":
        return [data], {"mode": draw.one_of(["instance", "channel", "spatial"]), "eps": eps}
    if op == "LRN":
        return [data], {"nsize": draw.one_of([1, 3, 5]), "alpha": draw.one_of([1e-4, 0.1]), "beta": draw.one_of([0.75, 1, 2]), "knorm": draw.one_of([1, 2])}
    length = shape[axis] if op == "LayerNorm" else shape[1]
    extra = {"LayerNorm": {"axis": axis}, "GroupNorm": {"num_groups": draw.one_of([1, 2])}, "InstanceNorm": {}}[op]
    return [data, *(draw.array((length,), data.dtype.name, False) for _ in range(2))], dict(extra, eps=eps)


@maker("Activation LeakyReLU SoftmaxActivation hard_sigmoid UpSampling Pad")
def layer(draw, op):
    shape = draw.shape(2, 4)
    dtype = draw.one_of(FLOATS)
    if op == "UpSampling":
        return [draw.array((2, 3, *draw.shape(2, 2)), dtype, False)], {"scale": draw.whole(1, 4), "sample_type": "nearest", "num_args": 1}
    if op == "Pad":
        shape = draw.shape(4, 5)
        widths = [0, 0, 0, 0] + [draw.whole(0, max(0, n - 1)) for n in shape[2:] for _ in range(2)]
        return [draw.array(shape, dtype, False)], {"mode": draw.one_of(["constant", "edge", "reflect"]), "pad_width": as_tuple(widths), "constant_value": draw.one_of([0, 1.5])}
    params = {"Activation": {"act_type": draw.one_of(["relu", "sigmoid", "tanh", "softrelu", "softsign"])},
              "LeakyReLU": {"act_type": draw.one_of(["leaky", "elu", "gelu"]), "slope": draw.one_of([0.25, 0.01, 1])},
              "SoftmaxActivation": {"mode": draw.one_of(["instance", "channel"])},
              "hard_sigmoid": {"alpha": draw.one_of([0.2, 1]), "beta": draw.one_of([0.5, 0])}}[op]
    return [draw.array(shape, dtype, False)], params


@maker("slice_axis slice_like broadcast_axis broadcast_like batch_take _npi_flip _npi_rot90 depth_to_space space_to_depth diag")
def cut(draw, op):
    shape = draw.shape(1, 4)
    axis = draw.axis(shape, none=False)
    data, length = draw.array(shape), shape[axis]
    if op == "slice_axis":
        return [data], {"axis": axis, "begin": draw.whole(-length - 1, length), "end": draw.one_of(["None", draw.whole(-length - 1, length + 1)])}
    if op == "slice_like":
        like = [draw.whole(1, n) for n in shape]
        return [data, draw.array(like, data.dtype.name, False)], {"axes": draw.axes(shape)} if draw.chance(0.7) else {}
    if op in ("broadcast_axis", "broadcast_like"):
        narrow = tuple(1 if draw.chance(0.5) else n for n in shape)
        ones = [i for i, n in enumerate(narrow) if n == 1]
        data = draw.array(narrow, data.dtype.name)
        if op == "broadcast_like":
            return [data, draw.array(shape, data.dtype.name)], {}
        return [data], {"axis": as_tuple(ones), "size": as_tuple(draw.whole(1, 4) for _ in ones)}
    if op == "batch_take":
        rows = draw.whole(1, 5)
        return [draw.array((rows, 4)), draw.numbers.randint(0, 4, (rows,)).astype("int32")], {}
    if op == "_npi_flip":
        return [data], {"axis": as_tuple([axis])}
    if op == "_npi_rot90":
        shape = draw.shape(2, 4)
        axes = draw.random.sample(range(len(shape)), 2)
        return [draw.array(shape)], {"k": draw.whole(-5, 5), "axes": as_tuple(axes)}
    if op == "diag":
        shape = draw.shape(1, 4)
        return [draw.array(shape)], {"k": draw.whole(-3, 3)} if len(shape) < 3 else {"k": draw.whole(-1, 1), "axis1": 0, "axis2": -1}
    block = draw.whole(1, 3)
    lengths = (2, 2 * block * block, 2, 3) if op == "depth_to_space" else (2, 3, 2 * block, 3 * block)
    return [draw.array(lengths)], {"block_size": block}


@maker("SequenceMask SequenceLast SequenceReverse")
def sequence(draw, op):
    steps, batch = draw.whole(1, 5), draw.whole(1, 4)
    axis = draw.one_of([0, 1]) if op != "SequenceReverse" else 0
    shape = ((steps, batch) if axis == 0 else (batch, steps)) + draw.shape(0, 2)
    data = draw.array(shape, draw.one_of(FLOATS), False)
    lengths = draw.numbers.randint(1, steps + 1, (batch,)).astype(data.dtype)
    extra = {"value": draw.one_of([0, -1.5])} if op == "SequenceMask" else {}
    return [data, lengths], dict(extra, axis=axis, use_sequence_length="True")


@maker("scatter_nd _npi_cumsum _np_cumsum moments norm _npi_diff _npi_where khatri_rao ravel_multi_index")
def others(draw, op):
    shape = draw.shape(1, 4)
    axis = draw.axis(shape)
    if op == "scatter_nd":
        rows = draw.whole(1, 4)
        flat = draw.random.sample(range(12), rows)
        return [draw.array((rows,), draw.one_of(NUMBERS)), np.array(np.unravel_index(flat, (3, 4)), "int64")], {"shape": "(3,4)"}
    if op == "moments":
        return [draw.array(shape, draw.one_of(["float32", "float64"]), False)], {"axes": draw.axes(shape), "keepdims": draw.flag()}
    if op == "norm":
        two = draw.random.sample(range(len(shape)), 2) if len(shape) > 1 and draw.chance(0.4) else None
        return [draw.array(shape, draw.one_of(FLOATS), False)], {"ord": draw.one_of([1, 2]), "axis": as_tuple(two) if two else axis, "keepdims": draw.flag()}
    if op == "_npi_diff":
        return [draw.array(shape)], {"n": draw.whole(0, 3), "axis": draw.axis(shape, none=False)}
    if op == "_npi_where":
        first, second = draw.alike()
        dtype = draw.one_of(NUMBERS)
        return [draw.array(first), draw.array(first, dtype), draw.array(second, dtype)], {}
    if op == "khatri_rao":
        columns = draw.whole(1, 4)
        return [draw.array((draw.whole(1, 4), columns), draw.one_of(["float32"]), False) for _ in range(2)], {"num_args": 2}
    if op == "ravel_multi_index":
        return [np.stack([draw.numbers.randint(0, n, (5,)) for n in (3, 4)]).astype(draw.one_of(["int32", "int64", "float32"]))], {"shape": "(3,4)"}
    return [draw.array(shape, draw.one_of(FLOATS + ["int32", "int8"]), False)], {"axis": axis}
