# SPDX-License-Identifier: Apache-2.0
"""What fails with a key of servers is told by the next wait for what is pulled, and the key goes on."""

import pytest

from dist_job import needs_mpi, run


@needs_mpi
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_rows_that_are_not_there_say_nothing_about_the_key(kind):
    lines, done = run(
        2,
        """
        store.init("e", mx.nd.ones((4, 2)).tostype("row_sparse"))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))

        def rows(*numbers):
            out = mx.nd.sparse.zeros("row_sparse", (4, 2))
            store.row_sparse_pull("e", out=out, row_ids=mx.nd.array(numbers))
            return out.data.asnumpy()[:, 0].tolist()

        for wrong in (4, -1):
            try:
                rows(1, wrong)
            except IndexError as error:
                say(f"given row {wrong}, expected a number from 0 to 3" in str(error))
        say(rows(0, 3))
        store._barrier()
        store.push("e", mx.nd.sparse.row_sparse_array((np.ones((1, 2)), [3]), shape=(4, 2)))
        rows(3)
        store._barrier()
        say(rows(0, 3))
        """,
        servers=1,
        STORE=kind,
    )
    assert lines == {rank: ["True", "True", "[1.0, 1.0]", "[1.0, -1.0]"] for rank in range(2)}, (lines, done.stderr)


@needs_mpi
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_a_push_that_a_server_refuses_is_told_once(kind):
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.create("groupadagrad", learning_rate=1))
        for times in range(2):
            store.push("w", mx.nd.ones((2,)))
            try:
                pulled("w", (2,))
            except mx.MXNetError as error:
                say("expected 2 dimensions" in str(error))
        say(pulled("w", (2,)).tolist())
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        store.push("w", mx.nd.ones((2,)))
        pulled("w", (2,))
        store._barrier()
        say(pulled("w", (2,)).tolist())
        """,
        servers=2,
        STORE=kind,
    )
    assert lines == {rank: ["True", "True", "[0.0, 0.0]", "[-2.0, -2.0]"] for rank in range(2)}, (lines, done.stderr)
