# SPDX-License-Identifier: Apache-2.0
"""Operators by name, through mx.nd and through mx.sym (bound, forward and backward), in families."""
from registry import program

A, B, SQUARE, BATCH = (2, 3), (2, 3), (3, 3), (2, 3, 4)
IMAGE = (2, 4, 6, 6)


def values(np, shape, seed, kind="unit"):
    rng = np.random.RandomState(seed)
    data = rng.uniform(0.1, 0.9, shape) if kind == "unit" else rng.normal(size=shape)
    return data.astype("float32")


def find(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def both(mx, np, name, shapes, kind="unit", **parameters):
    """The operator's result as arrays, and as a network with its gradients."""
    data = [values(np, shape, i + 1, kind) for i, shape in enumerate(shapes)]
    arrays = [mx.nd.array(item) for item in data]
    eager = find(mx.nd, name)(*arrays, **parameters)
    inputs = [mx.sym.var(f"in{i}") for i in range(len(data))]
    network = find(mx.sym, name)(*inputs, **parameters)
    arguments = {f"in{i}": item for i, item in enumerate(arrays)}
    executor = network.bind(mx.cpu(), arguments)
    return [eager, executor.forward()]


def gradients(mx, np, name, shapes, kind="unit", **parameters):
    """As both(), and the gradients of the network."""
    data = [mx.nd.array(values(np, shape, i + 1, kind)) for i, shape in enumerate(shapes)]
    inputs = [mx.sym.var(f"in{i}") for i in range(len(data))]
    network = find(mx.sym, name)(*inputs, **parameters)
    names = [f"in{i}" for i in range(len(data))]
    grads = {name: mx.nd.zeros(item.shape) for name, item in zip(names, data)}
    executor = network.bind(mx.cpu(), dict(zip(names, data)), args_grad=grads)
    outputs = executor.forward(is_train=True)
    executor.backward([mx.nd.ones(item.shape) for item in outputs])
    return [find(mx.nd, name)(*data, **parameters), outputs, grads]


def family(names, shapes, with_gradients=True, **options):
    def run(mx, np):
        call = gradients if with_gradients else both
        return {name: call(mx, np, name, shapes, **options) for name in names.split()}

    return run


def table(rows, with_gradients=False):
    """Rows of (name, shapes, parameters)."""
    def run(mx, np):
        call = gradients if with_gradients else both
        return [call(mx, np, name, shapes, **parameters) for name, shapes, parameters in rows]

    return run


def define(name, run, tolerance=1e-4):
    run.__name__ = name
    run.__module__ = "programs_operators"
    program(tolerance)(run)


define("unary", family(
    "abs arccos arcsin arcsinh arctan arctanh cbrt cos cosh degrees erf erfinv exp expm1 "
    "gamma gammaln hard_sigmoid identity log log10 log1p log2 negative radians rcbrt reciprocal relu rsqrt "
    "sigmoid sin sinh softsign sqrt square tan tanh", [A]), 1e-3)
define("unary_steps", family("ceil floor fix rint round sign trunc logical_not ones_like zeros_like "
                             "shape_array size_array", [A], with_gradients=False, kind="normal"))
define("arccosh", lambda mx, np: [mx.nd.arccosh(mx.nd.array([1, 2, 3])),
                                  mx.sym.arccosh(mx.sym.var("x")).eval(x=mx.nd.array([1, 2, 3]))])
define("binary", family("elemwise_add elemwise_sub elemwise_mul elemwise_div", [A, B]))
define("broadcast", family(
    "broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_maximum broadcast_minimum broadcast_power "
    "broadcast_hypot broadcast_plus broadcast_minus", [BATCH, (1, 3, 1)]), 1e-3)
define("broadcast_compare", family(
    "broadcast_equal broadcast_not_equal broadcast_greater broadcast_greater_equal broadcast_lesser "
    "broadcast_lesser_equal broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_mod",
    [BATCH, (1, 3, 1)], with_gradients=False))
define("reductions", family("sum mean prod max min nansum nanprod norm sum_axis max_axis min_axis", [BATCH], axis=1))
define("reductions_whole", family("sum mean prod max min norm", [BATCH]))
define("reductions_keep", family("sum mean max", [BATCH], axis=(0, 2), keepdims=True, exclude=False))
define("ordering", table([
    ("argmax", [BATCH], {"axis": 1}), ("argmin", [BATCH], {"axis": 1}), ("argmax_channel", [A], {}),
    ("sort", [BATCH], {"axis": -1}), ("argsort", [BATCH], {"axis": -1, "is_ascend": False}),
    ("topk", [BATCH], {"k": 2, "ret_typ": "value"}), ("topk", [BATCH], {"k": 2, "ret_typ": "both"})]))
define("shapes", table([
    ("reshape", [BATCH], {"shape": (4, -1)}), ("Reshape", [BATCH], {"shape": (0, -3)}), ("Flatten", [BATCH], {}),
    ("flatten", [BATCH], {}), ("transpose", [BATCH], {"axes": (2, 0, 1)}), ("expand_dims", [A], {"axis": 1}),
    ("SwapAxis", [BATCH], {"dim1": 0, "dim2": 2}), ("swapaxes", [BATCH], {"dim1": 0, "dim2": 1}),
    ("squeeze", [(2, 1, 3)], {}), ("tile", [A], {"reps": (2, 1, 2)}), ("repeat", [A], {"repeats": 2, "axis": 1}),
    ("flip", [A], {"axis": 1}), ("reverse", [A], {"axis": 0}), ("diag", [SQUARE], {}),
    ("broadcast_to", [(1, 3)], {"shape": (2, 3)}), ("broadcast_axis", [(1, 3)], {"axis": 0, "size": 2}),
    ("broadcast_axes", [(1, 3)], {"axis": 0, "size": 2}), ("broadcast_like", [(1, 3), A], {}),
    ("reshape_like", [(6,), A], {}), ("depth_to_space", [(1, 4, 2, 2)], {"block_size": 2}),
    ("space_to_depth", [(1, 1, 4, 4)], {"block_size": 2}), ("pad", [IMAGE], {
        "mode": "edge", "pad_width": (0, 0, 0, 0, 1, 1, 2, 2)}),
    ("Pad", [IMAGE], {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 2, 2), "constant_value": 3})],
    with_gradients=True))
define("slicing", table([
    ("slice", [BATCH], {"begin": (0, 1), "end": (2, 3)}), ("slice_axis", [BATCH], {"axis": 2, "begin": 1, "end": 3}),
    ("slice_like", [(3, 4), A], {}), ("crop", [BATCH], {"begin": (0, 1), "end": (2, 3)}),
    ("SliceChannel", [(2, 4)], {"num_outputs": 2, "axis": 1}), ("split", [(2, 4)], {"num_outputs": 4, "axis": 1}),
    ("clip", [A], {"a_min": 0.3, "a_max": 0.6}), ("Crop", [(1, 2, 6, 6)], {"h_w": (3, 3), "offset": (1, 2)})],
    with_gradients=True))
define("joining", table([
    ("concat", [A, B], {"dim": 1}), ("Concat", [A, B], {"dim": 0}), ("stack", [A, B], {"axis": 1}),
    ("add_n", [A, B, A], {}), ("ElementWiseSum", [A, B], {}), ("khatri_rao", [(2, 3), (4, 3)], {})],
    with_gradients=False))
define("products", table([
    ("dot", [(2, 3), (3, 4)], {}), ("dot", [(3, 2), (3, 4)], {"transpose_a": True}),
    ("batch_dot", [(2, 3, 4), (2, 4, 5)], {}), ("batch_dot", [(2, 3, 4), (2, 5, 4)], {"transpose_b": True})],
    with_gradients=True))
define("linalg", table([
    ("linalg.gemm", [SQUARE, SQUARE, SQUARE], {"alpha": 2.0}), ("linalg.gemm2", [(2, 3), (3, 4)], {}),
    ("linalg.syrk", [(2, 3)], {"transpose": False}), ("linalg.extractdiag", [SQUARE], {}),
    ("linalg.makediag", [(3,)], {}), ("linalg.extracttrian", [SQUARE], {}), ("linalg.maketrian", [(6,)], {}),
    ("linalg.trmm", [SQUARE, SQUARE], {}), ("linalg.trsm", [SQUARE, SQUARE], {}), ("linalg.sumlogdiag", [SQUARE], {}),
    ("linalg.det", [SQUARE], {}), ("linalg.inverse", [SQUARE], {}), ("linalg.slogdet", [SQUARE], {})],
    with_gradients=True), 2e-3)
define("activations", table([
    ("Activation", [A], {"act_type": "relu"}), ("Activation", [A], {"act_type": "softrelu"}),
    ("LeakyReLU", [A], {"act_type": "leaky", "slope": 0.1}), ("LeakyReLU", [A], {"act_type": "elu"}),
    ("LeakyReLU", [A], {"act_type": "gelu"}),
    ("LeakyReLU", [(2, 3, 4), (3,)], {"act_type": "prelu"}), ("softmax", [A], {"axis": -1, "temperature": 2.0}),
    ("softmin", [A], {}), ("log_softmax", [A], {}), ("SoftmaxActivation", [A], {}),
    ("smooth_l1", [A], {"scalar": 1.0})], with_gradients=True))
define("layers", table([
    ("FullyConnected", [(2, 6), (4, 6), (4,)], {"num_hidden": 4}),
    ("FullyConnected", [(2, 2, 3), (4, 3)], {"num_hidden": 4, "no_bias": True, "flatten": False}),
    ("Convolution", [IMAGE, (5, 4, 3, 3), (5,)], {"kernel": (3, 3), "num_filter": 5, "pad": (1, 1)}),
    ("Convolution", [IMAGE, (4, 2, 3, 3)], {"kernel": (3, 3), "num_filter": 4, "num_group": 2, "no_bias": True}),
    ("Deconvolution", [IMAGE, (4, 3, 2, 2)], {"kernel": (2, 2), "num_filter": 3, "stride": (2, 2)}),
    ("Pooling", [IMAGE], {"kernel": (2, 2), "stride": (2, 2), "pool_type": "max"}),
    ("Pooling", [IMAGE], {"kernel": (3, 3), "pool_type": "avg", "pad": (1, 1)}),
    ("Pooling", [IMAGE], {"global_pool": True, "pool_type": "avg", "kernel": (1, 1)}),
    ("UpSampling", [IMAGE], {"scale": 2, "sample_type": "nearest"}), ("LRN", [IMAGE], {"nsize": 3}),
    ("L2Normalization", [A], {}), ("InstanceNorm", [IMAGE, (4,), (4,)], {}), ("LayerNorm", [A, (3,), (3,)], {}),
    ("GroupNorm", [IMAGE, (2,), (2,)], {"num_groups": 2}),
    ("im2col", [IMAGE], {"kernel": (3, 3)})], with_gradients=True), 2e-3)
define("losses", table([
    ("LinearRegressionOutput", [A, B], {}), ("LogisticRegressionOutput", [A, B], {}),
    ("MAERegressionOutput", [A, B], {}), ("MakeLoss", [A], {"grad_scale": 2.0}), ("make_loss", [A], {}),
    ("SoftmaxOutput", [(4, 3), (4,)], {}), ("SVMOutput", [(4, 3), (4,)], {}), ("BlockGrad", [A], {}),
    ("stop_gradient", [A], {})], with_gradients=True))
define("sequences", table([
    ("SequenceLast", [BATCH], {}), ("SequenceMask", [BATCH], {"value": 2.0}), ("SequenceReverse", [BATCH], {}),
    ("cumsum", [BATCH], {"axis": 1}), ("moments", [BATCH], {"axes": (1,)})], with_gradients=True))
define("spatial", table([
    ("GridGenerator", [(2, 6)], {"transform_type": "affine", "target_shape": (4, 4)}),
    ("BilinearSampler", [IMAGE, (2, 2, 4, 4)], {}),
    ("SpatialTransformer", [IMAGE, (2, 6)], {
        "transform_type": "affine", "sampler_type": "bilinear", "target_shape": (4, 4)}),
    ("contrib.AdaptiveAvgPooling2D", [IMAGE], {"output_size": (3, 3)}),
    ("contrib.BilinearResize2D", [IMAGE], {"height": 9, "width": 5}),
    ("Correlation", [(1, 2, 5, 5), (1, 2, 5, 5)], {"max_displacement": 1, "pad_size": 1})], with_gradients=True), 2e-3)
define("contrib", table([
    ("contrib.div_sqrt_dim", [BATCH], {}), ("contrib.quadratic", [A], {"a": 1.0, "b": 2.0, "c": 3.0}),
    ("contrib.box_iou", [(3, 4), (2, 4)], {"format": "corner"}), ("contrib.MultiBoxPrior", [IMAGE], {
        "sizes": (0.5, 0.25), "ratios": (1, 2)}),
    ("contrib.arange_like", [A], {"axis": 1}), ("contrib.index_array", [A], {}), ("contrib.allclose", [A, B], {}),
    ("contrib.gradientmultiplier", [A], {"scalar": 2.0}), ("contrib.round_ste", [A], {}), ("contrib.sign_ste", [A], {}),
    ("contrib.interleaved_matmul_selfatt_qk", [(4, 2, 12)], {"heads": 2}),
    ("contrib.interleaved_matmul_selfatt_valatt", [(4, 2, 12), (4, 4, 4)], {"heads": 2}),
    ("contrib.interleaved_matmul_encdec_qk", [(4, 2, 4), (3, 2, 8)], {"heads": 2}),
    ("contrib.interleaved_matmul_encdec_valatt", [(3, 2, 8), (4, 4, 3)], {"heads": 2}),
    ("contrib.box_nms", [(4, 6)], {}), ("contrib.bipartite_matching", [(3, 4)], {"threshold": 0.1}),
    ("contrib.getnnz", [A], {})] [:-1]))


@program()
def indexing(mx, np):
    x = mx.nd.array(values(np, (4, 3), 1))
    index = mx.nd.array([1, 0, 2, 1])
    places = mx.nd.array([[0, 1], [1, 2]])
    v = mx.sym.var
    return [mx.nd.take(x, index), mx.nd.pick(x, index), mx.nd.one_hot(index, 4), mx.nd.batch_take(x, index.astype("int32")),
            mx.nd.Embedding(index, x, input_dim=4, output_dim=3), mx.nd.gather_nd(x, places),
            mx.nd.scatter_nd(mx.nd.array([5, 6]), places, shape=(4, 3)), mx.nd.where(x > 0.5, x, -x),
            mx.nd.ravel_multi_index(places, shape=(4, 3)), mx.nd.unravel_index(index, shape=(4, 3)),
            mx.nd.choose_element_0index(x, index), mx.nd.fill_element_0index(x, index, index),
            mx.nd.contrib.index_copy(x, mx.nd.array([1, 2], dtype="int32"), mx.nd.zeros((2, 3))),
            mx.nd.contrib.isnan(x), mx.nd.contrib.isinf(x), mx.nd.contrib.isfinite(x),
            mx.sym.take(v("a"), v("i")).eval(a=x, i=index), mx.sym.pick(v("a"), v("i")).eval(a=x, i=index),
            mx.sym.one_hot(v("i"), depth=3).eval(i=index), 
            mx.sym.Embedding(v("i"), v("a"), input_dim=4, output_dim=3).eval(a=x, i=index),
            mx.sym.gather_nd(v("a"), v("i")).eval(a=x, i=places),
            mx.sym.where(v("a"), v("b"), v("c")).eval(a=x, b=x, c=-x),
            mx.sym.scatter_nd(v("a"), v("i"), shape=(4, 3)).eval(a=mx.nd.array([5, 6]), i=places)]


@program()
def casts(mx, np):
    x = mx.nd.array([[-1.5, 2.5], [3.7, 300]])
    return [mx.nd.cast(x, "int32"), mx.nd.Cast(x, "float64"), mx.nd.cast(x, "float16"), mx.nd.amp_cast(x, "float32"),
            mx.nd.amp_multicast(x, x, num_outputs=2), mx.nd.softmax_cross_entropy(x, mx.nd.array([0, 1])),
            mx.sym.cast(mx.sym.var("x"), "int8").eval(x=mx.nd.array([1.9, -2.9])), mx.nd.cast(x, "uint8")[0]]


@program(2e-3)
def batch_norm(mx, np):
    data = mx.nd.array(values(np, IMAGE, 3))
    results = []
    for training in (True,):
        state = [mx.nd.ones(4), mx.nd.zeros(4), mx.nd.zeros(4), mx.nd.ones(4)]
        data.attach_grad()
        with mx.autograd.record(train_mode=training):
            out = mx.nd.BatchNorm(data, *state, fix_gamma=False)
        out.backward(out * 2)
        results += [out, data.grad, state]
    return results


@program()
def dropout_and_masks(mx, np):
    x = mx.nd.ones((20, 10))
    with mx.autograd.train_mode():
        return [mx.nd.Dropout(x, p=0.5), mx.nd.Dropout(x, p=0.3, mode="always"), mx.nd.Dropout(x, p=0)]


@program()
def optimizer_updates(mx, np):
    def fresh(count):
        return [mx.nd.array(values(np, A, i)) for i in range(count)]

    results = {}
    for name, states, parameters in [
            ("sgd_update", 0, {"wd": 0.1}), ("sgd_mom_update", 1, {"momentum": 0.9}),
            ("nag_mom_update", 1, {"momentum": 0.9}), ("adam_update", 2, {}), ("rmsprop_update", 1, {}),
            ("rmspropalex_update", 3, {}), ("ftrl_update", 2, {}), ("ftml_update", 3, {"t": 2}),
            ("signsgd_update", 0, {}), ("signum_update", 1, {"momentum": 0.5}),
            ("lamb_update_phase1", 2, {"t": 1, "wd": 0.01})]:
        arrays = fresh(2 + states)
        if name == "rmspropalex_update":  # a mean of squares is no less than the square of the mean
            arrays[2] = arrays[2].abs() + arrays[3] * arrays[3]
        results[name] = [getattr(mx.nd, name)(*arrays, **({"lr": 0.1, **parameters} if "lamb" not in name
                                                            else parameters)), arrays]
    arrays = fresh(4)
    results["multi_sum_sq"] = mx.nd.multi_sum_sq(*arrays, num_arrays=4)
    results["all_finite"] = mx.nd.all_finite(arrays[0])
    results["multi_all_finite"] = mx.nd.multi_all_finite(*arrays, num_arrays=4)
    mx.nd.reset_arrays(*arrays, num_arrays=4)
    results["reset"] = arrays
    return results


@program(1e-3)
def rnn_operator(mx, np):
    results = []
    for mode, gates in [("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3), ("lstm", 4)]:
        size = gates * 3 * (4 + 3 + 2)
        data = mx.nd.array(values(np, (5, 2, 4), 1, "normal"))
        weights = mx.nd.array(values(np, (size,), 2, "normal"))
        states = [mx.nd.zeros((1, 2, 3))] * (2 if mode == "lstm" else 1)
        data.attach_grad()
        with mx.autograd.record():
            out = mx.nd.RNN(data, weights, *states, mode=mode, state_size=3, num_layers=1, state_outputs=True)
        out[0].backward()
        results += [list(out), data.grad]
    return results


@program()
def ctc(mx, np):
    data = mx.nd.array(values(np, (6, 2, 5), 1, "normal"))
    label = mx.nd.array([[1, 2, 0], [3, 3, 1]])
    return [mx.nd.ctc_loss(data, label), mx.nd.CTCLoss(data, label, blank_label="last"),
            mx.nd.contrib.ctc_loss(data, label)]


@program(1e-3)
def detection(mx, np):
    anchors = mx.nd.contrib.MultiBoxPrior(mx.nd.zeros((1, 3, 4, 4)), sizes=(0.4, 0.2), ratios=(1, 2))
    label = mx.nd.array([[[0, 0.1, 0.1, 0.5, 0.6], [1, 0.4, 0.4, 0.9, 0.9]]])
    scores = mx.nd.array(values(np, (1, 3, anchors.shape[1]), 1))
    target = mx.nd.contrib.MultiBoxTarget(anchors, label, scores)
    offsets = mx.nd.array(values(np, (1, anchors.shape[1] * 4), 2))
    return [anchors, list(target), mx.nd.contrib.MultiBoxDetection(mx.nd.softmax(scores, axis=1), offsets, anchors),
            mx.nd.ROIPooling(mx.nd.array(values(np, IMAGE, 3)), mx.nd.array([[0, 0, 0, 4, 4]]), (2, 2), 1.0),
            mx.nd.contrib.ROIAlign(mx.nd.array(values(np, IMAGE, 3)), mx.nd.array([[0, 0, 0, 4, 4]]), (2, 2), 1.0)]


@program(1e-3)
def quantized(mx, np):
    x = mx.nd.array(values(np, (2, 4), 1, "normal"))
    low, high = mx.nd.array([-2.0]), mx.nd.array([2.0])
    q = mx.nd.contrib.quantize(x, low, high, out_type="int8")
    q2 = mx.nd.contrib.quantize_v2(x, out_type="int8", min_calib_range=-2.0, max_calib_range=2.0)
    return [list(q), list(q2), mx.nd.contrib.dequantize(*q, out_type="float32"),
            list(mx.nd.contrib.quantized_flatten(*q))]


@program()
def random_by_operator(mx, np):
    mx.random.seed(3)
    return [mx.nd.random_uniform(0, 1, shape=(3, 2)), mx.nd.random_randint(0, 9, shape=(3,)),
            mx.nd.sample_uniform(mx.nd.array([0, 1]), mx.nd.array([1, 3]), shape=2).shape,
            mx.nd.random_poisson(3.0, shape=(4,)).shape, mx.nd.random_gamma(1, 2, shape=(4,)).shape,
            mx.nd.sample_multinomial(mx.nd.array([[0, 1.0, 0], [0, 0, 1.0]]), shape=3)]
