# SPDX-License-Identifier: Apache-2.0
"""Calls of every operator with one thing wrong: an array too few or too many, of another shape or type; a parameter that is missing,
that does not exist, whose text means nothing, whose number is out of all bounds. A call is what hostile_calls.py reads."""
import dataclasses
import random
import re

from op_registry import CALLS, descriptions, golden_calls

NONSENSE = "no such value"
FAR_NUMBERS = [-1, 2**31 - 1, -2**31]
OTHER_SHAPES = [(), (0,), (7,), (2, 3), (2, 1, 5)]
OTHER_TYPES = ["bool", "int32", "float16", "float64"]
# Texts that a required parameter of a type takes, for operators of which no call is known.
ANY_TEXT = [("{", None), ("Shape", "(1,1)"), ("tuple", "(1,1)"), ("boolean", "0"), ("string", "ij->ij"), ("", "1")]
# Their parameters are their caller's, not theirs: any is taken.
TAKES_ANYTHING = {"Custom", "_np_copy", "_npi_cvimread"}


@dataclasses.dataclass(frozen=True)
class Fault:
    """A call, and what its error has to name beside the operator."""
    op: str
    params: dict
    arrays: tuple
    named: tuple = ()
    must_fail: bool = False

    def call(self):
        return [self.op, self.params, list(self.arrays)]


def is_array(kind):
    return kind.startswith("NDArray")


def text_for(kind):
    """Some text that a parameter of this type takes."""
    found = next(text for start, text in ANY_TEXT if start in kind)
    return re.search(r"'([^']*)'", kind).group(1) if found is None else found


def call_that_is_right(name, arguments, counter, known):
    """Parameters and arrays: of a known call, or else what may be one."""
    if name in known:
        return known[name]
    arrays = [a for a, kind in arguments if is_array(kind)]
    params = {a: text_for(kind) for a, kind in arguments if "required" in kind and not is_array(kind)}
    if counter:
        params[counter] = 2
        arrays = arrays * 2
    return params, [((2, 3), "float32")] * len(arrays)


def known_calls():
    known = {op: (params, arrays) for op, arrays, params, works in golden_calls() if works}
    known.update({op: (params, [(shape, "float32") for shape in shapes]) for op, (shapes, params) in CALLS.items()})
    return known


def faults_of(name, arguments, counter, known):
    """All calls of one operator."""
    params, arrays = call_that_is_right(name, arguments, counter, known)
    arrays = tuple(arrays)
    own = [(a, kind) for a, kind in arguments if not is_array(kind)]
    yield Fault(name, {**params, "no_such_parameter": 1}, arrays)
    for parameter, kind in own:
        takes_texts = "string" in kind or kind.startswith(",")
        yield Fault(name, {**params, parameter: NONSENSE}, arrays, () if takes_texts else (parameter, NONSENSE))
        if "required" in kind and parameter != counter:  # which the C ABI fills in
            yield Fault(name, {p: v for p, v in params.items() if p != parameter}, arrays, (parameter,), must_fail=True)
        if not takes_texts and not kind.startswith("{"):
            for number in FAR_NUMBERS:
                yield Fault(name, {**params, parameter: number}, arrays)
    yield Fault(name, params, arrays + arrays[:1])
    for i, (shape, dtype) in enumerate(arrays):
        def other(array):
            return arrays[:i] + (array,) + arrays[i + 1:]  # noqa: B023 (used at once)
        yield Fault(name, params, arrays[:i] + arrays[i + 1:])
        for wrong in [*OTHER_SHAPES, tuple(shape) + (2,), tuple(d + 1 for d in shape)]:
            yield Fault(name, params, other((wrong, dtype)))
        for wrong in OTHER_TYPES:
            yield Fault(name, params, other((shape, wrong)))


def faults(mx):
    """All calls of all operators."""
    known = known_calls()
    for name, arguments, counter in sorted(descriptions(mx)):
        yield from faults_of(name, arguments, counter, known)


SHAPES = [(), (0,), (1,), (3,), (4,), (12,), (64,), (0, 3), (2, 1), (2, 3), (3, 3), (6, 2), (1, 1, 1), (2, 2, 2), (2, 3, 4),
          (1, 1, 6, 5), (1, 2, 4, 4), (2, 4, 1, 1), (2, 4, 3, 3), (1, 2, 2, 3, 3), (1, 2, 2, 2, 2, 2)]
TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]
TEXTS = {"Shape": ["()", "(1,)", "(1,1)", "(2,2)", "(2,3)", "(0,1)", "(3,3)", "(2,2,2)", "(1,2,3,0)", "(0,0,0,0,1,1,1,1)"],
         "tuple": ["(1,1)", "(2,2)", "(0.5,1,2)", "()"], "string": ["ij,jk->ik", "ab", "constant"], "boolean": ["0", "1"],
         "float": ["1", "0.5", "2", "-1"], "double": ["1", "0.5", "-1"], "": ["1", "2", "3", "4", "0", "-1"]}


def drawn_calls(mx, pattern, each, seed):
    """Calls of operators whose names match, with shapes, types and parameters that are drawn."""
    rng = random.Random(seed)
    for name, arguments, counter in sorted(descriptions(mx)):
        if not re.search(pattern, name):
            continue
        for _ in range(each):
            yield drawn_call(rng, name, arguments, counter)


def drawn_call(rng, name, arguments, counter):
    params = {}
    for parameter, kind in arguments:
        if is_array(kind) or not ("required" in kind or rng.random() < 0.4):
            continue
        words = re.findall(r"'([^']*)'", kind.split("}")[0]) if kind.startswith("{") else None
        params[parameter] = rng.choice(words or next(texts for start, texts in TEXTS.items() if start in kind))
    count = sum(is_array(kind) for _, kind in arguments)
    if counter:
        count = params[counter] = rng.randint(1, 3)
    elif any("[]" in kind for _, kind in arguments):
        count = rng.randint(1, 4)
    shapes, types = [rng.choice(SHAPES)] * count, [rng.choice(["float32"] * 4 + TYPES)] * count
    for i in range(count):  # some calls are nearly right, most are not
        if rng.random() < 0.6:
            shapes[i] = rng.choice(SHAPES)
        if rng.random() < 0.15:
            types[i] = rng.choice(TYPES)
    return Fault(name, params, tuple(zip(shapes, types)))
