# SPDX-License-Identifier: Apache-2.0
"""Every operator of two libraries that export MXNet 1.x's C functions, beside each other.

Usage: python benchmarks/ops/registry.py OURS/libmxnet.so THEIRS/libmxnet.so [--only TEXT|TEXT] [--small] [--modes forward,backward,add]
       [--seconds 0.03] [--rounds 2] [--engine NaiveEngine] [--json FILE]      measures, and prints what is slower or not alike
       python benchmarks/ops/registry.py --read FILE [--below 1.1] [--slow-bytes 5]      prints rows of an earlier run by ratio

The calls are in registry_table.py. Each library has a process of its own, which makes the same inputs from the row's number; the two take turns. Times
are processor time of that process (all its threads; OMP_NUM_THREADS=1), so that others on the machine matter little; the least counts. `forward` is a
call that makes its outputs, `backward` one under recording and the gradients of all inputs of floats, `add` the same with gradients that are added.
Ratio: theirs by ours, above 1 we are faster. Difference: the largest of an output's or gradient's, of the largest number of that array.
"""
import argparse
import ctypes as C
import json
import os
import pickle
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tests", "python")]

import numpy as np  # noqa: E402
from op_calls import ADD, DTYPES, WRITE, Failure, Library  # noqa: E402
from registry_table import Table  # noqa: E402

SPARSE = {"row_sparse": 1, "csr": 2}
# What a core moves in a second: a row that needs far longer for its bytes is worth a look even where the other library is slower still.
BYTES_A_SECOND = 15e9


class Measured(Library):
    """A library in the process that measures it."""

    def __init__(self, path):
        super().__init__(path)
        count, names = C.c_uint(), C.POINTER(C.c_char_p)()
        self.call("MXListAllOpNames", C.byref(count), C.byref(names))  # the 1.9.1 release registers some operators only now
        self.names = [names[i].decode() for i in range(count.value)]

    def sparse(self, values, kind):
        """An array of that storage from a dense one."""
        nonzero = np.flatnonzero(np.any(values.reshape(len(values), -1), 1)) if kind == "row_sparse" else np.nonzero(values)
        data = values[nonzero]
        if kind == "row_sparse":
            aux = [nonzero.astype("int64")]
        else:
            aux = [np.concatenate([[0], np.cumsum(np.count_nonzero(values, 1))]).astype("int64"), nonzero[1].astype("int64")]
        handle = C.c_void_p()
        shape = (C.c_uint * values.ndim)(*values.shape)
        ndims = (C.c_uint * len(aux))(*[1] * len(aux))
        dims = (C.c_uint * len(aux))(*[len(a) for a in aux])
        types = (C.c_int * len(aux))(*[DTYPES["int64"]] * len(aux))
        self.call("MXNDArrayCreateSparseEx", SPARSE[kind], shape, C.c_uint(values.ndim), 1, 0, 0, DTYPES[values.dtype.name], C.c_uint(len(aux)), types,
                  ndims, dims, C.byref(handle))
        for position, part in [(-1, data), *enumerate(aux)]:
            dense = self.array(part)
            self.call("MXNDArraySyncCopyFromNDArray", handle, dense, C.c_int(position))
            self.free(dense)
        return handle

    def dense_numpy(self, handle):
        """The numbers of an array of any storage."""
        kind = C.c_int()
        self.call("MXNDArrayGetStorageType", handle, C.byref(kind))
        if kind.value <= 0:
            return self.numpy(handle)
        dense = self.invoke("cast_storage", [handle], stype="default")[0]
        result = self.numpy(dense)
        self.free(dense)
        return result

    def set(self, what, on):
        before = C.c_int()
        self.call(what, int(on), C.byref(before))


class Prepared:
    """A row's call in one library, with all arguments converted before."""

    def __init__(self, library, row, seed, request):
        self.library, self.row, self.request = library, row, request
        rng = np.random.default_rng(seed)
        library.numpy_shape(row.numpy)
        self.values = [given.make(rng) for given in row.inputs]
        self.inputs = [library.sparse(v, g.kind) if g.kind in SPARSE else library.array(v) for v, g in zip(self.values, row.inputs)]
        taken = [h for i, h in enumerate(self.inputs) if i not in row.outputs_only]
        self.given = (C.c_void_p * max(1, len(taken)))(*taken)
        self.outputs_given = (C.c_void_p * max(1, len(row.out)))(*[self.inputs[i] for i in row.out])
        keys = (C.c_char_p * max(1, len(row.attrs)))(*[key.encode() for key in row.attrs])
        values = (C.c_char_p * max(1, len(row.attrs)))(*[str(value).encode() for value in row.attrs.values()])
        self.before = (library.op(row.op), len(taken), self.given)
        self.after = (len(row.attrs), keys, values)
        self.heads, self.gradients = None, []
        if request is not None:
            self.mark()

    def mark(self):
        library, row = self.library, self.row
        wanted = row.gradients if isinstance(row.gradients, list) else range(len(self.inputs))
        wanted = [i for i in wanted if row.inputs[i].dtype.startswith("float")]
        if not row.gradients or not wanted or row.out:
            raise Failure("not differentiated")
        self.gradients = [library.array(np.zeros_like(self.values[i])) for i in wanted]
        library.call("MXAutogradMarkVariables", len(wanted), (C.c_void_p * len(wanted))(*[self.inputs[i] for i in wanted]),
                     (C.c_uint * len(wanted))(*[self.request] * len(wanted)), (C.c_void_p * len(wanted))(*self.gradients))

    def invoke(self):
        """Handles of the outputs."""
        row, library = self.row, self.library
        if row.out:
            count, outputs = C.c_int(len(row.out)), C.cast(self.outputs_given, C.POINTER(C.c_void_p))
        else:
            count, outputs = C.c_int(0), C.POINTER(C.c_void_p)()
        if library.lib.MXImperativeInvoke(*self.before, C.byref(count), C.byref(outputs), *self.after) != 0:
            raise Failure(library.lib.MXGetLastError().decode())
        return [] if row.out else [C.c_void_p(outputs[i]) for i in range(count.value)]

    def forward(self):
        return self.invoke()

    def backward(self):
        library = self.library
        library.set("MXAutogradSetIsRecording", 1)
        try:
            outputs = self.invoke()
        finally:
            library.set("MXAutogradSetIsRecording", 0)
        if self.heads is None:
            rng = np.random.default_rng(1)
            self.heads = [library.array((0.5 + rng.random(v.shape)).astype(v.dtype)) if v.dtype.kind == "f" else None for v in map(library.numpy, outputs)]
        used = [i for i, head in enumerate(self.heads) if head is not None]
        library.call("MXAutogradBackward", len(used), (C.c_void_p * len(used))(*[outputs[i] for i in used]),
                     (C.c_void_p * len(used))(*[self.heads[i] for i in used]), 0)
        return outputs

    def once(self):
        outputs = self.forward() if self.request is None else self.backward()
        for handle in outputs:
            self.library.lib.MXNDArrayFree(handle)

    def numbers(self):
        """What the first call gives: outputs, and gradients."""
        self.library.call("MXRandomSeed", 17)
        outputs = self.forward() if self.request is None else self.backward()
        results = [self.library.dense_numpy(h) for h in outputs] + [self.library.numpy(g) for g in self.gradients]
        results += [self.library.numpy(self.inputs[i]) for i in self.row.out]
        self.library.free(*outputs)
        return results

    def time(self, seconds):
        """Processor time of a call in microseconds, the least of samples."""
        wait = self.library.lib.MXNDArrayWaitAll
        start = time.perf_counter()
        self.once()
        wait()
        repeats = max(1, int(200e-6 / max(time.perf_counter() - start, 1e-7)))
        least, end, samples = float("inf"), time.perf_counter() + seconds, 0
        while samples < 2 or time.perf_counter() < end:
            start = time.process_time_ns()
            for _ in range(repeats):
                self.once()
            wait()
            least = min(least, (time.process_time_ns() - start) / repeats / 1000)
            samples += 1
        return least

    def free(self):
        self.library.free(*self.inputs, *self.gradients, *[h for h in self.heads or [] if h is not None])


REQUESTS = {"forward": None, "backward": WRITE, "add": ADD}


def serve(path, large):
    """Answers questions about rows until there are none."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    library = Measured(path)
    rows = list(Table(large).rows())
    send(answers, library.names)
    prepared = {}
    while (question := receive(sys.stdin.buffer)) is not None:
        number, mode, what = question
        try:
            library.set("MXAutogradSetIsTraining", rows[number].training)
            library.numpy_shape(rows[number].numpy)
            if what == "numbers":
                prepared[mode] = Prepared(library, rows[number], number, REQUESTS[mode])
                answer = prepared[mode].numbers()
            elif what == "free":
                prepared.pop(mode).free()
                answer = "free"
            else:
                answer = prepared[mode].time(what)
        except Exception as e:  # the answer to a question that cannot be answered: a library's message, or a mistake of a row
            answer = Failure(f"{type(e).__name__}: {e}"[:300])
        send(answers, answer)


def send(file, answer):
    data = pickle.dumps(answer)
    file.write(struct.pack("<q", len(data)) + data)
    file.flush()


def receive(file):
    size = file.read(8)
    return pickle.loads(file.read(struct.unpack("<q", size)[0])) if len(size) == 8 else None


class Process:
    """A library's process, started anew after a crash."""

    def __init__(self, path, options):
        self.path, self.options, self.child = path, options, None
        self.start()

    def start(self):
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MXNET_ENGINE_TYPE=self.options.engine, REGISTRY_SERVES=self.path)
        self.child = subprocess.Popen([sys.executable, *sys.argv], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.names = receive(self.child.stdout)

    def ask(self, *question):
        try:
            send(self.child.stdin, question)
            answer = receive(self.child.stdout)
        except BrokenPipeError:
            answer = None
        if answer is None:
            self.child.wait()
            self.start()
            return Failure("the process ended")
        return answer


def difference(ours, theirs):
    """What two lists of arrays differ by, in words where they are not of one form."""
    if len(ours) != len(theirs):
        return f"{len(ours)} and {len(theirs)} arrays"
    worst = 0.0
    for a, b in zip(ours, theirs):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}"
        if not a.size:
            continue
        a, b = a.astype("float64"), b.astype("float64")
        alike = np.isfinite(a) & np.isfinite(b)
        other = ~alike & ~((a == b) | (np.isnan(a) & np.isnan(b)))
        if other.any():
            return f"{other.sum()} infinities or NaN at other places"
        scale = np.abs(b[alike]).max(initial=1e-30)
        worst = max(worst, np.abs(a[alike] - b[alike]).max(initial=0) / scale)
    return float(worst)


def measured(processes, number, row, mode, options):
    """One line of the result."""
    line = {"row": row.label(), "op": row.op, "mode": mode}
    answers = [p.ask(number, mode, "numbers") for p in processes]
    failed = [isinstance(a, Failure) for a in answers]
    if any(failed):
        line["errors"] = [str(a) if isinstance(a, Failure) else "" for a in answers]
    else:
        line["difference"] = difference(*answers)
    if not failed[0]:
        line["bytes"] = sum(a.nbytes for a in answers[0]) + sum(int(np.prod(i.shape)) * np.dtype(i.dtype).itemsize for i in row.inputs)
    times = [[], []]
    for _ in range(options.rounds):
        for i, process in enumerate(processes):
            if not failed[i]:
                answer = process.ask(number, mode, options.seconds)
                if isinstance(answer, Failure):
                    failed[i], line["errors"] = True, [str(answer)]
                else:
                    times[i].append(answer)
    for i, process in enumerate(processes):
        if times[i]:
            process.ask(number, mode, "free")
    line["us"], line["peer_us"] = (min(t) if t else None for t in times)
    return line


def ratio(line):
    return line["peer_us"] / line["us"] if line["us"] and line["peer_us"] else float("inf")


def report(lines, options):
    """Rows by ratio, rows that need long for their bytes, rows that are not alike, rows that only we refuse."""
    compared = [line for line in lines if line["us"] and line["peer_us"]]
    print(f"{len(lines)} rows, {len({line['op'] for line in lines})} operators, {len(compared)} rows of both, {sum(ratio(line) < 1 for line in compared)} slower")

    def show(title, chosen, extra=lambda line: ""):
        print(f"\n{title}")
        for line in chosen:
            print(f"{line['us'] or 0:10.1f} {line['peer_us'] or 0:10.1f} {ratio(line):7.2f} {line['mode']:8s} {line['row'][:170]} {extra(line)}")

    show("ours us, theirs us, ratio", sorted((line for line in compared if ratio(line) < options.below), key=ratio))
    if options.slow_bytes:
        def share(line):
            return line["us"] * 1e-6 * BYTES_A_SECOND / max(line["bytes"], 1)
        slow = [line for line in lines if line["us"] and line["us"] > 50 and share(line) > options.slow_bytes]
        show("long for its bytes", sorted(slow, key=share, reverse=True), lambda line: f"{share(line):.1f}")
    unlike = [line for line in lines if isinstance(line.get("difference"), str) or line.get("difference", 0) > 1e-3]
    show("not alike", unlike, lambda line: line["difference"])
    refused = [line for line in lines if line["us"] is None and (line["peer_us"] or options.verbose)]
    show("refused", refused, lambda line: line.get("errors"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*")
    parser.add_argument("--only", default="", help="rows with one of these texts, separated by |")
    parser.add_argument("--small", action="store_true", help="inputs of 8 x 8")
    parser.add_argument("--modes", default="forward,backward,add")
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--engine", default="NaiveEngine")
    parser.add_argument("--json")
    parser.add_argument("--read")
    parser.add_argument("--below", type=float, default=1.1, help="show rows whose ratio is less")
    parser.add_argument("--slow-bytes", type=float, default=0, help="show rows that take so many times as long as moving their bytes")
    parser.add_argument("--verbose", action="store_true", help="show rows that both refuse")
    options = parser.parse_args()
    if os.environ.get("REGISTRY_SERVES"):
        return serve(os.environ["REGISTRY_SERVES"], not options.small)
    if options.read:
        with open(options.read, encoding="utf-8") as file:
            return report([json.loads(text) for text in file], options)
    processes = [Process(path, options) for path in options.libraries]
    lines = []
    out = open(options.json or os.devnull, "w", encoding="utf-8")
    with out:
        for number, row in enumerate(Table(not options.small).rows()):
            if not any(text in row.label() for text in options.only.split("|")):
                continue
            for mode in options.modes.split(","):
                line = measured(processes, number, row, mode, options)
                if mode != "forward" and line["us"] is None and line["peer_us"] is None:
                    break  # nothing to differentiate
                lines.append(line)
                print(json.dumps(line), file=out, flush=True)
    report(lines, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
