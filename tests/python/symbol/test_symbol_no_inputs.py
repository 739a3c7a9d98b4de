# SPDX-License-Identifier: Apache-2.0
"""Operators on any number of arrays, in a graph that gives them none: an error when it is read or bound, not a crash."""

import json

import mxnet
import pytest
from op_registry import descriptions

REQUIRED = {"scale": "2", "sample_type": "nearest", "wrt": "0", "num_outputs": "1", "return_mapping": "0", "num_out_data": "0"}


def run_without_arrays(name, attributes):
    node = {"op": name, "name": "x", "attrs": attributes, "inputs": []}
    symbol = mxnet.sym.load_json(json.dumps({"nodes": [node], "arg_nodes": [], "heads": [[0, 0, 0]]}))
    executor = symbol.bind(mxnet.cpu(), {})
    executor.forward(is_train=True)
    executor.backward([mxnet.nd.ones(output.shape) for output in executor.outputs])
    mxnet.nd.waitall()


def test_no_arrays_are_an_error_of_each_operator_that_counts_them(mx):
    counted = [(name, arguments, count) for name, arguments, count in descriptions(mx) if count]
    assert {"Concat", "add_n", "khatri_rao", "stack"} <= {name for name, _, _ in counted}
    for name, arguments, count in counted:
        required = {a: REQUIRED.get(a, "()") for a, kind in arguments if "required" in kind and not kind.startswith("NDArray")}
        with pytest.raises(mxnet.MXNetError):
            run_without_arrays(name, {**required, count: "0"})
