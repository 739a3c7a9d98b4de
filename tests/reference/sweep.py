#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drawn cases beside the 1.9.1 release: each is run by our library and by the release, and what differs is told by operator.

    tests/reference/sweep.py OUR_LIBMXNET --their-python PYTHON_WITH_THE_RELEASE [--source NAME] [--seed N]
                             [--count N] [--only TEXT] [--changes value,shape,...] [--setting NAME=VALUE ...]
    ... --case NUMBER      that case alone, with its arrays' first numbers

README.md says what is drawn and how to read what comes out.
"""
import argparse
import collections
import dataclasses
import os
import re
import sys
import time

import numpy as np

import compare
import draw
import known
import run

REFUSED = "only theirs refuses"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", help="our libmxnet.so; our package is found by PYTHONPATH")
    parser.add_argument("--their-python", required=True, help="an interpreter that has the release")
    parser.add_argument("--source", choices=list(draw.SOURCES), default="vectors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first case's number")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--only", default="", help="operators, or of networks the ways, whose name matches")
    parser.add_argument("--changes", default=",".join(draw.CHANGES), help="what may be changed of vectors")
    parser.add_argument("--setting", action="append", default=[], help="an environment variable for both libraries")
    parser.add_argument("--our-setting", action="append", default=[], help="one for ours alone")
    parser.add_argument("--known", action="store_true", help="tell differences that are meant, and what only the release refuses, too")
    return parser.parse_args()


def as_sent(job):
    return dict(job, network=dataclasses.asdict(job["network"])) if job["kind"] == "network" else job


def kind_of(mine, other):
    """Which of the two refuses."""
    refuses = compare.failed(mine), compare.failed(other)
    return "differ" if refuses[0] == refuses[1] else "only ours refuses" if refuses[0] else REFUSED


def about(case, answer):
    """What to tell of a case: of a program, the step that this is an answer to."""
    lines = case.about.split("\n        ")
    return "\n    ".join([*lines[:2], *(line for line in lines[2:] if line.startswith(f"{next(iter(answer))}: "))]
                        if case.job["kind"] == "program" else lines)


def verdict(ours, theirs, job, mine, other, whole):
    """Which is nearer to the same job in float64, where both have numbers; what NumPy itself says of a program that it can run."""
    if job["kind"] == "program":
        if job["ways"]:
            return compare.one_way(*whole, job, next(iter(other)))
        return compare.sided(mine, other, ours.ask(dict(job, by_numpy=True))) if job["alone"] else ""
    wide = None if compare.failed(mine) or compare.failed(other) else compare.in_float64(job)
    return compare.nearer(mine, other, [ours.ask(wide), theirs.ask(wide)], job["kind"]) if wide else ""


def tell(case, answers):
    """A case in full, for a person."""
    print(f"{case.title} {case.operator} {case.about}")
    for i, array in enumerate(case.job.get("arrays", [])):
        print(f"  input {i}: {np.array2string(array, threshold=200, max_line_width=120)}")
    for who, answer in answers.items():
        for part, arrays in answer.items():
            for i, array in enumerate([arrays] if isinstance(arrays, str) else arrays):
                print(f"  {who}, {part} {i}: {array if isinstance(array, str) else np.array2string(array, threshold=200, max_line_width=120)}")


def main():
    given = options()
    ours = run.Asker(sys.executable, os.path.abspath(given.ours), given.setting + given.our_setting)
    theirs = run.Asker(given.their_python, None, given.setting)
    found, meant, compared, started = collections.defaultdict(list), collections.Counter(), 0, time.monotonic()
    numbers = range(given.first, given.first + given.count) if given.case is None else [given.case]
    for number in numbers:
        if time.monotonic() - started > given.seconds:
            print(f"stopped before case {number}")
            break
        case = draw.case(given.source, given.seed, number, re.compile(given.only), tuple(given.changes.split(",")))
        job = as_sent(case.job)
        mine, other = ours.ask(job), theirs.ask(job)
        compared += 1
        if given.case is not None:
            tell(case, {"ours": mine, "theirs": other})
        whole = mine, other
        for mine, other in compare.apart(*whole, job["kind"]):
            why = compare.difference(mine, other, job["kind"])
            if not why:
                continue
            kind, why = kind_of(mine, other), f"{why} {verdict(ours, theirs, job, mine, other, whole)}"
            page = known.reason(case.operator, f"{why}\n{about(case, other)}") or (kind == REFUSED and "what is refused there alone")
            if page:
                meant[page] += 1
            if not page or given.known:
                found[kind, case.operator].append(f"{case.title}: {why}\n    {about(case, other)}")
            if not job.get("start"):
                break  # what follows in a program has the difference in it
    ours.stop()
    theirs.stop()
    for (kind, operator), lines in sorted(found.items()):
        print(f"\n{operator}: {kind}, {len(lines)}")
        print("\n".join("  " + line for line in lines))
    print(f"\n{compared} compared, {sum(map(len, found.values()))} different; meant, by page: {dict(meant)}")


if __name__ == "__main__":
    main()
