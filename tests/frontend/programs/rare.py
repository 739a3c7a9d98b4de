# SPDX-License-Identifier: Apache-2.0
"""Names that few programs use: all networks of the model zoo, cells and samplers of gluon.contrib, transforms of images, and
mx.npx. A call that raises counts as "raises"; random results are compared by their shapes."""
from registry import program


def attempt(call):
    """The result, or the word that says that there is none."""
    try:
        return call()
    except Exception:
        return "raises"


@program()
def networks_of_the_model_zoo(mx, np):
    vision = mx.gluon.model_zoo.vision
    names = [
        "alexnet", "densenet161", "densenet169", "densenet201", "mobilenet0_5", "mobilenet0_75", "mobilenet_v2_0_5",
        "mobilenet_v2_0_75", "resnet101_v1", "resnet101_v2", "resnet152_v1", "resnet152_v2", "resnet18_v2", "resnet34_v1",
        "resnet34_v2", "resnet50_v1", "squeezenet1_0", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg19", "vgg19_bn",
    ]  # fmt: skip
    results = []
    for name in names:
        net = getattr(vision, name)(classes=7, prefix="net_")
        results.append([name, [[key, list(param.shape or ())] for key, param in net.collect_params().items()]])
    return results


@program(tolerance=1e-3)
def cells_of_gluon_contrib(mx, np):
    contrib = mx.gluon.contrib
    results = []
    for dims in (1, 2, 3):
        for kind in ("RNN", "LSTM", "GRU"):
            cell = getattr(contrib.rnn, f"Conv{dims}D{kind}Cell")(
                input_shape=(2,) + (5,) * dims, hidden_channels=3, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
            cell.initialize(mx.init.Constant(0.1))
            out, states = cell(mx.nd.ones((2, 2) + (5,) * dims), cell.begin_state(2))
            results.append([out, list(states)])
    projected = contrib.rnn.LSTMPCell(4, 3, input_size=2)
    projected.initialize(mx.init.Constant(0.1))
    out, states = projected(mx.nd.ones((2, 2)), projected.begin_state(2))
    results.append([out, list(states)])
    stack = mx.gluon.rnn.HybridSequentialRNNCell()
    stack.add(mx.gluon.rnn.GRUCell(3, input_size=2), mx.gluon.rnn.DropoutCell(0.5))
    stack.initialize(mx.init.Constant(0.2))
    results.append(stack(mx.nd.ones((2, 2)), stack.begin_state(2))[0])
    for layer in (mx.gluon.nn.SELU(), mx.gluon.nn.HybridLambda("relu"), contrib.nn.PixelShuffle3D((1, 2, 2))):
        results.append(attempt(lambda: layer(mx.nd.arange(32).reshape((1, 4, 2, 2, 2)) - 9)))
    results.append(list(contrib.data.IntervalSampler(13, interval=3)))
    for layer in (contrib.cnn.DeformableConvolution(2, kernel_size=3, in_channels=2),
                  contrib.cnn.ModulatedDeformableConvolution(2, kernel_size=3, in_channels=2)):
        layer.initialize(mx.init.Constant(0.1))
        results.append(attempt(lambda: layer(mx.nd.arange(50).reshape((1, 2, 5, 5)))))
    return results


@program()
def modules_written_in_python(mx, np):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    first = mx.mod.Module(net, label_names=None)
    loss = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - labels.reshape((-1, 1)))
    both = mx.mod.SequentialModule().add(first).add(loss, take_labels=True, auto_wiring=True)
    both.bind([("data", (4, 3))], [("softmax_label", (4,))])
    both.init_params(mx.init.Constant(0.5))
    both.init_optimizer(optimizer_params={"learning_rate": 0.1})
    batch = mx.io.DataBatch([mx.nd.arange(12).reshape((4, 3))], [mx.nd.array([0, 1, 0, 1])])
    both.forward(batch, is_train=True)
    both.backward()
    both.update()
    return [both.get_outputs()[0], both.get_params()[0]["fc_weight"], issubclass(mx.mod.PythonLossModule, mx.mod.PythonModule)]


@program()
def transforms_of_images(mx, np):
    transforms = mx.gluon.data.vision.transforms
    image = mx.nd.array(np.arange(6 * 8 * 3).reshape(6, 8, 3) % 251, dtype="uint8")
    exact = [transforms.CropResize(1, 2, 4, 3), transforms.RandomApply(transforms.Cast("float32"), 1.0),
             transforms.RandomBrightness(0), transforms.RandomContrast(0), transforms.RandomSaturation(0)]
    drawn = [transforms.RandomColorJitter(0.2, 0.2, 0.2, 0.1), transforms.RandomFlipLeftRight(), transforms.RandomFlipTopBottom(),
             transforms.RandomHue(0.1), transforms.RandomLighting(0.1), transforms.RandomResizedCrop(4)]
    results = [attempt(lambda: transform(image)) for transform in exact]
    results += [attempt(lambda: list(transform(image.astype("float32")).shape)) for transform in drawn]
    turned = mx.nd.array(np.arange(48).reshape(3, 4, 4) / 50)
    results.append(attempt(lambda: transforms.Rotate(90)(turned).shape == (3, 4, 4)))
    results.append(attempt(lambda: transforms.RandomRotation((-10, 10))(turned).shape == (3, 4, 4)))
    return results


@program(tolerance=1e-3)
def functions_of_npx(mx, np):
    mx.npx.set_np()
    try:
        npx, image = mx.npx, mx.np.arange(6 * 8 * 3).reshape(6, 8, 3).astype("float32")
        x = mx.np.arange(24).reshape(2, 3, 4).astype("float32")
        calls = [
            lambda: npx.batch_flatten(x), lambda: npx.cast(x, dtype="int32"), lambda: npx.nonzero(mx.np.array([0, 3, 0, 2])),
            lambda: npx.shape_array(x), lambda: npx.slice(x, begin=(0, 1), end=(2, 3)), lambda: npx.dropout(x, p=0.5),
            lambda: npx.constraint_check(mx.np.array([True, True]), "message"),
            lambda: npx.deconvolution(mx.np.ones((1, 2, 3, 3)), mx.np.ones((2, 1, 2, 2)), kernel=(2, 2), num_filter=1, no_bias=True),
            lambda: npx.roi_pooling(mx.np.arange(32).reshape(1, 2, 4, 4).astype("float32"), mx.np.array([[0, 0, 0, 3, 3]]),
                                    pooled_size=(2, 2), spatial_scale=1.0),
            lambda: npx.multibox_prior(mx.np.ones((1, 2, 2, 2)), sizes=(0.5,), ratios=(1, 2)),
            lambda: npx.rnn(mx.np.ones((3, 2, 2)), mx.np.ones(32) * 0.1, mx.np.zeros((1, 2, 3)), state_size=3, num_layers=1, mode="rnn_tanh"),
            lambda: npx.image.crop(image, 1, 2, 4, 3), lambda: npx.image.flip_left_right(image),
            lambda: npx.image.flip_top_bottom(image), lambda: npx.image.to_tensor(image),
            lambda: npx.image.normalize(npx.image.to_tensor(image), mean=(0.1, 0.2, 0.3), std=(0.5, 0.5, 0.5)),
            lambda: npx.image.adjust_lighting(image, (0.1, 0.1, 0.1)), lambda: npx.image.resize(image, size=(4, 3)),
            lambda: npx.random.seed(3),
        ]  # fmt: skip
        drawn = [lambda: getattr(npx.image, f"random_{name}")(image, *limits).shape for name, limits in (
            ("brightness", (0.9, 1.1)), ("contrast", (0.9, 1.1)), ("saturation", (0.9, 1.1)), ("hue", (0.9, 1.1)),
            ("lighting", (0.1,)), ("flip_left_right", ()), ("flip_top_bottom", ()), ("color_jitter", (0.1, 0.1, 0.1, 0.1)))]
        drawn += [lambda: npx.random.bernoulli(0.5, size=(3,)).shape, lambda: npx.random.uniform_n(0, 1, batch_shape=(2,)).shape,
                  lambda: npx.random.normal_n(0, 1, batch_shape=(2,)).shape]
        return [attempt(call) for call in calls] + [attempt(lambda: list(call())) for call in drawn]
    finally:
        mx.npx.reset_np()
