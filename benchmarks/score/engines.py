# SPDX-License-Identifier: Apache-2.0
"""One engine runs one network in a process of its own, with whatever Python has the engine:

engines.py ENGINE PREFIX BATCH SIZE THREADS SECONDS RESULT

reads PREFIX-symbol.json, PREFIX-0000.params or PREFIX.onnx, saves what the network computes as RESULT (.npy), and prints
the seconds of each call and the peak of the process's memory as JSON."""
import ctypes
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from timing import peak_memory  # noqa: E402


class CPredict:
    """The C predict API of a library."""

    def __init__(self, prefix, images):
        self.lib = ctypes.CDLL(os.environ["MXNET_LIBRARY_PATH"])
        self.lib.MXGetLastError.restype = ctypes.c_char_p
        symbol, params = Path(prefix + "-symbol.json").read_bytes(), Path(prefix + "-0000.params").read_bytes()
        self.handle = ctypes.c_void_p()
        self.call("MXPredCreate", symbol, params, len(params), 1, 0, 1, (ctypes.c_char_p * 1)(b"data"),
                  (ctypes.c_uint * 2)(0, 4), (ctypes.c_uint * 4)(*images.shape), ctypes.byref(self.handle))
        data, rank = ctypes.POINTER(ctypes.c_uint)(), ctypes.c_uint()
        self.call("MXPredGetOutputShape", self.handle, 0, ctypes.byref(data), ctypes.byref(rank))
        self.result = np.empty(data[: rank.value], "float32")
        self.images = images

    def call(self, name, *args):
        if getattr(self.lib, name)(*args):
            raise RuntimeError(self.lib.MXGetLastError().decode())

    def __call__(self):
        self.call("MXPredSetInput", self.handle, b"data", self.images.ctypes.data_as(ctypes.c_void_p), self.images.size)
        self.call("MXPredForward", self.handle)
        self.call("MXPredGetOutput", self.handle, 0, self.result.ctypes.data_as(ctypes.c_void_p), self.result.size)
        return self.result


def ours(prefix, images, threads):
    return CPredict(prefix, images)


def ours_one_thread(prefix, images, threads):
    return CPredict(prefix, images)


def ours_bf16(prefix, images, threads):
    os.environ["MXNET_ONEDNN_BFLOAT16"] = "1"
    return CPredict(prefix, images)


def cast_block(prefix, dtype):
    """The network as a block in another type, as `cast` leaves it: batch normalisation keeps float32."""
    import mxnet as mx

    network = mx.gluon.SymbolBlock.imports(prefix + "-symbol.json", ["data"], prefix + "-0000.params")
    for name, parameter in network.collect_params().items():
        if not name.endswith(("_gamma", "_beta", "_moving_mean", "_moving_var")):
            parameter.cast(dtype)
    network.hybridize(static_alloc=True, static_shape=True)
    return network


def ours_cast(prefix, images, dtype):
    import mxnet as mx

    network, data = cast_block(prefix, dtype), mx.nd.array(images).astype(dtype)
    return lambda: network(data).astype("float32").asnumpy()


def ours_cast_bf16(prefix, images, threads):
    return ours_cast(prefix, images, "bfloat16")


def ours_cast_f16(prefix, images, threads):
    return ours_cast(prefix, images, "float16")


def reference(prefix, images, threads):
    """The 1.9.1 release, whose executor fuses by itself."""
    import mxnet as mx

    symbol, args, states = mx.model.load_checkpoint(prefix, 0)
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", data=images.shape)
    executor.copy_params_from(args, states)
    data = mx.nd.array(images)
    return lambda: executor.forward(is_train=False, data=data)[0].asnumpy()


def onnxruntime(prefix, images, threads):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_free_dimension_override_by_name("N", images.shape[0])
    session = ort.InferenceSession(prefix + ".onnx", options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"data": images})[0]


def openvino(prefix, images, threads, precision="f32"):
    import openvino as ov

    core = ov.Core()
    model = core.read_model(prefix + ".onnx")
    model.reshape({"data": list(images.shape)})
    settings = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads}
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    return lambda: request.infer({"data": images})[0]


def openvino_bf16(prefix, images, threads):
    return openvino(prefix, images, threads, "bf16")


def torch(prefix, images, threads, compiled=False):
    import torch as pt

    from torch_network import TorchNetwork

    pt.set_num_threads(threads)
    network = TorchNetwork(prefix).eval()
    if compiled:
        network = pt.compile(network)
    data = pt.from_numpy(images)

    def run():
        with pt.inference_mode():
            return network(data).float().numpy()

    return run


def torch_compiled(prefix, images, threads):
    return torch(prefix, images, threads, True)


def torch_bf16(prefix, images, threads):
    """Everything in bfloat16."""
    import torch as pt

    from torch_network import TorchNetwork

    pt.set_num_threads(threads)
    network = TorchNetwork(prefix).eval().bfloat16()
    data = pt.from_numpy(images).bfloat16()

    def run():
        with pt.inference_mode():
            return network(data).float().numpy()

    return run


def torch_autocast(prefix, images, threads):
    """In bfloat16 where PyTorch thinks it fits."""
    import torch as pt

    run = torch(prefix, images, threads)

    def cast():
        with pt.autocast("cpu", dtype=pt.bfloat16):
            return run()

    return cast


ENGINES = {f.__name__: f for f in (ours, ours_one_thread, ours_bf16, ours_cast_bf16, ours_cast_f16, reference, onnxruntime, openvino,
                                   openvino_bf16, torch, torch_compiled, torch_bf16, torch_autocast)}
# What must be importable for an engine; of ours those that cast need mxnet, others MXNET_LIBRARY_PATH only.
MODULES = {"reference": "mxnet", "onnxruntime": "onnxruntime", "openvino": "openvino", "openvino_bf16": "openvino",
           "torch": "torch", "torch_compiled": "torch", "torch_bf16": "torch", "torch_autocast": "torch"}
# Images of a batch are the same for all.
LEAST_CALLS = 3


def main():
    engine, prefix, batch, size, threads, seconds, result = sys.argv[1:]
    rng = np.random.default_rng(7)
    images = rng.uniform(-1, 1, (int(batch), 3, int(size), int(size))).astype("float32")
    run = ENGINES[engine](prefix, images, int(threads))
    np.save(result, run())
    times, end = [], time.perf_counter() + float(seconds)
    while time.perf_counter() < end or len(times) < LEAST_CALLS:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"seconds": times, "peak": peak_memory()}))


if __name__ == "__main__":
    main()
