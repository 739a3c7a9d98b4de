# SPDX-License-Identifier: Apache-2.0
"""Operators on csr and row_sparse arrays, beside SciPy and the 1.9.1 release.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so PYTHONPATH=path/to/build/python python benchmarks/ops/sparse.py
           [--reference PYTHON_WITH_MXNET_1_9_1] [--scipy PYTHON_WITH_SCIPY] [--only TEXT|TEXT] [--threads 1]
           [--rounds 2] [--seconds 0.1] [--sides ours,reference,scipy] [--markdown]
Each side is a process of its own, and they take turns; the shortest time of all rounds counts, in microseconds. Ratio: the
faster peer's time by ours. Sides make the same arrays from one seed; sums of results are compared before anything is
timed, so that a row cannot be fast because it is wrong.
"""
import argparse
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import best_of_each  # noqa: E402

# A million elements are stored in csr matrices: so many in a row, of so many columns.
PATTERNS = ((10, 1000), (100, 2000), (1000, 10000), (50000, 200000))
STORED = 1000000


# Updates of a dense weight by a row_sparse gradient: name, number of states, attributes.
UPDATES = (("sgd", 0, {}), ("sgd_mom", 1, {"momentum": 0.9}), ("adam", 2, {}), ("adagrad", 1, {}), ("ftrl", 2, {}))


def csr_parts(each, columns, seed):
    """Values, columns in ascending order and ends of rows: each row stores one column out of each of `each` stretches."""
    rng = np.random.default_rng(seed)
    rows, stretch = STORED // each, columns // each
    at = np.arange(each) * stretch + rng.integers(0, stretch, (rows, each))
    return rng.uniform(0.5, 1.5, STORED).astype("float32"), at.ravel(), np.arange(rows + 1) * each, (rows, columns)


def rows_parts(rows, stored, width, seed):
    """Rows and their numbers."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.5, (stored, width)).astype("float32"), np.sort(rng.permutation(rows)[:stored]), (rows, width)


def dense_part(*shape):
    return np.random.default_rng(7).uniform(0.5, 1.5, shape).astype("float32")


class MXNet:
    """Both this library and the release: the functions are the same."""

    def __init__(self):
        import mxnet as mx
        self.nd = mx.nd
        self.sparse = mx.nd.sparse

    def csr(self, values, columns, ends, shape):
        return self.sparse.csr_matrix((values, columns, ends), shape=shape)

    def rows(self, values, index, shape):
        return self.sparse.row_sparse_array((values, index), shape=shape)

    def dense(self, values):
        return self.nd.array(values, dtype=values.dtype)

    @staticmethod
    def total(result):
        return float(result.asnumpy().sum(dtype="float64"))

    def calls(self):
        """Names and functions of no argument whose results are arrays that are awaited."""
        nd, sparse = self.nd, self.sparse
        for each, columns in PATTERNS:
            about = f"csr {STORED // each} x {columns}, {each} a row"
            a, b = (self.csr(*csr_parts(each, columns, seed)) for seed in (1, 2))
            yield f"add {about}", lambda: sparse.elemwise_add(a, b)
            yield f"multiply {about}", lambda: sparse.elemwise_mul(a, b)
            yield f"add to itself {about}", lambda: sparse.elemwise_add(a, a)
            for width in (1, 16, 128):
                x, y = self.dense(dense_part(columns, width)), self.dense(dense_part(STORED // each, width))
                yield f"dot {about}, {width} wide", lambda: sparse.dot(a, x)
                yield f"dot transposed {about}, {width} wide", lambda: sparse.dot(a, y, transpose_a=True)
            yield f"sum axis=0 {about}", lambda: sparse.sum(a, axis=0)
            yield f"sum axis=1 {about}", lambda: sparse.sum(a, axis=1)
            yield f"scale rows {about}", lambda: sparse.broadcast_mul(a, y[:, :1])
            yield f"square {about}", lambda: sparse.square(a)
            yield f"slice {about}", lambda: sparse.slice(a, (STORED // each // 4, columns // 4), (STORED // each // 2, columns // 2))
        about = "2000 x 1000"
        full = dense_part(2000, 1000)
        full[np.random.default_rng(3).random(full.shape) < 0.9] = 0
        full = self.dense(full)
        packed = full.tostype("csr")
        yield f"to csr {about}", lambda: nd.cast_storage(full, "csr")
        yield f"from csr {about}", lambda: nd.cast_storage(packed, "default")
        for rows, stored, width in ((200000, 40000, 1), (200000, 40000, 16), (20000, 4000, 256)):
            about = f"rows {stored} of {rows} x {width}"
            a, b = (self.rows(*rows_parts(rows, stored, width, seed)) for seed in (1, 2))
            full = a.tostype("default")
            kept = self.dense(rows_parts(rows, stored, width, 4)[1])
            yield f"add {about}", lambda: sparse.elemwise_add(a, b)
            yield f"multiply {about}", lambda: sparse.elemwise_mul(a, b)
            yield f"add_n of 4 {about}", lambda: sparse.add_n(a, b, a, b)
            yield f"add dense {about}", lambda: nd.elemwise_add(full, a)
            yield f"retain {about}", lambda: sparse.retain(a, kept)
            yield f"to rows {about}", lambda: nd.cast_storage(full, "row_sparse")
            yield f"from rows {about}", lambda: nd.cast_storage(a, "default")
            for name, states, attributes in UPDATES:
                given = [self.dense(dense_part(rows, width)) for _ in range(1 + states)]
                update = getattr(sparse, f"{name}_update")
                yield f"{name} {about}", partial(update, given[0], a, *given[1:], out=given[0], lr=1e-6, **attributes)

    @staticmethod
    def awaited(function):
        return lambda: function().wait_to_read()


class SciPy:
    def __init__(self):
        import scipy.sparse
        self.sparse = scipy.sparse

    @staticmethod
    def total(result):
        return float(result.sum(dtype="float64"))

    def calls(self):
        for each, columns in PATTERNS:
            about = f"csr {STORED // each} x {columns}, {each} a row"
            a, b = (self.sparse.csr_matrix(parts[:3], shape=parts[3]) for parts in (csr_parts(each, columns, seed) for seed in (1, 2)))
            yield f"add {about}", lambda: a + b
            yield f"multiply {about}", lambda: a.multiply(b)
            yield f"add to itself {about}", lambda: a + a
            for width in (1, 16, 128):
                x, y = dense_part(columns, width), dense_part(STORED // each, width)
                yield f"dot {about}, {width} wide", lambda: a @ x
                yield f"dot transposed {about}, {width} wide", lambda: a.T @ y
            yield f"sum axis=0 {about}", lambda: a.sum(axis=0)
            yield f"sum axis=1 {about}", lambda: a.sum(axis=1)
            yield f"square {about}", lambda: a.power(2)
            yield f"slice {about}", lambda: a[STORED // each // 4 : STORED // each // 2, columns // 4 : columns // 2]
        about = "2000 x 1000"
        full = dense_part(2000, 1000)
        full[np.random.default_rng(3).random(full.shape) < 0.9] = 0
        packed = self.sparse.csr_matrix(full)
        yield f"to csr {about}", lambda: self.sparse.csr_matrix(full)
        yield f"from csr {about}", lambda: packed.toarray()

    @staticmethod
    def awaited(function):
        return function


def measure(side, only, seconds):
    """[name, sum of the result, us] of each call."""
    rows = []
    for name, function in side.calls():
        if only and not any(text in name for text in only.split("|")):
            continue
        try:
            total = side.total(function())
            rows.append([name, total, best_of_each([side.awaited(function)], seconds, least=3)[0]])
        except Exception as error:  # a side may lack a call; the others still count
            rows.append([name, str(error).splitlines()[0], None])
    return rows


def run(side, arguments):
    environment = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads), MXNET_ENGINE_TYPE="NaiveEngine")
    python = {"ours": sys.executable, "reference": arguments.reference, "scipy": arguments.scipy}[side]
    if side == "reference":
        for name in ("MXNET_LIBRARY_PATH", "PYTHONPATH"):
            environment.pop(name, None)
    command = [python, __file__, "--side", side, "--seconds", str(arguments.seconds), "--only", arguments.only]
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", default="/opt/ref/bin/python")
    parser.add_argument("--scipy", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--sides", default="ours,reference,scipy")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        side = SciPy() if arguments.side == "scipy" else MXNet()
        print(json.dumps(measure(side, arguments.only, arguments.seconds)))
        return
    sides = arguments.sides.split(",")
    table, totals = {}, {}
    for _ in range(arguments.rounds):
        for side in sides:
            for name, total, time in run(side, arguments):
                cells = table.setdefault(name, {})
                if time is None:
                    print(f"{side}: {name}: {total}", file=sys.stderr)
                    continue
                cells[side] = min(time, cells.get(side, time))
                totals.setdefault(name, {})[side] = total
    if not table:
        parser.error(f"--only {arguments.only!r} is part of no call's name")
    edge = "| " if arguments.markdown else ""
    for name, cells in table.items():
        if "ours" not in cells:
            continue
        peers = [cells[side] for side in sides[1:] if side in cells]
        numbers = list(totals[name].values())
        alike = max(numbers) - min(numbers) <= 1e-4 * abs(max(numbers, key=abs))
        texts = [f"{cells[side]:9.0f}" if side in cells else " " * 9 for side in sides]
        ratio = f"{min(peers) / cells['ours']:6.2f}" if peers else ""
        print(edge + (" | " if edge else "  ").join([f"{name:45}", *texts, ratio]) + (" |" if edge else "") + ("" if alike else f"   not alike: {numbers}"))


if __name__ == "__main__":
    main()
