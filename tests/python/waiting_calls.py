# SPDX-License-Identifier: Apache-2.0
"""Calls that wait, while a thread of the engine needs the interpreter: one that kept it to itself would wait for ever.

A program of test_gil.py: prints the name of each call before it is made, and "done" at the end."""

import copy
import faulthandler
import os
import pickle
import tempfile
import time

import numpy as np

import mxnet as mx

NATIVE = mx.nd._internal.NDArrayBase.__module__ == "mxnet._cy3.ndarray"  # plain ctypes cannot have the buffer protocol
SECONDS = 240  # after which a call counts as waiting for ever; the traceback says which


class Slow(mx.operator.CustomOp):
    """Leaves the interpreter, and needs it again to end."""

    def forward(self, is_train, req, in_data, out_data, aux):
        time.sleep(0.002)
        self.assign(out_data[0], req[0], in_data[0] + 0)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        time.sleep(0.002)
        self.assign(in_grad[0], req[0], out_grad[0] + 0)


@mx.operator.register("slow")
class SlowProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Slow()


def slow():
    """An array that is not there yet: before it is made, NumPy gets memory back, which takes the interpreter.

    A custom operator does not do for this: it runs in the thread that calls it."""
    given = mx.nd.from_numpy(np.full((400, 400), 0.001, "float32"))
    large = mx.nd.ones((400, 400))
    made = mx.nd.dot(given, mx.nd.dot(large, large))
    del given
    return mx.nd.dot(made, large)[:3, :3] * 0 + 1


def slow_sum():
    return slow().sum()


def slow_np():
    return slow().as_np_ndarray()


def set_to(value):
    array = slow()
    array[:] = value
    return array.asnumpy()


def differentiated(use):
    x = slow()
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x, op_type="slow") * 2
    use(x, y)


def bound(use):
    """An executor that has begun to run."""
    executor = mx.sym.Custom(mx.sym.var("x"), op_type="slow").simple_bind(mx.cpu(), x=(3, 3))
    executor.forward(is_train=True, x=slow())
    use(executor)


def hybrid(use):
    net = mx.gluon.nn.HybridLambda(lambda F, x: F.Custom(x, op_type="slow"))
    net.hybridize()
    use(net(slow()))


def stored(with_optimizer):
    store = mx.kv.create("local")
    store.init("w", slow())
    if with_optimizer:
        store.set_optimizer(mx.optimizer.SGD())
    store.push("w", slow())
    out = mx.nd.zeros((3, 3))
    store.pull("w", out=out)
    del store
    out.wait_to_read()


def saved(array):
    with tempfile.TemporaryDirectory() as folder:
        mx.nd.save(os.path.join(folder, "file"), [array])


def watched(executor):
    executor.set_monitor_callback(lambda name, array: array.asnumpy())
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((3, 3)))


def profiled():
    mx.profiler.set_config(filename=os.devnull, aggregate_stats=True)
    mx.profiler.set_state("run")
    slow()
    mx.profiler.set_state("stop")
    mx.profiler.dumps()


CALLS = {
    "asnumpy": lambda: slow().asnumpy(),
    "asscalar": lambda: slow_sum().asscalar(),
    "float": lambda: float(slow_sum()),
    "bool": lambda: bool(slow_sum()),
    "int": lambda: int(slow_sum()),
    "item": lambda: slow_np().sum().item(),
    "tolist": lambda: slow_np().tolist(),
    "repr": lambda: repr(slow()),
    "notebook": lambda: slow()._repr_html_(),
    "wait_to_read": lambda: slow().wait_to_read(),
    "wait_to_write": lambda: slow().wait_to_write(),
    "waitall": lambda: (slow(), mx.nd.waitall()),
    "memoryview": lambda: NATIVE and memoryview(slow()),
    "asarray": lambda: np.asarray(slow()),
    "copyto": lambda: slow().copyto(mx.nd.zeros((3, 3))).wait_to_read(),
    "as_in_context": lambda: slow().as_in_context(mx.cpu(1)).wait_to_read(),
    "a number is assigned": lambda: set_to(3),
    "values are assigned": lambda: set_to(np.ones((3, 3))),
    "rows by a mask": lambda: slow()[np.array([True, False, True])].wait_to_read(),
    "a mask that is not there yet": lambda: mx.nd.contrib.boolean_mask(mx.nd.ones((3, 3)), slow()[0]).shape,
    "np, a mask that is not there yet": lambda: mx.np.ones((3, 3))[slow_np() > 0].shape,
    "unique": lambda: mx.np.unique(slow_np()).shape,
    "nonzero": lambda: mx.np.nonzero(slow_np()),
    "rows": lambda: [row.asnumpy() for row in slow()],
    "out": lambda: mx.nd.elemwise_add(mx.nd.ones((3, 3)), mx.nd.ones((3, 3)), out=slow()).wait_to_read(),
    "csr": lambda: slow().tostype("csr").indices.wait_to_read(),
    "csr, a part": lambda: slow().tostype("csr")[0:2].wait_to_read(),
    "csr, checked": lambda: slow().tostype("csr").check_format(),
    "csr, product": lambda: mx.nd.sparse.dot(slow().tostype("csr"), slow()).wait_to_read(),
    "row_sparse": lambda: slow().tostype("row_sparse").data.shape,
    "row_sparse, kept rows": lambda: slow().tostype("row_sparse").retain(mx.nd.array([0])).indices.wait_to_read(),
    "save": lambda: saved(slow()),
    "save, sparse": lambda: saved(slow().tostype("csr")),
    "pickle": lambda: pickle.dumps(slow()),
    "deepcopy": lambda: copy.deepcopy(slow()),
    "DLPack": lambda: slow().__dlpack__(),
    "DLPack, to read": lambda: slow().to_dlpack_for_read(),
    "DLPack, to write": lambda: slow().to_dlpack_for_write(),
    "DLPack, both": lambda: mx.nd.from_dlpack(slow()).wait_to_read(),
    "seed": lambda: (slow(), mx.random.seed(3)),
    "bulk": lambda: (slow(), mx.engine.set_bulk_size(mx.engine.set_bulk_size(3))),
    "nothing is kept": slow,
    "backward": lambda: differentiated(lambda x, y: (y.backward(), x.grad.wait_to_read())),
    "grad": lambda: differentiated(lambda x, y: mx.autograd.grad(y, x)),
    "a graph that is dropped": lambda: differentiated(lambda x, y: None),
    "executor": lambda: bound(lambda executor: executor.outputs[0].wait_to_read()),
    "executor, dropped": lambda: bound(lambda executor: None),
    "executor, backward and dropped": lambda: bound(lambda executor: executor.backward(mx.nd.ones((3, 3)))),
    "executor, reshape": lambda: bound(lambda executor: executor.reshape(x=(2, 3), partial_shaping=True).forward()),
    "executor, parameters": lambda: bound(lambda executor: executor.copy_params_from({"x": slow()})),
    "executor, monitor": lambda: bound(watched),
    "block": lambda: hybrid(lambda out: out.wait_to_read()),
    "block, dropped": lambda: hybrid(lambda out: None),
    "store": lambda: stored(False),
    "store with an optimizer": lambda: stored(True),
    "metric": lambda: mx.metric.Accuracy().update(mx.nd.ones(3), slow()),
    "clip_global_norm": lambda: mx.gluon.utils.clip_global_norm([slow()], 1.0),
    "split_and_load": lambda: mx.gluon.utils.split_and_load(slow(), [mx.cpu(0), mx.cpu(1)], even_split=False),
    "comparison": lambda: mx.test_utils.assert_almost_equal(slow(), mx.nd.ones((3, 3))),
    "empty_cache": lambda: (slow(), mx.cpu().empty_cache()),
    "profiler": profiled,
}

if __name__ == "__main__":
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    for name, call in CALLS.items():
        print(name, flush=True)
        for _ in range(3):
            call()
    mx.nd.waitall()
    print("done")
