#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes resnet50_step.trace: the allocations and frees of one eager training step of ResNet-50, float32, batch 16, 224 x 224.

    python3 make_trace.py > resnet50_step.trace

A line is "+ID BYTES" (a tensor comes to life) or "-ID" (its last reference goes). The order is that of an eager run: every
operator allocates its output and, a convolution, a scratch buffer; what the backward pass reads lives until it has
been read; parameters, gradients and momenta are older than the step and not in the trace; the optimizer's temporaries are.
The script is the whole story: it has no inputs and draws no random numbers.
"""
import itertools
import sys

BATCH, FLOAT = 16, 4
STAGES = [(64, 256, 3, 1), (128, 512, 4, 2), (256, 1024, 6, 2), (512, 2048, 3, 2)]  # width, out, blocks, stride


class Trace:
    def __init__(self):
        self.ids = itertools.count()
        self.lines = []

    def new(self, *shape):
        size = FLOAT
        for extent in shape:
            size *= extent
        tensor = next(self.ids)
        self.lines.append(f"+{tensor} {size}")
        return tensor

    def drop(self, *tensors):
        self.lines.extend(f"-{tensor}" for tensor in tensors)


class Network:
    """Runs the forward pass and keeps, for the backward pass, what each layer saved and the shapes of its gradients."""

    def __init__(self, trace):
        self.trace, self.tape, self.parameters = trace, [], []

    def conv(self, channels_in, channels_out, kernel, side):
        trace = self.trace
        scratch = trace.new(channels_in * kernel * kernel, side * side) if kernel > 1 else trace.new(1024)
        out = trace.new(BATCH, channels_out, side, side)
        trace.drop(scratch)
        self.parameters.append((channels_out, channels_in, kernel, kernel))
        # Saved: the output, which is what batch normalisation reads again.
        self.tape.append(("conv", [out], (BATCH, channels_out, side, side)))

    def norm(self, channels, side, relu=True):
        trace = self.trace
        mean, variance = trace.new(channels), trace.new(channels)
        out = trace.new(BATCH, channels, side, side)
        self.parameters += [(channels,), (channels,)]
        self.tape.append(("norm", [mean, variance, out], (BATCH, channels, side, side)))
        if relu:
            activated = trace.new(BATCH, channels, side, side)
            self.tape.append(("relu", [activated], (BATCH, channels, side, side)))

    def bottleneck(self, channels_in, width, out, stride, side_in):
        side = side_in // stride
        self.conv(channels_in, width, 1, side_in)
        self.norm(width, side_in)
        self.conv(width, width, 3, side)
        self.norm(width, side)
        self.conv(width, out, 1, side)
        self.norm(out, side, relu=False)
        if channels_in != out:
            self.conv(channels_in, out, 1, side)
            self.norm(out, side, relu=False)
        total = self.trace.new(BATCH, out, side, side)
        self.tape.append(("add", [total], (BATCH, out, side, side)))
        return side

    def forward(self):
        trace = self.trace
        image = trace.new(BATCH, 3, 224, 224)
        self.tape.append(("input", [image], None))
        self.conv(3, 64, 7, 112)
        self.norm(64, 112)
        pooled = trace.new(BATCH, 64, 56, 56)
        self.tape.append(("pool", [pooled], (BATCH, 64, 56, 56)))
        channels, side = 64, 56
        for width, out, blocks, stride in STAGES:
            for block in range(blocks):
                side = self.bottleneck(channels, width, out, stride if block == 0 else 1, side)
                channels = out
        features, logits, probabilities = trace.new(BATCH, 2048), trace.new(BATCH, 1000), trace.new(BATCH, 1000)
        self.parameters += [(1000, 2048), (1000,)]
        loss = trace.new(BATCH)
        scalar = trace.new(1)
        trace.drop(scalar, loss)
        self.tape.append(("head", [features, logits, probabilities], (BATCH, 2048)))

    def backward(self):
        trace = self.trace
        gradient = trace.new(BATCH, 1000)
        for kind, saved, shape in reversed(self.tape):
            if kind == "input":
                trace.drop(gradient, *saved)
                continue
            scratch = trace.new(shape[1], 64) if kind in ("conv", "norm") else None
            result = trace.new(*shape)
            trace.drop(gradient, *saved)
            if scratch is not None:
                trace.drop(scratch)
            gradient = result

    def update(self):
        for shape in self.parameters:
            scaled = self.trace.new(*shape)
            decayed = self.trace.new(*shape)
            self.trace.drop(scaled, decayed)
        metric = self.trace.new(1)
        self.trace.drop(metric)


def main():
    trace = Trace()
    network = Network(trace)
    network.forward()
    network.backward()
    network.update()
    sys.stdout.write("\n".join(trace.lines) + "\n")


if __name__ == "__main__":
    main()
