# SPDX-License-Identifier: Apache-2.0
"""An operator or more for each way in which kernels are launched (src/plugin/cuda: all that is __global__ there, and CUB's),
small, of sizes that are no whole packs, warps or tiles, and compared with the CPU's. A program by itself, because what it is
for is compute-sanitizer: `compute-sanitizer --tool racecheck python3 gpu_launches.py`. With names it runs these launches."""

import sys

import numpy as np

SEED = 20261127


def arrays(*shapes):
    rng = np.random.default_rng(SEED)
    return [rng.standard_normal(shape).astype("float32") for shape in shapes]


def sigmoid(nd):
    return nd.sigmoid(nd.array(arrays((1003,))[0]))


def rows_taken_twice(nd):
    """Its gradient adds to rows by several threads."""
    from mxnet import autograd

    table = nd.array(arrays((11, 37))[0])
    table.attach_grad()
    with autograd.record():
        taken = nd.take(table, nd.array([3, 1, 3, 3, 10, 0, 1]))
    taken.backward()
    return table.grad


def sum_of_short_rows(nd):
    return nd.sum(nd.array(arrays((45, 67))[0]), axis=1)


def sum_of_all(nd):
    return nd.sum(nd.array(arrays((70, 1501))[0]))


def batch_norm(nd):
    x, gamma, beta, mean, var = arrays((3, 5, 17, 19), 5, 5, 5, 5)
    return nd.BatchNorm(*map(nd.array, (x, gamma, beta, mean, np.abs(var))), use_global_stats=False, fix_gamma=False)


def softmax_of(rows, length):
    return lambda nd: nd.softmax(nd.array(arrays((rows, length))[0]))


def layer_norm(nd):
    return nd.LayerNorm(*map(nd.array, arrays((9, 2049), 2049, 2049)))


def transposed(dtype):
    return lambda nd: nd.transpose(nd.array(arrays((2, 131, 70))[0], dtype=dtype), axes=(0, 2, 1)).astype("float32")


def ctc(nd):
    data = arrays((12, 3, 7))[0]
    return nd.CTCLoss(nd.array(data), nd.array([[1, 2, 2, 0], [3, 0, 0, 0], [6, 5, 4, 3]]))


def boxes_suppressed(nd):
    data = arrays((2, 41, 6))[0]
    data[..., 4:] = np.abs(data[..., 4:]) + np.maximum(data[..., 2:4], 0)
    return nd.contrib.box_nms(nd.array(data), overlap_thresh=0.3)


def sorted_line(nd):
    return nd.sort(nd.array(arrays((1777,))[0]))


def sorted_rows(nd):
    return nd.argsort(nd.array(arrays((13, 301))[0]), axis=1)


# The name of what is launched, and of its sizes where that chooses.
LAUNCHES = {
    "for_each_kernel": [sigmoid, rows_taken_twice],
    "for_each_group_kernel": [sum_of_short_rows, sum_of_all, batch_norm],
    "for_each_held_by_warp_kernel": [softmax_of(7, 300)],
    "for_each_held_by_block_kernel": [softmax_of(5, 3001), layer_norm],
    "for_each_tile_kernel": [transposed("float32"), transposed("float16")],
    "for_each_in_rounds_kernel": [ctc, boxes_suppressed],
    "DeviceRadixSort": [sorted_line],
    "DeviceSegmentedRadixSort": [sorted_rows],
}


def main(names):
    import mxnet as mx

    for name in names or LAUNCHES:
        for number, call in enumerate(LAUNCHES[name]):
            found = []
            for context in mx.cpu(), mx.gpu(0):
                with context:
                    out = call(mx.nd)
                    assert out.context == context, (name, out.context)
                    found.append(out.asnumpy())
            np.testing.assert_allclose(found[1], found[0], rtol=2e-4, atol=2e-4, err_msg=f"{name}, {number}")
    print(f"{len(names or LAUNCHES)} passed")


if __name__ == "__main__":
    main(sys.argv[1:])
