# SPDX-License-Identifier: Apache-2.0
"""A transformer's encoder (12 layers of width 768, the sizes of BERT's base) beside its peers, forward.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so PYTHONPATH=path/to/package python benchmarks/nn/transformer.py [--threads N] [--repeat N]
           [--peer-python PYTHON_WITH_PEERS] [--reference-python PYTHON_WITH_MXNET_1_9_1] [--engines ours,torch,...] [--sizes 1x128,8x128]
The network is a Gluon block, in 1.9.1 too; ONNX Runtime and OpenVINO read the file that mx.onnx writes of it, PyTorch has
layers of the same sizes. Times are the least of the repetitions, in milliseconds, for each number of sentences x words. Each
library runs in a process of its own, and they take turns; peers that are not installed are left out.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from timing import least_milliseconds  # noqa: E402

LAYERS, WIDTH, HIDDEN, HEADS = 12, 768, 3072, 12


def block():
    import mxnet as mx
    from mxnet.gluon import HybridBlock, nn

    class Layer(HybridBlock):
        def __init__(self):
            super().__init__()
            sizes = {"qkv": (3 * WIDTH, WIDTH), "joined": (WIDTH, WIDTH), "wide": (HIDDEN, WIDTH), "narrow": (WIDTH, HIDDEN)}
            for name, (units, in_units) in sizes.items():
                setattr(self, name, nn.Dense(units, flatten=False, in_units=in_units))
            self.first, self.second = nn.LayerNorm(in_channels=WIDTH), nn.LayerNorm(in_channels=WIDTH)

        def hybrid_forward(self, F, x):
            heads = self.qkv(x)
            attention = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(heads, heads=HEADS), axis=-1)
            x = self.first(x + self.joined(F.contrib.interleaved_matmul_selfatt_valatt(heads, attention, heads=HEADS)))
            return self.second(x + self.narrow(F.LeakyReLU(self.wide(x), act_type="gelu")))

    network = nn.HybridSequential()
    for _ in range(LAYERS):
        network.add(Layer())
    mx.random.seed(1)
    network.initialize(mx.init.Normal(0.02))
    network.hybridize(static_alloc=True, static_shape=True)
    return network


def words(sentences, count):
    import numpy as np
    return np.random.default_rng(0).standard_normal((count, sentences, WIDTH)).astype("float32")


def gluon(sizes, repeat, _):
    import mxnet as mx
    network = block()
    for size in sizes:
        x = mx.nd.array(words(*size))
        yield least_milliseconds(lambda: network(x).wait_to_read(), repeat)


def torch(sizes, repeat, _):
    import torch as pt
    from torch.nn import functional as F
    pt.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))

    class Layer(pt.nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.joined = pt.nn.Linear(WIDTH, 3 * WIDTH), pt.nn.Linear(WIDTH, WIDTH)
            self.wide, self.narrow = pt.nn.Linear(WIDTH, HIDDEN), pt.nn.Linear(HIDDEN, WIDTH)
            self.first, self.second = pt.nn.LayerNorm(WIDTH), pt.nn.LayerNorm(WIDTH)

        def forward(self, x):
            sentences, count, _ = x.shape
            q, k, v = self.qkv(x).view(sentences, count, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            joined = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = self.first(x + self.joined(joined))
            return self.second(x + self.narrow(F.gelu(self.wide(x))))

    network = pt.nn.Sequential(*(Layer() for _ in range(LAYERS))).eval()
    for size in sizes:
        x = pt.tensor(words(*size).swapaxes(0, 1))
        with pt.inference_mode():
            yield least_milliseconds(lambda: network(x), repeat)


def onnxruntime(sizes, repeat, path):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for size in sizes:
        x = words(*size)
        yield least_milliseconds(lambda: session.run(None, {"data": x}), repeat)


def openvino(sizes, repeat, path):
    import openvino as ov
    core = ov.Core()
    settings = {"INFERENCE_NUM_THREADS": os.environ["OMP_NUM_THREADS"], "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(core.read_model(path), "CPU", settings).create_infer_request()
    for size in sizes:
        x = words(*size)
        yield least_milliseconds(lambda: request.infer([x]), repeat)


ENGINES = {"ours": gluon, "reference": gluon, "torch": torch, "onnxruntime": onnxruntime, "openvino": openvino}


def write_onnx(folder):
    import mxnet as mx
    network = block()
    network(mx.nd.array(words(1, 8)))
    network.export(os.path.join(folder, "encoder"))
    symbol, parameters = (os.path.join(folder, f"encoder-{part}") for part in ("symbol.json", "0000.params"))
    shape = (8, 1, WIDTH)
    return mx.onnx.export_model(symbol, parameters, [shape], "float32", os.path.join(folder, "encoder.onnx"), dynamic=True,
                                dynamic_input_shapes=[("words", "sentences", WIDTH)])


def measure(name, args, path):
    pythons = {"ours": sys.executable, "reference": args.reference_python}
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
    if name != "ours":
        environment.pop("MXNET_LIBRARY_PATH", None)
        environment.pop("PYTHONPATH", None)
    command = [pythons.get(name, args.peer_python), __file__, "--only", name, "--sizes", args.sizes, "--repeat", str(args.repeat), "--model", path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1]}")
        return None
    return [float(word) for word in done.stdout.splitlines()[-1].split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=6)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--reference-python")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--sizes", default="1x128,8x128,1x384", help="sentences x words")
    parser.add_argument("--engines", default=",".join(ENGINES), help="which ones, in this order")
    parser.add_argument("--only", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        sizes = [tuple(map(int, size.split("x"))) for size in args.sizes.split(",")]
        print(*ENGINES[args.only](sizes, args.repeat, args.model))
        return
    results = {}
    names = [name for name in args.engines.split(",") if name != "reference" or args.reference_python]
    with tempfile.TemporaryDirectory() as folder:
        path = write_onnx(folder) if {"onnxruntime", "openvino"} & set(names) else ""
        for name in names * args.turns:
            times = measure(name, args, path)
            if times:
                results[name] = [min(pair) for pair in zip(times, results.get(name, times))]
    for name, times in results.items():
        print(f"{name:13} {args.threads} threads: " + ", ".join(f"{size} {value:.1f} ms" for size, value in zip(args.sizes.split(","), times)))
    peers = [times for name, times in results.items() if name != "ours"]
    if peers and "ours" in results:
        ratios = [min(column) / mine for mine, *column in zip(results["ours"], *peers)]
        print("the best peer's times by ours: " + ", ".join(f"{ratio:.2f}" for ratio in ratios))


main()
