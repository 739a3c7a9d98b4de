# SPDX-License-Identifier: Apache-2.0
"""Operators of two libraries on inputs that no file of vectors holds: every case of a folder of vectors, changed in one way, is run
on both through the C ABI, forward and backward, and where results differ it says so. With --random the calls are drawn instead, arrays
and parameters (random_calls.py).

    tests/frontend/differential.py OUR_LIBMXNET THEIR_LIBMXNET [--ways value,shape,...] [--seed N] [--only TEXT] [--cases FOLDER]
                                   [--random COUNT]

The ways of changing a case:
    value      the numbers of each array in another order
    shape      every length of a dimension another one, the same for the same length
    sizes      that, and the numbers among the attributes along with it
    dtype      float32 arrays of another type
    special    NaN, infinities, -0 and numbers near the ends of the range among the numbers
    zero, one  one length 0, or 1
    big        lengths times four to sixteen
and of calling it with the case's own numbers:
    add        gradients are added to what their arrays hold
    view       each array is the middle of a longer one
    inplace    the output is the first input of its shape and type
    second     gradients of the gradients are compared too (those for the arrays: theirs for the heads are zero)

A process that ends is started again after the case that ended it. What ends or hangs theirs says nothing about ours. At the end it counts
what differs by operator: numbers and shapes, calls that only ours refuses, calls that only theirs refuses.
"""
import argparse
import collections
import ctypes as C
import json
import os
import pathlib
import pickle
import random
import re
import select
import struct
import subprocess
import sys
import zlib

import numpy as np

import random_calls

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
WAYS = ["value", "shape", "sizes", "dtype", "special", "zero", "one", "big", "add", "view", "inplace", "second"]
MOST_ELEMENTS = 300_000
SECONDS = 20  # for one call
TOLERANCE = {"float16": (1e-2, 4e-3), "float32": (1e-4, 2e-5), "float64": (1e-6, 2e-7)}
# A random operator has no numbers to compare.
UNCOMPARED = re.compile(r"random|sample|Dropout|dropout|shuffle|bernoulli|uniform|normal|gumbel|laplace|exponential|pareto|"
                        r"weibull|rayleigh|power$|logistic|multinomial|choice|gamma$")


class Changes:
    """One case changed in one way, from random numbers of its own."""

    def __init__(self, case, numbers, way, seed):
        self.rng = np.random.RandomState(zlib.crc32(f"{case['id']} {way} {seed}".encode()))
        self.way, self.attrs = way, dict(case["attrs"])
        arrays = [None if "o" not in i else numbers[i["d"]][i["o"]:i["o"] + int(np.prod(i["s"]))].reshape(i["s"])
                  for i in case["inputs"]]
        self.lengths = sorted({n for a in arrays if a is not None for n in a.shape if n > 1})
        self.arrays = [None if a is None else getattr(self, "_" + way)(a) for a in arrays] if self._prepare() else None

    def _prepare(self):
        if self.way in ("shape", "sizes", "zero", "one", "big"):
            if not self.lengths:
                return False
            self.new_length = {n: n for n in self.lengths}
            if self.way in ("shape", "sizes"):
                self.new_length = {n: max(1, n + int(self.rng.choice([-1, 1, 2, 3]))) for n in self.lengths}
            elif self.way == "big":
                self.new_length = {n: n * int(self.rng.choice([4, 7, 16])) for n in self.lengths}
            else:
                self.new_length[self.lengths[self.rng.randint(len(self.lengths))]] = 0 if self.way == "zero" else 1
            if self.way == "sizes":
                self.attrs = {key: re.sub(r"\d+", lambda m: str(self.new_length.get(int(m[0]), int(m[0]))), str(text))
                              if key not in ("dtype", "act_type") else text for key, text in self.attrs.items()}
        if self.way == "dtype":
            self.type = str(self.rng.choice(["float16", "float64", "int32", "int64", "int8", "uint8", "bool"]))
        return True

    def _as_it_is(self, a):
        return a

    _add = _view = _inplace = _second = _as_it_is

    def _value(self, a):
        return self.rng.permutation(a.reshape(-1)).reshape(a.shape)

    def _resized(self, a):
        shape = [self.new_length.get(n, n) for n in a.shape]
        if np.prod(shape) > MOST_ELEMENTS:
            raise OverflowError
        if a.size == 0:
            return np.zeros(shape, a.dtype)
        return a.reshape(-1)[self.rng.randint(0, a.size, int(np.prod(shape)))].reshape(shape)

    _shape = _sizes = _zero = _one = _big = _resized

    def _dtype(self, a):
        if a.dtype != np.float32:
            return a
        return np.abs(a).astype(self.type) if self.type.startswith("u") else a.astype(self.type)

    def _special(self, a):
        if a.dtype.kind != "f":
            return a
        limits = np.finfo(a.dtype)
        odd = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, limits.max, limits.tiny, 1.0, -1.0], a.dtype)
        places = self.rng.rand(*a.shape) < 0.2
        return np.where(places, odd[self.rng.randint(0, len(odd), a.shape)], a).astype(a.dtype)


class Worker:
    """A process with one library; answers (outputs, gradients) or a text in place of either."""

    def __init__(self, library):
        self.library, self.process = library, None

    def start(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MXNET_")}
        environment.update(OMP_NUM_THREADS="2", MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0")
        self.process = subprocess.Popen([sys.executable, __file__, "--worker", self.library], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)

    def ask(self, job):
        if self.process is None:
            self.start()
        try:
            send(self.process.stdin, job)
            if not select.select([self.process.stdout], [], [], SECONDS)[0]:
                raise EOFError("hangs")
            return receive(self.process.stdout)
        except (EOFError, BrokenPipeError) as gone:
            self.process.kill()
            self.process.wait()
            code, self.process = self.process.returncode, None
            return ("hangs" if "hangs" in str(gone) else f"ends ({code})",) * 3


def send(stream, what):
    data = pickle.dumps(what)
    stream.write(struct.pack("q", len(data)) + data)
    stream.flush()


def receive(stream):
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("q", head)[0]))


def middle_of(mx, values):
    """The numbers as a view of an array that is one longer at both ends of the first axis."""
    if values.ndim == 0 or values.size == 0:
        return mx.array(values)
    longer, view = mx.array(np.concatenate([values[:1], values, values[:1]])), C.c_void_p()
    mx.call("MXNDArraySlice", longer, C.c_uint(1), C.c_uint(1 + len(values)), C.byref(view))
    mx.free(longer)
    return view


def outputs_of(mx, op, attrs, arrays, way):
    """What the operator gives, called in this way."""
    if way not in ("view", "inplace"):
        return mx.run(op, *arrays, **attrs)
    inputs = [middle_of(mx, a) if way == "view" else mx.array(a) for a in arrays]
    outputs = mx.invoke(op, inputs, **attrs)
    if way == "inplace" and len(outputs) == 1:
        made = mx.numpy(outputs[0])
        alike = [i for i, a in enumerate(arrays) if a.shape == made.shape and a.dtype == made.dtype]
        if alike:
            mx.free(*outputs, *inputs)
            inputs = [mx.array(a) for a in arrays]
            return [mx.numpy(o) for o in mx.invoke(op, inputs, out=[inputs[alike[0]]], **attrs)]
    return [mx.numpy(o) for o in outputs]


def work(library):
    from op_calls import ADD, WRITE, Failure, Library
    mx = Library(library)
    count, names = C.c_uint(), C.POINTER(C.c_char_p)()
    mx.call("MXListAllOpNames", C.byref(count), C.byref(names))  # until then the release knows its newer operators only
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            op, attrs, arrays, numpy_shape, training, differentiated, seed, way = receive(sys.stdin.buffer)
        except EOFError:
            return
        mx.numpy_shape(numpy_shape)
        mx.training(training)
        outputs = gradients = second = None
        try:
            outputs = outputs_of(mx, op, attrs, arrays, way)
        except Failure as error:
            outputs = str(error)
        if differentiated and not isinstance(outputs, str):
            rng = np.random.RandomState(seed)
            heads = [(rng.randint(-8, 9, o.shape) / 8).astype(o.dtype) if o.dtype.kind == "f" else None for o in outputs]
            try:
                if any(h is not None for h in heads):
                    request, start = (ADD, 0.5) if way == "add" else (WRITE, 0.0)
                    gradients = mx.gradients(op, arrays, heads, request, start, wanted=differentiated, **attrs)
            except Failure as error:
                gradients = str(error)
            if way == "second" and isinstance(gradients, list):
                directions = [(rng.randint(-8, 9, arrays[i].shape) / 8).astype(arrays[i].dtype) for i in differentiated]
                try:
                    second = mx.second_gradients(op, arrays, heads, directions, differentiated, **attrs)[0]
                except Failure as error:
                    second = str(error)
        send(answers, (outputs, gradients, second))


def difference(ours, theirs, what):
    """Why these are not the same, or None. An error of both is the same error."""
    if isinstance(theirs, str) and (theirs.startswith("ends") or theirs == "hangs"):
        return None if not isinstance(ours, str) or not re.match("ends|hangs", ours) else f"{what}: both {ours}"
    if isinstance(ours, str) or isinstance(theirs, str):
        if isinstance(ours, str) and isinstance(theirs, str) and not re.match("ends|hangs", ours):
            return None
        return f"{what}: ours {short(ours)} | theirs {short(theirs)}"
    if ours is None or theirs is None:
        return None
    if len(ours) != len(theirs):
        return f"{what}: {len(ours)} arrays, not {len(theirs)}"
    for i, (got, want) in enumerate(zip(ours, theirs)):
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"{what} {i}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        if want.dtype.name in TOLERANCE:
            rtol, scale = TOLERANCE[want.dtype.name]
            g, w = got.astype("float64"), want.astype("float64")
            finite = np.abs(w[np.isfinite(w)])
            same = np.isclose(g, w, rtol, scale * (finite.max() if finite.size else 0) + 1e-7, equal_nan=True)
        else:
            same = got == want
        if not np.all(same):
            at = np.unravel_index(int(np.argmin(same)), same.shape)
            return f"{what} {i}: {got[at]}, not {want[at]} at {tuple(map(int, at))} ({int(np.sum(~same))} of {same.size})"
    return None


def short(result):
    return result.strip().split("\n")[0][:110] if isinstance(result, str) else str([f"{a.dtype}{a.shape}" for a in result])


def changed_jobs(options):
    """Title and job of the cases of files, changed in each way."""
    for path in sorted(options.cases.glob("*.json")):
        content = json.loads(path.read_text())
        if not isinstance(content, dict) or "cases" not in content or not path.with_suffix(".npz").exists():
            continue
        numbers = dict(np.load(path.with_suffix(".npz")))
        seen = collections.Counter()
        cases = list(content["cases"])
        random.Random(options.seed).shuffle(cases)
        for case in cases:
            if "stat" in case or "cmp" in case or "out" in case or "noin" in case or any("st" in i for i in case["inputs"]) or \
                    UNCOMPARED.search(case["op"]) or not re.search(options.only, case["op"]):
                continue
            for way in options.ways.split(","):
                seen[case["op"], way] += 1
                if options.few and seen[case["op"], way] > options.few:
                    continue
                try:
                    changed = Changes(case, numbers, way, options.seed)
                except OverflowError:
                    continue
                if changed.arrays is None or any(a is None for a in changed.arrays):
                    continue
                # A length of 0 is no length where shapes are not NumPy's.
                numpy_shape = bool(case.get("np")) or any(0 in a.shape for a in changed.arrays)
                yield f"{case['id']} {way}", (case["op"], changed.attrs, changed.arrays, numpy_shape, case.get("train", "grad" in case),
                                              case.get("grad", []), options.seed, way)


def drawn_jobs(options):
    """Title and job of calls that are drawn."""
    ways = random.Random(options.seed)
    for number, call in enumerate(random_calls.calls(options.seed, options.random, re.compile(options.only))):
        numpy_shape = call.op.startswith("_np") or any(a.size == 0 or a.ndim == 0 for a in call.arrays)
        floats = [i for i, a in enumerate(call.arrays) if a.dtype.kind == "f"]
        way = ways.choice(["value", "value", "add", "view", "inplace", "second", "second"])
        # Of several arrays, now and then only one asks for its gradient.
        wanted = [ways.choice(floats)] if floats and ways.random() < 0.2 else floats
        yield f"{call.op}/{number} {way}", (call.op, call.params, call.arrays, numpy_shape, True, wanted if ways.random() < 0.8 else [],
                                            options.seed, way)


def kind_of(mine, other):
    """Which of the two refuses."""
    texts = [any(isinstance(part, str) for part in side) for side in (mine, other)]
    return "differs" if texts[0] == texts[1] else "only ours refuses" if texts[0] else "only theirs refuses"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="operators whose name matches")
    parser.add_argument("--cases", default=HERE.parent / "data" / "golden", type=pathlib.Path)
    parser.add_argument("--random", type=int, default=0, metavar="COUNT", help="so many calls that are drawn, instead of cases")
    parser.add_argument("--few", type=int, default=0, help="at most so many cases of an operator and way")
    options = parser.parse_args()

    ours, theirs = Worker(options.ours), Worker(options.theirs)
    compared, different = 0, collections.Counter()
    for title, job in drawn_jobs(options) if options.random else changed_jobs(options):
        mine, other = ours.ask(job), theirs.ask(job)
        compared += 1
        parts = zip(mine, other, ("output", "gradient", "second gradient"))
        why = next(filter(None, (difference(*part) for part in parts)), None)
        if why:
            op, params, arrays = job[:3]
            different[op, kind_of(mine, other)] += 1
            print(f"{title}: {why}\n    {params} {' '.join(f'{a.dtype.name}{list(a.shape)}' for a in arrays)}", flush=True)
    print(f"{compared} compared, {sum(different.values())} different")
    for (op, kind), count in sorted(different.items(), key=lambda item: (item[0][1], item[0][0])):
        print(f"    {kind}: {op} {count}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2])
    else:
        main()
