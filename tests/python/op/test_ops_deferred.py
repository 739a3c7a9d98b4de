# SPDX-License-Identifier: Apache-2.0
"""Operators give the same bits whether called at once or as a graph, over the registry."""
import ctypes as C

import numpy as np
from op_calls import Failure
from op_registry import calls

SEED = 20261120


def run_as_graph(mx, name, arrays, attrs):
    """The outputs of a graph that holds this operator alone."""
    keys = (C.c_char_p * len(attrs))(*[key.encode() for key in attrs])
    values = (C.c_char_p * len(attrs))(*[str(value).encode() for value in attrs.values()])
    symbol, cached = C.c_void_p(), C.c_void_p()
    mx.call("MXSymbolCreateAtomicSymbol", mx.op(name), len(attrs), keys, values, C.byref(symbol))
    variables = [C.c_void_p() for _ in arrays]
    for i, variable in enumerate(variables):
        mx.call("MXSymbolCreateVariable", b"in%d" % i, C.byref(variable))
    mx.call("MXSymbolCompose", symbol, b"node", len(arrays), None, (C.c_void_p * len(arrays))(*variables))
    mx.call("MXCreateCachedOp", symbol, C.byref(cached))
    inputs = [mx.array(a) for a in arrays]
    count, outputs, stypes = C.c_int(0), C.POINTER(C.c_void_p)(), C.POINTER(C.c_int)()
    mx.call("MXInvokeCachedOpEx", cached, len(inputs), (C.c_void_p * len(inputs))(*inputs), C.byref(count),
            C.byref(outputs), C.byref(stypes))  # fmt: skip
    handles = [C.c_void_p(outputs[i]) for i in range(count.value)]
    results = [mx.numpy(handle) for handle in handles]
    mx.free(*inputs, *handles)
    mx.call("MXFreeCachedOp", cached)
    for handle in (symbol, *variables):
        mx.call("MXSymbolFree", handle)
    return results


def test_a_graph_of_one_operator_gives_what_the_call_gives(mx, rng):
    checked = 0
    for name, arrays, attrs in calls(mx, rng):
        try:
            expected = mx.run(name, *arrays, **attrs)
        except Failure:
            continue  # takes no such arrays
        found = run_as_graph(mx, name, arrays, attrs)
        assert len(found) == len(expected), name
        for a, b in zip(found, expected):
            assert a.dtype == b.dtype, name
            np.testing.assert_array_equal(a, b, err_msg=name)
        checked += 1
    assert checked > 300, f"only {checked} operators took part"
