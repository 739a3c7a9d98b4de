# SPDX-License-Identifier: Apache-2.0
"""Threads that do the same at the same time, and hand the interpreter to each other between any two steps of theirs."""

import contextlib
import sys
import threading

COUNT = 4


def together(function, count=COUNT):
    """What function(i) gives in each of `count` threads, which begin together; raises what one of them has raised."""
    start = threading.Barrier(count)
    results, errors = [None] * count, []

    def run(i):
        start.wait()
        try:
            results[i] = function(i)
        except BaseException as error:  # raised where the threads were started
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    with _hasty():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    return results


@contextlib.contextmanager
def _hasty():
    """Python changes threads as often as it can: races that need a change at one place happen in seconds, not in days."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
