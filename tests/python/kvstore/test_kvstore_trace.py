# SPDX-License-Identifier: Apache-2.0
"""What the profiler's trace of a distributed job shows: sums travel during backward, the urgent ones first."""

import json
import os

from dist_job import HOLD, needs_mpi, run

TRACE = """
path = os.path.join(os.environ["TRACES"], str(rank))
mx.nd.waitall()
store._barrier()
mx.profiler.set_config(filename=path, profile_all=True)
mx.profiler.set_state("run")
"""
END = """
mx.nd.waitall()
mx.profiler.set_state("stop")
mx.profiler.dump()
say("traced")
"""


def spans(folder, rank, name):
    """(begin, end) of the operations of this name, in the order of their beginnings."""
    with open(os.path.join(str(folder), str(rank))) as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("name", "").startswith(name)]
    begun, done = {}, []
    for event in sorted(events, key=lambda event: event["ts"]):
        place = event.get("id", event["tid"])
        if event["ph"] in "bB":
            begun[place] = event["ts"]
        elif event["ph"] in "eE":
            done.append((begun.pop(place), event["ts"]))
    return sorted(done)


@needs_mpi
def test_gradients_of_resnet50_travel_while_backward_goes_on(tmp_path):
    lines, done = run(
        2,
        HOLD
        + """
from mxnet import autograd, gluon

net = gluon.model_zoo.vision.resnet50_v1()
net.initialize()
images, labels, head = mx.nd.ones((2, 3, 64, 64)), mx.nd.zeros((2,)), mx.nd.ones((2,))
trainer = gluon.Trainer(net.collect_params(), "sgd", kvstore=store, update_on_kvstore=False)

def step():
    with autograd.record():
        loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(images), labels)
    loss.backward(head)
    trainer.step(2)

step()
"""
        + TRACE
        + "hold(head)\nstep()\nrelease.set()"
        + END,
        TRACES=str(tmp_path),
        OMP_NUM_THREADS="1",
    )
    assert lines == {0: ["traced"], 1: ["traced"]}, done.stderr
    for rank in range(2):
        sums = spans(tmp_path, rank, "KVStoreAllReduce")
        backward = spans(tmp_path, rank, "_backward_Convolution")
        assert len(sums) > 50
        assert len(backward) == 53
        assert sums[0][0] < backward[-1][0], "the first sum waits for the end of backward"
        assert any(sum_begin < end and begin < sum_end for sum_begin, sum_end in sums for begin, end in backward)


def overtaken(folder):
    """In a job whose urgent key is pushed behind 40 others: how many of these come later, at each rank."""
    folder.mkdir()
    lines, done = run(
        2,
        HOLD
        + """
store.init(list(range(41)), [mx.nd.ones((1, 400000))] * 41)
"""
        + TRACE
        + """
values = mx.nd.ones((41, 400000))
hold(values)
*others, urgent = mx.nd.split(values, 41, axis=0)
for key, value in enumerate(others):
    store.pushpull(key, value, priority=-1)
store.pushpull(40, urgent, priority=1)
# Operations whose names tell in the trace what they have waited for.
seen = [value[:, :10].cos() for value in others] + [urgent[:, :10].sin()]
# Both begin at once: who still pushes while the other one sends would have half of its less urgent keys already.
def pushed(rank):
    return os.path.join(os.environ["TRACES"], f"pushed-{rank}")
open(pushed(rank), "w").close()
while not all(os.path.exists(pushed(each)) for each in range(2)):
    time.sleep(0.001)
release.set()
say(all(value[0, 0].asscalar() == 2 for value in [*others, urgent]))
"""
        + END,
        STORE="p3",
        TRACES=str(folder),
    )
    assert lines == {rank: ["True", "traced"] for rank in range(2)}, done.stderr
    counts = []
    for rank in range(2):
        [(arrived, _)] = spans(folder, rank, "sin")
        others = [begin for begin, _ in spans(folder, rank, "cos")]
        assert len(others) == 40
        counts.append(sum(arrived < other for other in others))
    return counts


@needs_mpi
def test_an_urgent_key_overtakes_others(tmp_path):
    # Parts of a split are ready one after the other, the urgent one last. Where the thread that makes them so loses its
    # processor meanwhile, the others are alone and rightly go: then the trace is taken again. Without priorities at most
    # four of 40 come later, however often one tries.
    counts = []
    while len(counts) < 3 and not any(min(each) > 20 for each in counts):
        counts.append(overtaken(tmp_path / str(len(counts))))
    assert min(counts[-1]) > 20, f"slices of less urgent keys give way, of 40 at each rank: {counts}"
