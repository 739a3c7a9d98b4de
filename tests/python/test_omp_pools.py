# SPDX-License-Identifier: Apache-2.0
"""Whatever a program does, its regions are begun by one thread: a second one would make a pool of threads of its own, with
which GNU OpenMP lets all of them sleep between regions."""

PROGRAM = """
import os
import time
import numpy as np
import mxnet as mx

def name_of(task):
    try:
        with open(f"/proc/self/task/{task}/comm") as file:
            return file.read().strip()
    except OSError:  # it has ended since it was listed
        return "mx-ended"

def others():
    return sum(not name_of(task).startswith("mx-") for task in os.listdir("/proc/self/task"))

before = others()
with mx.Context("cpu", 0):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(16, 3, padding=1), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Activation("relu"),
            mx.gluon.nn.Flatten(), mx.gluon.nn.Dense(64, activation="tanh"), mx.gluon.nn.Dense(4))
    net.initialize(mx.init.Xavier())
    if HYBRID:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    for size in (8, 64):
        images = mx.nd.random.uniform(shape=(8, 3, size, size))
        for step in range(4):
            with mx.autograd.record():
                loss = (net(images) ** 2).mean()
            loss.backward()
            trainer.step(8)
            loss.asnumpy()
            net(images).wait_to_read()
        if size == 8:  # another shape of the weights behind Flatten
            net = mx.gluon.nn.Sequential()
            net.add(mx.gluon.nn.Conv2D(16, 3, padding=1), mx.gluon.nn.Activation("tanh"))
            net.initialize()
            trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    for rows in (1, 8, 64, 512, 2048):
        a = mx.nd.random.normal(shape=(rows, rows))
        (mx.nd.dot(a, a).tanh() + mx.nd.softmax(a)).asnumpy()
        mx.nd.FullyConnected(a, a, no_bias=True, num_hidden=rows).sum().asscalar()
        mx.nd.waitall()
last = time.monotonic() + 120
while others() > before and time.monotonic() < last:  # threads that have been told to end may not have had a core since
    time.sleep(0.01)
print(others() - before, sum(1 for task in os.listdir("/proc/self/task")) - others())
"""


def run(run_python, hybrid):
    done = run_python(PROGRAM.replace("HYBRID", str(hybrid)), env={"OMP_NUM_THREADS": "2", "MXNET_CPU_WORKER_NTHREADS": "1"})
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_the_waiting_thread_of_a_hybridized_network_makes_no_pool(run_python):
    elsewhere, workers = run(run_python, True)
    assert elsewhere == 0
    assert workers >= 2  # the worker and its pool


def test_the_waiting_thread_of_eager_calls_makes_no_pool(run_python):
    elsewhere, workers = run(run_python, False)
    assert elsewhere == 0
    assert workers >= 2
