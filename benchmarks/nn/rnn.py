# SPDX-License-Identifier: Apache-2.0
"""The fused recurrent operator beside its peers: two layers of 512 LSTM (or GRU) units, batch 32, 64 steps, forward and training.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so python benchmarks/nn/rnn.py [--threads N] [--mode lstm|gru] [--repeat N]
           [--peer-python PYTHON_WITH_PEERS] [--reference-python PYTHON_WITH_MXNET_1_9_1] [--engines ours,torch,...]
Peers are PyTorch, ONNX Runtime and OpenVINO (these two run forward only; they need onnx). Engines whose names end in _bf16, which run only
where --engines names them, have weights and sequences in bfloat16 (OpenVINO: computes in it). Times are the least of the
repetitions, in milliseconds; peers that are not installed are left out. Each library runs in
a process of its own, so that their thread pools do not meet, and they take turns.
"""
import argparse
import ctypes as C
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from timing import least_milliseconds  # noqa: E402

STEPS, BATCH, UNITS, LAYERS = 64, 32, 512, 2
GATES = {"lstm": 4, "gru": 3}


def ours(mode, repeat, dtype="float32"):
    import numpy as np
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "python"))
    from op_calls import WRITE, Library
    mx = Library()
    rng = np.random.default_rng(0)
    count = LAYERS * GATES[mode] * UNITS * (2 * UNITS + 2)
    weights = (rng.standard_normal(count) * 0.04).astype("float32")
    states = [np.zeros((LAYERS, BATCH, UNITS), "float32")] * (2 if mode == "lstm" else 1)
    inputs = [mx.array(a) for a in (rng.standard_normal((STEPS, BATCH, UNITS)).astype("float32"), weights, *states)]
    inputs = [mx.invoke("amp_cast", [h], dtype=dtype)[0] for h in inputs]
    attrs = dict(state_size=UNITS, num_layers=LAYERS, mode=mode, state_outputs=True)
    flag = C.c_int()

    def forward():
        outputs = mx.invoke("RNN", inputs, **attrs)
        mx.call("MXNDArrayWaitToRead", outputs[0])
        mx.free(*outputs)

    def train():
        for name in ("MXAutogradSetIsRecording", "MXAutogradSetIsTraining"):
            mx.call(name, 1, C.byref(flag))
        outputs = mx.invoke("RNN", inputs, **attrs)
        for name in ("MXAutogradSetIsRecording", "MXAutogradSetIsTraining"):
            mx.call(name, 0, C.byref(flag))
        mx.call("MXAutogradBackward", 1, (C.c_void_p * 1)(outputs[0]), None, 0)
        mx.call("MXNDArrayWaitToRead", gradient)
        mx.free(*outputs)

    times = [least_milliseconds(forward, repeat)]
    gradient = mx.invoke("amp_cast", [mx.array(np.zeros_like(weights))], dtype=dtype)[0]
    mx.call("MXAutogradMarkVariables", 1, (C.c_void_p * 1)(inputs[1]), (C.c_uint * 1)(WRITE), (C.c_void_p * 1)(gradient))
    return [*times, least_milliseconds(train, repeat)]


def reference(mode, repeat):
    import mxnet as mx
    import numpy as np
    rng = np.random.default_rng(0)
    count = LAYERS * GATES[mode] * UNITS * (2 * UNITS + 2)
    weights = mx.nd.array(rng.standard_normal(count) * 0.04)
    weights.attach_grad()
    x = mx.nd.array(rng.standard_normal((STEPS, BATCH, UNITS)))
    states = [mx.nd.zeros((LAYERS, BATCH, UNITS))] * (2 if mode == "lstm" else 1)

    def network():
        return mx.nd.RNN(x, weights, *states, state_size=UNITS, num_layers=LAYERS, mode=mode, state_outputs=True)[0]

    def train():
        with mx.autograd.record():
            y = network()
        y.backward()
        weights.grad.wait_to_read()

    return [least_milliseconds(lambda: network().wait_to_read(), repeat), least_milliseconds(train, repeat)]


def torch(mode, repeat, dtype="float32"):
    import torch as pt
    pt.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    network = {"lstm": pt.nn.LSTM, "gru": pt.nn.GRU}[mode](UNITS, UNITS, LAYERS).to(getattr(pt, dtype))
    x = pt.randn(STEPS, BATCH, UNITS).to(getattr(pt, dtype))

    def forward():
        with pt.inference_mode():
            network(x)

    def train():
        network.zero_grad()
        network(x)[0].sum().backward()

    return [least_milliseconds(forward, repeat), least_milliseconds(train, repeat)]


def onnx_model(mode):
    """Layers of the operator LSTM or GRU, as the bytes of an ONNX file."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    rng = np.random.default_rng(0)
    rows = GATES[mode] * UNITS
    nodes, weights, x = [], [], "x"
    for layer in range(LAYERS):
        names = [f"{kind}{layer}" for kind in "WRB"]
        for name, shape in zip(names, [(1, rows, UNITS), (1, rows, UNITS), (1, 2 * rows)]):
            weights.append(numpy_helper.from_array((rng.standard_normal(shape) * 0.04).astype("float32"), name))
        nodes.append(helper.make_node(mode.upper(), [x, *names], [f"y{layer}"], hidden_size=UNITS))
        nodes.append(helper.make_node("Squeeze", [f"y{layer}", "axis"], [f"x{layer}"]))
        x = f"x{layer}"
    weights.append(numpy_helper.from_array(np.array([1], "int64"), "axis"))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [STEPS, BATCH, UNITS]) for name in ("x", x)]
    graph = helper.make_graph(nodes, mode, values[:1], values[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def onnxruntime(mode, repeat):
    import numpy as np
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = ort.InferenceSession(onnx_model(mode), options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).standard_normal((STEPS, BATCH, UNITS)).astype("float32")
    return [least_milliseconds(lambda: session.run(None, {"x": x}), repeat)]


def openvino(mode, repeat, precision="f32"):
    import numpy as np
    import openvino as ov
    core = ov.Core()
    settings = {"INFERENCE_NUM_THREADS": os.environ["OMP_NUM_THREADS"], "INFERENCE_PRECISION_HINT": precision}
    network = core.compile_model(core.read_model(onnx_model(mode)), "CPU", settings)
    request = network.create_infer_request()
    x = np.random.default_rng(0).standard_normal((STEPS, BATCH, UNITS)).astype("float32")
    return [least_milliseconds(lambda: request.infer([x]), repeat)]


ENGINES = {"ours": ours, "reference": reference, "torch": torch, "onnxruntime": onnxruntime, "openvino": openvino}
ENGINES_BF16 = {"ours_bf16": lambda *args: ours(*args, "bfloat16"), "torch_bf16": lambda *args: torch(*args, "bfloat16"),
                "openvino_bf16": lambda *args: openvino(*args, "bf16")}
ALL_ENGINES = {**ENGINES, **ENGINES_BF16}  # in the way that the Python of 1.9.1 knows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--mode", choices=GATES, default="lstm")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--reference-python")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--engines", default=",".join(ENGINES), help="which ones, in this order")
    parser.add_argument("--only", choices=ALL_ENGINES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        print(*ALL_ENGINES[args.only](args.mode, args.repeat))
        return
    pythons = {name: args.peer_python for name in ALL_ENGINES}
    pythons |= {"ours": sys.executable, "ours_bf16": sys.executable, "reference": args.reference_python}
    results = {}
    for name in [name for name in args.engines.split(",") if pythons[name]] * args.turns:
        environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
        if name == "reference":
            environment.pop("MXNET_LIBRARY_PATH", None)
            environment.pop("PYTHONPATH", None)
        command = [pythons[name], __file__, "--only", name, "--mode", args.mode, "--repeat", str(args.repeat)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stderr.strip().splitlines()[-1]}")
            continue
        times = [float(word) for word in done.stdout.split()]
        results[name] = [min(pair) for pair in zip(times, results.get(name, times))]
    for name, times in results.items():
        words = [f"{kind} {value:7.2f} ms" for kind, value in zip(("forward", "training"), times)]
        print(f"{name:13} {args.mode} {args.threads} threads: {', '.join(words)}")
    for mine, names in (("ours", ENGINES), ("ours_bf16", ENGINES_BF16)):
        for i, kind in enumerate(("forward", "training")):
            peers = [times[i] for name, times in results.items() if name in names and name != mine and len(times) > i]
            if peers and mine in results:
                print(f"{mine}, {kind}: {min(peers) / results[mine][i]:.2f} times as fast as the best peer")


main()
