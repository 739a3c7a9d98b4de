# SPDX-License-Identifier: Apache-2.0
"""Monitors: what an executor shows of its values and gradients, to whom, and for how long."""

import gc
import sys
import threading
import weakref

import mxnet as mx
import numpy as np
from small_symbol import network


def test_monitor_sees_values():
    seen = {}
    executor = network().simple_bind(mx.cpu(), data=(4, 2))
    executor.set_monitor_callback(lambda name, array: seen.update({name: array.asnumpy()}))
    executor.forward()
    assert seen["fc_output"].shape == (4, 3) and "act_output" in seen
    seen.clear()
    executor.set_monitor_callback(None)
    executor.forward()[0].wait_to_read()
    assert not seen


def test_what_needs_no_gradient_may_be_an_output_of_a_watched_executor():
    x, y = mx.sym.var("x"), mx.sym.var("y")
    grad = mx.nd.zeros(2)
    executor = mx.sym.Group([x * y, x]).bind(mx.cpu(), {"x": mx.nd.array([2, 3]), "y": mx.nd.ones(2)}, args_grad={"y": grad})
    executor.set_monitor_callback(lambda name, value: None)
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(2), mx.nd.ones(2)])
    np.testing.assert_array_equal(grad.asnumpy(), [2, 3])


def test_a_monitor_goes_on_after_a_reshape():
    seen = []
    executor = network().simple_bind(mx.cpu(), data=(4, 2))
    executor.set_monitor_callback(lambda name, value: seen.append((name, value.shape[0])))
    executor.forward()
    first = [name for name, _ in seen]
    executor.reshape(data=(2, 2)).forward()
    assert seen == [(name, rows) for rows in (4, 2) for name in first] and first


def test_monitors_that_threads_set_while_others_run_live_as_long_as_one_is_called():
    executor = network().simple_bind(mx.cpu(), data=(4, 2))
    running = threading.Event()
    running.set()
    seen = set()

    def set_monitor():
        own = [0]
        executor.set_monitor_callback(lambda name, array: seen.add((name, len(own))))

    def set_monitors():
        while running.is_set():
            set_monitor()

    def run():
        for _ in range(5000):
            executor.forward()

    set_monitor()  # whichever thread comes first, each run has one to call
    setters, runners = ([threading.Thread(target=work) for _ in range(n)] for work, n in ((set_monitors, 3), (run, 2)))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for thread in setters + runners:
        thread.start()
    for thread in runners:
        thread.join()
    running.clear()
    for thread in setters:
        thread.join()
    sys.setswitchinterval(interval)
    assert seen == {("fc_output", 1), ("act_output", 1)}


def test_monitor_sees_gradients():
    seen = {}
    executor = network().simple_bind(mx.cpu(), data=(4, 2))
    for name, array in executor.arg_dict.items():
        array[:] = mx.nd.arange(array.size).reshape(array.shape) / 8 + (name == "data")
    executor.set_monitor_callback(lambda name, array: seen.update({name: array.asnumpy()}))
    executor.forward(is_train=True)
    before = list(seen)
    executor.backward(mx.nd.ones((4, 3)))
    assert list(seen)[len(before) :] == ["act_backward_output"] + [f"fc_backward_output{i}" for i in range(3)]
    for i, name in enumerate(["data", "fc_weight", "fc_bias"]):
        np.testing.assert_array_equal(seen[f"fc_backward_output{i}"], executor.grad_dict[name].asnumpy())


def test_a_monitor_and_the_executors_that_it_holds_are_collected():
    def watched():
        monitor = mx.mon.Monitor(1)
        monitor.install(network().simple_bind(mx.cpu(), data=(4, 2)))
        return weakref.ref(monitor)

    kept = watched()
    gc.collect()
    assert kept() is None
