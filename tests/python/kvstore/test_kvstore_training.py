# SPDX-License-Identifier: Apache-2.0
"""Training by several processes: a small LeNet on digits in every mode, one process as the measure, and a restart."""

import os
import tempfile

import numpy as np
import pytest

from dist_job import SHORT, needs_mpi, run

datasets = pytest.importorskip("sklearn.datasets")


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Images and labels in a file: a rank that imported what reads them would spend four fifths of its time on that."""
    images, labels = datasets.load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    np.savez(path, images=(images / 16).astype("float32").reshape(-1, 1, 8, 8)[:1536], labels=labels.astype("float32")[:1536])
    return str(path)


# Every worker has every `size`-th image. What is said: the loss of each epoch or step.
TRAINING = """
from mxnet import autograd, gluon

digits = np.load(os.environ["DIGITS"])
images, labels = digits["images"], digits["labels"]

def lenet():
    mx.random.seed(7)
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Conv2D(8, 3, activation="tanh"), gluon.nn.MaxPool2D(2),
        gluon.nn.Conv2D(16, 2, activation="tanh"), gluon.nn.Flatten(),
        gluon.nn.Dense(32, activation="tanh"), gluon.nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    net(mx.nd.zeros((1, 1, 8, 8)))  # so that all parameters have shapes
    return net

def step(net, trainer, number, batch):
    # The whole batch, of which each worker takes its part.
    first = number * batch % len(images)
    part = slice(first + rank, first + batch, size)
    with autograd.record():
        loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(mx.nd.array(images[part])), mx.nd.array(labels[part]))
    loss.backward()
    trainer.step(batch)
    return float(loss.mean().asscalar())

def accuracy(net):
    return float((net(mx.nd.array(images)).argmax(axis=1).asnumpy() == labels).mean())
"""


@needs_mpi
@pytest.mark.parametrize(
    "kind, workers, servers",
    [
        ("dist_sync", 4, 0),
        ("dist_sync", 2, 1),
        ("dist_device_sync", 2, 0),
        ("dist_sync_device", 2, 1),
        ("dist_sync_p3", 2, 0),
        ("p3", 2, 0),
        ("p3", 4, 2),
        ("dist_async", 2, 1),
        ("dist_async", 4, 2),
    ],
)
def test_lenet_learns_digits(kind, workers, servers, digits):
    lines, done = run(
        workers,
        TRAINING
        + """
net = lenet()
rate = 0.2 if "async" in store.type else 0.5
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate}, kvstore=store)
for number in range(72):
    step(net, trainer, number, 64)
mx.nd.waitall()
store._barrier()
if "async" in store.type:
    # What all have pushed by now: a worker that was ahead of the others has last pulled what was half learnt.
    for parameter in net.collect_params().values():
        store.pull(trainer._param2idx[parameter.name], out=parameter.list_data())
say("learnt" if accuracy(net) > 0.85 else accuracy(net))
""",
        servers=servers,
        DIGITS=digits,
        STORE=kind,
        OMP_NUM_THREADS="1",
        MXNET_KVSTORE_SLICE_THRESHOLD="500",
    )
    assert lines == {rank: ["learnt"] for rank in range(workers)}, done.stderr


@needs_mpi
@pytest.mark.parametrize("servers", [0, 1])
def test_weights_are_those_of_one_process(servers, digits):
    program = (
        TRAINING
        + """
net = lenet()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore=store)
for number in range(10):
    step(net, trainer, number, 64)
for parameter in net.collect_params().values():
    for value in parameter.data().asnumpy().ravel():
        say(float(value).hex())
"""
    )
    alone, done = run(None, program, DIGITS=digits, OMP_NUM_THREADS="1")
    assert alone, done.stderr
    together, done = run(2, program, servers=servers, DIGITS=digits, OMP_NUM_THREADS="1")
    assert together[0] == together[1], done.stderr
    expected, given = ([float.fromhex(text) for text in some[0]] for some in (alone, together))
    assert len(expected) == len(given) > 1000
    assert max(abs(a - b) for a, b in zip(expected, given)) < 1e-6


@needs_mpi
def test_a_job_that_lost_a_rank_goes_on_from_its_checkpoint(digits):
    program = (
        TRAINING
        + """
net = lenet()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore=store)
first, die_at = int(os.environ["FIRST"]), int(os.environ["DIE_AT"])
path = os.environ["CHECKPOINT"]
if first > 0:
    net.load_parameters(path + ".params")
    trainer.load_states(path + ".states")
try:
    for number in range(first, 8):
        if number == die_at and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        say(step(net, trainer, number, 64))
        mx.nd.waitall()
        if number == 3 and rank == 0:
            net.save_parameters(path + ".params")
            trainer.save_states(path + ".states")
except mx.MXNetError as error:
    say(error)
"""
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = {"DIGITS": digits, "CHECKPOINT": os.path.join(folder, "check"), "OMP_NUM_THREADS": "1"}
        whole, done = run(2, program, FIRST="0", DIE_AT="-1", **settings)
        assert {rank: len(said) for rank, said in whole.items()} == {0: 8, 1: 8}, done.stderr
        broken, done = run(2, program, FIRST="0", DIE_AT="5", PS_HEARTBEAT_TIMEOUT=SHORT, **settings)
        assert "rank 1 of 2 is lost" in "".join(broken[0]), done.stderr
        again, done = run(2, program, FIRST="4", DIE_AT="-1", **settings)
        assert again == {rank: whole[rank][4:] for rank in (0, 1)}, done.stderr
