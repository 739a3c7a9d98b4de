# SPDX-License-Identifier: Apache-2.0
"""Networks on accelerators, here simulated ones with memory of their own: what they learn is what CPUs learn."""

import pytest

TWO_GPUS = {"MXNET_SIM_GPUS": "2"}

TRAIN = """
import sys
import numpy as np
import mxnet as mx
from mxnet import gluon

def train(contexts, hybrid, update_on_kvstore):
    mx.random.seed(3)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(4, 3, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Flatten(), gluon.nn.Dense(4))
    net.initialize(mx.init.Xavier(), ctx=contexts)
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
    data = mx.nd.array(np.random.RandomState(5).rand(8, 2, 6, 6))
    label = mx.nd.array([0, 1, 2, 3] * 2)
    trainer = gluon.Trainer(
        net.collect_params(), "adam", {"learning_rate": 0.05}, kvstore="device", update_on_kvstore=update_on_kvstore
    )
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    history = []
    for _ in range(8):
        parts = zip(*(gluon.utils.split_and_load(array, contexts) for array in (data, label)))
        with mx.autograd.record():
            losses = [loss_of(net(x), y) for x, y in parts]
        mx.autograd.backward(losses)
        trainer.step(8)
        assert [loss.context for loss in losses] == contexts
        history.append(sum(loss.sum().asscalar() for loss in losses))
    for parameter in net.collect_params().values():
        assert parameter.list_ctx() == contexts
        if parameter.grad_req != "null":  # averages of batches are each device's own
            first, second = (array.asnumpy() for array in parameter.list_data())
            np.testing.assert_array_equal(first, second)
    return history

hybrid, update_on_kvstore = (bool(int(text)) for text in sys.argv[1:])
learned = train([mx.gpu(0), mx.gpu(1)], hybrid, update_on_kvstore)
assert learned[-1] < learned[0] / 2, learned
np.testing.assert_allclose(learned, train([mx.cpu(0), mx.cpu(1)], hybrid, update_on_kvstore), rtol=1e-4)
"""


@pytest.mark.parametrize("hybrid", ["0", "1"])
@pytest.mark.parametrize("update_on_kvstore", ["0", "1"])
def test_two_gpus_learn_what_two_cpus_learn(run_python, hybrid, update_on_kvstore):
    done = run_python(TRAIN, hybrid, update_on_kvstore, env=TWO_GPUS)
    assert done.returncode == 0, done.stderr


RESHAPED = """
import sys
import numpy as np
import mxnet as mx

class Features(mx.gluon.nn.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.Flatten(F.Pooling(x * 1.5, kernel=(3, 3), pool_type="max"))

values = np.random.RandomState(2).rand(2, 3, 6, 6)
results = []
for context in (mx.cpu(), mx.gpu(0)):
    net = Features()
    net.hybridize(static_alloc=sys.argv[1] == "1", static_shape=sys.argv[1] == "1")
    for _ in range(3):
        results.append(net(mx.nd.array(values, ctx=context)).asnumpy())
assert results[0].shape == (2, 48)
for result in results[1:]:
    np.testing.assert_array_equal(result, results[0])
"""


@pytest.mark.parametrize("static", ["0", "1"])
def test_a_result_that_is_reshaped_last_is_computed_in_the_shape_before(run_python, static):
    done = run_python(RESHAPED, static, env=TWO_GPUS)
    assert done.returncode == 0, done.stderr


def test_copies_between_devices_keep_types_and_pass_gradients_back(run_python):
    done = run_python(
        "import numpy as np\n"
        "import mxnet as mx\n"
        "x = mx.nd.array([1, 2, 3], ctx=mx.gpu(0))\n"
        "x.attach_grad()\n"
        "with mx.autograd.record():\n"
        "    y = (x * x).as_in_context(mx.gpu(1)).copyto(mx.cpu())\n"
        "    z = (y * 2).sum()\n"
        "assert y.context == mx.cpu()\n"
        "z.backward()\n"
        "assert x.grad.context == mx.gpu(0)\n"
        "np.testing.assert_array_equal(x.grad.asnumpy(), [4, 8, 12])\n"
        "half = mx.nd.zeros((3,), ctx=mx.gpu(1), dtype='float16')\n"
        "assert x.copyto(half) is half\n"
        "np.testing.assert_array_equal(half.asnumpy(), np.array([1, 2, 3], 'float16'))\n"
        "row = mx.nd.array([[0, 1], [0, 0]]).tostype('row_sparse').copyto(mx.gpu(1))\n"
        "assert row.stype == 'row_sparse' and row.context == mx.gpu(1)\n"
        "np.testing.assert_array_equal(row.asnumpy(), [[0, 1], [0, 0]])\n",
        env=TWO_GPUS,
    )
    assert done.returncode == 0, done.stderr


def test_other_operators_do_not_mix_devices(run_python):
    done = run_python(
        "import mxnet as mx\n"
        "try:\n"
        "    mx.nd.ones((2,), ctx=mx.gpu(0)) + mx.nd.ones((2,), ctx=mx.gpu(1))\n"
        "except mx.MXNetError as error:\n"
        "    assert 'gpu(1)' in str(error) and 'expected gpu(0)' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('no error')\n",
        env=TWO_GPUS,
    )
    assert done.returncode == 0, done.stderr
