# SPDX-License-Identifier: Apache-2.0
"""Networks that Gluon exports, ours and the release's, give from C what they give from Python."""
import ctypes as C

import numpy as np
import pytest
from c_library import CPU, ROOT, Library, library_path

MODELS = ROOT / "tests" / "data" / "models"


@pytest.fixture(scope="module")
def lib():
    return Library(library_path())


@pytest.fixture(scope="module")
def mx():
    """The package: not when this file is collected, since tests beside it set variables before the library starts."""
    import mxnet

    return mxnet


def predict(lib, prefix, data):
    """What the predict API gives for the saved network of this prefix."""
    with open(f"{prefix}-symbol.json", "rb") as file:
        graph = file.read()
    with open(f"{prefix}-0000.params", "rb") as file:
        params = file.read()
    shape, ends = (C.c_uint * data.ndim)(*data.shape), (C.c_uint * 2)(0, data.ndim)
    predictor = lib.new("MXPredCreate", graph, params, len(params), CPU, 0, 1, (C.c_char_p * 1)(b"data"), ends, shape)
    numbers = np.ascontiguousarray(data.asnumpy(), np.float32)
    lib.MXPredSetInput(predictor, b"data", numbers.ctypes.data_as(C.c_void_p), numbers.size)
    lib.MXPredForward(predictor)
    dims, count = C.POINTER(C.c_uint)(), C.c_uint()
    lib.MXPredGetOutputShape(predictor, 0, C.byref(dims), C.byref(count))
    result = np.empty(dims[:count.value], np.float32)
    lib.MXPredGetOutput(predictor, 0, result.ctypes.data_as(C.c_void_p), result.size)
    lib.MXPredFree(predictor)
    return result


def lenet(gluon):
    nn = gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(20, 5, activation="tanh"), nn.MaxPool2D(2, 2), nn.Conv2D(50, 5, activation="tanh"), nn.MaxPool2D(2, 2),
            nn.Flatten(), nn.Dense(500, activation="tanh"), nn.Dense(10))
    return net


@pytest.mark.parametrize(("make", "shape"), [
    (lenet, (2, 1, 28, 28)),
    (lambda gluon: gluon.model_zoo.vision.resnet18_v1(classes=10), (1, 3, 64, 64)),
    (lambda gluon: gluon.model_zoo.vision.resnet18_v2(classes=10), (1, 3, 64, 64)),
], ids=["lenet", "resnet18_v1", "resnet18_v2"])
def test_what_gluon_exports_gives_the_same_from_c(lib, mx, tmp_path, make, shape):
    mx.random.seed(3)
    net = make(mx.gluon)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    data = mx.nd.random.uniform(-1, 1, shape)
    with mx.autograd.record():
        net(data)  # moves the running means, which are saved as well
    expected = net(data).asnumpy()
    net.export(str(tmp_path / "net"))
    np.testing.assert_allclose(predict(lib, tmp_path / "net", data), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["lenet", "resnet"])
def test_what_the_release_exported_gives_its_numbers(lib, mx, name):
    example = mx.nd.load(str(MODELS / f"{name}-example.params"))
    from_c = predict(lib, MODELS / name, example["data"])
    np.testing.assert_allclose(from_c, example["output"].asnumpy(), rtol=1e-5, atol=1e-6)
    block = mx.gluon.SymbolBlock.imports(str(MODELS / f"{name}-symbol.json"), ["data"], str(MODELS / f"{name}-0000.params"))
    np.testing.assert_allclose(from_c, block(example["data"]).asnumpy(), rtol=1e-5, atol=1e-6)
