# SPDX-License-Identifier: Apache-2.0
"""Calls of operators with numbers among their parameters that no memory holds, in a process that may get little of it.

    MXNET_LIBRARY_PATH=path/to/libmxnet.so hostile_calls.py < calls > answers

A call is a line of JSON: operator, parameters, shapes and types of its arrays. An answer is a line: "made", or the text of the error.
"""
import json
import re
import resource
import sys

import numpy as np

from op_calls import Failure, Library

# Sizes of 2^60 and more, the ends of int32, and what an unsigned number makes of -1.
NUMBERS = [2**60, 2**63 - 1, 2**31 - 1, -2**60, -2**31, -1, 0]
MORE_BYTES = 1 << 30  # that a call may ask for
# A whole number of its own: not a part of a name, nor of a broken number.
WHOLE = re.compile(r"(?<![\w.])-?\d+(?![\w.])")


def changed(params):
    """The parameters, one number in one of them exchanged for a hostile one."""
    for key, text in params.items():
        for found in WHOLE.finditer(str(text)):
            for number in NUMBERS:
                yield {**params, key: str(text)[:found.start()] + str(number) + str(text)[found.end():]}


def limit_memory():
    """Of the process from here on: what it has, and little more."""
    with open("/proc/self/statm") as statm:
        has = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + MORE_BYTES, has + MORE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main():
    mx = Library()
    mx.free(*mx.invoke("_ones", [], shape="(70000,)"))  # threads and pools are there
    mx.free(mx.array(np.ones(1)))  # and the device that arrays lie on
    limit_memory()
    for line in sys.stdin:
        op, params, arrays = json.loads(line)
        inputs = [mx.array(np.ones(shape, dtype)) for shape, dtype in arrays]
        try:
            outputs = mx.invoke(op, inputs, **params)
            for output in outputs:
                mx.call("MXNDArrayWaitToRead", output)
            mx.free(*outputs)
            answer = "made"
        except Failure as error:
            answer = str(error)
        mx.free(*inputs)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
