# SPDX-License-Identifier: Apache-2.0
"""Operators by the address of a description, as mx.nd._internal._Native takes them."""

import ctypes as c

import mxnet as mx

Floats, Names = c.POINTER(c.POINTER(c.c_float)), c.POINTER(c.POINTER(c.c_char_p))
Numbers, Shapes = c.POINTER(c.c_int), c.POINTER(c.POINTER(c.c_uint))
Run = c.CFUNCTYPE(None, c.c_int, Floats, Numbers, Shapes, Numbers, c.c_void_p)
InferShape = c.CFUNCTYPE(None, c.c_int, Numbers, Shapes, c.c_void_p)
List = c.CFUNCTYPE(None, Names, c.c_void_p)


class NativeOpInfo(c.Structure):
    _fields_ = [
        ("forward", Run), ("backward", Run), ("infer_shape", InferShape), ("list_outputs", List), ("list_arguments", List),
        ("contexts", c.c_void_p * 5),
    ]  # fmt: skip


def filling(number):
    def run(count, data, ndims, shapes, tags, context):
        data[count - 1][0] = number

    return Run(run)


def same_shape(count, ndims, shapes, context):
    ndims[1], shapes[1] = ndims[0], shapes[0]


def test_another_description_at_the_same_address_is_called():
    name = (c.c_char_p * 2)(b"value", None)

    def list_one(names, context):
        names[0] = c.cast(name, c.POINTER(c.c_char_p))

    info = NativeOpInfo(filling(1), filling(0), InferShape(same_shape), List(list_one), List(list_one))
    results = []
    for number in (2, 3):
        info.forward = filling(number)
        results.append(mx.nd._internal._Native(mx.nd.ones(1), info=hex(c.addressof(info))).asscalar())
    assert results == [2, 3]
