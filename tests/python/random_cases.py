# SPDX-License-Identifier: Apache-2.0
"""Many random cases of one property. NumPy and `random` draw them in a tenth of the time that Hypothesis takes."""

import random

import pytest


def check_cases(draw, check, seeds):
    """check(*draw(random)) for each seed. Of those that fail the shortest is told, as an expression that repeats it."""
    failed = []
    for seed in seeds:
        case = draw(random.Random(seed))
        try:
            check(*case)
        except (Exception, pytest.fail.Exception) as error:  # the latter is what pytest.raises throws
            failed.append((seed, repr(case), error))
    if failed:
        seed, case, error = min(failed, key=lambda one: len(one[1]))
        raise AssertionError(f"{len(failed)} of {len(seeds)} cases fail; seed {seed}: {check.__name__}{case}: {error}") from error
