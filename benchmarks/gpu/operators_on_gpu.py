#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What single operators reach on a GPU, held against what the GPU and its libraries do in the same run.

    operators_on_gpu.py [--peer-python /path/to/python] [--seconds 0.3] [--parts memory products launches]

memory    operators that only wait for memory: bytes a second, of those of a copy on the device, and PyTorch's (goal: 85 %)
products  large products of matrices: floating-point operations a second, of those of cuBLASLt called directly (goal: 95 %)
launches  empty kernels a second through the engine (goal: 200 000), and the host's time for a step of ResNet-50 by CUDA
          graphs (goal: 0.3 ms)

A part that fails says why, and the others go on. With --simulated, small arrays on a simulated GPU: a test of this program,
whose times mean nothing."""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "score"))
LEAST_CALLS = 3
GOALS = {"memory": 0.85, "products": 0.95, "launches": 200e3, "host": 0.3e-3}


def fastest(run, wait, seconds):
    """Seconds of a call, of as many in a row as hide what waiting costs."""
    for _ in range(LEAST_CALLS):
        run()
    wait()
    begin = time.perf_counter()
    run()
    wait()
    calls = max(LEAST_CALLS, int(0.02 / (time.perf_counter() - begin)))
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or best == float("inf"):
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        best = min(best, (time.perf_counter() - begin) / calls)
    return best


# Operators of (rows, columns) matrices: bytes that must move, in arrays of that size, then ours and PyTorch's call.
def ours_memory(mx, shape, dtype, gpu):
    nd = mx.nd
    x, y, out = (nd.random.uniform(-1, 1, shape, ctx=gpu).astype(dtype) for _ in range(3))
    gamma, beta = nd.ones(shape[1], ctx=gpu, dtype=dtype), nd.zeros(shape[1], ctx=gpu, dtype=dtype)
    places = nd.array(list(range(shape[0] - 1, -1, -1)), ctx=gpu, dtype="int32")
    heads = x.reshape((shape[0] // 32, 32, 8, shape[1] // 8))
    momentum, weight = nd.zeros(shape, ctx=gpu), nd.ones(shape, ctx=gpu)
    gradient = nd.ones(shape, ctx=gpu)
    wide = 4 / (2 if dtype == "float16" else 4)
    return {
        "copy": (2, lambda: x.copyto(out)),
        "relu": (2, lambda: nd.relu(x, out=out)),
        "x + y": (3, lambda: nd.elemwise_add(x, y, out=out)),
        "x + row": (2, lambda: nd.broadcast_add(x, gamma.reshape((1, -1)), out=out)),
        "sum of all": (1, lambda: nd.sum(x)),
        "sum of rows": (1, lambda: nd.sum(x, axis=1)),
        "sum of columns": (1, lambda: nd.sum(x, axis=0)),
        "softmax": (2, lambda: nd.softmax(x, out=out)),
        "LayerNorm": (2, lambda: nd.LayerNorm(x, gamma, beta)),
        "transposed heads": (2, lambda: nd.transpose(heads, axes=(0, 2, 1, 3))),
        "transpose": (2, lambda: nd.transpose(x)),
        "rows by number": (2, lambda: nd.take(x, places)),
        "dropout": (2, lambda: nd.Dropout(x, mode="always")),
        "SGD with momentum": (5 * wide, lambda: nd.sgd_mom_update(weight, gradient, momentum, lr=0.1, momentum=0.9, out=weight)),
    }


def torch_memory(torch, shape, dtype):
    f = torch.nn.functional
    kind = getattr(torch, dtype)
    x, y, out = (torch.rand(shape, device="cuda").to(kind) for _ in range(3))
    gamma, beta = torch.ones(shape[1], device="cuda", dtype=kind), torch.zeros(shape[1], device="cuda", dtype=kind)
    places = torch.arange(shape[0] - 1, -1, -1, device="cuda")
    heads = x.reshape(shape[0] // 32, 32, 8, shape[1] // 8)
    weight = torch.nn.Parameter(torch.ones(shape, device="cuda"))
    weight.grad = torch.ones(shape, device="cuda")
    optimizer = torch.optim.SGD([weight], 0.1, 0.9, fused=True)
    return {
        "copy": lambda: out.copy_(x),
        "relu": lambda: torch.relu(x),
        "x + y": lambda: torch.add(x, y, out=out),
        "x + row": lambda: torch.add(x, gamma, out=out),
        "sum of all": lambda: torch.sum(x),
        "sum of rows": lambda: torch.sum(x, 1),
        "sum of columns": lambda: torch.sum(x, 0),
        "softmax": lambda: torch.softmax(x, 1),
        "LayerNorm": lambda: f.layer_norm(x, (shape[1],), gamma, beta),
        "transposed heads": lambda: heads.permute(0, 2, 1, 3).contiguous(),
        "transpose": lambda: x.t().contiguous(),
        "rows by number": lambda: torch.index_select(x, 0, places),
        "dropout": lambda: f.dropout(x),
        "SGD with momentum": optimizer.step,
    }


def time_torch(given):
    """In the peer's process: seconds of each operator's call, as JSON."""
    import torch

    torch.set_grad_enabled(False)
    calls = {dtype: torch_memory(torch, given.shape, dtype) for dtype in given.dtypes}
    print(json.dumps({dtype: {name: fastest(run, torch.cuda.synchronize, given.seconds) for name, run in all_of.items()}
                      for dtype, all_of in calls.items()}))


def memory(given, mx, gpu):
    theirs = {}
    if given.peer_python:
        command = [given.peer_python, __file__, "--torch", "--seconds", str(given.seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            theirs = json.loads(done.stdout.splitlines()[-1])
        else:
            print(f"PyTorch: {(done.stderr.strip().splitlines() or ['nothing said'])[-1]}")
    print(f"{'operator':18} {'type':8} {'GB/s':>8} {'of copy':>8} {'torch':>8} {'ratio':>6}")
    for dtype in given.dtypes:
        calls = ours_memory(mx, given.shape, dtype, gpu)
        bytes_of = given.shape[0] * given.shape[1] * (2 if dtype == "float16" else 4)
        copy = None
        for name, (arrays, run) in calls.items():
            seconds = fastest(run, mx.nd.waitall, given.seconds)
            rate = arrays * bytes_of / seconds
            copy = copy or rate
            peer = theirs.get(dtype, {}).get(name)
            beside = f"{arrays * bytes_of / peer / 1e9:8.0f} {peer / seconds:6.2f}" if peer else f"{'-':>8} {'-':>6}"
            short = "  SHORT" if rate < GOALS["memory"] * copy else ""
            print(f"{name:18} {dtype:8} {rate / 1e9:8.0f} {rate / copy:8.2f} {beside}{short}", flush=True)


class CublasLt:
    """Products of square matrices by the library itself: its first choice, with a large workspace."""

    FLOAT, HALF, BFLOAT16, COMPUTE = 0, 2, 14, 68  # of cudaDataType_t; CUBLAS_COMPUTE_32F
    WORKSPACE, MAX_WORKSPACE = 64 << 20, 1  # CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

    class Result(ctypes.Structure):  # cublasLtMatmulHeuristicResult_t
        _fields_ = [("algo", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
                    ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]

    def __init__(self):
        self.lib = ctypes.CDLL("libcublasLt.so.13")
        self.driver = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.check(self.driver.cuInit(0), "cuInit")
        self.check(self.driver.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
        self.check(self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
        self.check(self.driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
        self.handle = self.made("cublasLtCreate")

    @staticmethod
    def check(status, call):
        if status != 0:
            raise RuntimeError(f"{call}: status {status}")

    def made(self, call, *arguments):
        result = ctypes.c_void_p()
        self.check(getattr(self.lib, call)(ctypes.byref(result), *arguments), call)
        return result

    def product(self, n, kind, a, b, c, workspace):
        """A function that computes c = a b, all n x n at these addresses, on the default stream."""
        operation = self.made("cublasLtMatmulDescCreate", self.COMPUTE, self.FLOAT)
        layout = self.made("cublasLtMatrixLayoutCreate", kind, ctypes.c_uint64(n), ctypes.c_uint64(n), ctypes.c_int64(n))
        preference = self.made("cublasLtMatmulPreferenceCreate")
        most = ctypes.c_uint64(self.WORKSPACE)
        self.check(self.lib.cublasLtMatmulPreferenceSetAttribute(preference, self.MAX_WORKSPACE, ctypes.byref(most),
                                                                 ctypes.c_size_t(8)), "cublasLtMatmulPreferenceSetAttribute")
        found, count = self.Result(), ctypes.c_int()
        self.check(self.lib.cublasLtMatmulAlgoGetHeuristic(self.handle, operation, layout, layout, layout, layout, preference, 1,
                                                           ctypes.byref(found), ctypes.byref(count)), "cublasLtMatmulAlgoGetHeuristic")
        one, zero = ctypes.c_float(1), ctypes.c_float(0)

        def run():  # column by column: the product of rows is that of the factors in the other order
            self.check(self.lib.cublasLtMatmul(self.handle, operation, ctypes.byref(one), b, layout, a, layout, ctypes.byref(zero),
                                               c, layout, c, layout, ctypes.byref(found.algo), workspace,
                                               ctypes.c_size_t(found.workspace), None), "cublasLtMatmul")

        return run

    def wait(self):
        self.check(self.driver.cuCtxSynchronize(), "cuCtxSynchronize")


def address(mx, array):
    from mxnet.base import _LIB

    array.wait_to_read()
    data = ctypes.c_void_p()
    if _LIB.MXNDArrayGetData(array.handle, ctypes.byref(data)) != 0:
        raise RuntimeError("MXNDArrayGetData failed")
    return data


def products(given, mx, gpu):
    sizes = [4096, 8192] if not given.simulated else [8]
    direct = None if given.simulated else CublasLt()
    print(f"{'product':18} {'type':8} {'Tflop/s':>8} {'cuBLASLt':>8} {'ratio':>6}")
    for dtype in ("float16", "bfloat16", "float32"):
        for n in sizes:
            a, b = (mx.nd.random.uniform(-1, 1, (n, n), ctx=gpu).astype(dtype) for _ in range(2))
            out, flops = mx.nd.zeros((n, n), ctx=gpu, dtype=dtype), 2 * n**3
            seconds = fastest(lambda: mx.nd.dot(a, b, out=out), mx.nd.waitall, given.seconds)
            line = f"{n:6} x {n:<9} {dtype:8} {flops / seconds / 1e12:8.1f}"
            if direct is not None:
                kind = {"float16": direct.HALF, "bfloat16": direct.BFLOAT16, "float32": direct.FLOAT}[dtype]
                scratch = mx.nd.zeros(direct.WORKSPACE, ctx=gpu, dtype="uint8")
                theirs = mx.nd.zeros((n, n), ctx=gpu, dtype=dtype)
                run = direct.product(n, kind, *(address(mx, array) for array in (a, b, theirs, scratch)))
                peer = fastest(run, direct.wait, given.seconds)
                same = float((out.astype("float32") - theirs.astype("float32")).abs().max().asscalar())
                if not same <= 0.02 * n**0.5:
                    raise RuntimeError(f"{dtype} products of {n} differ by {same}")
                line += f" {flops / peer / 1e12:8.1f} {peer / seconds:6.2f}" + ("  SHORT" if peer < GOALS["products"] * seconds else "")
            print(line, flush=True)


def launches(given, mx, gpu):
    if not given.simulated:  # modules of programs need a GPU
        module = mx.rtc.CudaModule('extern "C" __global__ void nothing(float* x) {}', exports=["nothing"])
        kernel, x = module.get_kernel("nothing", "float *x"), mx.nd.zeros(1, ctx=gpu)
        rate = 1 / fastest(lambda: kernel.launch([x], gpu, (1, 1, 1), (1, 1, 1)), mx.nd.waitall, given.seconds)
        print(f"empty kernels from Python, each an operation of the engine: {rate / 1e3:.0f} k/s")
        rate = 1 / fastest(raw_launch(mx, kernel, x), mx.nd.waitall, given.seconds)
        print(f"the same by the C call: {rate / 1e3:.0f} k/s" + ("  SHORT" if rate < GOALS["launches"] else ""))
    from networks import save_network
    from networks_on_gpu import Ours, batch_of

    with tempfile.TemporaryDirectory() as folder:
        prefix, size = save_network("resnet50", Path(folder), 32 if given.simulated else None)
        dtype = "float32" if given.simulated else "float16"
        for training in (False, True):
            made = Ours(prefix, *batch_of(1 if given.simulated else 32, size, dtype), dtype, training)
            for _ in range(LEAST_CALLS):
                made.run()
            made.wait()
            best = [float("inf")] * 2
            for _ in range(20 if not given.simulated else 1):
                begin = time.perf_counter(), time.process_time()
                made.run()
                ended = time.perf_counter() - begin[0]
                # What the process has computed until the device has all its work; waiting sleeps.
                made.wait()
                best = [min(best[0], ended), min(best[1], time.process_time() - begin[1])]
            short = "  SHORT" if best[0] > GOALS["host"] and not training else ""
            print(f"ResNet-50 {'training' if training else 'inference'}: the call returns after {best[0] * 1e3:.3f} ms, "
                  f"processor time of all threads {best[1] * 1e3:.3f} ms{short}", flush=True)


def raw_launch(mx, kernel, x):
    from mxnet.base import _LIB

    arguments = (ctypes.c_void_p * 1)(x.handle)
    sizes = [ctypes.c_uint32(1)] * 6 + [ctypes.c_uint32(0)]
    call, handle, device = _LIB.MXRtcCudaKernelCall, kernel.handle, ctypes.c_int(0)

    def run():
        if call(handle, device, arguments, *sizes) != 0:
            raise RuntimeError("MXRtcCudaKernelCall failed")

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has PyTorch; without it ours runs alone")
    parser.add_argument("--parts", nargs="+", default=["memory", "products", "launches"])
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring, for each call")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--torch", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.shape = (64, 64) if given.simulated else (64 << 10, 2048)
    given.dtypes = ["float32"] if given.simulated else ["float32", "float16"]
    if given.torch:
        return time_torch(given)
    os.environ["MXNET_SIM_GPUS" if given.simulated else "MXNET_ENABLE_CUDA_GRAPHS"] = "1"
    import mxnet as mx

    failed = False
    for part in given.parts:
        try:
            {"memory": memory, "products": products, "launches": launches}[part](given, mx, mx.gpu(0))
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stdout)
            failed = True
    return sys.exit(failed)


if __name__ == "__main__":
    main()
