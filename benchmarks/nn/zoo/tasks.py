# SPDX-License-Identifier: Apache-2.0
"""Networks of the zoo for other tasks, of layers that those of `networks` have none of: `B` is gluon_zoo or torch_zoo."""
import numpy as np

from networks import IMAGE, conv, head
from sequences import floats, integers


def alexnet(B):
    """As it was: normalised over neighbouring channels, with dropout."""
    layers = [B.conv(3, 96, 11, 4, 2), B.act("relu"), B.neighbours(), B.max_pool(3, 2, 0), B.conv(96, 256, 5, 1, 2, groups=2), B.act("relu"), B.neighbours()]
    layers += [B.max_pool(3, 2, 0), *conv(B, 256, 384, norm=None), *conv(B, 384, 384, norm=None, groups=2), *conv(B, 384, 256, norm=None, groups=2), B.max_pool(3, 2, 0)]
    return B.chain(layers + [B.flatten(), B.dense(9216, 2048), B.act("relu"), B.drop(0.5), B.dense(2048, 2048), B.act("relu"), B.drop(0.5), B.dense(2048, 1000)])


def googlenet(B):
    def block(cin, one, three_in, three, five_in, five, pool):
        return B.concat(*(B.chain(layers) for layers in (
            conv(B, cin, one, 1, norm=None), conv(B, cin, three_in, 1, norm=None) + conv(B, three_in, three, norm=None),
            conv(B, cin, five_in, 1, norm=None) + conv(B, five_in, five, 5, norm=None), [B.max_pool(3, 1, 1), *conv(B, cin, pool, 1, norm=None)])))

    layers = conv(B, 3, 64, 7, 2, norm=None) + [B.max_pool(3, 2, 1)] + conv(B, 64, 64, 1, norm=None) + conv(B, 64, 192, norm=None) + [B.max_pool(3, 2, 1)]
    layers += [block(192, 64, 96, 128, 16, 32, 32), block(256, 128, 128, 192, 32, 96, 64), B.max_pool(3, 2, 1), block(480, 192, 96, 208, 16, 48, 64)]
    layers += [block(512, 160, 112, 224, 24, 64, 64), block(512, 256, 160, 320, 32, 128, 128), B.max_pool(3, 2, 1), block(832, 384, 192, 384, 48, 128, 128)]
    return B.chain(layers + head(B, 1024))


def resnet18_v2(B):
    """Normalised and activated before it is convolved."""
    layers, cin = [B.conv(3, 64, 7, 2, 3, bias=False), B.max_pool(3, 2, 1)], 64
    for c in (64, 128, 256, 512):
        for i in range(2):
            stride = 2 if c != cin else 1
            body = [B.norm("batch", cin), B.act("relu"), B.conv(cin, c, 3, stride, 1, bias=False), B.norm("batch", c), B.act("relu"), B.conv(c, c, 3, 1, 1, bias=False)]
            layers.append(B.add(B.same() if c == cin else B.conv(cin, c, 1, 2, 0, bias=False), B.chain(body)))
            cin = c
    return B.chain(layers + [B.norm("batch", cin), B.act("relu")] + head(B, cin))


def shufflenet(B, groups=4):
    """Groups of 1x1 layers whose channels are shuffled."""
    layers, cin = conv(B, 3, 24, 3, 2) + [B.max_pool(3, 2, 1)] + conv(B, 24, 136, 1), 136
    for c, count in ((272, 3), (544, 5)):
        for i in range(count):
            mid = c // 4
            body = conv(B, cin, mid, 1, groups=groups) + [B.shuffle(mid, groups)] + conv(B, mid, mid, 3, 2 if c != cin else 1, None, groups=mid)
            body += conv(B, mid, c, 1, act=None, groups=groups)
            layers.append(B.add(B.same() if c == cin else B.chain(conv(B, cin, c, 1, 2, None)), B.chain(body)))
            cin = c
            layers.append(B.act("relu"))
    return B.chain(layers + head(B, cin))


def efficientnet(B, act="swish"):
    """Inverted residuals with gates, and swish."""
    layers, cin = conv(B, 3, 32, 3, 2, act), 32
    for expand, c, count, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 2, 1, 5), (6, 192, 2, 2, 5)):
        for i in range(count):
            step, mid = (stride if i == 0 else 1), cin * expand
            gate = [B.global_pool(), B.conv(mid, max(cin // 4, 8), 1, 1, 0), B.act(act), B.conv(max(cin // 4, 8), mid, 1, 1, 0), B.act("sigmoid")]
            body = (conv(B, cin, mid, 1, act=act) if expand > 1 else []) + conv(B, mid, mid, kernel, step, act, groups=mid)
            body += [B.multiply(B.same(), B.chain(gate)), *conv(B, mid, c, 1, act=None)]
            layers.append(B.add(B.same(), B.chain(body)) if step == 1 and cin == c else B.chain(body))
            cin = c
    return B.chain(layers + conv(B, cin, 1280, 1, act=act) + head(B, 1280))


def mobilenet_v3(B):
    return efficientnet(B, "hard_swish")


def espcn(B):
    """Pictures of four times as many pixels: slopes that are learnt, channels that become pixels."""
    layers = [B.conv(3, 64, 5, 1, 2), B.slopes(64), B.conv(64, 64, 3, 1, 1), B.slopes(64), B.conv(64, 32, 3, 1, 1), B.slopes(32)]
    return B.chain(layers + [B.conv(32, 12, 3, 1, 1), B.pixels(2)])


def deeplab(B):
    """Dilated layers side by side, and a map enlarged by interpolation."""
    layers, cin = conv(B, 3, 32, 3, 2) + conv(B, 32, 64, 3, 2), 64
    layers += [B.add(B.same(), B.chain(conv(B, 64, 64) + conv(B, 64, 64))) for _ in range(3)] + conv(B, 64, 128, 3, 2)
    beside = [B.chain(conv(B, 128, 64, 1))] + [B.chain(conv(B, 128, 64, 3, dilation=d)) for d in (6, 12, 18)]
    return B.chain(layers + [B.concat(*beside), *conv(B, 256, 64, 1), B.conv(64, 21, 1, 1, 0), B.interpolate(8)])


def unet_3d(B):
    def level(cin, c, depth):
        twice = conv(B, cin, c, dims=3) + conv(B, c, c, dims=3)
        if depth == 0:
            return twice
        inner = [B.max_pool(2, 2, 0, dims=3), *level(c, 2 * c, depth - 1), B.deconv(2 * c, c, 2, 2, 0, dims=3)]
        return twice + [B.concat(B.same(), B.chain(inner))] + conv(B, 2 * c, c, dims=3)

    return B.chain(level(1, 16, 2) + [B.conv(16, 3, 1, 1, 0, dims=3)])


def textcnn(B):
    """Convolutions of several widths over words, and the largest of each over time."""
    beside = [B.chain(conv(B, 128, 100, k, norm=None, dims=1, pad=0) + [B.largest(2)]) for k in (3, 4, 5)]
    return B.First([B.turned((0, 2, 1)), B.concat(*beside), B.drop(0.5), B.dense(300, 2)], 20000, 128)


def tcn(B, width=64):
    def block(dilation):
        return B.add(B.same(), B.chain(conv(B, width, width, 3, dims=1, dilation=dilation) + [B.drop(0.1)] + conv(B, width, width, 3, dims=1, dilation=dilation)))

    return B.chain(conv(B, 12, width, 7, dims=1) + [block(1 << i) for i in range(5)] + [B.largest(2), B.dense(width, 10)])


def pointnet(B):
    layers = conv(B, 3, 64, 1, dims=1) + conv(B, 64, 128, 1, dims=1) + conv(B, 128, 1024, 1, dims=1) + [B.largest(2)]
    return B.chain(layers + [B.dense(1024, 512), B.norm("batch", 512, 1), B.act("relu"), B.drop(0.3), B.dense(512, 256), B.norm("batch", 256, 1), B.act("relu"), B.dense(256, 40)])


def perceptron(B):
    layers = []
    for cin, cout in ((784, 1024), (1024, 1024), (1024, 512)):
        layers += [B.dense(cin, cout), B.norm("batch", cout, 1), B.act("elu"), B.drop(0.2)]
    return B.chain(layers + [B.dense(512, 10)])


def autoencoder(B):
    layers = []
    for cin, cout in ((784, 512), (512, 128), (128, 16), (16, 128), (128, 512)):
        layers += [B.dense(cin, cout), B.act("softplus")]
    return B.chain(layers + [B.dense(512, 784), B.act("sigmoid")])


def mixer(B):
    """Dense layers over places and over channels in turns (MLP-Mixer)."""
    layers = [B.conv(3, 128, 16, 16, 0), B.rows_of(128)]
    for _ in range(4):
        def both(n):
            return [B.dense(n, 2 * n, False), B.act("gelu"), B.dense(2 * n, n, False)]
        layers.append(B.add(B.same(), B.chain([B.norm("layer", 128), B.turned((0, 2, 1)), *both(196), B.turned((0, 2, 1))])))
        layers.append(B.add(B.same(), B.chain([B.norm("layer", 128), *both(128)])))
    return B.chain(layers + [B.norm("layer", 128), B.mean(1), B.dense(128, 1000)])


def gpt(B):
    return B.Transformer(4, 0, 256, 8, 8000, 0.0, 8000)


def triangle(words):
    """Words, and a mask by which each reads itself and those before it."""
    def make(rng, batch):
        mask = np.broadcast_to(np.tril(np.ones((words, words), "float32")), (batch, words, words))
        return [integers(8000, None, words)(rng, batch), np.ascontiguousarray(mask)]
    return make


# By name: the network, its inputs, the batches of inference, that of a step, labels and the kind of loss.
CLASSES = integers(1000, None), "classes"
NETWORKS = {
    "alexnet": (alexnet, floats(None, *IMAGE), (1, 8), 8, *CLASSES), "googlenet": (googlenet, floats(None, *IMAGE), (1, 8), 4, *CLASSES),
    "resnet18_v2": (resnet18_v2, floats(None, *IMAGE), (1, 8), 4, *CLASSES), "shufflenet": (shufflenet, floats(None, *IMAGE), (1, 8), 4, *CLASSES),
    "efficientnet": (efficientnet, floats(None, *IMAGE), (1, 8), 2, *CLASSES), "mobilenet_v3": (mobilenet_v3, floats(None, *IMAGE), (1, 8), 4, *CLASSES),
    "espcn": (espcn, floats(None, 3, 128, 128), (1, 8), 4, None, None), "deeplab": (deeplab, floats(None, *IMAGE), (1, 8), 2, None, None),
    "unet_3d": (unet_3d, floats(None, 1, 32, 64, 64), (1, 2), 1, None, None),
    "textcnn": (textcnn, lambda rng, batch: [integers(20000, None, 64)(rng, batch)], (1, 64), 64, integers(2, None), "classes"),
    "tcn": (tcn, floats(None, 12, 500), (1, 8), 16, integers(10, None), "classes"),
    "pointnet": (pointnet, floats(None, 3, 1024), (1, 8), 8, integers(40, None), "classes"),
    "perceptron": (perceptron, floats(None, 784), (1, 64), 128, integers(10, None), "classes"),
    "autoencoder": (autoencoder, floats(None, 784), (1, 64), 128, None, None),
    "mixer": (mixer, floats(None, *IMAGE), (1, 8), 8, *CLASSES), "gpt": (gpt, triangle(128), (1, 8), 4, integers(8000, None, 128), "classes")}
