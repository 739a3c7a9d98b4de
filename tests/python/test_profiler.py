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


def run_operators():
    """exp three times, tanh twice, cosh once."""
    array = mx.nd.ones((2, 3))
    for times, function in ((3, mx.nd.exp), (2, mx.nd.tanh), (1, mx.nd.cosh)):
        for _ in range(times):
            function(array)
    mx.nd.waitall()


def operators_in_order(**how):
    """Names of the operators of a table, from its first row to its last."""
    rows = [line.split()[0] for line in profiler.dumps(**how).splitlines() if line.strip()]
    return [name for name in rows if name in ("exp", "tanh", "cosh")]


@pytest.mark.parametrize("ascending", (False, True))
def test_tables_are_sorted_by_what_is_asked_for(trace, ascending):
    profiler.dumps(reset=True)
    run_operators()
    by_count = ["cosh", "tanh", "exp"]
    assert operators_in_order(sort_by="count", ascending=ascending) == (by_count if ascending else by_count[::-1])
    totals = json.loads(profiler.dumps(format="json"))["Time"]["operator"]
    for key, column in (("total", "Total"), ("avg", "Avg"), ("min", "Min"), ("max", "Max")):
        values = [totals[name][column] for name in operators_in_order(sort_by=key, ascending=ascending)]
        assert values == sorted(values, reverse=not ascending), key


def test_tables_start_anew_when_they_are_reset(trace):
    profiler.dumps(reset=True)  # they go on from one session to the next
    run_operators()
    counts = {name: row["Count"] for name, row in json.loads(profiler.dumps(reset=True, format="json"))["Time"]["operator"].items()}
    assert counts["exp"] == 3 and counts["tanh"] == 2 and counts["cosh"] == 1
    assert operators_in_order() == []


def test_hybridized_blocks_show_segments_with_their_operators_inside(trace):
    block = mx.gluon.nn.HybridSequential()
    for _ in range(4):
        block.add(mx.gluon.nn.HybridLambda(lambda F, x: F.softmax(x)))
    block.hybridize()
    array = mx.nd.ones((2, 3))
    block(array).wait_to_read()
    events = sorted((e for e in trace() if e["ph"] in "BE" and e["cat"] in ("operator", "segment")), key=lambda e: e["ts"])
    inside, open_segments = 0, 0
    for event in events:
        if event["cat"] == "segment":
            open_segments += 1 if event["ph"] == "B" else -1
        elif event["ph"] == "B" and event["name"] == "softmax":
            inside += open_segments
    assert inside == 4 and open_segments == 0


def test_each_dump_leaves_valid_json_that_grows(tmp_path):
    path = tmp_path / "growing.json"
    profiler.set_config(filename=str(path), profile_all=True, continuous_dump=False)
    profiler.set_state("run")
    seen = []
    for _ in range(3):
        mx.nd.exp(mx.nd.ones((2,))).wait_to_read()
        profiler.dump(finished=False)
        seen.append(sum(e["ph"] == "B" and e["name"] == "exp" for e in json.loads(path.read_text())["traceEvents"]))
    profiler.set_state("stop")
    profiler.dump()
    assert seen == [1, 2, 3]
    assert json.loads(path.read_text())["otherData"]["dropped_events"] == 0


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
