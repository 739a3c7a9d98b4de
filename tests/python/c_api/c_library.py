# SPDX-License-Identifier: Apache-2.0
"""The library under test, and calls of it that raise what it reports."""
import ctypes as C
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
CPU = 1


def library_path():
    found = os.environ.get("MXNET_LIBRARY_PATH")
    if found:
        return found
    return str(ROOT / "build" / "release" / "src" / "libmxnet.so")


class Library:
    """Calls that raise what the library reports."""

    def __init__(self, path):
        self.functions = C.CDLL(path)
        self.functions.MXGetLastError.restype = C.c_char_p

    def __getattr__(self, name):
        function = getattr(self.functions, name)

        def call(*values):
            if function(*values) != 0:
                raise RuntimeError(self.functions.MXGetLastError().decode())

        return call

    def new(self, name, *values):
        """What a function gives through its last parameter."""
        handle = C.c_void_p()
        getattr(self, name)(*values, C.byref(handle))
        return handle

    def array(self, *shape):
        return self.new("MXNDArrayCreate", (C.c_uint * len(shape))(*shape), len(shape), CPU, 0, 0)

    def array_of(self, shape, numbers):
        """A float32 array of these numbers."""
        array = self.array(*shape)
        self.MXNDArraySyncCopyFromCPU(array, (C.c_float * len(numbers))(*numbers), C.c_size_t(len(numbers)))
        return array

    def numbers(self, array, count):
        """What a float32 array of so many numbers holds."""
        values = (C.c_float * count)()
        self.MXNDArraySyncCopyToCPU(array, values, C.c_size_t(count))
        return list(values)

    def creator(self, name):
        """The operator of a name."""
        return self.new("NNGetOpHandle", name.encode())

    def network(self):
        """relu of a variable."""
        x = self.new("MXSymbolCreateVariable", b"x")
        net = self.new("MXSymbolCreateAtomicSymbol", self.creator("relu"), 0, None, None)
        self.MXSymbolCompose(net, b"out", 1, None, (C.c_void_p * 1)(x))
        self.MXSymbolFree(x)
        return net
