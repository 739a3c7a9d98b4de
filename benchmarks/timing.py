# SPDX-License-Identifier: Apache-2.0
"""How benchmark scripts measure: shortest time of a call, interleaved with those it is compared with, the rate at
which the machine copies memory, which is what rates are measured against, and the peak of a process's memory."""
import re
import threading
import time
from pathlib import Path

import numpy as np

# A call of less is repeated until a sample is this long, so that the clock does not show.
SAMPLE_SECONDS = 20e-6
# Calls after a rest that do not count. A core that has slept for 50 ms finds its caches empty and its threads asleep: the
# first call takes 100 to 250 us longer, the second one 10 to 25, the third one 2 to 8 (products, sums and searches of 4 MiB,
# NumPy's and ours alike).
CALLS_TO_WAKE = 4
# How long calls after those are timed, each by itself, before the next function has its turn: of five turns with a call
# each the shortest time varied by a tenth between rounds.
AWAKE_SECONDS = 2e-3


def least_milliseconds(function, repeat):
    """Shortest time of so many calls behind one that does not count; for calls of milliseconds that run alone."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def repeats_of(function):
    """How often a function must be called to fill a sample."""
    start = time.perf_counter()
    function()
    return max(1, int(SAMPLE_SECONDS / max(time.perf_counter() - start, 1e-9)))


def best_of_each(functions, seconds=0.1, least=5, rest=0.0):
    """Shortest time of a call of each function, in microseconds.

    They take turns, so that what the machine does meanwhile hits all of them. In each turn of a call that fills a sample by
    itself, one before it does not count: it brings the call's own memory back to the caches, out of which the others have
    pushed it. `rest`: seconds before such a turn in which threads that the one before has left spinning go to sleep; it
    takes some calls more until its own are awake, and as the rest is most of the turn, several are timed.
    """
    for function in functions:
        function()  # memory is touched, caches and pools are warm
    repeats = [repeats_of(function) for function in functions]
    shortest = [float("inf")] * len(functions)
    end, rounds = time.perf_counter() + seconds * len(functions), 0
    while rounds < least or time.perf_counter() < end:
        for i, function in enumerate(functions):
            if repeats[i] == 1:
                if rest > 0:
                    time.sleep(rest)
                for _ in range(CALLS_TO_WAKE if rest > 0 else 1):
                    function()
            turn = time.perf_counter()
            while True:
                start = time.perf_counter()
                for _ in range(repeats[i]):
                    function()
                now = time.perf_counter()
                shortest[i] = min(shortest[i], (now - start) / repeats[i])
                if rest == 0 or now - turn > AWAKE_SECONDS:
                    break
        rounds += 1
    return [t * 1e6 for t in shortest]


def copier(threads, count):
    """A function by which each of `threads` copies an array of `count` bytes."""
    pairs = [(np.ones(count, "uint8"), np.zeros(count, "uint8")) for _ in range(threads)]

    def copy_all():
        others = [threading.Thread(target=np.copyto, args=(to, source)) for source, to in pairs[1:]]
        for other in others:
            other.start()
        np.copyto(pairs[0][1], pairs[0][0])
        for other in others:
            other.join()

    return copy_all


def copy_bandwidth(threads=1, mebibytes=64):
    """Bytes read and written in a second by `threads` that copy arrays too large for the caches near a core."""
    count = (mebibytes << 20) // threads
    microseconds = best_of_each([copier(threads, count)], 0.3)[0]
    return 2 * count * threads / microseconds * 1e6


def peak_memory():
    """The most bytes that this process has held since its program began. What getrusage has counts from before, when
    the process was still a copy of the one that started it, which may have been larger."""
    return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) << 10
