# SPDX-License-Identifier: Apache-2.0
"""mx.nd: arrays themselves."""
from registry import program


@program()
def creation(mx, np):
    nd = mx.nd
    return [nd.zeros((2, 3)), nd.ones(3, dtype="int32"), nd.full((2,), 7), nd.arange(5), nd.arange(1, 9, 2, repeat=2),
            nd.eye(3, 4, k=1), nd.linspace(0, 1, 5), nd.array([[1, 2], [3, 4]]), nd.array(np.arange(3)),
            nd.array([1, 2], dtype="float64"), nd.empty((2, 2)).shape, nd.array(5), nd.zeros_like(nd.ones(2)),
            nd.array(np.float64(3)), nd.moveaxis(nd.zeros((2, 3, 4)), 0, 2).shape]


@program()
def attributes(mx, np):
    x = mx.nd.ones((2, 3, 4), dtype="float16")
    return [x.shape, x.ndim, x.size, str(x.dtype), str(x.context), x.stype, x.T.shape, len(x), bool(mx.nd.array([1])),
            x[0, 0, 0].asscalar(), repr(mx.nd.array([1, 2])),
            x.as_in_context(mx.cpu()).context.device_type, x.grad, hash(x) == hash(x), x.itemsize
            if hasattr(x, "itemsize") else 2]


@program()
def arithmetic(mx, np):
    x, y = mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[2, 2], [5, 1]])
    return [x + y, x - y, x * y, x / y, x % y, x ** y, -x, abs(-x), x + 1, 1 - x, 2 / x, x // y if hasattr(
        x, "__floordiv__") else 0, x == y, x != y, x > y, x >= 2, x < y, x <= 2, 2 ** x, 7 % x,
        mx.nd.add(x, y), mx.nd.subtract(x, 1), mx.nd.multiply(2, x), mx.nd.divide(x, y), mx.nd.true_divide(x, 2),
        mx.nd.modulo(x, 2), mx.nd.power(x, 2), mx.nd.maximum(x, y), mx.nd.minimum(x, 2), mx.nd.equal(x, y),
        mx.nd.not_equal(x, y), mx.nd.greater(x, y), mx.nd.greater_equal(x, 2), mx.nd.lesser(x, y),
        mx.nd.lesser_equal(x, 2), mx.nd.logical_and(x, y), mx.nd.logical_or(x, 0), mx.nd.logical_xor(x, 1)]


@program()
def in_place(mx, np):
    x = mx.nd.array([[1, 2], [3, 4]])
    y = x
    y += 1
    y *= 2
    y -= 3
    y /= 4
    y %= 2
    return [x, y is x]


@program()
def integer_arithmetic(mx, np):
    x = mx.nd.array([7, -7, 3], dtype="int32")
    return [x / 2, x * 1.7, x % 3, -x, x + mx.nd.array([1, 2, 3], dtype="int32"), mx.nd.mean(x), mx.nd.sum(x)]


@program()
def mixed_types_are_an_error(mx, np):
    return mx.nd.ones(2) + mx.nd.ones(2, dtype="int32")


@program()
def wrong_shapes_are_an_error(mx, np):
    return mx.nd.ones((2, 3)) + mx.nd.ones((2, 4))


@program()
def unknown_parameters_are_an_error(mx, np):
    return mx.nd.softmax(mx.nd.ones((2, 3)), foo=3)


@program()
def unknown_types_are_an_error(mx, np):
    return mx.nd.ones(2, dtype="complex64")


@program()
def reading(mx, np):
    x = mx.nd.arange(24).reshape((2, 3, 4))
    return [x[0], x[1, 2], x[:, 1], x[..., 1], x[0:1, ::2], x[-1], x[:, None, 1], x[1, 2, 3], x[[0, 1]],
            x[mx.nd.array([1, 0])], x[:, [0, 2], 1], x[np.array([0, 1]), np.array([1, 2])], x[0, ::-1]]


@program()
def writing(mx, np):
    results = []
    for key, value in [(0, 1), ((1, 2), 5), ((slice(None), 1), 7), (slice(0, 1), mx.nd.ones((1, 3, 4))),
                       ((slice(None), slice(0, 3, 2)), -1), (([0, 1], [1, 2]), 9), (Ellipsis, 2),
                       ((slice(None), slice(None), 1), np.ones((2, 3)))]:
        x = mx.nd.arange(24).reshape((2, 3, 4))
        x[key] = value
        results.append(x)
    return results


@program()
def out_of_range_is_an_error(mx, np):
    return mx.nd.ones((2, 3))[5]


@program()
def methods(mx, np):
    x = mx.nd.array(np.arange(1, 7).reshape(2, 3) / 7)
    names = ("sum mean max min prod norm abs sign round floor ceil exp log sqrt square sin cos tanh sigmoid relu "
             "flatten argmax argmin argsort sort softmax log_softmax zeros_like ones_like rint fix trunc rsqrt cbrt "
             "reciprocal log1p expm1 log2 log10 arcsin arctan sinh cosh degrees radians nansum nanprod size_array "
             "shape_array topk").split()
    return {name: getattr(x, name)() for name in names}


@program()
def methods_with_parameters(mx, np):
    x = mx.nd.array(np.arange(24).reshape(2, 3, 4))
    return [x.sum(axis=1), x.reshape(4, 6), x.reshape((-1, 2)), x.reshape(0, -1), x.transpose((1, 0, 2)),
            x.swapaxes(0, 1), x.expand_dims(0), x.broadcast_to((2, 3, 4)), x.tile((1, 2, 1)), x.repeat(2, axis=0),
            x.flip(0), x.clip(3, 9), x.slice((0, 1), (1, 2)), x.slice_axis(2, 1, 3), x.take(mx.nd.array([1])),
            x.one_hot(3).shape, x.astype("int32"), x.copy(), x.split(2, axis=2), x.diag(), x.squeeze(), x.pad(
                mode="constant", pad_width=(0, 0, 0, 0, 1, 1)) if False else 0, x.as_nd_ndarray().shape,
            x.broadcast_like(x), x.reshape_like(mx.nd.zeros((6, 4))), x.slice_like(mx.nd.zeros((1, 2, 3))),
            x.mean(axis=(0, 2), keepdims=True), x.pick(mx.nd.zeros((2, 3))), x.astype("float64", copy=False).shape]


@program()
def sharing(mx, np):
    x = mx.nd.zeros((3, 2))
    x[1:3][:] = 4
    x.reshape((6,))[0:1] = 9
    y = x.detach()
    y[2] = -1
    z = x.copy()
    z[:] = 100
    w = mx.nd.zeros((3, 2))
    x.copyto(w)
    return [x, w]


@program()
def given_outputs(mx, np):
    out = mx.nd.zeros((2, 2))
    same = mx.nd.exp(mx.nd.ones((2, 2)), out=out)
    mx.nd.elemwise_add(out, out, out=out)
    return [out, same is out]


@program()
def a_given_output_of_another_shape_is_an_error(mx, np):
    mx.nd.exp(mx.nd.ones((2, 2)), out=mx.nd.zeros((3, 2)))


@program()
def files(mx, np):
    items = [mx.nd.array([1, 2]), mx.nd.ones((2, 2), dtype="int32")]
    mx.nd.save("list.nd", items)
    mx.nd.save("names.nd", {"a": items[0], "b": items[1]})
    with open("names.nd", "rb") as file:
        content = file.read()
    return [mx.nd.load("list.nd"), mx.nd.load("names.nd"), mx.nd.load_frombuffer(content), content]


@program()
def missing_files_are_an_error(mx, np):
    mx.nd.load("no such file")


@program()
def pickles(mx, np):
    import pickle

    return pickle.loads(pickle.dumps({"a": mx.nd.arange(6).reshape((2, 3)), "b": mx.cpu(3)}))["a"]


@program()
def exchange(mx, np):
    x = mx.nd.arange(4)
    y = mx.nd.from_dlpack(mx.nd.to_dlpack_for_read(x))
    z = mx.nd.from_dlpack(mx.nd.to_dlpack_for_write(x))
    z[:] = 5
    z.wait_to_read()  # nothing knows that they share memory
    host = np.ones((2, 2), dtype="float32")
    w = mx.nd.from_numpy(host, zero_copy=False)
    return [x, y, w, x.asnumpy()]


@program()
def joining(mx, np):
    x = mx.nd.ones((2, 2))
    return [mx.nd.concatenate([x, x * 2], axis=1), mx.nd.concat(x, x, dim=0), mx.nd.stack(x, x),
            mx.nd.split_v2(mx.nd.arange(6), 3), mx.nd.split_v2(mx.nd.arange(6), (1, 4)),
            mx.nd.onehot_encode(mx.nd.array([1, 0]), mx.nd.zeros((2, 3))),
            list(mx.nd.histogram(mx.nd.array([1, 2, 2, 5]), bins=4, range=(0, 8)))]


@program()
def contexts(mx, np):
    with mx.Context("cpu", 1):
        x = mx.nd.ones(2)
        inside = mx.current_context()
    return [str(x.context), str(inside), str(mx.current_context()), mx.cpu() == mx.cpu(0), mx.context.num_gpus(),
            str(mx.cpu_pinned()), x.as_in_context(mx.cpu(0)), str(x.copyto(mx.cpu(2)).context)]


@program()
def iteration(mx, np):
    return [[row.asnumpy().tolist() for row in mx.nd.arange(6).reshape((3, 2))], mx.nd.arange(3).asnumpy().tolist()]


@program()
def waiting(mx, np):
    x = mx.nd.ones((100, 100))
    for _ in range(20):
        x = mx.nd.dot(x, x) / 100
    x.wait_to_read()
    mx.nd.waitall()
    return x


@program()
def row_sparse(mx, np):
    sparse = mx.nd.sparse
    x = sparse.row_sparse_array((np.ones((2, 3)), [1, 3]), shape=(5, 3))
    dense = x.tostype("default")
    kept = sparse.retain(x, mx.nd.array([3]))
    return [x, x.indices, x.data, dense, dense.tostype("row_sparse"), kept, x + x, x * 2, sparse.zeros(
        "row_sparse", (2, 2)), x.stype, x[1:4].shape if False else 0, sparse.add(x, x), sparse.subtract(x, x),
        sparse.abs(x), sparse.sum(dense), sparse.square(x)]


@program()
def csr(mx, np):
    sparse = mx.nd.sparse
    x = sparse.csr_matrix(([1, 2, 3], [0, 2, 1], [0, 2, 2, 3]), shape=(3, 4))
    other = sparse.csr_matrix(np.diag([1.0, 2.0, 0.0]))
    return [x, x.indptr, x.indices, x.data, x.tostype("default"), sparse.dot(x, mx.nd.ones((4, 2))), x[0:2], x * 3,
            sparse.dot(x, mx.nd.ones((3, 2)), transpose_a=True), sparse.array(other), mx.nd.cast_storage(
                mx.nd.array(np.eye(3)), "csr"), sparse.multiply(x, x), x.copy(), x.astype("float64"),
            sparse.elemwise_add(x, x), x.asnumpy()]


@program()
def sparse_functions(mx, np):
    x = mx.nd.sparse.row_sparse_array((np.full((2, 3), 0.5), [0, 2]), shape=(4, 3))
    names = ("abs arcsin arctan arcsinh arctanh ceil expm1 fix floor log1p negative radians degrees relu rint round "
             "sign sin sinh sqrt square tan tanh trunc").split()
    return {name: getattr(mx.nd.sparse, name)(x) for name in names}


@program()
def random_draws(mx, np):
    mx.random.seed(11)
    random = mx.nd.random
    return [random.uniform(0, 2, (3, 2)), random.uniform(shape=(70,)), random.randint(0, 100, (5,)),
            random.normal(0, 1, (4,)).shape, random.exponential(2.0, (3,)).shape, random.poisson(2.0, (3,)).shape,
            random.gamma(2.0, 1.0, (3,)).shape, random.negative_binomial(3, 0.5, (3,)).shape,
            random.generalized_negative_binomial(2.0, 0.5, (3,)).shape, random.randn(2, 3).shape,
            random.multinomial(mx.nd.array([0, 0, 1.0]), 4), sorted(random.shuffle(mx.nd.arange(5)).asnumpy().tolist()),
            random.uniform_like(mx.nd.zeros((2, 2))).shape, random.normal_like(mx.nd.zeros((2, 2))).shape]


@program(1e-3)
def normal_draws(mx, np):
    mx.random.seed(5)
    return [mx.nd.random.normal(1, 2, (3, 4)), mx.random.normal(0, 1, (5,)), mx.nd.random.randn(3)]


@program()
def pooled_seeds(mx, np):
    mx.random.seed(42, ctx=mx.cpu(0))
    return [mx.nd.random.uniform(shape=(2,)), mx.random.uniform(0, 1, shape=(2,)), mx.random.randint(0, 10, shape=(4,))]


@program()
def image_operators(mx, np):
    image = mx.nd.array(np.arange(48).reshape(4, 4, 3), dtype="uint8")
    i = mx.nd.image
    tensor = i.to_tensor(image)
    return [tensor, i.normalize(tensor, mean=(0.1, 0.2, 0.3), std=(1, 2, 3)), i.flip_left_right(image),
            i.flip_top_bottom(image), i.crop(image, 1, 0, 2, 3), i.resize(image, (2, 2)).shape]


@program()
def engine_bulk(mx, np):
    with mx.engine.bulk(10):
        x = mx.nd.ones((2,))
        for _ in range(30):
            x = x + 1
    return [x, mx.engine.set_bulk_size(5) >= 0, mx.engine.set_bulk_size(0)]
