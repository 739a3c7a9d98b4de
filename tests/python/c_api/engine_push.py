# SPDX-License-Identifier: Apache-2.0
"""Operations of other frameworks' hooks, pushed into a library of MXNet's C ABI: ours, or that of the 1.9.1 release.

    python engine_push.py LIBMXNET

prints what happened, the same lines for both.
"""

import ctypes
import queue
import random
import sys
import threading
import time

SYNC = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
ASYNC = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Context(ctypes.Structure):
    _fields_ = [("dev_type", ctypes.c_int), ("dev_id", ctypes.c_int)]


class OnComplete(ctypes.Structure):
    """What the second argument of an asynchronous function points to."""

    _fields_ = [
        ("callback", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
        ("engine", ctypes.c_void_p),
        ("param", ctypes.c_void_p),
    ]


class Library:
    def __init__(self, path):
        self.mx = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        self.mx.MXGetLastError.restype = ctypes.c_char_p
        self.cpu = Context(1, 0)
        self.lock = threading.Lock()
        self.deleted = {}
        self.last = 0
        self.alive = []  # functions must outlive their operations
        self.delete = DELETER(self._delete)

    def _delete(self, param):
        with self.lock:
            self.deleted[param] = self.deleted.get(param, 0) + 1

    def call(self, name, *arguments):
        if getattr(self.mx, name)(*arguments) != 0:
            raise RuntimeError(self.mx.MXGetLastError().decode())

    def array(self, value):
        handle, shape = ctypes.c_void_p(), (ctypes.c_uint32 * 1)(4)
        self.call("MXNDArrayCreate", shape, 1, 1, 0, 0, ctypes.byref(handle))
        values = (ctypes.c_float * 4)(*[value] * 4)
        self.call("MXNDArraySyncCopyFromCPU", handle, values, ctypes.c_size_t(4))
        return handle

    def data(self, array):
        at = ctypes.c_void_p()
        self.call("MXNDArrayGetData", array, ctypes.byref(at))
        return ctypes.cast(at, ctypes.POINTER(ctypes.c_float))

    def value(self, array):
        values = (ctypes.c_float * 4)()
        self.call("MXNDArraySyncCopyToCPU", array, values, ctypes.c_size_t(4))
        return list(values)

    def push(self, function, reads, writes, asynchronous=False, name=b"hook", priority=0, wait=False, deleter=True):
        """The number of its parameter, which its deleter is given."""
        self.last += 1
        made = (ASYNC if asynchronous else SYNC)(function)
        self.alive.append(made)
        handles = [(ctypes.c_void_p * max(1, len(some)))(*[one.value for one in some]) for some in (reads, writes)]
        arguments = [
            made, ctypes.c_void_p(self.last), self.delete if deleter else None, ctypes.byref(self.cpu),
            handles[0], len(reads), handles[1], len(writes), None, priority, name,
        ]
        if asynchronous:
            arguments.append(ctypes.c_bool(wait))
        self.call("MXEnginePushAsyncND" if asynchronous else "MXEnginePushSyncND", *arguments)
        return self.last

    def deletes(self, params):
        """How often each was deleted; the last may come a little after what waited for its operation."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with self.lock:
                if all(param in self.deleted for param in params):
                    break
            time.sleep(0.001)
        time.sleep(0.05)
        with self.lock:
            return sorted({self.deleted.get(param, 0) for param in params})

    def broken(self):
        """An array whose making fails when it runs: a matrix that is not positive definite has no factor."""
        matrix, shape = ctypes.c_void_p(), (ctypes.c_uint32 * 2)(2, 2)
        self.call("MXNDArrayCreate", shape, 2, 1, 0, 0, ctypes.byref(matrix))
        values = (ctypes.c_float * 4)(-1, 0, 0, -1)
        self.call("MXNDArraySyncCopyFromCPU", matrix, values, ctypes.c_size_t(4))
        operator, outputs, count = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_int(0)
        self.call("NNGetOpHandle", b"_linalg_potrf", ctypes.byref(operator))
        inputs = (ctypes.c_void_p * 1)(matrix.value)
        self.call("MXImperativeInvoke", operator, 1, inputs, ctypes.byref(count), ctypes.byref(outputs), 0, None, None)
        return ctypes.c_void_p(outputs[0])


def finish(on_complete):
    on_complete.callback(on_complete.engine, on_complete.param, None)


def orders(lib):
    """What one operation does depends on what those before it did to its arrays."""
    generator = random.Random(11)
    arrays = [lib.array(value) for value in (1, 2, 3, 5)]
    at = [lib.data(array) for array in arrays]
    waiting, params = queue.Queue(), []

    def network():
        while (job := waiting.get()) is not None:
            mix(*job[1:])
            finish(job[0])

    def mix(reads, write):
        for i in range(4):
            at[write][i] = (3 * at[write][i] + sum(at[read][i] for read in reads) + i) % 101

    thread = threading.Thread(target=network)
    thread.start()
    for number in range(300):
        write, *reads = generator.sample(range(4), generator.randint(1, 4))
        places = [arrays[read] for read in reads], [arrays[write]]
        if number % 3 == 0:

            def later(_, on_complete, param, reads=reads, write=write):
                waiting.put((OnComplete.from_buffer_copy(OnComplete.from_address(on_complete)), reads, write))

            params.append(lib.push(later, *places, asynchronous=True, priority=number % 7))
        else:
            params.append(lib.push(lambda _, param, reads=reads, write=write: mix(reads, write), *places, priority=-(number % 5)))
    print("in order", [lib.value(array) for array in arrays])
    lib.call("MXNDArrayWaitAll")
    waiting.put(None)
    thread.join()
    print("deleted", lib.deletes(params))


def waits(lib):
    array, seen = lib.array(1), []

    def function(context, on_complete, param):
        first = Context.from_address(context)
        time.sleep(0.05)
        seen.append((first.dev_type, first.dev_id, param))
        finish(OnComplete.from_address(on_complete))

    param = lib.push(function, [], [array], asynchronous=True, wait=True)
    lib.value(array)
    print("waited", seen == [(1, 0, param)], lib.deletes([param]))


def few_arguments(lib):
    array, ran = lib.array(1), []
    lib.push(lambda context, param: ran.append(param), [], [array], name=None, deleter=False)
    lib.value(array)
    lib.push(lambda context, param: ran.append(param), [array], [], name=b"")
    lib.call("MXNDArrayWaitAll")
    print("without name and deleter", len(ran))


def failures(lib):
    good, last, ran = lib.array(1), lib.array(2), []
    bad = lib.broken()
    first = lib.push(lambda context, param: ran.append(param), [bad], [good])
    second = lib.push(lambda context, param: ran.append(param), [good], [last])
    # Of the last one: in the release who waits for an error takes it away from all arrays that carry it.
    try:
        lib.call("MXNDArrayWaitToRead", last)
        print("no error")
    except RuntimeError as error:
        print("an error of the input", len(str(error)) > 0)
    for _ in range(2):
        try:
            lib.call("MXNDArrayWaitAll")
            print("all waited for")
        except RuntimeError:
            print("all waited for, with an error")
    print("ran", len(ran), "deleted", lib.deletes([first, second]))
    after = lib.array(1)
    third = lib.push(lambda context, param: ran.append(param), [], [after])
    lib.value(after)
    print("afterwards", len(ran), lib.deletes([third]))


def main():
    lib = Library(sys.argv[1])
    for part in (orders, waits, few_arguments, failures):
        part(lib)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
