# SPDX-License-Identifier: Apache-2.0
"""The networks of benchmarks/score, on small images: optimised plans compute what the graph as it is written does."""
import pathlib
import sys

import mxnet as mx
import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).parents[3] / "benchmarks" / "score"))

SEED = 7
SIZES = {"alexnet": 96, "vgg16": 32, "inception_bn": 64, "inception_v3": 96, "resnet50": 64, "resnet152": 48}


@pytest.fixture(scope="module")
def networks():
    import networks

    return networks


def bound(networks, name):
    symbol = networks.NETWORKS[name][0]()
    args, states = networks.random_parameters(symbol, SIZES[name])
    rng = np.random.default_rng(SEED)
    data = mx.nd.array(rng.uniform(-1, 1, (2, 3, SIZES[name], SIZES[name])).astype("float32"))

    def run(backend, is_train=False, **settings):
        settings["MXNET_SUBGRAPH_BACKEND"] = backend
        with mx.util.environment(settings):
            executor = symbol.simple_bind(mx.cpu(), grad_req="write" if is_train else "null", data=data.shape)
            executor.copy_params_from(args, states)
            mx.random.seed(SEED)
            return executor.forward(is_train=is_train, data=data)[0].asnumpy(), executor

    return run


def difference(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("name", SIZES)
def test_optimised_inference_is_exact(networks, name):
    run = bound(networks, name)
    (optimised, executor), (plain, _) = run("ONEDNN"), run("NONE")
    assert "_sg_onednn_conv" in executor.debug_str()
    assert difference(optimised, plain) < 1e-4, SEED


@pytest.mark.parametrize("name", ["inception_bn"])
def test_a_training_step_begins_alike(networks, name):
    run = bound(networks, name)
    (optimised, executor), (plain, _) = run("ONEDNN", is_train=True), run("NONE", is_train=True)
    assert "(_backward_Convolution) [plain]" not in executor.debug_str()
    # Statistics of so few pixels magnify rounding.
    assert difference(optimised, plain) < 1e-3, SEED


@pytest.mark.parametrize("name", ["alexnet", "inception_bn"])  # of dense layers; of convolutions
def test_bfloat16_keeps_the_order_of_magnitude_and_the_winner(networks, name):
    run = bound(networks, name)
    exact, _ = run("ONEDNN")
    narrow, _ = run("ONEDNN", MXNET_ONEDNN_BFLOAT16="1")
    assert difference(narrow, exact) < 0.05, SEED
    assert np.corrcoef(narrow.ravel(), exact.ravel())[0, 1] > 0.995, SEED


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("op, count, dtype", [("batch_dot", 2, "int32"), ("linalg_gemm", 3, "int64"), ("linalg_gemm2", 2, "uint8"), ("linalg_syrk", 1, "bool")])
def test_types_that_an_operator_does_not_compute_are_an_error_in_a_network_too(op, count, dtype, static):
    net = getattr(mx.sym, op)(*(mx.sym.var(f"x{i}") for i in range(count)), name="product")
    arrays = [mx.nd.ones((2, 2, 2), dtype=dtype) for _ in range(count)]
    with pytest.raises(TypeError, match=rf"\[product\(.*{op}\)\] given .* of type {dtype}, expected one of: float32"):
        if static:
            block = mx.gluon.SymbolBlock(net, [mx.sym.var(f"x{i}") for i in range(count)])
            block.hybridize(static_alloc=True, static_shape=True)
            block(*arrays)[0].wait_to_read()
        else:
            net.bind(mx.cpu(), dict(zip(net.list_arguments(), arrays)))
