# SPDX-License-Identifier: Apache-2.0
"""No number among the parameters of an operator ends the process or makes it wait without end: what is too large for the memory is
an error.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_hostile_sizes.py
"""
import collections
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from hostile_calls import changed
from op_calls import Failure
from op_registry import CALLS, golden_calls

HERE = pathlib.Path(__file__).resolve().parent.parent
# More than a loaded machine takes for all calls of an operator; what has no end takes longer.
SECONDS = 600
AS_OFTEN_AS_ASKED = {"_npi_multinomial": "n", "_sample_multinomial": "shape"}  # draws that the release makes one by one too
SIZES = {  # of operators whose calls are in neither place
    "_arange": {"start": 0, "stop": 5, "repeat": 2, "dtype": "uint8"},
    "_npi_arange": {"start": 0, "stop": 5, "step": 1, "dtype": "float64"},
    "_linspace": {"start": 0, "stop": 5, "num": 3},
    "_npi_linspace": {"start": 0, "stop": 5, "num": 3},
    "_npi_logspace": {"start": 0, "stop": 2, "num": 3},
    "_eye": {"N": 3, "M": 2, "k": 1},
    "_npi_eye": {"N": 3, "M": 2, "k": 1},
    "_npi_identity": {"shape": "(3,3)"},
    "_npi_indices": {"dimensions": "(3,2)"},
    "_npi_hanning": {"M": 3},
    "_zeros": {"shape": "(3,2)"},
    "_full": {"shape": "(3,2)", "value": 2},
    "_random_uniform": {"shape": "(3,2)"},
    "_npi_normal": {"size": "(3,2)"},
    "_random_randint": {"low": 0, "high": 5, "shape": "(3,)"},
}
WITH_ARRAYS = {
    "_npi_bincount": ([((4,), "int32")], {"minlength": 3, "has_weights": "False"}),
    "_histogram": ([((4,), "float32")], {"bin_cnt": 3, "range": "(0,3)"}),
    "one_hot": ([((4,), "int32")], {"depth": 3}),
    "_npi_tril_indices": ([], {"n": 3, "k": 0, "m": 2}),
    "_npi_diag_indices_from": ([((3, 3), "float32")], {}),
    "diag": ([((3, 3), "float32")], {"k": 1}),
    "_np_diagflat": ([((3,), "float32")], {"k": 1}),
    "_npi_pad": ([((2, 3), "float32")], {"pad_width": "((1,1),(0,2))", "mode": "constant"}),
    "im2col": ([((1, 2, 4, 4), "float32")], {"kernel": "(2,2)", "stride": "(1,1)", "dilate": "(1,1)", "pad": "(1,1)"}),
    "_contrib_boolean_mask": ([((3, 2), "float32"), ((3,), "float32")], {"axis": 0}),
    "_npi_diff": ([((3, 4), "float32")], {"n": 1, "axis": 0}),
    "_npi_around": ([((3,), "int32")], {"decimals": -1}),
    "_contrib_box_nms": ([((1, 8, 6), "float32")], {"coord_start": 2, "score_index": 1, "id_index": 0, "topk": 3}),
    "_contrib_ROIAlign": ([((2, 4, 6, 6), "float32"), ((3, 5), "float32")], {"pooled_size": "(2,2)", "spatial_scale": 1, "sample_ratio": 2}),
    "_contrib_DeformablePSROIPooling": ([((1, 8, 6, 6), "float32"), ((2, 5), "float32")],
                                        {"spatial_scale": 0.5, "output_dim": 2, "group_size": 2, "pooled_size": 2, "sample_per_part": 2,
                                         "no_trans": "True"}),
    "_npi_boolean_mask_assign_scalar": ([((4, 2, 3), "float32"), ((2,), "bool")], {"value": 2, "start_axis": 1}),
    "Concat": ([((2, 3), "float32")] * 2, {"num_args": 2, "dim": 1}),
    "add_n": ([((2, 3), "float32")] * 2, {"num_args": 2}),
    "khatri_rao": ([((2, 3), "float32")] * 2, {"num_args": 2}),
}


def calls():
    """All calls of each operator."""
    found = collections.defaultdict(list)
    known = [(op, [(shape, "float32") for shape in shapes], params) for op, (shapes, params) in CALLS.items()]
    known += [(op, [], params) for op, params in SIZES.items()]
    known += [(op, arrays, params) for op, (arrays, params) in WITH_ARRAYS.items()]
    for op, arrays, params in known + [call[:3] for call in golden_calls()]:
        params = {key: value for key, value in params.items() if AS_OFTEN_AS_ASKED.get(op) != key}
        found[op] += [[op, hostile, arrays] for hostile in changed(params)]
    return {op: those for op, those in found.items() if those}


CHANGED = calls()


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited by what Linux offers")
@pytest.mark.parametrize("ops", [list(CHANGED)[i::8] for i in range(8)], ids=lambda ops: f"{ops[0]}-and-{len(ops) - 1}-more")
def test_nothing_ends_the_process(mx, ops):
    given = [call for op in ops for call in CHANGED[op]]
    lines = "".join(json.dumps(call) + "\n" for call in given)
    child = subprocess.run([sys.executable, HERE / "hostile_calls.py"], input=lines, capture_output=True, text=True, timeout=SECONDS)
    answers = [json.loads(line) for line in child.stdout.splitlines()]
    assert len(answers) == len(given), f"{given[len(answers)]} ended the process ({child.returncode}): {child.stderr[-2000:]}"
    unnamed = [(call, answer) for call, answer in zip(given, answers)
               if answer != "made" and not answer.startswith("MXNetError: [") and "out of host memory" not in answer]
    assert not unnamed[:5]


@pytest.mark.parametrize("count", [3, 65, 2**31 - 1])
def test_a_wrong_number_of_inputs_is_said_at_once(mx, count):
    with pytest.raises(Failure, match="given 2 inputs, expected"):
        mx.run("Concat", np.ones(2), np.ones(2), num_args=count)


def test_so_many_differences_that_nothing_is_left(mx):
    assert mx.run("_npi_diff", np.ones((2, 3)), n=2**31 - 1)[0].shape == (2, 0)
