# SPDX-License-Identifier: Apache-2.0
"""The convolutional networks of the zoo, each written once: `B` is the library that its layers are made of (gluon_zoo or torch_zoo)."""


def conv(B, cin, cout, kernel=3, stride=1, act="relu", norm="batch", **more):
    """A convolution, its normalisation and activation, as most networks have them."""
    pad = more.pop("pad", (kernel - 1) // 2 * more.get("dilation", 1))
    layers = [B.conv(cin, cout, kernel, stride, pad, bias=norm is None, **more)]
    return layers + ([B.norm(norm, cout, more.get("dims", 2))] if norm else []) + ([B.act(act)] if act else [])


def head(B, channels, classes=1000):
    return [B.global_pool(), B.flatten(), B.dense(channels, classes)]


def mobilenet_v2(B):
    layers, cin = conv(B, 3, 32, stride=2, act="relu6"), 32
    for expand, cout, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            step, mid = (stride if i == 0 else 1), cin * expand
            body = (conv(B, cin, mid, 1, act="relu6") if expand > 1 else []) + conv(B, mid, mid, 3, step, "relu6", groups=mid)
            body += conv(B, mid, cout, 1, act=None)
            layers.append(B.add(B.same(), B.chain(body)) if step == 1 and cin == cout else B.chain(body))
            cin = cout
    return B.chain(layers + conv(B, cin, 1280, 1, act="relu6") + head(B, 1280))


def squeezenet(B):
    def fire(cin, squeeze, expand):
        wide = [B.chain(conv(B, squeeze, expand, kernel, norm=None)) for kernel in (1, 3)]
        return conv(B, cin, squeeze, 1, norm=None) + [B.concat(*wide)]

    layers = conv(B, 3, 64, 3, 2, norm=None, pad=0) + [B.max_pool(3, 2, 0)] + fire(64, 16, 64) + fire(128, 16, 64) + [B.max_pool(3, 2, 0)]
    layers += fire(128, 32, 128) + fire(256, 32, 128) + [B.max_pool(3, 2, 0)] + fire(256, 48, 192) + fire(384, 48, 192) + fire(384, 64, 256)
    return B.chain(layers + fire(512, 64, 256) + conv(B, 512, 1000, 1, norm=None) + [B.global_pool(), B.flatten()])


def densenet121(B):
    layers, c = conv(B, 3, 64, 7, 2) + [B.max_pool(3, 2, 1)], 64
    for stage, count in enumerate((6, 12, 24, 16)):
        if stage:
            layers += [B.norm("batch", c), B.act("relu"), B.conv(c, c // 2, 1, 1, 0, bias=False), B.avg_pool(2, 2)]
            c //= 2
        for _ in range(count):
            body = [B.norm("batch", c), B.act("relu"), *conv(B, c, 128, 1), B.conv(128, 32, 3, 1, 1, bias=False)]
            layers.append(B.concat(B.same(), B.chain(body)))
            c += 32
    return B.chain(layers + [B.norm("batch", c), B.act("relu")] + head(B, c))


def bottlenecks(B, groups=1, width=1, squeeze=False, counts=(3, 4, 6, 3)):
    """ResNet-50 with grouped convolutions (ResNeXt) or gates for channels (SE-ResNet)."""
    layers, cin = conv(B, 3, 64, 7, 2) + [B.max_pool(3, 2, 1)], 64
    for stage, count in enumerate(counts):
        cout = 256 << stage
        mid = cout // 4 * width
        for i in range(count):
            stride = 2 if i == 0 and stage else 1
            body = conv(B, cin, mid, 1) + conv(B, mid, mid, 3, stride, groups=groups) + conv(B, mid, cout, 1, act=None)
            if squeeze:
                gate = [B.global_pool(), B.conv(cout, cout // 16, 1, 1, 0), B.act("relu"), B.conv(cout // 16, cout, 1, 1, 0), B.act("sigmoid")]
                body.append(B.multiply(B.same(), B.chain(gate)))
            side = B.chain(conv(B, cin, cout, 1, stride, act=None)) if i == 0 else B.same()
            layers += [B.add(B.chain(body), side), B.act("relu")]
            cin = cout
    return B.chain(layers + head(B, cin))


def resnext50(B):
    return bottlenecks(B, groups=32, width=2)


def se_resnet50(B):
    return bottlenecks(B, squeeze=True)


def ssd(B):
    """Six maps of a detector, classes and boxes of each behind one another."""
    layers, cin, scales = [], 3, []
    for cout in (32, 64, 128):
        layers += conv(B, cin, cout) + conv(B, cout, cout) + [B.max_pool(2, 2, 0)]
        cin = cout
    nested = None
    for cout in (128, 128, 128, 128, 128):
        scales.append(B.chain(conv(B, cout, 64, 1) + conv(B, 64, cout, 3, 2)))

    def boxes():
        return B.concat(*(B.chain([B.conv(128, 4 * count, 3, 1, 1), B.rows_of(count)]) for count in (21, 4)), axis=2)

    for scale in reversed(scales):
        rest = B.chain([scale, boxes() if nested is None else nested])
        nested = B.concat(boxes(), rest, axis=1)
    return B.chain(layers + [nested])


def yolo(B):
    """Leaky layers, a map that is enlarged and joined with an earlier one (YOLOv3's, narrow)."""
    def block(cin, mid):
        return B.add(B.same(), B.chain(conv(B, cin, mid, 1, act="leaky") + conv(B, mid, cin, 3, act="leaky")))

    layers, c = conv(B, 3, 32, act="leaky"), 32
    for count in (1, 2, 4):
        layers += conv(B, c, 2 * c, 3, 2, "leaky") + [block(2 * c, c) for _ in range(count)]
        c *= 2
    deep = conv(B, 256, 512, 3, 2, "leaky") + [block(512, 256) for _ in range(4)] + conv(B, 512, 128, 1, act="leaky") + [B.enlarge()]
    join = [B.concat(B.same(), B.chain(deep))] + conv(B, 384, 128, 1, act="leaky") + conv(B, 128, 256, 3, act="leaky")
    return B.chain(layers + join + [B.conv(256, 255, 1, 1, 0)])


def unet(B):
    def level(cin, c, depth):
        twice = conv(B, cin, c) + conv(B, c, c)
        if depth == 0:
            return twice
        inner = [B.max_pool(2, 2, 0), *level(c, 2 * c, depth - 1), B.deconv(2 * c, c, 2, 2, 0)]
        return twice + [B.concat(B.same(), B.chain(inner))] + conv(B, 2 * c, c) + conv(B, c, c)

    return B.chain(level(3, 16, 4) + [B.conv(16, 2, 1, 1, 0)])


def dcgan(B):
    """The generator, and the discriminator that looks at its pictures."""
    layers = [B.deconv(100, 512, 4, 1, 0, bias=False), B.norm("batch", 512), B.act("relu")]
    for cin, cout in ((512, 256), (256, 128), (128, 64)):
        layers += [B.deconv(cin, cout, 4, 2, 1, bias=False), B.norm("batch", cout), B.act("relu")]
    layers += [B.deconv(64, 3, 4, 2, 1, bias=False), B.act("tanh"), B.conv(3, 64, 4, 2, 1, bias=False), B.act("leaky")]
    for cin, cout in ((64, 128), (128, 256), (256, 512)):
        layers += conv(B, cin, cout, 4, 2, "leaky", pad=1)
    return B.chain(layers + [B.conv(512, 1, 4, 1, 0, bias=False), B.flatten()])


def wavenet(B, width=64):
    """Ten dilated layers over time with gates (here over both sides of a step)."""
    def layer(dilation):
        sides = [B.chain(conv(B, width, width, 3, act=act, norm=None, dims=1, dilation=dilation)) for act in ("tanh", "sigmoid")]
        return B.add(B.same(), B.chain([B.multiply(*sides), B.conv(width, width, 1, 1, 0, dims=1)]))

    return B.chain(conv(B, 1, width, 3, norm=None, dims=1) + [layer(1 << i) for i in range(10)] + [B.conv(width, 256, 1, 1, 0, dims=1)])


def c3d(B):
    layers, cin = [], 3
    for cout, pool in ((32, (1, 2, 2)), (64, 2), (128, 2), (128, 2)):
        layers += conv(B, cin, cout, 3, norm=None, dims=3) + [B.max_pool(pool, pool, 0, dims=3)]
        cin = cout
    return B.chain(layers + [B.global_pool(3), B.flatten(), B.dense(cin, 101)])


def r2plus1d(B):
    def both(cin, cout, stride=1):
        mid = 3 * cin * cout * 9 // (9 * cin + 3 * cout)
        flat, deep = (1, 3, 3), (3, 1, 1)
        return [B.conv(cin, mid, flat, (1, stride, stride), (0, 1, 1), dims=3, bias=False), B.norm("batch", mid, 3), B.act("relu"),
                B.conv(mid, cout, deep, (stride, 1, 1), (1, 0, 0), dims=3, bias=False), B.norm("batch", cout, 3)]

    layers = [B.conv(3, 32, (1, 7, 7), (1, 2, 2), (0, 3, 3), dims=3, bias=False), B.norm("batch", 32, 3), B.act("relu")]
    for cin, cout in ((32, 32), (32, 64)):
        layers += both(cin, cout, cout // cin) + [B.act("relu"), B.add(B.same(), B.chain(both(cout, cout) + [B.act("relu")] + both(cout, cout))), B.act("relu")]
    return B.chain(layers + [B.global_pool(3), B.flatten(), B.dense(64, 101)])


def depthwise(B):
    """Depthwise layers of two filters a channel, and of large windows."""
    layers, c = conv(B, 3, 32, 3, 2), 32
    for multiplier, kernel, stride in ((2, 3, 2), (2, 5, 1), (1, 7, 1), (2, 3, 2)):
        layers += conv(B, c, c * multiplier, kernel, stride, groups=c) + conv(B, c * multiplier, c * multiplier, 1)
        c *= multiplier
    return B.chain(layers + head(B, c))


def style(B, kind="instance"):
    """A network that transfers style, with another normalisation than by batches."""
    def block(c):
        return B.add(B.same(), B.chain(conv(B, c, c, norm=kind) + conv(B, c, c, norm=kind, act=None)))

    layers = conv(B, 3, 16, 9, norm=kind) + conv(B, 16, 32, 3, 2, norm=kind) + conv(B, 32, 64, 3, 2, norm=kind) + [block(64) for _ in range(3)]
    for cin, cout in ((64, 32), (32, 16)):
        layers += [B.enlarge(), *conv(B, cin, cout, norm=kind)]
    return B.chain(layers + [B.conv(16, 3, 9, 1, 4), B.act("tanh")])


def style_groups(B):
    return style(B, "group")


def convnext(B):
    """Large depthwise windows, LayerNorm over channels behind, gelu."""
    layers, cin = [B.conv(3, 48, 4, 4, 0)], 48
    for c in (48, 96):
        if c != cin:
            layers.append(B.conv(cin, c, 2, 2, 0))
        for _ in range(2):
            mlp = [B.conv(c, c, 7, 1, 3, groups=c), B.channels_last(), B.norm("layer", c), B.dense(c, 4 * c, False), B.act("gelu"), B.dense(4 * c, c, False)]
            layers.append(B.add(B.same(), B.chain(mlp + [B.channels_first()])))
        cin = c
    return B.chain(layers + head(B, cin))


def lenet(B):
    layers = [B.conv(1, 20, 5, 1, 0), B.act("tanh"), B.max_pool(2, 2, 0), B.conv(20, 50, 5, 1, 0), B.act("tanh"), B.max_pool(2, 2, 0)]
    return B.chain(layers + [B.flatten(), B.dense(800, 500), B.act("tanh"), B.dense(500, 10)])


def resnet20(B):
    layers, cin = conv(B, 3, 16), 16
    for c in (16, 32, 64):
        for i in range(3):
            stride = 2 if c != cin else 1
            side = B.same() if c == cin else B.chain(conv(B, cin, c, 1, 2, act=None))
            layers += [B.add(B.chain(conv(B, cin, c, 3, stride) + conv(B, c, c, act=None)), side), B.act("relu")]
            cin = c
    return B.chain(layers + head(B, cin, 10))


# By name: the network, the shape of one input, the batches of inference, that of a training step.
IMAGE = (3, 224, 224)
NETWORKS = {
    "mobilenet_v2": (mobilenet_v2, IMAGE, (1, 8), 4), "squeezenet": (squeezenet, IMAGE, (1, 8), 4), "densenet121": (densenet121, IMAGE, (1, 8), 2),
    "resnext50": (resnext50, IMAGE, (1, 8), 2), "se_resnet50": (se_resnet50, IMAGE, (1, 8), 2), "ssd": (ssd, (3, 256, 256), (1, 8), 2),
    "yolo": (yolo, (3, 224, 224), (1, 8), 2), "unet": (unet, (3, 256, 256), (1, 4), 1), "dcgan": (dcgan, (100, 1, 1), (1, 8), 8),
    "wavenet": (wavenet, (1, 4000), (1, 8), 4), "c3d": (c3d, (3, 8, 112, 112), (1, 4), 1), "r2plus1d": (r2plus1d, (3, 8, 112, 112), (1, 4), 2),
    "depthwise": (depthwise, IMAGE, (1, 8), 4), "style_instance": (style, (3, 256, 256), (1, 4), 1), "style_group": (style_groups, (3, 256, 256), (1, 4), 1),
    "convnext": (convnext, IMAGE, (1, 8), 4), "lenet": (lenet, (1, 28, 28), (1, 256), 256), "resnet20": (resnet20, (3, 32, 32), (1, 8), 8),
    "resnet20_eager": (resnet20, (3, 32, 32), (1, 8), 8)}
