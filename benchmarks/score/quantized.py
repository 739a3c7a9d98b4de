# SPDX-License-Identifier: Apache-2.0
"""Networks in 8-bit integers beside the same in float32, with this package or with the reference's own:

    PYTHONPATH=build/release/python python benchmarks/score/quantized.py [network...]

Each figure is the fastest of the runs of two seconds, at least 20, on one batch."""
import sys
import time
import warnings

import mxnet as mx
import numpy as np
from mxnet.contrib import quantization

import networks

SYM = mx.sym


def layer(data, name, filters, kernel, stride=1, relu=True):
    out = SYM.Convolution(data, kernel=(kernel, kernel), pad=(kernel // 2, kernel // 2), stride=(stride, stride),
                          num_filter=filters, no_bias=True, name=f"conv{name}")
    out = SYM.BatchNorm(out, fix_gamma=False, name=f"norm{name}")
    return SYM.Activation(out, act_type="relu", name=f"relu{name}") if relu else out


def residual():
    out = layer(SYM.Variable("data"), "0", 64, 7, 2)
    out = SYM.Pooling(out, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max", name="pool0")
    for i in range(2):
        branch = layer(layer(out, f"{i}a", 64, 3), f"{i}b", 64, 3, relu=False)
        out = SYM.Activation(out + branch, act_type="relu", name=f"relu{i}")
    out = SYM.Pooling(out, global_pool=True, pool_type="avg", kernel=(1, 1), name="pool")
    return SYM.FullyConnected(out, num_hidden=1000, name="fc"), (1, 3, 224, 224)


def lenet():
    out = SYM.Variable("data")
    for i, filters in enumerate((20, 50)):
        out = SYM.Convolution(out, kernel=(5, 5), num_filter=filters, name=f"conv{i}")
        out = SYM.Activation(out, act_type="relu", name=f"relu{i}")
        out = SYM.Pooling(out, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{i}")
    out = SYM.FullyConnected(SYM.Flatten(out), num_hidden=100, name="fc0")
    return SYM.FullyConnected(SYM.Activation(out, act_type="relu", name="relu"), num_hidden=10, name="fc1"), (8, 1, 28, 28)


def perceptron():
    out = SYM.Variable("data")
    for i in range(3):
        out = SYM.Activation(SYM.FullyConnected(out, num_hidden=1024, name=f"fc{i}"), act_type="relu", name=f"relu{i}")
    return SYM.FullyConnected(out, num_hidden=10, name="last"), (32, 784)


def resnet50():
    return networks.NETWORKS["resnet50"][0](), (1, 3, 224, 224)


def inception_bn():
    return networks.NETWORKS["inception_bn"][0](), (1, 3, 224, 224)


NETWORKS = (lenet, perceptron, residual, resnet50, inception_bn)


def parameters(net, shape):
    draws = np.random.RandomState(7)
    args, _, aux = net.infer_shape(data=shape)

    def draw(name, size):
        spread = 1 / np.sqrt(np.prod(size[1:])) if len(size) > 1 else 0.1
        values = draws.uniform(0.5, 1.5, size) if name.endswith(("gamma", "var")) else draws.uniform(-spread, spread, size)
        return mx.nd.array(values)

    return ({name: draw(name, size) for name, size in zip(net.list_arguments(), args) if name != "data"},
            {name: draw(name, size) for name, size in zip(net.list_auxiliary_states(), aux)})


def milliseconds(net, arg_params, aux_params, data):
    types = {name: array.dtype for name, array in arg_params.items()}
    executor = net.simple_bind(mx.cpu(), data=data.shape, grad_req="null", type_dict={**types, "data": "float32"})
    executor.copy_params_from(arg_params, aux_params, allow_extra_params=True)
    executor.arg_dict["data"][:] = data
    times, end = [], time.perf_counter() + 2
    while time.perf_counter() < end or len(times) < 23:
        begin = time.perf_counter()
        executor.forward(is_train=False)
        mx.nd.waitall()
        times.append(time.perf_counter() - begin)
    return 1000 * min(times[3:])


def main():
    warnings.simplefilter("ignore")
    print(f"mxnet {mx.__version__}{'network':>12}{'float32':>12}{'int8':>12}  ms")
    for make in (make for make in NETWORKS if make.__name__ in sys.argv[1:] or len(sys.argv) == 1):
        net, shape = make()
        arg_params, aux_params = parameters(net, shape)
        data = mx.nd.array(np.random.RandomState(1).uniform(-1, 1, shape))
        batches = mx.io.NDArrayIter(data, batch_size=shape[0])
        quantized = quantization.quantize_model_mkldnn(
            net, arg_params, aux_params, ctx=mx.cpu(), calib_mode="naive", calib_data=batches, quantized_dtype="auto")
        real, in_bytes = milliseconds(net, arg_params, aux_params, data), milliseconds(*quantized, data)
        print(f"{make.__name__:>24}{real:12.3f}{in_bytes:12.3f}")


if __name__ == "__main__":
    main()
