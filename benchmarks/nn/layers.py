# SPDX-License-Identifier: Apache-2.0
"""Convolutions, fully connected layers and pooling of well-known networks, forward and backward, beside PyTorch: each case
runs in both, one after the other, in processes of their own, and the ratio of the shortest times is printed.

Usage: python layers.py path/to/libmxnet.so [--peer path/to/python/with/torch] [--threads 2] [--batch 32]
                        [--kinds conv,fc,pool] [--seconds 0.1] [--match text]
"""
import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import time

# channels, side, kernel, filters, stride, pad: the different convolutions of ResNet-50, and some of VGG-16.
RESNET = [(3, 224, 7, 64, 2, 3), (64, 56, 1, 64, 1, 0), (64, 56, 3, 64, 1, 1), (64, 56, 1, 256, 1, 0),
          (256, 56, 1, 64, 1, 0), (256, 56, 1, 128, 1, 0), (128, 56, 3, 128, 2, 1), (128, 28, 1, 512, 1, 0),
          (256, 56, 1, 512, 2, 0), (512, 28, 1, 128, 1, 0), (128, 28, 3, 128, 1, 1), (256, 28, 3, 256, 2, 1),
          (256, 14, 1, 1024, 1, 0), (1024, 14, 1, 256, 1, 0), (256, 14, 3, 256, 1, 1), (512, 14, 3, 512, 2, 1),
          (512, 7, 1, 2048, 1, 0), (2048, 7, 1, 512, 1, 0), (512, 7, 3, 512, 1, 1)]
VGG = [(64, 112, 3, 128, 1, 1), (256, 56, 3, 256, 1, 1), (512, 28, 3, 512, 1, 1)]
DEPTHWISE = [(32, 112, 3, 1, 1), (256, 28, 3, 2, 1)]  # channels, side, kernel, stride, pad
# rows (0: the batch), depth, hidden
DENSE = [(0, 2048, 1000), (0, 4096, 4096), (0, 25088, 4096), (512, 768, 3072), (512, 1024, 1024)]
# type, channels, side, kernel, stride, pad
POOLS = [("max", 64, 112, 3, 2, 1), ("max", 64, 224, 2, 2, 0), ("avg", 192, 35, 3, 1, 1), ("avg", 2048, 7, 7, 1, 0)]


def cases(kinds, batch):
    for kind in kinds:
        if kind == "conv":
            for c, side, k, filters, stride, pad in RESNET + VGG:
                yield {"kind": kind, "n": batch, "c": c, "side": side, "k": k, "filters": filters, "stride": stride,
                       "pad": pad, "groups": 1}
            for c, side, k, stride, pad in DEPTHWISE:
                yield {"kind": kind, "n": batch, "c": c, "side": side, "k": k, "filters": c, "stride": stride,
                       "pad": pad, "groups": c}
        elif kind == "fc":
            for rows, depth, hidden in DENSE:
                yield {"kind": kind, "n": rows or batch, "depth": depth, "hidden": hidden}
        else:
            for how, c, side, k, stride, pad in POOLS:
                yield {"kind": kind, "how": how, "n": batch, "c": c, "side": side, "k": k, "stride": stride, "pad": pad}


def name(case):
    if case["kind"] == "fc":
        return "fc {n}x{depth} -> {hidden}".format(**case)
    if case["kind"] == "pool":
        return "{how} {n}x{c}x{side} k{k} s{stride}".format(**case)
    return "conv {n}x{c}x{side} k{k} s{stride} -> {filters}{g}".format(g=" dw" if case["groups"] > 1 else "", **case)


def shortest(call, seconds):
    call()
    best, end = math.inf, time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            return best


class Mxnet:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.MXGetLastError.restype = ctypes.c_char_p

    def check(self, code):
        if code != 0:
            raise RuntimeError(self.lib.MXGetLastError().decode())

    def array(self, *shape):
        handle = ctypes.c_void_p()
        dims = (ctypes.c_uint * len(shape))(*shape)
        self.check(self.lib.MXNDArrayCreateEx(dims, len(shape), 1, 0, 0, 0, ctypes.byref(handle)))
        count = math.prod(shape)
        values = (ctypes.c_float * count)(*[(i * 2654435761 % 1000 - 500) / 1000 for i in range(min(count, 4099))])
        period = min(count, 4099)
        for start in range(period, count, period):  # repeats the first numbers
            ctypes.memmove(ctypes.byref(values, 4 * start), values, 4 * min(period, count - start))
        self.check(self.lib.MXNDArraySyncCopyFromCPU(handle, values, ctypes.c_size_t(count)))
        return handle

    def caller(self, op_name, inputs, outputs, **attrs):
        op = ctypes.c_void_p()
        self.check(self.lib.NNGetOpHandle(op_name.encode(), ctypes.byref(op)))
        ins = (ctypes.c_void_p * len(inputs))(*[i.value for i in inputs])
        outs = (ctypes.c_void_p * len(outputs))(*[o.value for o in outputs])
        outs_at = ctypes.cast(outs, ctypes.POINTER(ctypes.c_void_p))
        count = ctypes.c_int(len(outputs))
        keys = (ctypes.c_char_p * len(attrs))(*[k.encode() for k in attrs])
        values = (ctypes.c_char_p * len(attrs))(*[str(v).encode() for v in attrs.values()])

        def call():
            self.check(self.lib.MXImperativeInvoke(op, len(inputs), ins, ctypes.byref(count), ctypes.byref(outs_at),
                                                   len(attrs), keys, values))
            for output in outputs:
                self.check(self.lib.MXNDArrayWaitToRead(output))

        return call

    def calls(self, case):
        if case["kind"] == "fc":
            x, w = self.array(case["n"], case["depth"]), self.array(case["hidden"], case["depth"])
            b, y = self.array(case["hidden"]), self.array(case["n"], case["hidden"])
            attrs = {"num_hidden": case["hidden"]}
            forward = self.caller("FullyConnected", [x, w, b], [y], **attrs)
            grads = [self.array(case["n"], case["depth"]), self.array(case["hidden"], case["depth"]), self.array(case["hidden"])]
            return forward, self.caller("_backward_FullyConnected", [y, x, w], grads, wanted=7, **attrs)
        n, c, side, k = case["n"], case["c"], case["side"], case["k"]
        out = (side + 2 * case["pad"] - k) // case["stride"] + 1
        window = {"kernel": (k, k), "stride": (case["stride"],) * 2, "pad": (case["pad"],) * 2}
        x = self.array(n, c, side, side)
        if case["kind"] == "pool":
            y, attrs = self.array(n, c, out, out), {"pool_type": case["how"], **window}
            backward = "_backward_Pooling_" + ("max" if case["how"] == "max" else "sum")
            return (self.caller("Pooling", [x], [y], **attrs),
                    self.caller(backward, [y, x], [self.array(n, c, side, side)], **attrs))
        w, y = self.array(case["filters"], c // case["groups"], k, k), self.array(n, case["filters"], out, out)
        attrs = {"num_filter": case["filters"], "num_group": case["groups"], "no_bias": True, **window}
        grads = [self.array(n, c, side, side), self.array(case["filters"], c // case["groups"], k, k)]
        return (self.caller("Convolution", [x, w], [y], **attrs),
                self.caller("_backward_Convolution", [y, x, w], grads, wanted=3, **attrs))


class Torch:
    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def calls(self, case):
        torch, aten = self.torch, self.torch.ops.aten
        if case["kind"] == "fc":
            x, w = torch.randn(case["n"], case["depth"]), torch.randn(case["hidden"], case["depth"])
            b, dy = torch.randn(case["hidden"]), torch.randn(case["n"], case["hidden"])
            return (lambda: torch.nn.functional.linear(x, w, b)), (lambda: (dy.mm(w), dy.t().mm(x), dy.sum(0)))
        x = torch.randn(case["n"], case["c"], case["side"], case["side"])
        k, stride, pad = [case["k"]] * 2, [case["stride"]] * 2, [case["pad"]] * 2
        if case["kind"] == "pool":
            if case["how"] == "max":
                y, index = aten.max_pool2d_with_indices(x, k, stride, pad)
                back = lambda: aten.max_pool2d_with_indices_backward(y, x, k, stride, pad, [1, 1], False, index)
                return (lambda: torch.nn.functional.max_pool2d(x, k, stride, pad)), back
            y = torch.nn.functional.avg_pool2d(x, k, stride, pad)
            back = lambda: aten.avg_pool2d_backward(y, x, k, stride, pad, False, True, None)
            return (lambda: torch.nn.functional.avg_pool2d(x, k, stride, pad)), back
        w, g = torch.randn(case["filters"], case["c"] // case["groups"], *k), case["groups"]
        forward = lambda: torch.nn.functional.conv2d(x, w, None, stride, pad, 1, g)
        y = forward()
        back = lambda: aten.convolution_backward(y, x, w, None, stride, pad, [1, 1], False, [0, 0], g, [True, True, False])
        return forward, back


def work(library, seconds):
    """Reads cases, writes the times of forward and backward."""
    for line in sys.stdin:
        forward, backward = library.calls(json.loads(line))
        print(json.dumps([shortest(forward, seconds), shortest(backward, seconds)]), flush=True)


def worker(python, options, which):
    env = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    command = [python, __file__, options.library, "--threads", str(options.threads), "--seconds", str(options.seconds)]
    return subprocess.Popen([*command, "--worker", which], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)


def ask(process, case):
    process.stdin.write(json.dumps(case) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--kinds", default="conv,fc,pool")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--match", default="", help="only cases whose line contains this")
    parser.add_argument("--worker", choices=["mxnet", "torch"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(Mxnet(options.library) if options.worker == "mxnet" else Torch(options.threads), options.seconds)
    ours, peer = worker(sys.executable, options, "mxnet"), worker(options.peer, options, "torch")
    print(f"{'case':44} {'forward ms':>10} {'peer':>8} {'ratio':>6} {'backward':>10} {'peer':>8} {'ratio':>6}")
    logs = []
    for case in cases(options.kinds.split(","), options.batch):
        if options.match not in name(case):
            continue
        mine, theirs = ask(ours, case), ask(peer, case)
        ratios = [t / m for m, t in zip(mine, theirs)]
        logs.append([math.log(r) for r in ratios])
        print(f"{name(case):44} {mine[0] * 1e3:10.3f} {theirs[0] * 1e3:8.3f} {ratios[0]:6.2f} "
              f"{mine[1] * 1e3:10.3f} {theirs[1] * 1e3:8.3f} {ratios[1]:6.2f}")
    for which, column in (("forward", 0), ("backward", 1)):
        print(f"geometric mean of ratios, {which}: {math.exp(sum(l[column] for l in logs) / len(logs)):.2f}")
    for process in (ours, peer):
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
