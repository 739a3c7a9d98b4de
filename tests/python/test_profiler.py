# SPDX-License-Identifier: Apache-2.0
"""mx.profiler: traces, tables, and events of one's own."""

import json

import mxnet as mx
import pytest
from mxnet import profiler


@pytest.fixture
def trace(tmp_path):
    """Records for the time of a test; gives a function that ends recording and reads the trace."""
    path = tmp_path / "profile.json"
    profiler.set_config(filename=str(path), profile_all=True, aggregate_stats=True)
    profiler.set_state("run")

    def finish():
        mx.nd.waitall()
        profiler.set_state("stop")
        profiler.dump()
        return json.loads(path.read_text())["traceEvents"]

    yield finish
    profiler.set_state("stop")


def test_operators_are_in_the_trace_and_the_tables(trace):
    mx.nd.exp(mx.nd.ones((2, 3))).wait_to_read()
    assert "exp" in profiler.dumps()
    assert "exp" in json.dumps(json.loads(profiler.dumps(format="json")))
    assert any("exp" in event.get("name", "") for event in trace())


def test_own_events_are_in_the_trace(trace):
    domain = profiler.Domain("mine")
    with domain.new_task("a task"), profiler.Event("an event"):
        frame = domain.new_frame("a frame")
        frame.start()
        frame.stop()
    counter = domain.new_counter("a counter", 5)
    counter += 2
    counter -= 1
    domain.new_marker("a marker").mark()
    text = json.dumps(trace())
    for name in ("a task", "an event", "a frame", "a counter", "a marker"):
        assert name in text
    assert str(counter) == "a counter" and str(domain) == "mine"


def test_nothing_is_recorded_while_paused(trace):
    profiler.pause()
    mx.nd.tanh(mx.nd.ones((2,))).wait_to_read()
    profiler.resume()
    mx.nd.cosh(mx.nd.ones((2,))).wait_to_read()
    names = json.dumps(trace())
    assert "cosh" in names and "tanh" not in names


def test_the_older_names_do_the_same(tmp_path):
    path = tmp_path / "old.json"
    profiler.profiler_set_config("all", str(path))
    profiler.profiler_set_state("run")
    mx.nd.sinh(mx.nd.ones((2,))).wait_to_read()
    profiler.dump_profile()
    assert "sinh" in path.read_text()


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="'go'.*stop, run"):
        profiler.set_state("go")
    with pytest.raises(ValueError, match="'size'.*total"):
        profiler.dumps(sort_by="size")
    with pytest.raises(mx.MXNetError, match="no_such_key"):
        profiler.set_config(no_such_key=1)
    with pytest.raises(mx.MXNetError, match="kvstore"):
        profiler.set_state("run", "server")
