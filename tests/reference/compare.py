# SPDX-License-Identifier: Apache-2.0
"""Whether two answers to a job are the same, and where they are not, which of them is nearer to the same job in float64."""
import copy
from typing import Optional

import numpy as np

from run import ENDED

#: |ours - theirs| <= relative * |theirs| + scale * the largest finite |theirs|.
TOLERANCE = {"operator": {"float16": (1e-2, 4e-3), "float32": (1e-4, 2e-5), "float64": (1e-6, 2e-7)},
             "program": {"float16": (1e-2, 4e-3), "float32": (1e-4, 2e-5), "float64": (1e-6, 2e-7)},
             "network": {"float16": (5e-2, 2e-2), "float32": (1e-3, 2e-4), "float64": (1e-6, 2e-7)}}
#: Numbers that are zero but for rounding.
FLOOR = {"operator": 1e-7, "program": 1e-6, "network": 2e-6}


def failed(answer):
    return any(isinstance(part, str) for part in answer.values())


def gone(answer):
    return str(answer.get("outputs")).startswith(ENDED)


def difference(ours, theirs, kind) -> Optional[str]:
    """Why the two are not the same, or None. An error of both is the same error; what ends their process says nothing about ours."""
    if gone(ours):
        return f"ours {ours['outputs']} | theirs {short(next(iter(theirs.values()), None))}"
    if gone(theirs):
        return None
    for part in [*theirs, *(p for p in ours if p not in theirs)]:
        mine, other = ours.get(part), theirs.get(part)
        if isinstance(mine, str) and isinstance(other, str) or mine is None or other is None:
            continue
        if isinstance(mine, str) or isinstance(other, str):
            return f"{part}: ours {short(mine)} | theirs {short(other)}"
        if len(mine) != len(other):
            return f"{part}: {len(mine)} arrays, not {len(other)}"
        # Gradients of a network are measured together: that of a bias before a normalisation is zero but for rounding.
        largest = max(map(size_of, other), default=0) if kind == "network" else None
        pairs = enumerate(zip(mine, other))
        why = next(filter(None, (of_arrays(got, want, kind, f"{part} {i}", largest) for i, (got, want) in pairs)), None)
        if why:
            return why
    return None


def apart(ours, theirs, kind):
    """Pairs of answers that are compared by themselves: those of a program's steps."""
    if kind != "program" or gone(ours) or gone(theirs):
        return [(ours, theirs)]
    return [({part: ours.get(part)}, {part: theirs.get(part)}) for part in theirs]


def sided(ours, theirs, numpys):
    """With whom NumPy agrees about one step of a program."""
    (part,) = theirs
    said = numpys.get(part)
    # NumPy has no gradients and no arrays' methods of ours: that it lacks a name is no verdict.
    if said is None or isinstance(said, str) and said.startswith(("AttributeError", "NameError")):
        return ""
    agree = [who for who, answer in (("ours", ours), ("theirs", theirs)) if not of_numpy(answer[part], numpys[part])]
    return f"NumPy agrees with {' and '.join(agree) or 'neither'}: {short(numpys[part])}"


def one_way(ours, theirs, job, part):
    """Whether our result of a step is that of the first way there, and that there of the step is not."""
    first = f"{job['ways']}, {part.split(', ')[-1]}"
    usual = {"outputs": theirs.get(first)}
    agree = [who for who, answer in (("ours", ours), ("theirs", theirs)) if not difference({"outputs": answer.get(part)}, usual, "program")]
    return f"their {first}, is what {' and '.join(agree) or 'neither'} say" if part != first else ""


def of_numpy(got, want):
    """Whether something differs from NumPy's: types do, by design."""
    if isinstance(got, str) or isinstance(want, str):
        return isinstance(got, str) != isinstance(want, str)
    return len(got) != len(want) or any(of_arrays(g, w.astype(g.dtype), "program", "") for g, w in zip(got, want))


def size_of(array):
    """The largest finite number."""
    finite = np.abs(array[np.isfinite(array)].astype("float64"))
    return finite.max() if finite.size else 0.0


def of_arrays(got, want, kind, what, largest=None):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{what}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
    if want.dtype.name in TOLERANCE[kind]:
        relative, scale = TOLERANCE[kind][want.dtype.name]
        largest = size_of(want) if largest is None else largest
        same = np.isclose(got.astype("float64"), want.astype("float64"), relative, scale * largest + FLOOR[kind], equal_nan=True)
    else:
        same = got == want
    if np.all(same):
        return None
    at = np.unravel_index(int(np.argmin(same)), same.shape)
    return f"{what}: {got[at]}, not {want[at]} at {tuple(map(int, at))} ({int(np.sum(~same))} of {same.size})"


def short(result):
    return result.strip().split("\n")[0][:110] if isinstance(result, str) else str([f"{a.dtype}{a.shape}" for a in result])


def in_float64(job):
    """The same job on the same numbers in float64, or None where there is nothing to widen."""
    wide = copy.copy(job)
    if job["kind"] == "network":
        return dict(wide, dtype="float64", way={"predict": "infer"}.get(job["way"], job["way"]))
    wide["arrays"] = [a.astype("float64") if a.dtype.name in ("float16", "float32") else a for a in job["arrays"]]
    return wide if any(a.dtype != b.dtype for a, b in zip(wide["arrays"], job["arrays"])) else None


def error(answer, truth, kind):
    """The largest difference from the truth, in parts of the largest number of its array (of a network, of all); infinite where only one is a number."""
    worst = 0.0
    for part, arrays in truth.items():
        got = answer.get(part)
        if isinstance(arrays, str) or got is None or isinstance(got, str) or len(got) != len(arrays):
            return None
        largest = max(map(size_of, arrays), default=0) if kind == "network" else 0
        for a, t in zip(got, arrays):
            if a.shape != t.shape or t.dtype.kind != "f" or not t.size:
                continue
            a = a.astype("float64")
            with np.errstate(invalid="ignore"):
                off = np.where((a == t) | (np.isnan(a) & np.isnan(t)), 0, np.abs(a - t))
            worst = max(worst, np.inf if np.isnan(off).any() else float(off.max()) / (largest or size_of(t) or 1))
    return worst


def nearer(ours, theirs, truths, kind):
    """Which of the two is nearer to float64, as far as those of the libraries that compute it agree."""
    errors = [[error(answer, truth, kind) for answer in (ours, theirs)] for truth in truths if not failed(truth)]
    if not errors or any(e is None for pair in errors for e in pair):
        return "no float64 to judge by"
    verdicts = {"ours" if mine < other else "theirs" if other < mine else "neither" for mine, other in errors}
    told = " | ".join(f"{mine:.1e} and {other:.1e}" for mine, other in errors)
    return f"nearer to float64: {verdicts.pop() if len(verdicts) == 1 else 'each says itself'} (ours and theirs off by {told})"
