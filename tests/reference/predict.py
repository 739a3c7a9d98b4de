# SPDX-License-Identifier: Apache-2.0
"""A network by the C functions for prediction: what the worker calls, through ctypes."""
import ctypes as C
import json
import os
import tempfile

import numpy as np


class PredictError(RuntimeError):
    """A function returned -1."""


def outputs(library, text, nd, parameters, inputs):
    """Results of the symbol in this text, of float32 inputs by name."""
    lib = C.CDLL(library)
    lib.MXGetLastError.restype = C.c_char_p

    def call(name, *args):
        if getattr(lib, name)(*args) != 0:
            raise PredictError(lib.MXGetLastError().decode())

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "network.params")
        nd.save(path, parameters)
        with open(path, "rb") as file:
            numbers = file.read()
    shapes = [inputs[name].shape for name in inputs]
    starts = np.cumsum([0] + [len(s) for s in shapes])
    predictor = C.c_void_p()
    call("MXPredCreate", text.encode(), numbers, len(numbers), 1, 0, len(inputs), (C.c_char_p * len(inputs))(*[n.encode() for n in inputs]),
         (C.c_uint * len(starts))(*starts), (C.c_uint * starts[-1])(*[n for s in shapes for n in s]), C.byref(predictor))
    try:
        for name, values in inputs.items():
            values = np.ascontiguousarray(values)
            call("MXPredSetInput", predictor, name.encode(), values.ctypes.data_as(C.c_void_p), C.c_uint(values.size))
        call("MXPredForward", predictor)
        return [output(call, predictor, i) for i in range(len(json.loads(text)["heads"]))]
    finally:
        call("MXPredFree", predictor)


def output(call, predictor, index):
    dims, ndim = C.POINTER(C.c_uint)(), C.c_uint()
    call("MXPredGetOutputShape", predictor, C.c_uint(index), C.byref(dims), C.byref(ndim))
    made = np.empty([dims[i] for i in range(ndim.value)], "float32")
    call("MXPredGetOutput", predictor, C.c_uint(index), made.ctypes.data_as(C.c_void_p), C.c_uint(made.size))
    return made
