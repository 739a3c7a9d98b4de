# SPDX-License-Identifier: Apache-2.0
"""The operators of a library, and a call of each that inputs can be generated for: what tests go over the whole registry with."""
import ctypes as C
import fnmatch
import functools
import json
import pathlib
import subprocess
import sys

import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "data" / "golden"

# By definition something else than the slope of the value.
NO_SLOPE = {
    "a loss: its gradient is that of the loss, not of the value": [
        "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "SoftmaxOutput", "Softmax",
        "SVMOutput", "MakeLoss", "make_loss", "_npx_*loss*", "IdentityAttachKLSparseReg"],
    "stops the gradient": ["BlockGrad", "stop_gradient", "_npx_stop_gradient"],
    "passes the gradient through a step": ["_contrib_round_ste", "_contrib_sign_ste"],
    "declared to be zero, as existing programs have it": ["_npi_percentile", "_npi_unique", "*_pinv*"],
    "random, or with random parts": [
        "_random_*", "_sample_*", "sample_*", "random_*", "Dropout", "_npx_dropout", "_npi_*_n", "_npi_gumbel",
        "_npi_logistic", "_npi_normal", "_npi_uniform", "_npi_exponential", "_npi_pareto", "_npi_power*d",
        "_npi_rayleigh", "_npi_weibull", "_npi_gamma", "_npi_bernoulli", "*shuffle*", "_image_random_*"],
    "a part of a gradient itself": ["_backward_*", "_npi_backward_*"],
    "writes its inputs": ["*_update", "*_update_*", "reset_arrays", "_scatter_*", "_onehot_encode"],
    "takes sizes, not numbers, from an input": ["_reduce_sum_as", "_reduce_mean_as"],
}  # fmt: skip

SQUARE, ROW = (3, 3), (3,)
IMAGE = (1, 2, 4, 4)
# Shapes of the inputs, and parameters.
CALLS = {
    "dot": ([(2, 3), (3, 4)], {}),
    "_np_dot": ([(2, 3), (3, 4)], {}),
    "_npi_matmul": ([(2, 2, 3), (3, 4)], {}),
    "_npi_tensordot_int_axes": ([(2, 3), (3, 4)], {"axes": 1}),
    "batch_dot": ([(2, 2, 3), (2, 3, 2)], {}),
    "_linalg_gemm": ([(2, 3), (3, 4), (2, 4)], {"alpha": 0.7, "beta": 1.3}),
    "_linalg_gemm2": ([(2, 3), (4, 3)], {"transpose_b": True}),
    "_linalg_det": ([SQUARE], {}),
    "_linalg_inverse": ([SQUARE], {}),
    "_linalg_extractdiag": ([SQUARE], {"offset": 1}),
    "_linalg_extracttrian": ([SQUARE], {}),
    "_linalg_trmm": ([SQUARE, (3, 2)], {}),
    "_linalg_trsm": ([SQUARE, (3, 2)], {}),
    "_npi_solve": ([SQUARE, (3, 2)], {}),
    "_npi_tensorinv": ([SQUARE], {"ind": 1}),
    "_npi_polyval": ([(4,), (2, 3)], {}),
    "_npi_rot90": ([(2, 3)], {"axes": "(0,1)"}),
    "_np_roll": ([(2, 3)], {"shift": 1}),
    "_npi_broadcast_to": ([(1, 3)], {"shape": "(2,3)"}),
    "broadcast_to": ([(1, 3)], {"shape": "(2,3)"}),
    "broadcast_axis": ([(1, 3)], {"axis": 0, "size": 2}),
    "slice": ([(3, 4)], {"begin": "(0,3)", "end": "(3,None)", "step": "(2,-1)"}),
    "slice_axis": ([(3, 4)], {"axis": 1, "begin": 1, "end": 3}),
    "SliceChannel": ([(2, 4)], {"num_outputs": 2}),
    "clip": ([(2, 3)], {"a_min": 0.1, "a_max": 2}),
    "tile": ([(2, 3)], {"reps": "(2,1)"}),
    "repeat": ([(2, 3)], {"repeats": 2, "axis": 1}),
    "expand_dims": ([(2, 3)], {"axis": 1}),
    "Reshape": ([(2, 3)], {"shape": "(3,2)"}),
    "Pad": ([IMAGE], {"mode": "reflect", "pad_width": "(0,0,0,0,1,1,2,1)"}),
    "depth_to_space": ([(1, 4, 2, 2)], {"block_size": 2}),
    "space_to_depth": ([IMAGE], {"block_size": 2}),
    "Pooling": ([IMAGE], {"kernel": "(2,2)", "pool_type": "avg"}),
    "_contrib_AdaptiveAvgPooling2D": ([IMAGE], {"output_size": "(3,2)"}),
    "_contrib_BilinearResize2D": ([IMAGE], {"height": 6, "width": 3}),
    "UpSampling": ([IMAGE], {"scale": 2, "sample_type": "nearest", "num_args": 1}),
    "FullyConnected": ([(2, 3), (4, 3), (4,)], {"num_hidden": 4}),
    "Convolution": ([IMAGE, (3, 2, 3, 3), (3,)], {"kernel": "(3,3)", "num_filter": 3, "pad": "(1,1)"}),
    "Deconvolution": ([IMAGE, (2, 3, 3, 3)], {"kernel": "(3,3)", "num_filter": 3, "stride": "(2,2)"}),
    "LayerNorm": ([(2, 3), ROW, ROW], {}),
    "GroupNorm": ([(2, 4, 3), (2,), (2,)], {"num_groups": 2}),
    "InstanceNorm": ([(2, 3, 4), ROW, ROW], {}),
    "LRN": ([IMAGE], {"nsize": 3}),
    "softmax": ([(2, 3)], {"temperature": 0.7}),
    "LeakyReLU": ([(2, 3)], {"act_type": "gelu"}),
    "Activation": ([(2, 3)], {"act_type": "softrelu"}),
    "smooth_l1": ([(2, 3)], {"scalar": 3.0}),
    "GridGenerator": ([(2, 6)], {"transform_type": "affine", "target_shape": "(3,2)"}),
    "BilinearSampler": ([IMAGE, (1, 2, 3, 3)], {}),
    "_contrib_ifft": ([(2, 4)], {}),
    "_random_pdf_normal": ([(2, 3), (2,), (2,)], {}),
    "_random_pdf_gamma": ([(2, 3), (2,), (2,)], {}),
    "_random_pdf_exponential": ([(2, 3), (2,)], {}),
}
# Functions of numbers from 1 on.
FROM_ONE = {"arccosh", "_npi_arccosh", "_sparse_arccosh"}


LISTS = """
import ctypes as C, sys
count, names = C.c_uint(), C.POINTER(C.c_char_p)()
if C.CDLL(sys.argv[1]).MXListAllOpNames(C.byref(count), C.byref(names)) != 0:
    raise SystemExit("no list")
print(*(names[i].decode() for i in range(count.value)), sep="\\n")
"""


@functools.cache
def names_of(library):
    """All names of the operators that a libmxnet.so has by itself, as a process of its own lists them: in this one other tests may
    have loaded extensions, which stay."""
    listed = subprocess.run([sys.executable, "-c", LISTS, library], capture_output=True, text=True, check=True).stdout
    return frozenset(listed.split())


def descriptions(mx):
    """Each of the library's own operators: its name, its arguments with their types, as texts, and the parameter that counts its
    arrays."""
    own = names_of(mx.lib._name)
    count, creators = C.c_uint(), C.POINTER(C.c_void_p)()
    mx.call("MXSymbolListAtomicSymbolCreators", C.byref(count), C.byref(creators))
    for i in range(count.value):
        name, doc, counter, result = C.c_char_p(), C.c_char_p(), C.c_char_p(), C.c_char_p()
        number, names, types, docs = C.c_uint(), *(C.POINTER(C.c_char_p)() for _ in range(3))
        parts = (name, doc, number, names, types, docs, counter, result)
        mx.call("MXSymbolGetAtomicSymbolInfo", C.c_void_p(creators[i]), *map(C.byref, parts))
        arguments = [(names[j].decode(), types[j].decode()) for j in range(number.value)]
        if name.value.decode() in own:
            yield name.value.decode(), arguments, (counter.value or b"").decode()


def registry(mx):
    """Each operator's name, its arrays and required parameters, and the parameter that counts its arrays."""
    for name, arguments, counter in descriptions(mx):
        arrays = [a for a, kind in arguments if kind.startswith("NDArray")]
        required = [a for a, kind in arguments if "required" in kind and not kind.startswith("NDArray")]
        yield name, arrays, required, counter


def golden_calls():
    """Of the vectors, the smallest call of each operator with each set of parameters: operator, arrays, parameters, and whether it
    has a result."""
    smallest = {}
    for path in sorted(GOLDEN.glob("*.json")):
        content = json.loads(path.read_text())
        for case in content.get("cases", []) if isinstance(content, dict) else []:
            if any("o" not in i or "st" in i for i in case["inputs"]):
                continue
            arrays = [(tuple(i["s"]), i["d"]) for i in case["inputs"]]
            key, size = (case["op"], tuple(sorted(case["attrs"]))), sum(map(len, map(str, arrays)))
            if key not in smallest or size < smallest[key][0]:
                smallest[key] = size, arrays, case["attrs"], "error" not in case
    return [(op, arrays, params, works) for (op, _), (_, arrays, params, works) in smallest.items()]


def call_of(name, arrays, required, counter):
    """Shapes and parameters, or None where nothing is known about how to call the operator."""
    if name in CALLS:
        return CALLS[name]
    if any(fnmatch.fnmatchcase(name, pattern) for patterns in NO_SLOPE.values() for pattern in patterns):
        return None
    if counter:
        return [(2, 3)] * 2, {counter: 2}
    return ([(2, 3)] * len(arrays), {}) if arrays and not required else None


def inputs_of(name, shapes, rng):
    """Positive numbers in float64, apart from each other, so that no two elements tie."""
    low = 1.2 if name in FROM_ONE else 0.3
    return [rng.permutation(np.linspace(low, low + 0.6, int(np.prod(shape)))).reshape(shape) + 0.01 * k
            for k, shape in enumerate(shapes)]  # fmt: skip


def calls(mx, rng):
    """Name, arrays and parameters of each operator that something is known about how to call. Some take no such arrays all the
    same: their call fails."""
    for name, arrays, required, counter in registry(mx):
        if call := call_of(name, arrays, required, counter):
            shapes, attrs = call
            yield name, inputs_of(name, shapes, rng), attrs
