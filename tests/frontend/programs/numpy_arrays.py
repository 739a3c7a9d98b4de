# SPDX-License-Identifier: Apache-2.0
"""mx.np and mx.npx."""
from registry import lines, numpy_program, program


def in_numpy_mode(function):
    function.__module__ = "programs_numpy"  # not of arrays.py
    return numpy_program(1e-3)(function)


@in_numpy_mode
def creation(mx, mnp, np):
    return lines("""
        mnp.zeros((2, 3))
        mnp.ones((2,), dtype='int32')
        mnp.full((2,), 7.0)
        mnp.arange(5)
        mnp.eye(3, k=1)
        mnp.linspace(0, 1, 5)
        mnp.array([[1, 2], [3, 4]])
        mnp.array(5)
        mnp.identity(2)
        mnp.logspace(0, 2, 3)
        mnp.zeros_like(mnp.ones(2))
        mnp.ones_like(mnp.zeros(2))
        mnp.full_like(mnp.zeros(2), 3)
        mnp.empty((2,)).shape
        mnp.tri(3)
        mnp.indices((2, 2))
        mnp.meshgrid(mnp.arange(2), mnp.arange(3))
        mnp.hanning(4)
        mnp.hamming(4)
        mnp.blackman(4)
        mnp.zeros(())
        mnp.zeros((0, 3))
        mnp.diag(mnp.arange(3))
        mnp.diagflat(mnp.arange(2))
        mnp.array([True, False])
        mnp.tril(mnp.ones((3, 3)))
        mnp.triu(mnp.ones((3, 3)))
        """, **locals())


@in_numpy_mode
def unary(mx, mnp, np):
    x = mnp.array([[0.1, 0.5], [0.7, 0.9]])
    names = ("abs absolute arccos arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees deg2rad exp expm1 fabs fix floor "
             "log log10 log1p log2 logical_not negative rad2deg radians reciprocal rint sign sin sinh sqrt square tan tanh "
             "trunc isnan isinf isfinite isposinf isneginf invert").split()
    return {name: lines(f"mnp.{name}(x)", mnp=mnp, x=x) for name in names}


@in_numpy_mode
def binary(mx, mnp, np):
    a, b = mnp.array([[1.0, 2], [3, 4]]), mnp.array([2.0, 3])
    names = ("add subtract multiply divide true_divide mod fmod remainder power maximum minimum fmax fmin hypot arctan2 "
             "copysign equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor").split()
    return {name: [getattr(mnp, name)(a, b), getattr(mnp, name)(a, 2), getattr(mnp, name)(2, b)]
            for name in names if hasattr(mnp, name)}


@in_numpy_mode
def operators(mx, mnp, np):
    a, b = mnp.array([[1.0, 2], [3, 4]]), mnp.array([2.0, 3])
    i = mnp.array([5, 3, 1], dtype="int32")
    a += 1
    return lines("""
        a + b
        a - 1
        2 * a
        a / b
        a ** 2
        a % b
        -a
        abs(-a)
        a == b
        a > 2
        a @ a
        a.T
        i / 2
        i & 3 if hasattr(i, '__and__') else 0
        mnp.bitwise_xor(i, i)
        mnp.bitwise_or(i, 1)
        mnp.bitwise_not(i)
        mnp.lcm(i, i)
        mnp.ldexp(mnp.ones(2), mnp.ones(2))
        """, **locals())


@in_numpy_mode
def reductions(mx, mnp, np):
    x = mnp.array(np.random.RandomState(0).uniform(size=(2, 3, 4)))
    names = "sum mean prod max min std var argmax argmin amax amin median cumsum".split()
    return lines("""
        {name: [getattr(mnp, name)(x), getattr(mnp, name)(x, axis=1)] for name in names if hasattr(mnp, name)}
        mnp.average(x, axis=0)
        mnp.any(x > 0.5, axis=0)
        mnp.all(x > 0.5)
        mnp.percentile(x, 30)
        mnp.quantile(x, 0.3)
        mnp.sum(x, axis=(0, 2), keepdims=True)
        mnp.nan_to_num(x)
        mnp.count_nonzero(x) if hasattr(mnp, 'count_nonzero') else 0
        """, **locals())


@in_numpy_mode
def shapes(mx, mnp, np):
    x = mnp.arange(24).reshape(2, 3, 4)
    return lines("""
        x.reshape(4, -1)
        x.transpose()
        mnp.swapaxes(x, 0, 1)
        mnp.moveaxis(x, 0, 2)
        mnp.rollaxis(x, 2)
        mnp.expand_dims(x, 0)
        mnp.squeeze(mnp.ones((1, 2, 1)))
        mnp.flip(x, 1)
        mnp.fliplr(x)
        mnp.flipud(x)
        mnp.rot90(x[0])
        mnp.roll(x, 1)
        mnp.tile(x[0], (2, 1))
        mnp.repeat(x[0], 2, axis=0)
        mnp.ravel(x)
        x.flatten()
        mnp.broadcast_to(mnp.arange(3), (2, 3))
        mnp.pad(x[0], ((1, 1), (0, 0)))
        mnp.atleast_2d(mnp.arange(3))
        mnp.atleast_1d(mnp.array(1))
        mnp.atleast_3d(mnp.arange(2))
        mnp.resize(x[0], (2, 5))
        mnp.broadcast_arrays(mnp.arange(3), mnp.ones((2, 3)))
        mnp.diagonal(x[0])
        mnp.trace(x[0])
        mnp.diff(x[0])
        mnp.ediff1d(mnp.arange(4))
        mnp.squeeze(x[:, :1, :1])
        """, **locals())


@in_numpy_mode
def joining(mx, mnp, np):
    a, b = mnp.ones((2, 2)), mnp.zeros((2, 2))
    x = mnp.arange(8).reshape(2, 4)
    return lines("""
        mnp.concatenate([a, b], axis=1)
        mnp.stack([a, b])
        mnp.vstack([a, b])
        mnp.hstack([a, b])
        mnp.dstack([a, b])
        mnp.column_stack([a, b])
        mnp.split(x, 2, axis=1)
        mnp.array_split(x, 3, axis=1)
        mnp.hsplit(x, 2)
        mnp.vsplit(x, 2)
        mnp.append(a, b)
        mnp.insert(mnp.arange(4), 1, 9)
        mnp.delete(mnp.arange(4), 1)
        mnp.unique(mnp.array([3, 1, 3]))
        mnp.row_stack([a, b]) if hasattr(mnp, 'row_stack') else 0
        mnp.dsplit(mnp.ones((1, 2, 4)), 2)
        """, **locals())


@in_numpy_mode
def indexing(mx, mnp, np):
    x = mnp.arange(24).reshape(2, 3, 4)
    y = mnp.zeros((3, 3))
    y[1] = 5
    y[:, 2] = mnp.array([1.0, 2, 3])
    y[y > 4] = -1
    return lines("""
        x[0]
        x[:, 1, ::2]
        x[..., -1]
        x[x > 10]
        x[mnp.array([1, 0])]
        x[None].shape
        x[1, 2, 3]
        y
        mnp.take(x, mnp.array([1, 2]), axis=2)
        mnp.where(x > 5, x, -x)
        mnp.nonzero(x[0])
        mnp.argwhere(x[0] > 8) if hasattr(mnp, 'argwhere') else 0
        mnp.flatnonzero(x[0])
        mnp.clip(x, 3, 9)
        mnp.sort(-x)
        mnp.argsort(-x)
        mnp.searchsorted(mnp.arange(5), mnp.array([2.5])) if hasattr(mnp, 'searchsorted') else 0
        mnp.unravel_index(mnp.array([5]), (3, 4))
        mnp.tril_indices(3)
        mnp.diag_indices_from(mnp.ones((2, 2)))
        mnp.fill_diagonal(y, 7)
        y
        mnp.bincount(mnp.array([0, 1, 1]))
        mnp.interp(mnp.array([0.5]), mnp.arange(2), mnp.arange(2))
        """, **locals())


@in_numpy_mode
def products(mx, mnp, np):
    a, b = mnp.arange(6).reshape(2, 3), mnp.arange(12).reshape(3, 4)
    return lines("""
        mnp.dot(a, b)
        mnp.matmul(a, b)
        mnp.tensordot(a, b, 1)
        mnp.tensordot(a, b, ((1,), (0,)))
        mnp.inner(a, a)
        mnp.outer(mnp.arange(2), mnp.arange(3))
        mnp.vdot(a, a)
        mnp.einsum('ij,jk->ik', a, b)
        mnp.kron(a, a[:1])
        mnp.cross(mnp.array([1.0, 0, 0]), mnp.array([0, 1.0, 0]))
        mnp.polyval(mnp.array([1.0, 2]), mnp.array([3.0]))
        """, **locals())


@in_numpy_mode
def linear_algebra(mx, mnp, np):
    a = mnp.array([[4.0, 1], [1, 3]])
    linalg = mnp.linalg
    return lines("""
        linalg.norm(a)
        linalg.inv(a)
        linalg.det(a)
        linalg.slogdet(a)
        linalg.cholesky(a)
        linalg.solve(a, mnp.array([1.0, 2]))
        linalg.eigvalsh(a)
        linalg.pinv(a)
        linalg.matrix_rank(a)
        linalg.tensorsolve(mnp.eye(4).reshape(2, 2, 2, 2), mnp.ones((2, 2)))
        linalg.tensorinv(mnp.eye(4).reshape(2, 2, 2, 2))
        linalg.lstsq(a, mnp.array([1.0, 2]), rcond=None)[0]
        linalg.svd(a)[1]
        [abs(item) for item in linalg.eigh(a)]
        [item.shape for item in linalg.qr(a)] if hasattr(linalg, 'qr') else 0
        linalg.eigvals(a).shape
        """, **locals())


@in_numpy_mode
def random_draws(mx, mnp, np):
    mx.random.seed(7)
    random = mnp.random
    return lines("""
        random.uniform(0, 1, (3,))
        random.randint(0, 9, (3,))
        random.normal(0, 1, (2,)).shape
        random.rand(2).shape
        random.randn(2).shape
        random.choice(5, 3).shape
        random.gamma(1.0, 1.0, (2,)).shape
        random.exponential(1.0, (2,)).shape
        random.beta(1.0, 2.0, (2,)).shape
        random.chisquare(2.0, (2,)).shape
        random.permutation(4).shape
        random.multinomial(4, [0.5, 0.5]).shape
        random.logistic(0, 1, (2,)).shape
        random.gumbel(0, 1, (2,)).shape
        random.laplace(0, 1, (2,)).shape
        random.pareto(2.0, (2,)).shape
        random.weibull(2.0, (2,)).shape
        random.rayleigh(1.0, (2,)).shape
        random.lognormal(0, 1, (2,)).shape
        random.f(2.0, 3.0, (2,)).shape
        random.power(2.0, (2,)).shape
        random.multivariate_normal(mnp.zeros(2), mnp.eye(2)).shape
        """, **locals())


@in_numpy_mode
def gradients(mx, mnp, np):
    x = mnp.array([[1.0, 2], [3, 4]])
    x.attach_grad()
    with mx.autograd.record():
        y = (mnp.sin(x) * mnp.dot(x, x)).sum() + mnp.max(x) + mnp.linalg.norm(x)
    y.backward()
    return [y, x.grad]


@in_numpy_mode
def methods(mx, mnp, np):
    x = mnp.array([[1.0, 2], [3, 4]])
    return lines("""
        x.sum()
        x.mean(axis=0)
        x.max()
        x.min()
        x.std()
        x.var()
        x.argmax()
        x.astype('int32')
        x.copy()
        x.item(3)
        x.tolist()
        x.reshape(-1)
        x.T
        x.shape
        x.ndim
        x.size
        str(x.dtype)
        x.clip(2, 3)
        x.cumsum()
        x.prod()
        x.repeat(2)
        x.flatten()
        x.squeeze()
        x.dot(x)
        x.as_nd_ndarray().shape
        float(x[0, 0])
        repr(x)
        x.all() if hasattr(x, 'all') else 0
        x.round()
        x.sort() is None
        x.take(mnp.array([0]))
        x.transpose(1, 0)
        x.swapaxes(0, 1)
        """, **locals())


@in_numpy_mode
def neural_operators(mx, mnp, np):
    npx = mx.npx
    rng = np.random.RandomState(1)
    x = mnp.array(rng.uniform(size=(2, 3)).astype("float32"))
    image = mnp.array(rng.uniform(size=(1, 2, 5, 5)).astype("float32"))
    return lines("""
        npx.relu(x)
        npx.sigmoid(x)
        npx.softmax(x)
        npx.log_softmax(x)
        npx.activation(x, 'tanh')
        npx.leaky_relu(x)
        npx.fully_connected(x, mnp.ones((4, 3)), mnp.zeros(4), num_hidden=4)
        npx.convolution(image, mnp.ones((3, 2, 3, 3)), mnp.zeros(3), kernel=(3, 3), num_filter=3)
        npx.pooling(image, kernel=(2, 2), pool_type='max')
        npx.layer_norm(x, mnp.ones(3), mnp.zeros(3))
        npx.batch_norm(image, mnp.ones(2), mnp.zeros(2), mnp.zeros(2), mnp.ones(2))
        npx.one_hot(mnp.array([1, 0]), 3)
        npx.pick(x, mnp.array([0, 2]))
        npx.topk(x, k=2, ret_typ='value')
        npx.embedding(mnp.array([1, 0]), x, input_dim=2, output_dim=3)
        npx.gamma(x)
        npx.gammaln(x)
        npx.erf(x)
        npx.erfinv(x)
        npx.smooth_l1(x)
        npx.batch_dot(image[0], image[0])
        npx.arange_like(x)
        npx.reshape_like(x, mnp.ones(6))
        npx.sequence_mask(image)
        npx.gather_nd(x, mnp.array([[0, 1], [1, 2]]))
        npx.reshape(x, (-1,))
        npx.waitall()
        """, **locals())


@in_numpy_mode
def files(mx, mnp, np):
    mx.npx.save("a.npy", {"x": mnp.zeros((0, 2)), "y": mnp.array(3.0)})
    mnp.savez("b.npz", z=mnp.arange(3)) if hasattr(mnp, "savez") else None
    return mx.npx.load("a.npy")


@in_numpy_mode
def protocol(mx, mnp, np):
    x = mnp.array([[1.0, 2], [3, 4]])
    return lines("""
        np.sum(x)
        np.concatenate([x, x])
        np.mean(x, axis=0)
        np.add(x, x)
        np.dot(x, x)
        np.asarray(x)
        """, **locals())


@in_numpy_mode
def symbols_with_numpy(mx, mnp, np):
    x = mx.sym.var("x").as_np_ndarray()
    y = mx.sym.np.sin(x) + mx.sym.np.ones((2,))
    return [y.list_arguments(), y.bind(mx.cpu(), {"x": mnp.array([1.0, 2])}).forward()]


@in_numpy_mode
def numpy_errors(mx, mnp, np):
    return mnp.ones((2, 3)) @ mnp.ones((2, 3))


@program()
def padding_of_vectors(mx, np):
    mx.npx.set_np()
    try:
        x = mx.np.arange(4)
        return [mx.np.pad(x, (1, 2), mode).asnumpy() for mode in ("constant", "edge", "reflect", "symmetric", "maximum")]
    finally:
        mx.npx.reset_np()
