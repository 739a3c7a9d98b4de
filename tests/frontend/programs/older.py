# SPDX-License-Identifier: Apache-2.0
"""What scripts of earlier years use: operators with _v1 in their names, mx.rnn's symbolic cells and buckets, FeedForward, old losses."""
from registry import program


def trained(mx, net, arguments, states=None, train=True):
    """Outputs and gradients of all arguments."""
    gradients = {name: mx.nd.zeros(array.shape) for name, array in arguments.items()}
    executor = net.bind(mx.cpu(), arguments, gradients, aux_states=states)
    outputs = executor.forward(is_train=train)
    executor.backward([mx.nd.ones(out.shape) for out in outputs])
    return [list(outputs), [gradients[name] for name in sorted(gradients)], list(executor.aux_arrays)]


def image(mx, *shape):
    size = 1
    for length in shape:
        size *= length
    return mx.nd.arange(size).reshape(shape) % 7 / 5 - 0.4


@program()
def operators_of_the_first_version(mx, np):
    data = mx.sym.var("data")
    pictures = image(mx, 2, 2, 5, 5)
    pooled = [trained(mx, mx.sym.Pooling_v1(data, kernel=(2, 2), stride=(2, 2), pool_type=kind, pooling_convention=way), {"data": pictures})
              for kind in ("max", "avg", "sum") for way in ("valid", "full")]
    convolved = trained(mx, mx.sym.Convolution_v1(data, kernel=(3, 3), num_filter=2, pad=(1, 1), name="c"),
                        {"data": pictures, "c_weight": image(mx, 2, 2, 3, 3), "c_bias": mx.nd.array([0.5, -0.5])})
    return [pooled, convolved]


@program(tolerance=1e-3)
def batch_norm_of_the_first_version(mx, np):
    net = mx.sym.BatchNorm_v1(mx.sym.var("data"), fix_gamma=False, eps=1e-3, momentum=0.8, name="b")
    arguments = {"data": image(mx, 3, 2, 4, 4), "b_gamma": mx.nd.array([1.5, 0.5]), "b_beta": mx.nd.array([0.1, 0.2])}
    states = {"b_moving_mean": mx.nd.zeros(2), "b_moving_var": mx.nd.ones(2)}
    return trained(mx, net, arguments, states)


@program()
def outputs_with_losses(mx, np):
    data, label = mx.sym.var("data"), mx.sym.var("label")
    scores, targets = image(mx, 4, 3), mx.nd.array([0, 2, 1, 2])
    results = []
    for net, right in (
            (mx.sym.SoftmaxOutput(data, label, grad_scale=0.5, normalization="valid", use_ignore=True, ignore_label=2), targets),
            (mx.sym.SoftmaxOutput(data, label, smooth_alpha=0.1), targets), (mx.sym.Softmax(data, label), targets),
            (mx.sym.LinearRegressionOutput(data, label), scores + 1), (mx.sym.MAERegressionOutput(data, label, grad_scale=2), scores * 2),
            (mx.sym.LogisticRegressionOutput(data, label), scores > 0), (mx.sym.SVMOutput(data, label, margin=0.5), targets),
            (mx.sym.SVMOutput(data, label, use_linear=True, regularization_coefficient=0.3), targets)):
        results.append(trained(mx, net, {"data": scores, "label": right}))
    results.append(trained(mx, mx.sym.MakeLoss(mx.sym.square(data), grad_scale=3, normalization="batch"), {"data": scores}))
    results.append(trained(mx, mx.sym.BlockGrad(data) * data, {"data": scores}))
    return results + [trained(mx, mx.sym.SoftmaxActivation(data, mode=mode), {"data": image(mx, *shape)})
                      for mode, shape in (("instance", (4, 3)), ("channel", (2, 3, 2, 2)))]


@program()
def old_ways_to_cut_and_join(mx, np):
    data, other = mx.sym.var("data"), mx.sym.var("other")
    results = [trained(mx, mx.sym.Crop(data, other, num_args=2, offset=(1, 1)), {"data": image(mx, 1, 2, 5, 5), "other": image(mx, 1, 1, 3, 3)}),
               trained(mx, mx.sym.Crop(data, num_args=1, h_w=(3, 2), center_crop=True), {"data": image(mx, 1, 2, 5, 5)}),
               trained(mx, mx.sym.SliceChannel(data, num_outputs=2, axis=1, squeeze_axis=False), {"data": image(mx, 2, 4, 3)}),
               trained(mx, mx.sym.SwapAxis(data, dim1=0, dim2=2), {"data": image(mx, 2, 3, 4)}),
               trained(mx, mx.sym.Concat(data, other, dim=0), {"data": image(mx, 2, 3), "other": image(mx, 1, 3)}),
               trained(mx, mx.sym.ElementWiseSum(data, other, data * 2, num_args=3), {"data": image(mx, 2, 3), "other": image(mx, 2, 3)}),
               trained(mx, mx.sym.Pad(data, mode="reflect", pad_width=(0, 0, 0, 0, 1, 1, 2, 1)), {"data": image(mx, 1, 2, 4, 4)}),
               trained(mx, mx.sym.Flatten(mx.sym.Reshape(data, target_shape=(2, 0))), {"data": image(mx, 4, 3)})]
    return results + [mx.nd.Reshape(image(mx, 2, 3, 4), shape=(-3, -2)), mx.nd.Reshape(image(mx, 6, 4), shape=(-4, 2, -1, 0), reverse=False),
                      mx.nd.crop(image(mx, 4, 4), begin=(1, 0), end=(3, 2))]


@program(tolerance=1e-3)
def rare_layers(mx, np):
    data, other = mx.sym.var("data"), mx.sym.var("other")
    results = [trained(mx, mx.sym.LRN(data, nsize=3, alpha=0.1, beta=0.5), {"data": image(mx, 1, 4, 3, 3)}),
               trained(mx, mx.sym.L2Normalization(data, mode="channel"), {"data": image(mx, 2, 3, 2)}),
               trained(mx, mx.sym.InstanceNorm(data, mx.sym.var("g"), mx.sym.var("b")),
                       {"data": image(mx, 2, 2, 3, 3), "g": mx.nd.ones(2), "b": mx.nd.zeros(2)}),
               trained(mx, mx.sym.UpSampling(data, scale=2, sample_type="nearest"), {"data": image(mx, 1, 2, 2, 2)}),
               trained(mx, mx.sym.Correlation(data, other, kernel_size=1, max_displacement=1, stride1=1, stride2=1, pad_size=1),
                       {"data": image(mx, 1, 2, 4, 4), "other": image(mx, 1, 2, 4, 4) * 2}),
               trained(mx, mx.sym.GridGenerator(data, transform_type="affine", target_shape=(3, 3)), {"data": image(mx, 1, 6)}),
               trained(mx, mx.sym.SpatialTransformer(data, other, target_shape=(3, 3), transform_type="affine", sampler_type="bilinear"),
                       {"data": image(mx, 1, 1, 4, 4), "other": mx.nd.array([[0.7, 0.1, 0.05, -0.1, 0.8, 0.02]])}),
               trained(mx, mx.sym.ROIPooling(data, other, pooled_size=(2, 2), spatial_scale=1.0),
                       {"data": image(mx, 1, 2, 5, 5), "other": mx.nd.array([[0, 0, 0, 3, 3]])}),
               trained(mx, mx.sym.smooth_l1(data, scalar=2.0), {"data": image(mx, 3, 4)}),
               trained(mx, mx.sym.hard_sigmoid(data), {"data": image(mx, 3, 4) * 6}),
               trained(mx, mx.sym.softmin(data, axis=0), {"data": image(mx, 3, 4)})]
    return results


@program(tolerance=1e-3)
def symbolic_recurrent_cells(mx, np):
    results = []
    for cell in (mx.rnn.RNNCell(3, prefix="c_"), mx.rnn.LSTMCell(3, prefix="c_", forget_bias=0.5), mx.rnn.GRUCell(3, prefix="c_"),
                 mx.rnn.ResidualCell(mx.rnn.GRUCell(2, prefix="c_")),
                 mx.rnn.BidirectionalCell(mx.rnn.RNNCell(3, prefix="l_"), mx.rnn.GRUCell(3, prefix="r_"))):
        outputs, states = cell.unroll(3, mx.sym.var("data"), layout="NTC", merge_outputs=True)
        net = mx.sym.Group([outputs] + [state for item in states for state in (item if isinstance(item, (list, tuple)) else [item])])
        shapes, outs, _ = net.infer_shape(data=(2, 3, 2))
        arguments = {name: image(mx, *shape) for name, shape in zip(net.list_arguments(), shapes)}
        results.append([type(cell).__name__, outs, trained(mx, net, arguments)])
    return results


@program(tolerance=1e-3)
def fused_cells_and_their_parts(mx, np):
    results = []
    for mode in ("rnn_tanh", "lstm", "gru"):
        fused = mx.rnn.FusedRNNCell(3, num_layers=2, mode=mode, bidirectional=mode == "gru", prefix="f_")
        outputs, _ = fused.unroll(3, mx.sym.var("data"), layout="NTC", merge_outputs=True)
        shapes, outs, _ = outputs.infer_shape(data=(2, 3, 2))
        arguments = {name: image(mx, *shape) / 2 for name, shape in zip(outputs.list_arguments(), shapes)}
        data, weights = arguments.pop("data"), fused.unpack_weights(arguments)
        packed = fused.pack_weights(weights)
        stack = fused.unfuse()
        apart, _ = stack.unroll(3, mx.sym.var("data"), layout="NTC", merge_outputs=True)
        parts = stack.pack_weights(weights)
        results.append([mode, outs, sorted(weights), packed, outputs.eval(data=data, **packed), apart.eval(data=data, **parts)])
    return results


@program(tolerance=1e-3)
def sentences_in_buckets(mx, np):
    sentences = [[1, 2, 3], [2, 3], [1, 1, 2, 4, 3], [4, 4], [3, 2, 1], [1, 2, 3, 4]]
    coded, vocabulary = mx.rnn.encode_sentences([["a", "b"], ["b", "c", "a"]], start_label=1, invalid_label=0)
    iterator = mx.rnn.BucketSentenceIter(sentences, 2, buckets=[3, 5], invalid_label=0)
    shapes = sorted(tuple(batch.data[0].shape) + (batch.bucket_key,) for batch in iterator)

    def network(length):
        data, label = mx.sym.var("data"), mx.sym.var("softmax_label")
        embedded = mx.sym.Embedding(data, input_dim=6, output_dim=3, name="embed")
        outputs, _ = mx.rnn.LSTMCell(4, prefix="lstm_").unroll(length, embedded, layout="NTC", merge_outputs=True)
        scores = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 4)), num_hidden=6, name="scores")
        return mx.sym.SoftmaxOutput(scores, mx.sym.Reshape(label, shape=(-1,)), name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(network, default_bucket_key=iterator.default_bucket_key)
    module.bind(iterator.provide_data, iterator.provide_label)
    module.init_params(mx.init.Constant(0.1))
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    for length in (3, 5, 3):
        data = mx.nd.arange(2 * length).reshape((2, length)) % 5
        batch = mx.io.DataBatch([data], [(data + 1) % 6], bucket_key=length, provide_data=[("data", (2, length))],
                                provide_label=[("softmax_label", (2, length))])
        module.forward(batch)
        module.backward()
        module.update()
    arguments, _ = module.get_params()
    return [coded, sorted(map(str, vocabulary)), shapes, arguments["scores_weight"], arguments["embed_weight"]]


@program(tolerance=1e-3)
def feed_forward_models(mx, np):
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), name="softmax")
    x = np.arange(24).reshape(8, 3).astype("float32") / 10 - 1
    y = (x.sum(1) > 0).astype("float32")
    model = mx.model.FeedForward(net, ctx=mx.cpu(), num_epoch=3, numpy_batch_size=4, initializer=mx.init.Constant(0.1), learning_rate=0.5)
    model.fit(mx.io.NDArrayIter(x, y, 4))
    model.save("old", 3)
    again = mx.model.FeedForward.load("old", 3, ctx=mx.cpu(), numpy_batch_size=4)
    return [model.predict(mx.io.NDArrayIter(x, None, 4)), again.predict(mx.io.NDArrayIter(x, None, 4)), model.score(mx.io.NDArrayIter(x, y, 4)),
            sorted(again.arg_params)]


@program()
def checkpoints_of_recurrent_networks(mx, np):
    cell = mx.rnn.LSTMCell(3, prefix="c_")
    outputs, _ = cell.unroll(2, mx.sym.var("data"), layout="NTC", merge_outputs=False)
    outputs = mx.sym.concat(*outputs, dim=1, name="joined")
    shapes, _, _ = outputs.infer_shape(data=(1, 2, 2))
    arguments = {name: image(mx, *shape) for name, shape in zip(outputs.list_arguments(), shapes) if name != "data"}
    mx.rnn.save_rnn_checkpoint([cell], "rnn", 2, outputs, arguments, {})
    net, loaded, states = mx.rnn.load_rnn_checkpoint([cell], "rnn", 2)
    on_disk = mx.nd.load("rnn-0002.params")
    return [net, loaded, states, sorted(on_disk), on_disk[sorted(on_disk)[0]]]


@program()
def operators_of_the_user_on_numpy_arrays(mx, np):
    class Product(mx.operator.NumpyOp):
        def list_arguments(self):
            return ["data", "weight"]

        def list_outputs(self):
            return ["product", "sum"]

        def infer_shape(self, in_shape):
            return [in_shape[0], in_shape[0]], [in_shape[0], [in_shape[0][0]]]

        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] * in_data[1]
            out_data[1][:] = in_data[0].sum(axis=1)

        def backward(self, out_grad, in_data, out_data, in_grad):
            slope = out_grad[0] if out_grad else 3
            in_grad[0][:] = slope * in_data[1] + out_data[0]
            in_grad[1][:] = slope * in_data[0]

    results = []
    for needs_slopes in (True, False):
        net = Product(needs_slopes)(data=mx.sym.var("data"), name="p")
        results += [net.list_arguments(), net.list_outputs(),
                    trained(mx, net, {"data": image(mx, 2, 3), "p_weight": image(mx, 2, 3) + 1})]
    return results


@program()
def operators_of_the_user_on_arrays(mx, np):
    class Square(mx.operator.NDArrayOp):
        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] * in_data[0]

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = out_grad[0] * in_data[0] * 2

    net = Square()(data=mx.sym.exp(mx.sym.var("data")), name="s")
    return [net.list_outputs(), trained(mx, net + 1, {"data": image(mx, 2, 3)})]
