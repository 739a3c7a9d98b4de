# SPDX-License-Identifier: Apache-2.0
"""What each of some fifty small calls costs from Python: mx.nd's, mx.np's, PyTorch's and NumPy's.

    python benchmarks/python/calls.py [--torch /path/to/python] [--before PYTHONPATH LIBRARY] [--rounds 7] [--only TEXT]

Microseconds of one thread's processor time. Every side is a process of its own, and they take turns: a cell is the least
of all rounds, and behind it their median. `--before` measures another build too, so that two states of the source
are compared under the same noise. A call without a cell is one that a side does not have.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

# What the calls use; X is the module.
ARRAYS = """
import numpy as onp
values = onp.ones((8, 8), onp.float32)
a, b, x = make(8, 8), make(8, 8), make(16)
row, one, mask = make(8), make(1), make(8, 8) > 0
listed = [[1.0, 2.0], [3.0, 4.0]]
"""
MXNET = """
import mxnet as mx
X = mx.{module}
make = lambda *shape: X.ones(shape)
wait = mx.nd.waitall
""" + ARRAYS + """
def graph():
    with mx.autograd.record():
        y = (c * b + a).sum()
    y.backward()
c = make(8, 8)
c.attach_grad()
dense = mx.gluon.nn.Dense(16, in_units=8)
dense.initialize()
hybrid = mx.gluon.nn.Dense(16, in_units=8)
hybrid.initialize()
hybrid.hybridize(static_alloc=True, static_shape=True)
parameter = dense.weight
"""
TORCH = """
import torch
torch.set_num_threads(1)
X = torch
make = lambda *shape: torch.ones(*shape)
wait = lambda: None
""" + ARRAYS + """
def graph():
    y = (c * b + a).sum()
    y.backward()
c = torch.ones(8, 8, requires_grad=True)
dense = torch.nn.Linear(8, 16)
"""
NUMPY = """
import numpy as X
make = lambda *shape: X.ones(shape, X.float32)
wait = lambda: None
""" + ARRAYS

MX, ALL = ("nd", "np"), ("nd", "np", "torch", "numpy")
SAME = {  # one source for all sides
    "a + b": "a + b", "a * 2": "a * 2", "a + row": "a + row", "exp": "X.exp(a)", "sum": "a.sum()",
    "x[1:3]": "x[1:3]", "x[0]": "x[0]", "a[1, 2]": "a[1, 2]", "a[:, 1]": "a[:, 1]",
    "reshape": "a.reshape(4, 16)", "reshape of a tuple": "a.reshape((4, 16))", "T": "a.T", "zeros": "X.zeros((8, 8))",
    "x[0] = 1": "x.__setitem__(0, 1)", "x[1:3] = 1": "x.__setitem__(slice(1, 3), 1)", "a += b": "a.__iadd__(b)",
    "argmax(axis=1)": "a.argmax(axis=1)", "mean(axis=1)": "a.mean(axis=1)", "mean": "a.mean()", "ones": "X.ones((8, 8))",
    "where": "X.where(mask, a, b)", "item": "one.item()", "sum(axis=1)": "a.sum(axis=1)", "shape": "a.shape", "dtype": "a.dtype",
    "squeeze": "a.squeeze()", "flatten": "a.flatten()", "transpose": "a.transpose(1, 0)", "clip": "a.clip(0, 1)",
    "arange": "X.arange(8)", "zeros_like": "X.zeros_like(a)",
}
OWN = {  # sources by side
    "concat": {"nd": "X.concat(a, b, dim=0)", "np": "X.concatenate([a, b])", "torch": "X.cat([a, b])", "numpy": "X.concatenate([a, b])"},
    "stack": {"nd": "X.stack(a, b)", "np": "X.stack([a, b])", "torch": "X.stack([a, b])", "numpy": "X.stack([a, b])"},
    "split": {"nd": "X.split(a, 2)", "np": "X.split(a, 2)", "torch": "X.split(a, 4)", "numpy": "X.split(a, 2)"},
    "copy": {"nd": "a.copy()", "np": "a.copy()", "torch": "a.clone()", "numpy": "a.copy()"},
    "astype of a text": {"nd": "a.astype('float64')", "np": "a.astype('float64')", "torch": "a.to(X.float64)", "numpy": "a.astype('float64')"},
    "astype of a type": {"nd": "a.astype(onp.float64)", "np": "a.astype(onp.float64)", "torch": "a.to(X.float64)", "numpy": "a.astype(onp.float64)"},
    "an array of a list": {"nd": "X.array(listed)", "np": "X.array(listed)", "torch": "X.tensor(listed)", "numpy": "X.array(listed)"},
    "an array of NumPy's": {"nd": "X.array(values)", "np": "X.array(values)", "torch": "X.tensor(values)", "numpy": "X.array(values)"},
    "asnumpy": {"nd": "a.asnumpy()", "np": "a.asnumpy()", "torch": "a.numpy().copy()", "numpy": "a.copy()"},
    "dot": {"nd": "X.dot(a, b)", "np": "X.dot(a, b)", "torch": "X.mm(a, b)", "numpy": "X.dot(a, b)"},
    "expand_dims": {"nd": "X.expand_dims(a, axis=1)", "np": "X.expand_dims(a, 1)", "torch": "X.unsqueeze(a, 1)", "numpy": "X.expand_dims(a, 1)"},
    "one element as a number": dict.fromkeys(("nd", "np", "torch"), "float(one)") | {"numpy": "float(one[0])"},
    "max(axis=1)": {"nd": "a.max(axis=1)", "np": "a.max(axis=1)", "torch": "a.amax(1)", "numpy": "a.max(axis=1)"},
    "attach_grad": {"nd": "a.attach_grad()", "np": "a.attach_grad()", "torch": "a.requires_grad_()"},
    "(c * b + a).sum(), backward": dict.fromkeys(("nd", "np", "torch"), "graph()"),
    "Parameter.data()": dict.fromkeys(MX, "parameter.data()"),
    "Dense of 8 to 16": dict.fromkeys(("nd", "np", "torch"), "dense(a)"),
    "the same hybridized": dict.fromkeys(MX, "hybrid(a)"),
}
CALLS = {name: dict.fromkeys(ALL, source) for name, source in SAME.items()} | OWN

MEASURE = """
import json, sys, time
def least(source):
    space = dict(globals())
    exec("def many(calls):\\n for _ in calls: " + source, space)
    many = space["many"]
    many(range(50))
    wait()
    best = float("inf")
    for _ in range(10):
        start = time.thread_time()
        many(range(300))
        best = min(best, (time.thread_time() - start) / 300)
        wait()
    return best * 1e6
sources = json.loads(sys.argv[1])
print(json.dumps({name: least(source) for name, source in sources.items()}))
"""


def measured(python, setup, sources, changed):
    """Microseconds by the name of the call, of one process."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", **changed}
    done = subprocess.run([python, "-c", setup + MEASURE, json.dumps(sources)], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{python}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--before", nargs=2, metavar=("PYTHONPATH", "LIBRARY"), help="another build of this library")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="calls whose name has this text")
    options = parser.parse_args()
    # Column: (side, interpreter, what is made first, changed environment).
    columns = {f"mx.{side}": (side, sys.executable, MXNET.format(module=side), {}) for side in MX}
    if options.before:
        path, library = options.before
        for side in MX:
            changed = {"PYTHONPATH": path, "MXNET_LIBRARY_PATH": library}
            columns[f"mx.{side} before"] = (side, sys.executable, MXNET.format(module=side), changed)
    if options.torch:
        columns["PyTorch"] = ("torch", options.torch, TORCH, {"PYTHONPATH": ""})
    columns["NumPy"] = ("numpy", sys.executable, NUMPY, {})
    rounds = {column: {} for column in columns}
    for _ in range(options.rounds):
        for column, (side, python, setup, changed) in columns.items():
            sources = {name: by_side[side] for name, by_side in CALLS.items() if side in by_side and options.only in name}
            for name, time in measured(python, setup, sources, changed).items():
                rounds[column].setdefault(name, []).append(time)
    print("us, the least and the median".ljust(30) + "".join(column.rjust(16) for column in columns))
    for name in CALLS:
        if options.only in name:
            cells = (rounds[column].get(name) for column in columns)
            shown = (f"{min(times):8.2f}{statistics.median(times):8.2f}" if times else " " * 16 for times in cells)
            print(name.ljust(30) + "".join(shown))


if __name__ == "__main__":
    main()
