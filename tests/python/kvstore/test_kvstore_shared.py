# SPDX-License-Identifier: Apache-2.0
"""Lists of small keys among processes of one machine: they are summed in memory that all of them see."""

import pytest

from dist_job import SHORT, needs_mpi, run

# 100,000 elements: a message of fewer is sent.
LISTS = """
def segments():
    with open("/proc/self/maps") as file:
        return sum("memfd:mxnet" in line for line in file)

names = [f"key{number}" for number in range(1000)]
def arrays(value, dtype="float32"):
    return [mx.nd.full((100,), value + number % 3, dtype=dtype) for number in range(len(names))]
def right(values, each):
    return all((value.asnumpy() == each(number % 3)).all() for number, value in enumerate(values))
"""


@needs_mpi
@pytest.mark.parametrize("workers", [2, 3])
def test_lists_are_summed_in_memory_that_all_see(workers):
    lines, done = run(
        workers,
        LISTS
        + """
for dtype in ["float32", "float16", "int32"]:
    keys = [dtype + name for name in names]
    store.init(keys, arrays(0, dtype))
    before = segments()
    good = True
    for step in range(3):
        values = arrays(step + rank, dtype)
        store.pushpull(keys, values)
        good = good and right(values, lambda more: size * (step + more) + size * (size - 1) // 2)
    last = size * (2 + 2) + size * (size - 1) // 2
    # One of its own and those of the others that it sees, though the list came with other arrays each time.
    say(good, (pulled(keys[5], (100,)) == last).all(), segments() - before == size)
""",
    )
    assert lines == {rank: ["True True True"] * 3 for rank in range(workers)}, done.stderr


@needs_mpi
def test_processes_of_one_machine_see_the_bells_that_wake_the_others():
    lines, done = run(
        2,
        """
        with open("/proc/self/maps") as file:
            say(sum("memfd:doorbell" in line for line in file))
        store._barrier()
        """,
        servers=1,
    )
    assert lines == {0: ["3"], 1: ["3"]}, done.stderr


@needs_mpi
def test_a_rank_that_has_no_such_memory_gets_the_same_sums():
    lines, done = run(
        2,
        LISTS
        + """
import resource
store.init(names, arrays(0))
mx.nd.waitall()
store._barrier()
if rank == 1:
    # The next descriptor is refused: there is no segment without one.
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
values = arrays(rank)
store.pushpull(names, values)
good = right(values, lambda more: 2 * more + 1)
if rank == 1:
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
store.pushpull(names, values)
say(good, right(values, lambda more: 4 * more + 2))
""",
    )
    assert lines == {0: ["True True"], 1: ["True True"]}, done.stderr


@needs_mpi
def test_a_rank_that_is_lost_meanwhile_is_named():
    lines, done = run(
        3,
        LISTS
        + """
store.init(names, arrays(0))
try:
    for step in range(100000):
        store.pushpull(names, arrays(step))
        if rank == 1 and step == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        if step % 10 == 0:
            mx.nd.waitall()
except mx.MXNetError as error:
    say("rank 1 of 3 is lost" in str(error))
""",
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert lines == {0: ["True"], 2: ["True"]}, done.stderr
