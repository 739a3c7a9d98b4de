# SPDX-License-Identifier: Apache-2.0
"""Operators that share code with others complain under their own name, and say what was given.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_named_errors.py
"""
import ctypes as C

import numpy as np
import pytest

from op_calls import Failure

IMAGE, REGION = np.zeros((1, 8, 6, 6), "float32"), np.array([[1, 0, 0, 2, 2]], "float32")
SQUARE = np.zeros((4, 4), "float32")
TABLE = np.ones((3, 4), "float32")
DEFORMED, DEFORMABLE = [IMAGE] * 3, {"kernel": (3, 3), "num_filter": 2, "no_bias": True}


@pytest.mark.parametrize("op, arrays, attrs, text", [
    ("_slice_assign_scalar", [SQUARE], {"begin": (0,), "end": (2,), "step": (0,)}, "given step 0, expected"),
    ("slice", [SQUARE], {"begin": (0,), "end": (2,), "step": (0,)}, "given step 0, expected"),
    ("_contrib_PSROIPooling", [IMAGE, REGION], {"spatial_scale": 1, "output_dim": 2, "pooled_size": 2}, "rois: given image 1, expected 0 to 0"),
    ("_contrib_PSROIPooling", [IMAGE, REGION], {"spatial_scale": 1, "output_dim": 0, "pooled_size": 2}, "given output_dim 0 and pooled_size 2"),
    ("_contrib_MultiBoxPrior", [IMAGE], {"steps": (1,)}, "given 1 steps and 2 offsets, expected two of each"),
    ("_contrib_MultiBoxPrior", [IMAGE], {"steps": (1, -1)}, "given steps 1 and -1, expected both or none"),
    ("_contrib_MultiBoxPrior", [IMAGE], {"ratios": (1, 0)}, "given ratio 0, expected numbers above 0"),
    ("_contrib_MultiBoxPrior", [IMAGE], {"ratios": (-1,)}, "given ratio -1, expected numbers above 0"),
    ("_contrib_MultiBoxPrior", [IMAGE], {"ratios": (float("nan"),)}, "given ratio nan, expected numbers above 0"),
    ("_contrib_MultiBoxPrior", [IMAGE], {"sizes": (0.5, -0.5)}, "given size -0.5, expected numbers of 0 or more"),
    ("_contrib_MultiBoxPrior", [IMAGE], {"sizes": (float("inf"),)}, "given size inf, expected numbers of 0 or more"),
    ("_contrib_DeformableConvolution", DEFORMED, {**DEFORMABLE, "layout": "NCW"}, "given layout NCW, expected NCHW"),
    ("_contrib_DeformableConvolution", DEFORMED, {**DEFORMABLE, "stride": (1, 0)},
     "given kernel 3, stride 0, dilate 1 and pad 0 along dimension 1, expected pad of 0 or more and the others above 0"),
    ("_contrib_ModulatedDeformableConvolution", [*DEFORMED, IMAGE], {**DEFORMABLE, "pad": (-1, 0)},
     "given kernel 3, stride 1, dilate 1 and pad -1 along dimension 0, expected pad of 0 or more and the others above 0"),
    ("Embedding", [TABLE[0], TABLE], {"input_dim": -1, "output_dim": 4}, "given '-1' for parameter input_dim, expected int"),
    ("Embedding", [TABLE[0], TABLE], {"input_dim": 3, "output_dim": 0}, "given '0' for parameter output_dim, expected int"),
    ("_contrib_SparseEmbedding", [TABLE[0], TABLE], {"input_dim": 0, "output_dim": 4}, "given '0' for parameter input_dim, expected int"),
    ("ROIPooling", [IMAGE, REGION], {"spatial_scale": -1, "pooled_size": (2, 2)}, "given '-1' for parameter spatial_scale, expected float"),
    ("_contrib_ROIAlign", [IMAGE, REGION], {"spatial_scale": "nan", "pooled_size": (2, 2)}, "given 'nan' for parameter spatial_scale, expected"),
    ("_contrib_RROIAlign", [IMAGE, REGION], {"spatial_scale": 2, "pooled_size": (2, 2)}, "given '2' for parameter spatial_scale, expected"),
    ("_contrib_PSROIPooling", [IMAGE, REGION], {"spatial_scale": "inf", "output_dim": 2, "pooled_size": 2},
     "given 'inf' for parameter spatial_scale, expected"),
    ("_contrib_DeformablePSROIPooling", [IMAGE, REGION], {"spatial_scale": 1, "output_dim": 2, "group_size": 2, "pooled_size": 2, "trans_std": -1},
     "given '-1' for parameter trans_std, expected"),
    ("ftml_update", [SQUARE] * 5, {"lr": 1, "t": 1, "beta1": 1.5}, "given '1.5' for parameter beta1, expected"),
    ("ftml_update", [SQUARE] * 5, {"lr": 1, "t": 1, "beta2": -0.5}, "given '-0.5' for parameter beta2, expected"),
    ("LRN", [IMAGE], {"nsize": 0}, "given '0' for parameter nsize, expected int"),
    ("khatri_rao", [], {"num_args": 0}, "given '0' for parameter num_args, expected int"),
    ("SequenceLast", [np.zeros((3, 2, 1), "float32"), np.array([0, 1], "float32")], {"use_sequence_length": True},
     "given length 0 of sequence 0 in 'sequence_length', expected at least one step"),
    ("SequenceMask", [np.zeros((3, 2, 1), "float32"), np.array([1, 4], "float32")], {"use_sequence_length": True},
     "given length 4 of sequence 1 in 'sequence_length', expected one from 0 to 3"),
])  # fmt: skip
def test_a_complaint_has_the_name_of_the_operator_that_was_called(mx, op, arrays, attrs, text):
    with pytest.raises(Failure, match=rf"\[{op}\] ") as failure:
        mx.run(op, *arrays, **attrs)
    assert text in str(failure.value)


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("op, given, expected", [("_npi_subtract", 1, 2), ("elemwise_mul", 1, 2), ("RNN", 2, 3), ("_npi_subtract", 3, 2)])
def test_too_few_inputs_while_recording_are_an_error_though_one_is_the_output(mx, op, given, expected, marked):
    """What the gradient keeps is asked before the call is checked; it read inputs that there were not."""
    arrays, gradient, before = [mx.array(SQUARE) for _ in range(given)], mx.array(SQUARE), C.c_int()
    attrs = {"state_size": 4, "num_layers": 1, "mode": "gru"} if op == "RNN" else {}
    if marked:
        mx.call("MXAutogradMarkVariables", 1, (C.c_void_p * 1)(arrays[0]), (C.c_uint * 1)(1), (C.c_void_p * 1)(gradient))
    view = mx.array(SQUARE) if given > 1 else C.c_void_p()
    if given == 1:
        mx.call("MXNDArraySlice", arrays[0], C.c_uint(0), C.c_uint(4), C.byref(view))
    mx.call("MXAutogradSetIsRecording", 1, C.byref(before))
    try:
        with pytest.raises(Failure, match=rf"\[{op}\] given {given} inputs, expected {expected}"):
            mx.invoke(op, arrays, out=[view if given == 1 else arrays[-1]], **attrs)
    finally:
        mx.call("MXAutogradSetIsRecording", 0, C.byref(before))
    mx.free(*arrays, gradient, view)
