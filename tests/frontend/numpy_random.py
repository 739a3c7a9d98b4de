# SPDX-License-Identifier: Apache-2.0
"""mx.np beside NumPy in calls drawn at random: functions, shapes, types, axes, indices, results that are given, wrong arguments.

    python tests/frontend/numpy_random.py [--count 20000] [--seed N] [--only TEXT] [--calls 17,93] [--json FILE]

Whatever mxnet can be imported is compared, the release's too: --calls runs single calls, so that what differs here can be asked there. Printed are the
kinds of differences, with their numbers of calls and the first of each: values, shapes, what is refused though NumPy takes it, and the reverse. A number
that both may round has the tolerance of the coarser type; types are not compared, since those of mx.np differ by its rules (docs/numpy.md).
"""
import argparse
import collections
import json
import re
import warnings

import numpy as onp

from mxnet import np, npx

from numpy_draws import Draw

TOLERANCE = {"float16": (5e-3, 5e-3), "float32": (1e-4, 1e-5), "float64": (1e-6, 1e-8)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="calls whose text has this")
    parser.add_argument("--calls", default="", help="numbers of calls, separated by commas")
    parser.add_argument("--json", help="write the first call of each kind here")
    return parser.parse_args()


def plain(value):
    """Results as a list of NumPy's arrays."""
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in plain(item)]
    return [value.asnumpy() if isinstance(value, np.ndarray) else onp.asarray(value)]


def outcome(text, names):
    """Result and error of a call, of which one is None."""
    try:
        with warnings.catch_warnings(), onp.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if "] = " in text:
                exec(text, names)
                return plain(names[text[0]]), None
            return plain(eval(text, names)), None
    except Exception as error:  # noqa: BLE001: what a library refuses, in whatever words
        return None, error


def difference(ours, theirs):
    """What differs between two results, in a word; None if nothing does."""
    if len(ours) != len(theirs):
        return f"gives {len(ours)} arrays, not {len(theirs)}"
    for mine, other in zip(ours, theirs):
        if mine.shape != other.shape:
            return "shape"
        coarser = [name for name in TOLERANCE if name in (str(mine.dtype), str(other.dtype))]
        relative, absolute = TOLERANCE[coarser[0]] if coarser else (0, 0)
        if not onp.allclose(mine.astype("float64"), other.astype("float64"), relative, absolute, equal_nan=True):
            return "values"
    return None


def kind_of(call, ours, theirs):
    """The kind of difference of a call, None if there is none."""
    function = re.match(r"[a-z_.0-9]*\.([a-z_0-9.]+)|.*", call.text)
    name = function[1] or re.sub(r"[^-+*/%<>=!@\[ ]|onp.array.*", "", call.text).strip()
    types = "/".join(str(value.dtype) for value in call.operands.values())
    (mine, my_error), (other, their_error) = ours, theirs
    if mine is None and other is None:
        return None
    if mine is None:
        return name, "refused", types, str(my_error).strip().splitlines()[-1][:150]
    if other is None:
        return name, "taken", "", f"{their_error}"[:60]
    what = difference(mine, other)
    return what and (name, what, types, "")


def run(call):
    ours = {"np": np, "onp": onp, **{name: np.array(value) for name, value in call.operands.items()}}
    theirs = {"np": onp, "onp": onp, **{name: value.copy() for name, value in call.operands.items()}}
    return outcome(call.text, ours), outcome(call.text, theirs)


def show(number, call, results):
    print(f"    {number}: {call.text}   " + ", ".join(f"{name}: {value.dtype} {value.shape}" for name, value in call.operands.items()))
    for who, (values, error) in zip(("mx", "numpy"), results):
        text = f"{type(error).__name__}: {error}" if values is None else ", ".join(f"{v.dtype}{v.shape} {v.reshape(-1)[:6].tolist()}" for v in values)
        print(f"      {who:6s}", text.replace("\n", " ")[:230])


def main():
    options = arguments()
    npx.set_np()
    numbers = [int(number) for number in options.calls.split(",")] if options.calls else range(options.count)
    kinds, made = collections.OrderedDict(), collections.Counter()
    for number in numbers:
        call = Draw(number, options.seed)
        if options.only not in call.text:
            continue
        results = run(call)
        made["calls"] += 1
        made["errors in both"] += results[0][0] is None and results[1][0] is None
        kind = kind_of(call, *results)
        if options.calls and not options.json:
            show(number, call, results)
        elif kind:
            kinds.setdefault(kind, []).append((number, call, results))
    for kind, calls in sorted(kinds.items(), key=lambda item: str(item[0])):
        print(f"{len(calls):5d} {' | '.join(kind)}")
        show(*calls[0])
    print(f"{made['calls']} calls, {made['errors in both']} refused by both, {sum(map(len, kinds.values()))} differ, in {len(kinds)} kinds")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([[*kind, [number for number, *_ in calls]] for kind, calls in kinds.items()], file, indent=0)


if __name__ == "__main__":
    main()
