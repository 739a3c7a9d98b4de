# SPDX-License-Identifier: Apache-2.0
"""What plans for a GPU do with convolutions (what follows is taken over, channels come last in half types) and attention
changes results by no more than rounding, and layers of int8 are exact on tensor cores: on a simulated GPU, which runs them
as they are written, or with --on-real-gpu on one of this machine."""

import pytest

BLOCK = """if True:
    import sys
    import mxnet as mx
    import numpy as np
    from mxnet import gluon
    from mxnet.gluon import nn

    dtype, tolerance = sys.argv[1], float(sys.argv[2])

    class Residual(gluon.HybridBlock):
        def __init__(self, channels):
            super().__init__()
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(channels, 1, use_bias=True), nn.BatchNorm(), nn.Activation("relu"),
                          nn.Conv2D(channels, 3, padding=1, use_bias=False, groups=2), nn.BatchNorm())

        def hybrid_forward(self, F, x):
            return F.Activation(x + self.body(x), act_type="relu")

    net = nn.HybridSequential(prefix="net_")
    net.add(nn.Conv2D(16, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(3, 2, 1),
            Residual(16), Residual(16), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(4))
    rng = np.random.default_rng(20261122)
    images, factors = rng.standard_normal((8, 3, 18, 14)), rng.standard_normal((8, 4))
    net.initialize(mx.init.Xavier(), ctx=mx.cpu())
    net(mx.nd.array(images, ctx=mx.cpu()))
    start = {name: p.data().asnumpy() for name, p in net.collect_params().items()}
    results = {}
    for ctx in mx.cpu(), mx.gpu(0):
        net.collect_params().reset_ctx(ctx)
        for name, p in net.collect_params().items():
            p.set_data(mx.nd.array(start[name], ctx=ctx, dtype=p.dtype))  # training has moved averages
        net.cast(dtype)
        net.hybridize(static_alloc=True, static_shape=True)
        x = mx.nd.array(images, ctx=ctx, dtype=dtype)
        found = [net(x).asnumpy()]
        with mx.autograd.record():
            loss = (net(x) * mx.nd.array(factors, ctx=ctx, dtype=dtype)).sum()
        loss.backward()
        found += [p.grad(ctx).asnumpy() for name, p in net.collect_params().items() if name.endswith("weight")]
        results[ctx.device_type] = found
    assert len(results["cpu"]) == len(results["gpu"]) > 5
    for number, (want, got) in enumerate(zip(results["cpu"], results["gpu"])):
        want, got = want.astype("float64"), got.astype("float64")
        size, error = np.linalg.norm(want), np.linalg.norm(got - want)  # a maximum may be taken from another place
        assert size > 1e-3 and error <= tolerance * size, (number, error, size)
    print("agree")
"""


@pytest.fixture
def run_on(request, run_python):
    env = {} if request.config.getoption("--on-real-gpu") else {"MXNET_SIM_GPUS": "1"}
    return lambda *arguments, **more: run_python(BLOCK, *arguments, env={**env, **more})


@pytest.mark.parametrize("dtype, tolerance", [("float32", "1e-2"), ("float16", "1e-1"), ("bfloat16", "2e-1")])
@pytest.mark.parametrize("variables", [{}, {"MXNET_USE_FUSION": "0"}, {"MXNET_CUDA_ALLOW_TENSOR_CORE": "0"}], ids=str)
def test_a_network_computes_what_it_does_on_the_cpu(run_on, dtype, tolerance, variables):
    child = run_on(dtype, tolerance, **variables)
    assert child.stdout.strip() == "agree", child.stderr


ATTENTION = """if True:
    import sys
    import mxnet as mx
    import numpy as np
    from mxnet import gluon

    dtype, tolerance = sys.argv[1], float(sys.argv[2])
    HEADS, BATCH, STEPS, SIZE = 4, 2, 77, 64

    class Attention(gluon.HybridBlock):
        def hybrid_forward(self, F, asked, memory):
            weights = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(asked, heads=HEADS))
            own = F.contrib.interleaved_matmul_selfatt_valatt(asked, weights, heads=HEADS)
            weights = F.softmax(F.contrib.interleaved_matmul_encdec_qk(own, memory, heads=HEADS), temperature=0.25)
            return F.contrib.interleaved_matmul_encdec_valatt(memory, weights, heads=HEADS)

    rng = np.random.default_rng(20261127)
    asked = rng.standard_normal((STEPS, BATCH, HEADS * 3 * SIZE))
    memory = rng.standard_normal((STEPS - 30, BATCH, HEADS * 2 * SIZE))
    results = []
    for ctx in mx.cpu(), mx.gpu(0):
        net = Attention()
        net.hybridize(static_alloc=True, static_shape=True)
        arrays = [mx.nd.array(a, ctx=ctx, dtype=dtype) for a in (asked, memory)]
        for _ in range(4):  # plain, recorded, replayed
            result = net(*arrays).asnumpy().astype("float64")
        results.append(result)
    want, got = results
    size, error = np.linalg.norm(want), np.linalg.norm(got - want)
    assert size > 1 and error <= tolerance * size, (error, size)
    print("agree")
"""


@pytest.mark.parametrize("dtype, tolerance", [("float16", "1e-2"), ("bfloat16", "5e-2")])
@pytest.mark.parametrize("variables", [{}, {"MXNET_ENABLE_CUDA_GRAPHS": "1"}, {"MXNET_CUDNN_AUTOTUNE_DEFAULT": "0"}], ids=str)
def test_attention_computes_what_it_does_on_the_cpu(request, run_python, dtype, tolerance, variables):
    env = {} if request.config.getoption("--on-real-gpu") else {"MXNET_SIM_GPUS": "1"}
    child = run_python(ATTENTION, dtype, tolerance, env={**env, **variables})
    assert child.stdout.strip() == "agree", child.stderr


BYTES = """if True:
    import mxnet as mx
    import numpy as np

    rng = np.random.default_rng(20261128)
    def bytes_of(*shape):
        return rng.integers(-128, 128, shape)
    images, rows, short = bytes_of(5, 64, 14, 13), bytes_of(33, 1024), bytes_of(7, 30)
    filters, wide, odd = bytes_of(128, 64, 3, 3), bytes_of(256, 1024), bytes_of(5, 30)
    biases = [bytes_of(len(weight)) for weight in (filters, wide, odd)]
    ends = [-2, 3, -1, 1.5, -0.25, 0.5]

    results = []
    for ctx in mx.cpu(), mx.gpu(0):
        def array(values, dtype="int8"):
            return mx.nd.array(values, ctx=ctx, dtype=dtype)
        ranges = [array([end], "float32") for end in ends]
        found = mx.nd.contrib.quantized_conv(array(images), array(filters), array(biases[0]), *ranges, kernel=(3, 3),
                                             pad=(1, 1), stride=(2, 1), num_filter=128)
        for data, weight, bias in (rows, wide, biases[1]), (short, odd, biases[2]):
            found += mx.nd.contrib.quantized_fully_connected(array(data), array(weight), array(bias), *ranges,
                                                             num_hidden=len(weight))
        results.append([output.asnumpy() for output in found])
    want, got = results
    assert len(want) == len(got) == 9
    for number, (a, b) in enumerate(zip(want, got)):
        assert a.dtype == b.dtype and np.array_equal(a, b), (number, np.abs(a.astype("float64") - b).max())
    print("agree")
"""


@pytest.mark.parametrize("variables", [{}, {"MXNET_CUDA_ALLOW_TENSOR_CORE": "0"}], ids=str)
def test_layers_of_int8_are_the_cpus_to_the_bit(request, run_python, variables):
    env = {} if request.config.getoption("--on-real-gpu") else {"MXNET_SIM_GPUS": "1"}
    child = run_python(BYTES, env={**env, **variables})
    assert child.stdout.strip() == "agree", child.stderr
