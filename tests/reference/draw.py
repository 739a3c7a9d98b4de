# SPDX-License-Identifier: Apache-2.0
"""Cases from numbers: what seed and number say is drawn is always the same, so that a case can be run alone.

A case is of one of these sources: a case of tests/data/golden that is changed, a call whose arrays are drawn (calls.py), a
network (chains.py), a program of the front end (programs/).
"""
import dataclasses
import functools
import itertools
import json
import pathlib
import re
import zlib
from typing import Any, Dict, List

import numpy as np

import calls
import chains
import layers  # noqa: F401  its makers
from programs import functions, indexing, loops, quantized, sparse, training, types

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
MOST_ELEMENTS = 300_000
# A random operator has no numbers to compare.
RANDOM = re.compile(r"random|sample|[Dd]ropout|shuffle|bernoulli|uniform|normal|gumbel|laplace|exponential|pareto|"
                    r"weibull|rayleigh|_npi_powerd|logistic_n|multinomial|choice|_npi_gamma$")
# What is done to a case of the vectors, and how it is then called.
CHANGES = ["value", "shape", "sizes", "dtype", "special", "zero", "one", "big", "scalars", "params"]
REQUESTS = ["write", "write", "write", "add", "view", "inplace", "second"]
# Not a choice of what is computed: a device, or another library's kernels.
SETTLED = {"cudnn_off", "cudnn_tune", "workspace", "ctx", "layout", "__layout__"}


@dataclasses.dataclass
class Case:
    """`job` is what a worker runs; `about` says which arrays and parameters it has."""
    title: str
    operator: str
    job: Dict[str, Any]
    about: str


@functools.lru_cache(None)
def vectors(family):
    return dict(np.load(DATA / "golden" / f"{family}.npz"))


@functools.lru_cache(None)
def golden_cases(wanted):
    """Cases of operators whose name `wanted` finds, by operator: each is as likely as the next, however many cases it has."""
    found = {}
    for path in sorted((DATA / "golden").glob("*.json")):
        for case in json.loads(path.read_text())["cases"]:
            dense = all("o" in i and "st" not in i for i in case["inputs"])
            if dense and not {"stat", "cmp", "out", "noin"} & set(case) and not RANDOM.search(case["op"]) and wanted.search(case["op"]):
                found.setdefault(case["op"], []).append((path.stem, case))
    return found


@functools.lru_cache(None)
def parameters():
    """The text that describes each parameter of each operator, aliases included."""
    described = {}
    for op in json.loads((DATA / "ops.json").read_text()):
        for name in [op["name"], *op["aliases"]]:
            described[name] = {key: text for key, text in op["args"] if not text.startswith("NDArray")}
    return described


class Changed:
    """A golden case with other lengths, types, numbers or parameters."""

    def __init__(self, draw, family, case, changes):
        self.draw, self.op, self.attrs = draw, case["op"], dict(case["attrs"])
        numbers = vectors(family)
        self.arrays = [numbers[i["d"]][i["o"]:i["o"] + int(np.prod(i["s"]))].reshape(i["s"]) for i in case["inputs"]]
        for change in changes:
            getattr(self, change)()

    def value(self):
        self.arrays = [self.draw.numbers.permutation(a.reshape(-1)).reshape(a.shape) for a in self.arrays]

    def _resized(self, length_of):
        """The same length becomes the same other one in all arrays, so that most still fit each other."""
        for i, a in enumerate(self.arrays):
            shape = [length_of.get(n, n) for n in a.shape]
            if np.prod(shape) > MOST_ELEMENTS:
                continue
            picked = self.draw.numbers.randint(0, a.size, int(np.prod(shape))) if a.size else []
            self.arrays[i] = (a.reshape(-1)[picked] if a.size else np.zeros(shape, a.dtype)).reshape(shape)

    def _lengths(self):
        return sorted({n for a in self.arrays for n in a.shape if n > 1})

    def shape(self):
        lengths = {n: max(1, n + self.draw.one_of([-1, 1, 2, 3])) for n in self._lengths()}
        self._resized(lengths)
        return lengths

    def sizes(self):
        """Lengths, and the numbers among the parameters along with them."""
        lengths = self.shape()
        self.attrs = {key: re.sub(r"\d+", lambda m: str(lengths.get(int(m[0]), int(m[0]))), str(text))
                      if key not in ("dtype", "act_type") else text for key, text in self.attrs.items()}

    def big(self):
        self._resized({n: n * self.draw.one_of([4, 7, 16]) for n in self._lengths()})

    def zero(self, length=0):
        if self._lengths():
            self._resized({self.draw.one_of(self._lengths()): length})

    def one(self):
        self.zero(1)

    def scalars(self):
        """Arrays without dimensions: all that are as large as the first, so that others, weights say, stay what they are."""
        shape = self.arrays[0].shape if self.arrays else ()
        self.arrays = [a.reshape(-1)[:1].reshape(()) if a.shape == shape and a.size else a for a in self.arrays]

    def dtype(self):
        to = self.draw.one_of(["float16", "float64", "int32", "int64", "int8", "uint8", "bool"])
        self.arrays = [(np.abs(a) if to == "uint8" else a).astype(to) if a.dtype == np.float32 else a for a in self.arrays]

    def special(self):
        """Numbers at the ends of their types among the others."""
        for i, a in enumerate(self.arrays):
            if a.dtype == bool or (a.dtype.kind != "f" and self.draw.chance(0.7)):
                continue
            limits = np.finfo(a.dtype) if a.dtype.kind == "f" else np.iinfo(a.dtype)
            odd = [limits.min, limits.max, 0, 1] + ([np.nan, np.inf, -np.inf, -0.0, limits.tiny] if a.dtype.kind == "f" else [])
            chosen = np.array(odd, a.dtype)[self.draw.numbers.randint(0, len(odd), a.shape)]
            self.arrays[i] = np.where(self.draw.numbers.rand(*a.shape) < 0.2, chosen, a).astype(a.dtype)

    def params(self):
        """One to three of the parameters, whether the case names them or not."""
        known = {k: t for k, t in parameters().get(self.op, {}).items() if k not in SETTLED}
        for key in self.draw.random.sample(sorted(known), min(len(known), self.draw.whole(1, 3))):
            text = self._other(key, known[key], str(self.attrs.get(key, "")))
            if text is not None:
                self.attrs[key] = text

    def _other(self, key, described, now):
        rank = max([a.ndim for a in self.arrays] + [1])
        if described.startswith("{"):
            return self.draw.one_of([c.strip(" '") for c in described[1:described.index("}")].split(",")])
        if described.startswith("boolean"):
            return self.draw.flag()
        if " or None" in described and self.draw.chance(0.2):
            return "None"
        if key == "axis" and described.startswith("int"):
            return str(self.draw.whole(-rank - 1, rank))
        if described.startswith(("int", "long")):
            return str(int(float(now)) + self.draw.one_of([-1, 1, 2])) if re.fullmatch(r"-?[\d.]+", now) else None
        if described.startswith(("float", "double")):
            return self.draw.one_of(["0", "-1", "0.5", "1e-5", "10", "2.5"])
        if now.startswith(("(", "[")) and re.search(r"\d", now):
            places = list(re.finditer(r"-?\d+", now))
            place = self.draw.one_of(places)
            return now[:place.start()] + str(int(place[0]) + self.draw.one_of([-1, 1, -2])) + now[place.end():]
        return None


def operator_case(draw, title, op, params, arrays, numpy_shape, training, differentiable):
    request = draw.one_of(REQUESTS)
    # Of several arrays, now and then only one asks for its gradient.
    wanted = [draw.one_of(differentiable)] if differentiable and draw.chance(0.2) else list(differentiable)
    job = dict(kind="operator", op=op, params=params, arrays=arrays, numpy_shape=numpy_shape, training=training,
               wanted=wanted if draw.chance(0.85) else [], request=request, seed=draw.whole(0, 2**31 - 1))
    # Not the words of compare.py for what differs: known.py looks for those in both.
    about = f"{request} {params} {' '.join(f'{a.dtype.name}{list(a.shape)}' for a in arrays)}, slopes of {job['wanted']}{'' if training else ' in inference'}"
    return Case(title, op, job, about)


def from_vectors(draw, title, wanted, changes):
    cases = golden_cases(wanted)
    family, case = draw.one_of(cases[draw.one_of(sorted(cases))])
    chosen = draw.random.sample(changes, min(len(changes), draw.one_of([1, 1, 2, 3])))
    changed = Changed(draw, family, case, chosen)
    # A length of 0 is no length where shapes are not NumPy's.
    numpy_shape = bool(case.get("np")) or any(0 in a.shape or a.ndim == 0 for a in changed.arrays)
    made = operator_case(draw, title, changed.op, changed.attrs, changed.arrays, numpy_shape,
                         bool(case.get("train", "grad" in case)), case.get("grad", []))
    made.about = f"{case['id']} {'+'.join(chosen)} {made.about}"
    return made


def from_calls(draw, title, wanted, _):
    call = calls.call(draw, draw.one_of(calls.names(wanted)))
    numpy_shape = call.op.startswith("_np") or any(a.size == 0 or a.ndim == 0 for a in call.arrays)
    floats = [i for i, a in enumerate(call.arrays) if a.dtype.kind == "f"]
    return operator_case(draw, title, call.op, call.params, call.arrays, numpy_shape, True, floats)


def from_networks(draw, title, wanted, _):
    way, request = draw.one_of([w for w in chains.WAYS if wanted.search(w)]), draw.one_of(["write", "write", "add"])
    network = chains.drawn(draw, way in ("train", "cached"), request == "add")
    job = dict(kind="network", network=network, way=way, seed=draw.whole(0, 2**31 - 1), dtype="float32", request=request,
               flags=chains.flags(draw))
    steps = "\n        ".join(f"{s.name} = {s.op}({', '.join(s.inputs)}) {s.params}" for s in network.steps)
    return Case(title, f"network {way}", job, f"{job['request']} {job['flags']} data {network.shape} -> {network.outputs}\n        {steps}")


def from_programs(draw, title, wanted, _):
    """The first program with such a name of those that the draws give."""
    source = title.split("/")[0]
    program = next(p for p in (PROGRAMS[source].drawn(draw) for _ in itertools.count()) if wanted.search(p.name))
    job = dict(dataclasses.asdict(program), kind="program", seed=draw.whole(0, 2**31 - 1))
    steps = "\n        ".join("{}: {}".format(part, lines.replace("\n", "; ")) for part, lines in program.steps)
    about = " ".join(f"{k} {a.dtype.name}{list(a.shape)}" for k, a in program.arrays.items())
    return Case(title, program.name, job, f"{about}\n        {program.start}\n        {steps}")


PROGRAMS = {"indexing": indexing, "functions": functions, "sparse": sparse, "loops": loops, "training": training,
            "quantized": quantized, "types": types}
SOURCES = {"vectors": from_vectors, "calls": from_calls, "networks": from_networks, **dict.fromkeys(PROGRAMS, from_programs)}


def case(source, seed, number, wanted=re.compile(""), changes=tuple(CHANGES)):
    """The case with this number."""
    draw = calls.Draw(f"{source} {seed} {number} {zlib.crc32(wanted.pattern.encode())}")
    return SOURCES[source](draw, f"{source}/{number}", wanted, list(changes))
