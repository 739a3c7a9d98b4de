# SPDX-License-Identifier: Apache-2.0
"""Each function and method of the front end with the plainest arguments that it takes, for every type of element: what
one library computes and the other refuses. The lines are written down: `lines()` has them all; a draw takes one."""
from . import Program

TYPES = ["float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool"]
#: Of mx.np, of one array; of a vector; of two.
ONE = (
    "abs absolute arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argsort argwhere any all "
    "alltrue amax amin around atleast_1d atleast_2d atleast_3d average bitwise_not cbrt ceil copy "
    "corrcoef cos cosh count_nonzero cov cumsum deg2rad degrees diag diag_indices_from diagflat "
    "diagonal diff ediff1d empty_like exp expm1 fabs fix flatnonzero flip fliplr flipud floor frexp "
    "i0 invert isfinite isinf isnan isneginf isposinf log log10 log1p log2 logical_not max mean "
    "median min modf msort nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean "
    "nanmedian nanmin nanprod nanstd nansum nanvar ndim negative nonzero ones_like positive prod "
    "product ptp rad2deg radians ravel real reciprocal rint rot90 round round_ shape sign signbit sin "
    "sinh size sort spacing sqrt square squeeze std sum tan tanh trace transpose trapz tril triu "
    "trunc unique unwrap var vstack hstack dstack column_stack row_stack zeros_like tril_indices_from "
    "triu_indices_from"
).split()
VECTOR = (
    "bincount trim_zeros roots vander poly polyint packbits blackman"
).split()
TWO = (
    "add allclose append arctan2 array_equal array_equiv bitwise_and bitwise_or bitwise_xor "
    "broadcast_arrays copysign divide divmod equal float_power floor_divide fmax fmin fmod gcd "
    "greater greater_equal heaviside hypot in1d inner intersect1d isclose isin kron lcm ldexp less "
    "less_equal logical_and logical_or logical_xor maximum may_share_memory minimum mod multiply "
    "not_equal outer power promote_types remainder result_type setdiff1d setxor1d shares_memory "
    "subtract true_divide union1d vdot"
).split()
SIGNS = ["+", "-", "*", "/", "%", "**", "//", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "<<", ">>"]
NUMBERS = ["2", "2.5", "True", "-1", "0"]
WITH_NUMBER = (
    "add power maximum arctan2 equal floor_divide bitwise_and mod true_divide copysign hypot ldexp "
    "lcm fmod"
).split()
MORE = [
    "np.sum(x, axis=0)", "np.mean(x, axis=0)", "np.prod(x, axis=0)", "np.max(x, axis=0)", "np.min(x, axis=0)",
    "np.std(x, axis=0)", "np.var(x, axis=0)", "np.any(x, axis=0)", "np.all(x, axis=0)", "np.argmax(x, axis=0)",
    "np.argmin(x, axis=0)", "np.cumsum(x, axis=0)", "np.median(x, axis=0)", "np.average(x, axis=0)",
    "np.sort(x, axis=0)", "np.argsort(x, axis=0)", "np.flip(x, axis=0)", "np.amax(x, axis=0)", "np.amin(x, axis=0)",
    "np.count_nonzero(x, axis=0)", "np.nansum(x, axis=0)", "np.nanprod(x, axis=0)", "np.nanmax(x, axis=0)",
    "np.nanmean(x, axis=0)", "np.percentile(x, 50, axis=0)", "np.quantile(x, 0.5, axis=0)",
    "np.squeeze(x[:1], axis=0)", "np.diff(x, axis=0)", "np.repeat(x, 2, axis=0)", "np.roll(x, 1, axis=0)",
    "np.unique(x, axis=0)", "np.apply_along_axis(lambda v: v.sum(), 0, x)", "np.apply_over_axes(np.sum, x, 0)",
    "np.array(x)", "np.array([x, y])", "np.array(arrays['x'])", "np.array(arrays['x'].tolist())",
    "np.array_split(x, 2)", "np.asarray(arrays['x'])", "np.split(x, [1], axis=1)", "np.hsplit(x, 3)",
    "np.vsplit(x, 2)", "np.bincount(v, minlength=9)", "np.bincount(v, weights=v)", "np.broadcast_to(w, (2, 3))",
    "np.choose(v, [w, w])", "np.clip(x, 0, 2)", "np.clip(x, 0.5, 1.5)", "np.clip(x, None, 1)", "np.clip(x, y, 3)",
    "np.compress([1, 0], x, axis=0)", "np.concatenate([x, y])", "np.concatenate([x, y], axis=None)",
    "np.correlate(v, w)", "np.cross(x, y)", "np.delete(x, 1, axis=1)", "np.delete(v, [0, 2])",
    "np.delete(v, slice(0, 2))", "np.insert(x, 1, 2, axis=1)", "np.insert(v, [0, 2], 5)", "np.insert(v, 1, w)",
    "np.insert(v, slice(0, 2), 3)", "np.insert(x, [1], y, axis=1)", "np.diag(v)", "np.diag(v, k=1)",
    "np.diag(x, k=-1)", "np.diagflat(x, 1)", "np.diagonal(x, 1)", "np.diff(x, n=2)", "np.diff(v, n=2)",
    "np.digitize(v, np.array([0, 1, 3]))", "np.dot(x, s)", "np.dot(v, v)", "np.dot(x, 2)", "np.dot(2, x)",
    "np.dot(x, w)", "np.einsum('ij,kj->ik', x, y)", "np.einsum('ij->j', x)", "np.einsum('ii', s)",
    "np.einsum('ij,j', x, w)", "np.einsum('ij,jk,kl', x, s, s, optimize=True)", "np.expand_dims(x, 1)",
    "np.extract(x > 1, x)", "np.full_like(x, 2)", "np.full_like(x, 2.5)", "np.full((2,), 3, dtype=x.dtype)",
    "np.full((2, 3), w)", "np.histogram(x, bins=4, range=(-3, 5))", "np.histogram(x)",
    "np.histogram(x, np.array([0., 2, 4]))", "np.indices((2, 3), dtype=x.dtype)", "np.interp(v, w, w)",
    "np.isclose(x, y, equal_nan=True)", "np.ix_(v)", "np.lexsort((v, v))", "np.linspace(v, 5, 3)",
    "np.linspace(0, 5, 6, dtype=x.dtype)", "np.logspace(0, 2, 3, dtype=x.dtype)", "np.arange(5, dtype=x.dtype)",
    "np.arange(1, 8, 2, dtype=x.dtype)", "np.eye(3, dtype=x.dtype)", "np.identity(3, dtype=x.dtype)",
    "np.tri(3, dtype=x.dtype)", "np.ones((2, 2), dtype=x.dtype)", "np.zeros((2, 2), dtype=x.dtype)",
    "np.empty((2, 2), dtype=x.dtype) * 0", "np.hanning(5, dtype=x.dtype)", "np.matmul(x, s)", "x @ s", "x @ w",
    "np.matmul(np.stack([x, y]), s)", "np.meshgrid(v, w)", "np.meshgrid(v, w, indexing='ij')", "np.moveaxis(x, 0, 1)",
    "np.nan_to_num(x, nan=1, posinf=2)", "np.pad(x, 1)", "np.pad(x, ((1, 0), (0, 2)), mode='edge')",
    "np.pad(x, 1, mode='reflect')", "np.pad(x, 1, mode='symmetric')", "np.pad(x, 1, mode='maximum')",
    "np.pad(x, 1, mode='minimum')", "np.pad(x, 1, constant_values=3)", "np.partition(v, 1)", "np.argpartition(v, 1)",
    "np.percentile(x, 30)", "np.percentile(x, [30, 60], axis=1)", "np.quantile(x, 0.3, interpolation='nearest')",
    "np.quantile(x, np.array([0.3, 0.6]))", "np.piecewise(x, [x > 1], [1])", "np.polyval(v, x)", "np.polyadd(v, v)",
    "np.polymul(v, w)", "np.polyfit(v, v, 1)", "np.repeat(x, 2)", "np.repeat(x, [1, 2], axis=0)",
    "np.reshape(x, (3, 2))", "np.reshape(x, (3, 2), order='F')", "np.reshape(x, -1)", "np.resize(x, (4, 4))",
    "np.roll(x, 2)", "np.roll(x, (1, 1), axis=(0, 1))", "np.rollaxis(x, 1)", "np.rot90(x, 3)",
    "np.searchsorted(np.sort(v), v)", "np.select([x > 1], [x])", "np.stack([x, y], axis=1)",
    "np.stack([v, v], axis=-1)", "np.hstack([v, w])", "np.vstack([w, x])", "np.dstack([x, y])",
    "np.column_stack([w, x.T])", "np.swapaxes(x, 0, 1)", "np.take(x, np.array([0, 2]), axis=1)", "np.take(x, v)",
    "np.take(v, v, mode='wrap')", "np.take_along_axis(x, np.array([[0], [1]]), axis=1)", "np.tensordot(x, y)",
    "np.tensordot(x, s, axes=1)", "np.tensordot(x, y, axes=([1], [1]))", "np.tile(x, 2)", "np.tile(x, (2, 1, 2))",
    "np.tril(x, 1)", "np.triu(s, 1)", "np.trace(s)", "np.trace(s, 1)", "np.transpose(x, (1, 0))",
    "np.unique(x, return_index=True, return_inverse=True, return_counts=True)", "np.unravel_index(v, (3, 4))",
    "np.unravel_index(np.array([3, 5], dtype=x.dtype), (3, 4))", "np.where(x, y, x)", "np.where(x > 1, x, 2)",
    "np.where(x > 1, 2.5, y)", "np.where(x > 1)", "np.where(x > 1, x, arrays['y'])", "np.where(x, 1, 0)",
    "np.nonzero(v)", "np.argwhere(s)", "np.average(x, weights=y + 1)",
    "np.average(x, axis=1, weights=w + 1, returned=True)", "np.around(x, 1)", "np.around(x, -1)",
    "np.sum(x, dtype='float32')", "np.sum(x, dtype=x.dtype)", "np.mean(x, dtype='float64')",
    "np.prod(x, dtype='int32')", "np.sum(x, axis=(0, 1), keepdims=True)", "np.std(x, ddof=1)",
    "np.var(x, axis=1, ddof=1)", "np.cumsum(x, axis=1, dtype='float32')", "np.max(x, axis=(0, 1))",
    "np.argmax(x, axis=1)", "np.argsort(x, axis=None)", "np.sort(x, axis=None)", "np.triu_indices_from(s)",
    "np.linalg.norm(x)", "np.linalg.norm(v)", "np.linalg.norm(v, ord=1)", "np.linalg.norm(v, ord=onp.inf)",
    "np.linalg.norm(v, ord=-onp.inf)", "np.linalg.norm(v, ord=0)", "np.linalg.norm(v, 3)", "np.linalg.norm(x, 'fro')",
    "np.linalg.norm(x, 'nuc')", "np.linalg.norm(x, 1)", "np.linalg.norm(x, 2)", "np.linalg.norm(x, -2)",
    "np.linalg.norm(x, onp.inf)", "np.linalg.norm(x, axis=1)", "np.linalg.norm(x, axis=1, keepdims=True)",
    "np.linalg.norm(x, ord=2, axis=1)", "np.linalg.norm(x, axis=(0, 1))", "np.linalg.cholesky(s)", "np.linalg.det(s)",
    "abs(np.linalg.eig(s)[0])", "np.linalg.eigvals(s)", "np.linalg.eigh(s)[0]", "np.linalg.eigvalsh(s)",
    "np.linalg.inv(s)", "np.linalg.lstsq(s, s, rcond=None)[0]", "np.linalg.matrix_power(s, 2)",
    "np.linalg.matrix_rank(s)", "np.linalg.multi_dot([x, s, s])", "np.linalg.pinv(s)", "np.linalg.pinv(x)",
    "np.linalg.qr(s)[1]", "np.linalg.slogdet(s)", "np.linalg.solve(s, s)", "np.linalg.solve(s, w)",
    "np.linalg.svd(x)[1]", "np.linalg.tensorinv(s, ind=1)", "np.linalg.tensorsolve(s, w)", "np.linalg.cond(s)",
    "np.flatnonzero(x)", "np.random.uniform(0, 1, (2,), dtype=x.dtype).asnumpy().shape",
    "np.random.randint(0, 5, (2,), dtype=x.dtype).dtype", "np.random.normal(x, 1).asnumpy().shape",
    "np.random.uniform(x, 9).asnumpy().shape", "np.random.gamma(abs(x) + 1, 1).asnumpy().shape",
    "np.random.choice(x.reshape(-1), 2).dtype", "np.random.shuffle(v)", "np.random.permutation(v).asnumpy().shape",
    "np.random.exponential(x + 1).asnumpy().shape", "np.random.choice(4, 2, p=v / 6).asnumpy().shape",
    "np.random.multinomial(3, v / 6).asnumpy().shape", "np.random.normal(0, 1, (2,), dtype=x.dtype).asnumpy().shape",
    "np.random.gamma(1, 1, (2,), dtype=x.dtype).asnumpy().shape", "npx.relu(x)", "npx.sigmoid(x)", "npx.softmax(x)",
    "npx.log_softmax(x)", "npx.softmax(x, axis=0, temperature=2.0)", "npx.softmax(x, dtype='float64')",
    "npx.masked_softmax(x, x > 1)", "npx.activation(x, act_type='tanh')", "npx.activation(x, act_type='softrelu')",
    "npx.leaky_relu(x, act_type='leaky')", "npx.leaky_relu(x, act_type='gelu')", "npx.leaky_relu(x, act_type='elu')",
    "npx.arange_like(x)", "npx.arange_like(x, axis=1)", "npx.batch_dot(np.stack([x]), np.stack([s]))",
    "npx.batch_flatten(x)", "npx.cast(x, dtype='int32')", "npx.cast(x, dtype='float16')", "npx.cast(x, dtype='bool')",
    "npx.embedding(v, s, 3, 3)", "npx.embedding(np.array([0, 2]), s, 3, 3)", "npx.erf(x)", "npx.erfinv(x / 9)",
    "npx.gamma(x + 1)", "npx.gammaln(x + 1)", "npx.gather_nd(x, np.array([[0, 1], [1, 2]], dtype=x.dtype))",
    "npx.layer_norm(x, w, w)", "npx.one_hot(v, 4)", "npx.one_hot(v, 4, dtype=x.dtype)",
    "npx.one_hot(v, 4, on_value=2, off_value=1)", "npx.pick(x, np.array([0, 2]))",
    "npx.pick(x, np.array([0, 1], dtype=x.dtype))", "npx.reshape(x, (-2, -2))", "npx.reshape(x, -1)",
    "npx.reshape_like(x, y)", "npx.sequence_mask(s, v[:3], use_sequence_length=True)",
    "npx.sequence_mask(s, np.array([1., 2, 1]), use_sequence_length=True, value=-1)", "npx.shape_array(x)",
    "npx.slice(x, (0, 1), (2, 3))", "npx.smooth_l1(x)", "npx.topk(x, k=2)", "npx.topk(x, k=2, ret_typ='value')",
    "npx.topk(x, k=2, ret_typ='both', dtype='int32')", "npx.topk(x, k=1, ret_typ='mask')",
    "npx.topk(x, is_ascend=True, axis=None)", "npx.fully_connected(x, s, num_hidden=3, no_bias=True)",
    "npx.fully_connected(x, s, w, num_hidden=3)",
    "npx.pooling(x.reshape((1, 1, 2, 3)), kernel=(2, 2), pool_type='max')",
    "npx.pooling(x.reshape((1, 1, 2, 3)), kernel=(2, 2), pool_type='avg')",
    "npx.pooling(x.reshape((1, 1, 2, 3)), kernel=(2, 2), pool_type='sum', global_pool=True)",
    "npx.convolution(x.reshape((1, 1, 2, 3)), y.reshape((1, 1, 2, 3)), kernel=(2, 3), num_filter=1, no_bias=True)",
    "npx.deconvolution(x.reshape((1, 1, 2, 3)), y.reshape((1, 1, 2, 3)), kernel=(2, 3), num_filter=1, no_bias=True)",
    "npx.batch_norm(x, w, w, w, w + 1)", "npx.dropout(x, 0.5)", "npx.nonzero(x)", "npx.stop_gradient(x)",
    "npx.broadcast_like(w.reshape((1, 3)), x)",
    "npx.index_add(x, np.array([[0], [1]]), np.array([1, 1], dtype=x.dtype))",
    "npx.index_update(x, np.array([[0], [1]]), np.array([1, 1], dtype=x.dtype))", "npx.gamma(x)",
    "npx.group_norm(x.reshape((1, 2, 3)), np.ones(2, dtype=x.dtype), np.ones(2, dtype=x.dtype))",
    "npx.instance_norm(x.reshape((1, 2, 3)), np.ones(2, dtype=x.dtype), np.ones(2, dtype=x.dtype))",
    "npx.l2_normalization(x)",
    "npx.roi_pooling(x.reshape((1, 1, 2, 3)), np.array([[0, 0, 0, 1, 1]], dtype=x.dtype), (1, 1), 1.0)",
    "npx.multibox_prior(x.reshape((1, 1, 2, 3)), sizes=(0.5,))", "npx.random.bernoulli(x > 1).asnumpy().shape",
    "npx.random.uniform_n(x, 9, (2,)).asnumpy().shape", "npx.random.normal_n(x, 1, (2,)).asnumpy().shape",
    "npx.image.to_tensor(x.reshape((2, 3, 1)))", "npx.image.normalize(x.reshape((1, 2, 3)), 1.0, 2.0)",
    "npx.image.resize(x.reshape((2, 3, 1)), 2)", "npx.image.crop(x.reshape((2, 3, 1)), 0, 0, 2, 1)",
    "npx.image.flip_left_right(x.reshape((2, 3, 1)))",
]
METHODS = [
    "sum()", "sum(axis=0,dtype='float32')", "mean()", "prod()", "max()", "min()", "std()", "var()", "argmax()",
    "argmin(axis=0)", "any()", "all(axis=1)", "cumsum()", "cumsum(axis=0)", "argsort()", "clip(0,1)", "round()",
    "copy()", "ravel()", "flatten()", "tolist()", "item(0)", "astype('float64')", "astype(int)", "astype('bool')",
    "astype('uint8',copy=False)", "reshape(-1)", "reshape(3,2)", "transpose()", "swapaxes(0,1)", "squeeze()",
    "repeat(2)", "repeat(2,axis=0)", "take(np.array([0]),axis=1)", "dot(s)", "nonzero()", "T", "shape",
    "dtype.__name__", "as_nd_ndarray()", "asnumpy()", "as_in_ctx(mx.cpu())", "detach()", "tile(2)", "sort()",
    "reshape_view(-1)", "slice_assign_scalar(1,(0,0),(1,1),(1,1))", "zeros_like()", "ones_like()", "itemsize",
    "diag()", "trace()", "diagonal()",
]
SETTING = [
    "x[0] = 2", "x[0, 1] = 2.5", "x[:] = y", "x[:, 1] = w[:2]", "x[x > 1] = 0",
    "x[np.array([0, 1]), np.array([1, 2])] = 7", "x[...] = arrays['y']", "x[[0]] = 1", "x[0] += 1", "x += 1",
    "x += y", "x -= y", "x *= 2", "x *= 2.5", "x /= 2", "x //= 2", "x %= 2", "x **= 2", "x += 1.5", "x &= y",
    "x |= y", "x ^= y", "x @= s", "x.fill(2)", "x.sort()", "x[True] = 2", "x[None, 0] = 3", "x[0:0] = 1",
    "np.fill_diagonal(x, 3)", "x[1:, ::2] = True", "x[:, np.array([True, False, True])] = 4",
]
GETTING = [
    "x[0]", "x[-1, 1:]", "x[::-1]", "x[:, ::2]", "x[None]", "x[..., 0]", "x[x > 1]", "x[np.array([1, 0])]",
    "x[[1, 0], [0, 2]]", "x[v[:2].astype('int32')]", "x[v]", "w[np.array([[0], [1]], dtype=x.dtype)]",
    "x[np.array([True, False])]", "x[0, np.array([1, 2])]", "float(x[0, 0])", "int(x[0, 0])", "bool(x[0, 0])",
    "[1, 2, 3][x[0, 0]]", "list(x)", "len(x)", "x[()]", "w[:2][:, None]", "x[arrays['x'] > 1]", "[i for i in v]",
]
#: Of mx.nd.
OLD = [
    "mx.nd.abs(x)", "mx.nd.arccos(x)", "mx.nd.arccosh(x)", "mx.nd.arcsin(x)", "mx.nd.arcsinh(x)", "mx.nd.arctan(x)",
    "mx.nd.arctanh(x)", "mx.nd.argmax(x)", "mx.nd.argmin(x)", "mx.nd.argmax_channel(x)", "mx.nd.argsort(x)",
    "mx.nd.BlockGrad(x)", "mx.nd.cbrt(x)", "mx.nd.ceil(x)", "mx.nd.cos(x)", "mx.nd.cosh(x)", "mx.nd.degrees(x)",
    "mx.nd.diag(x)", "mx.nd.erf(x)", "mx.nd.erfinv(x)", "mx.nd.exp(x)", "mx.nd.expm1(x)", "mx.nd.fix(x)",
    "mx.nd.flatten(x)", "mx.nd.floor(x)", "mx.nd.gamma(x)", "mx.nd.gammaln(x)", "mx.nd.hard_sigmoid(x)",
    "mx.nd.identity(x)", "mx.nd.log(x)", "mx.nd.log10(x)", "mx.nd.log1p(x)", "mx.nd.log2(x)", "mx.nd.log_softmax(x)",
    "mx.nd.logical_not(x)", "mx.nd.make_loss(x)", "mx.nd.max(x)", "mx.nd.min(x)", "mx.nd.mean(x)", "mx.nd.nanprod(x)",
    "mx.nd.nansum(x)", "mx.nd.negative(x)", "mx.nd.norm(x)", "mx.nd.ones_like(x)", "mx.nd.prod(x)",
    "mx.nd.radians(x)", "mx.nd.rcbrt(x)", "mx.nd.reciprocal(x)", "mx.nd.relu(x)", "mx.nd.rint(x)", "mx.nd.round(x)",
    "mx.nd.rsqrt(x)", "mx.nd.shape_array(x)", "mx.nd.shuffle(x)", "mx.nd.sigmoid(x)", "mx.nd.sign(x)", "mx.nd.sin(x)",
    "mx.nd.sinh(x)", "mx.nd.size_array(x)", "mx.nd.softmax(x)", "mx.nd.softmin(x)", "mx.nd.softsign(x)",
    "mx.nd.sort(x)", "mx.nd.sqrt(x)", "mx.nd.square(x)", "mx.nd.squeeze(x)", "mx.nd.stop_gradient(x)", "mx.nd.sum(x)",
    "mx.nd.tan(x)", "mx.nd.tanh(x)", "mx.nd.topk(x)", "mx.nd.transpose(x)", "mx.nd.trunc(x)", "mx.nd.zeros_like(x)",
    "mx.nd.all_finite(x)", "mx.nd.L2Normalization(x)", "mx.nd.SoftmaxActivation(x)", "mx.nd.smooth_l1(x)",
    "mx.nd.cumsum(x)", "mx.nd.contrib.isnan(x)", "mx.nd.contrib.isinf(x)", "mx.nd.contrib.isfinite(x)",
    "mx.nd.contrib.div_sqrt_dim(x)", "mx.nd.contrib.arange_like(x)", "mx.nd.contrib.quadratic(x)",
    "mx.nd.contrib.round_ste(x)", "mx.nd.contrib.sign_ste(x)", "mx.nd.contrib.index_array(x)",
    "mx.nd.linalg.extractdiag(x)", "mx.nd.linalg.makediag(x)", "mx.nd.SoftmaxOutput(x)", "mx.nd.multi_sum_sq(x)",
    "mx.nd.contrib.quantize_v2(x)", "mx.nd.square(x)", "mx.nd.amp_cast(x, dtype='float16')",
    "mx.nd.cast(x, dtype='int32')", "mx.nd.cast(x, dtype='bool')", "mx.nd.sum(x, axis=0)", "mx.nd.max(x, axis=1)",
    "mx.nd.mean(x, axis=0)", "mx.nd.argmax(x, axis=1)", "mx.nd.argmin(x, axis=1,keepdims=True)",
    "mx.nd.norm(x, ord=1)", "mx.nd.norm(x, axis=1)", "mx.nd.clip(x, 0,1)", "mx.nd.clip(x, 0.5,1.5)",
    "mx.nd.expand_dims(x, axis=0)", "mx.nd.flip(x, axis=1)", "mx.nd.repeat(x, repeats=2)",
    "mx.nd.tile(x, reps=(2,1))", "mx.nd.reverse(x, axis=0)", "mx.nd.slice_axis(x, axis=1,begin=0,end=2)",
    "mx.nd.slice(x, begin=(0,1),end=(2,3))", "mx.nd.reshape(x, shape=(3,2))", "mx.nd.swapaxes(x, 0,1)",
    "mx.nd.split(x, 3,axis=1)", "mx.nd.split_v2(x, 3,axis=1)", "mx.nd.topk(x, k=2,ret_typ='value')",
    "mx.nd.topk(x, k=2,ret_typ='both')", "mx.nd.topk(x, k=2,dtype='int32')", "mx.nd.sort(x, axis=0)",
    "mx.nd.argsort(x, dtype='int32')", "mx.nd.one_hot(x, 4)", "mx.nd.broadcast_to(x, shape=(2,3))",
    "mx.nd.moments(x, axes=(0,))", "mx.nd.cumsum(x, axis=1)", "mx.nd.softmax(x, dtype='float32')",
    "mx.nd.softmax(x, temperature=2.0)", "mx.nd.log_softmax(x, axis=0)", "mx.nd.Activation(x, act_type='relu')",
    "mx.nd.Activation(x, act_type='softsign')", "mx.nd.LeakyReLU(x, act_type='leaky')",
    "mx.nd.LeakyReLU(x, act_type='selu')", "mx.nd.LeakyReLU(x, act_type='elu')",
    "mx.nd.LeakyReLU(x, act_type='gelu')", "mx.nd.Dropout(x, p=0.5)", "mx.nd.histogram(x, bins=3,range=(0,5))",
    "mx.nd.unravel_index(x, shape=(4,5))", "mx.nd.cast_storage(x, stype='csr')",
    "mx.nd.cast_storage(x, stype='row_sparse')", "mx.nd.full_like(x, fill_value=2)",
    "mx.nd.slice_like(x, w.reshape((1,3)))", "mx.nd.contrib.getnnz(x, axis=None)", "mx.nd.add(x, y)",
    "mx.nd.subtract(x, y)", "mx.nd.multiply(x, y)", "mx.nd.divide(x, y)", "mx.nd.modulo(x, y)", "mx.nd.power(x, y)",
    "mx.nd.maximum(x, y)", "mx.nd.minimum(x, y)", "mx.nd.equal(x, y)", "mx.nd.not_equal(x, y)", "mx.nd.greater(x, y)",
    "mx.nd.greater_equal(x, y)", "mx.nd.lesser(x, y)", "mx.nd.lesser_equal(x, y)", "mx.nd.logical_and(x, y)",
    "mx.nd.logical_or(x, y)", "mx.nd.logical_xor(x, y)", "mx.nd.broadcast_add(x, y)", "mx.nd.broadcast_sub(x, y)",
    "mx.nd.broadcast_mul(x, y)", "mx.nd.broadcast_div(x, y)", "mx.nd.broadcast_mod(x, y)",
    "mx.nd.broadcast_power(x, y)", "mx.nd.broadcast_maximum(x, y)", "mx.nd.broadcast_minimum(x, y)",
    "mx.nd.broadcast_equal(x, y)", "mx.nd.broadcast_not_equal(x, y)", "mx.nd.broadcast_greater(x, y)",
    "mx.nd.broadcast_lesser(x, y)", "mx.nd.broadcast_hypot(x, y)", "mx.nd.broadcast_logical_and(x, y)",
    "mx.nd.broadcast_logical_or(x, y)", "mx.nd.broadcast_logical_xor(x, y)", "mx.nd.elemwise_add(x, y)",
    "mx.nd.elemwise_sub(x, y)", "mx.nd.elemwise_mul(x, y)", "mx.nd.elemwise_div(x, y)", "mx.nd.add_n(x, y)",
    "mx.nd.stack(x, y)", "mx.nd.khatri_rao(x, y)", "mx.nd.reshape_like(x, y)", "mx.nd.broadcast_like(x, y)",
    "mx.nd.slice_like(x, y)", "mx.nd.contrib.allclose(x, y)", "mx.nd.LinearRegressionOutput(x, y)",
    "mx.nd.LogisticRegressionOutput(x, y)", "mx.nd.MAERegressionOutput(x, y)", "mx.nd.ElementWiseSum(x, y)",
    "mx.nd.concat(x, y, dim=1)", "mx.nd.stack(x, y, axis=1)", "mx.nd.dot(x, s)", "mx.nd.dot(x, y, transpose_b=True)",
    "mx.nd.dot(v, v)", "mx.nd.batch_dot(x.reshape((1, 2, 3)), s.reshape((1, 3, 3)))", "mx.nd.where(x, x, y)",
    "mx.nd.where(x > 1, x, y)", "mx.nd.take(x, v)", "mx.nd.take(x, mx.nd.array([0, 1]), axis=1)",
    "mx.nd.take(x, mx.nd.array([0, 5]), mode='wrap')", "mx.nd.pick(x, v[:2])",
    "mx.nd.pick(x, mx.nd.array([0, 2]), keepdims=True)", "mx.nd.batch_take(x, mx.nd.array([0, 2], dtype='int32'))",
    "mx.nd.gather_nd(x, mx.nd.array([[0, 1], [1, 2]]))",
    "mx.nd.gather_nd(x, mx.nd.array([[0, 1], [1, 2]], dtype=x.dtype))",
    "mx.nd.scatter_nd(v[:2], mx.nd.array([[0, 1], [1, 2]]), shape=(2, 3))",
    "mx.nd.Embedding(v, s, input_dim=3, output_dim=3)",
    "mx.nd.Embedding(mx.nd.array([0, 2]), s, input_dim=3, output_dim=3)", "mx.nd.one_hot(v, 4)",
    "mx.nd.one_hot(v, 4, dtype=x.dtype)", "mx.nd.SequenceMask(s, v[:3], use_sequence_length=True)",
    "mx.nd.SequenceLast(s.reshape((3, 1, 3)))",
    "mx.nd.SequenceLast(s.reshape((3, 1, 3)), w[:1], use_sequence_length=True)",
    "mx.nd.SequenceReverse(s.reshape((3, 1, 3)), w[:1], use_sequence_length=True)",
    "mx.nd.FullyConnected(x, s, w, num_hidden=3)", "mx.nd.LayerNorm(x, w, w)", "mx.nd.BatchNorm(x, w, w, w, w + 1)",
    "mx.nd.InstanceNorm(x.reshape((1, 2, 3)), w[:2], w[:2])",
    "mx.nd.GroupNorm(x.reshape((1, 2, 3)), w[:2], w[:2], num_groups=2)",
    "mx.nd.LRN(x.reshape((1, 2, 3, 1)), nsize=1)",
    "mx.nd.Pooling(x.reshape((1, 1, 2, 3)), kernel=(2, 2), pool_type='max')",
    "mx.nd.Pooling(x.reshape((1, 1, 2, 3)), kernel=(2, 2), pool_type='avg')",
    "mx.nd.Convolution(x.reshape((1, 1, 2, 3)), y.reshape((1, 1, 2, 3)), kernel=(2, 3), num_filter=1, no_bias=True)",
    "mx.nd.Deconvolution(x.reshape((1, 1, 2, 3)), y.reshape((1, 1, 2, 3)), kernel=(2, 3), num_filter=1, "
    "no_bias=True)",
    "mx.nd.UpSampling(x.reshape((1, 1, 2, 3)), scale=2, sample_type='nearest')",
    "mx.nd.contrib.BilinearResize2D(x.reshape((1, 1, 2, 3)), height=4, width=4)",
    "mx.nd.contrib.AdaptiveAvgPooling2D(x.reshape((1, 1, 2, 3)), output_size=1)",
    "mx.nd.depth_to_space(s.reshape((1, 9, 1, 1))[:, :4], 2)", "mx.nd.space_to_depth(v.reshape((1, 1, 2, 2)), 2)",
    "mx.nd.im2col(x.reshape((1, 1, 2, 3)), kernel=(2, 2))", "mx.nd.linalg.gemm2(x, s)", "mx.nd.linalg.gemm(x, s, x)",
    "mx.nd.linalg.potrf(s)", "mx.nd.linalg.inverse(s)", "mx.nd.linalg.det(s)", "mx.nd.linalg.slogdet(s)",
    "mx.nd.linalg.syrk(x)", "mx.nd.linalg.trmm(s, s)", "mx.nd.linalg.trsm(s, s)", "mx.nd.linalg.sumlogdiag(s)",
    "mx.nd.linalg.extracttrian(s)", "mx.nd.linalg.maketrian(w)", "mx.nd.linalg.gelqf(x)[1]",
    "mx.nd.linalg.syevd(s)[1]", "mx.nd.contrib.boolean_mask(x, mx.nd.array([1, 0]))",
    "mx.nd.contrib.boolean_mask(x, v[:2])", "mx.nd.contrib.index_copy(x, mx.nd.array([1]), y[:1])",
    "mx.nd.contrib.box_iou(v.reshape((1, 4)), v.reshape((1, 4)))", "mx.nd.contrib.fft(x)",
    "mx.nd.contrib.count_sketch(x, mx.nd.array([[0, 1, 1]]), mx.nd.array([[1, -1, 1]]), out_dim=2)",
    "mx.nd.contrib.bipartite_matching(x, threshold=0.1)",
    "mx.nd.contrib.dequantize(x, mx.nd.array([-1]), mx.nd.array([1]))",
    "mx.nd.contrib.quantize(x, mx.nd.array([-9]), mx.nd.array([9]))",
    "mx.nd.contrib.MultiBoxPrior(x.reshape((1, 1, 2, 3)), sizes=(0.5,))",
    "mx.nd.ROIPooling(x.reshape((1, 1, 2, 3)), mx.nd.array([[0, 0, 0, 1, 1]]), pooled_size=(1, 1), "
    "spatial_scale=1.0)",
    "mx.nd.BilinearSampler(x.reshape((1, 1, 2, 3)), x.reshape((1, 2, 1, 3)))",
    "mx.nd.ravel_multi_index(x, shape=(9, 9))", "mx.nd.unravel_index(v, shape=(4, 5))",
    "mx.nd.choose_element_0index(x, v[:2])", "mx.nd.fill_element_0index(x, v[:2], v[:2])",
    "mx.nd.softmax_cross_entropy(x, v[:2])", "mx.nd.ctc_loss(s.reshape((3, 1, 3)), v[:1].reshape((1, 1)))",
    "mx.nd.SoftmaxOutput(x, v[:2])", "mx.nd.softmax(x, v[:2], use_length=True)", "mx.nd.arange(5, dtype=x.dtype)",
    "mx.nd.zeros((2,), dtype=x.dtype)", "mx.nd.full((2,), 2, dtype=x.dtype)", "mx.nd.eye(3, dtype=x.dtype)",
    "mx.nd.linspace(0, 3, 4, dtype=x.dtype)", "mx.nd.random.uniform(0, 1, (2,), dtype=x.dtype).asnumpy().shape",
    "mx.nd.random.randint(0, 5, (2,), dtype=x.dtype).asnumpy().shape",
    "mx.nd.random.normal(0, 1, (2,), dtype=x.dtype).asnumpy().shape",
    "mx.nd.random.poisson(2, (2,), dtype=x.dtype).asnumpy().shape", "mx.nd.random.uniform(x, y + 9).asnumpy().shape",
    "mx.nd.random.normal(x, y + 1).asnumpy().shape", "mx.nd.random.gamma(x + 1, y + 1).asnumpy().shape",
    "mx.nd.random.poisson(x + 1).asnumpy().shape", "mx.nd.random.multinomial(v / 6).asnumpy().shape",
    "mx.nd.random.multinomial(v / 6, dtype=x.dtype).dtype", "mx.nd.random.shuffle(v).asnumpy().shape",
    "mx.nd.random.uniform_like(x).asnumpy().shape", "mx.nd.sample_exponential(x + 1).asnumpy().shape",
    "mx.nd.image.to_tensor(x.reshape((2, 3, 1)))", "mx.nd.image.normalize(x.reshape((1, 2, 3)), 1.0, 2.0)",
    "mx.nd.image.resize(x.reshape((2, 3, 1)), 2)", "mx.nd.image.crop(x.reshape((2, 3, 1)), 0, 0, 2, 1)",
    "mx.nd.image.flip_left_right(x.reshape((2, 3, 1)))", "mx.nd.image.random_brightness(x.reshape((2, 3, 1)), 1, 1)",
    "mx.nd.image.adjust_lighting(s.reshape((3, 1, 3)), (1, 1, 1))", "mx.nd.cast_storage(x, 'csr')",
    "x.tostype('csr')", "x.tostype('row_sparse')", "mx.nd.sparse.csr_matrix(arrays['x'])",
    "mx.nd.sparse.csr_matrix(arrays['x'], dtype=x.dtype)", "mx.nd.sparse.row_sparse_array(x)",
    "mx.nd.sparse.dot(x.tostype('csr'), s)", "mx.nd.sparse.dot(x.tostype('csr'), y, transpose_a=True)",
    "mx.nd.sparse.dot(s, s.tostype('csr'))", "mx.nd.sparse.add(x.tostype('csr'), y.tostype('csr'))",
    "mx.nd.sparse.add(x.tostype('row_sparse'), y.tostype('row_sparse'))",
    "mx.nd.sparse.sum(x.tostype('csr'), axis=0)", "mx.nd.sparse.retain(s.tostype('row_sparse'), mx.nd.array([0, 2]))",
    "mx.nd.sparse.square(x.tostype('row_sparse'))", "mx.nd.sparse.norm(x.tostype('csr'))",
    "mx.nd.sparse.mean(x.tostype('csr'), axis=1)", "x.tostype('csr')[0:1]", "x.tostype('csr') * 2",
    "x.tostype('csr') * y", "x.tostype('csr').astype('float32')", "x.tostype('row_sparse').copy()", "mx.nd.array(x)",
    "mx.nd.array(arrays['x'])", "mx.nd.array(x, dtype='float16')", "mx.nd.concatenate([x, y])",
    "mx.nd.moveaxis(x, 0, 1)", "mx.nd.onehot_encode(v[:2], x)", "mx.nd.sum(x, axis=(0, 1), keepdims=True)",
    "mx.nd.sum(x, axis=0, exclude=True)", "mx.nd.multi_all_finite(x, y, num_arrays=2)",
    "mx.nd.reset_arrays(x, num_arrays=1)", "mx.nd.from_numpy(arrays['x'].copy())",
    "mx.nd.from_dlpack(x.to_dlpack_for_read())",
    "mx.nd.pad(x.reshape((1, 1, 2, 3)), mode='edge', pad_width=(0, 0, 0, 0, 1, 1, 1, 1))",
    "mx.nd.sgd_update(x, y, lr=0.5)", "mx.nd.sgd_mom_update(x, y, x * 0, lr=0.5)",
    "mx.nd.adam_update(x, y, x * 0, x * 0, lr=0.5)", "mx.nd.Crop(x.reshape((1, 1, 2, 3)), h_w=(1, 1), num_args=1)",
    "mx.nd.SVMOutput(x, v[:2])",
    "mx.nd.GridGenerator(x.reshape((1, 6)), transform_type='affine', target_shape=(2, 2))",
    "mx.nd.Correlation(s.reshape((1, 1, 3, 3)), s.reshape((1, 1, 3, 3)))",
]
OLD_METHODS = [
    "sum()", "mean()", "prod()", "max()", "min()", "argmax()", "argmin(axis=0)", "argsort()", "sort()", "topk()",
    "clip(0,1)", "round()", "copy()", "flatten()", "asnumpy()", "astype('float64')", "astype(int)", "astype('bool')",
    "astype('uint8',copy=False)", "reshape(-1)", "reshape(3,2)", "reshape((0,-1))", "reshape((-3,))", "transpose()",
    "swapaxes(0,1)", "squeeze()", "repeat(2)", "repeat(2,axis=0)", "take(mx.nd.array([0]),axis=1)", "T", "norm()",
    "one_hot(4)", "as_np_ndarray()", "detach()", "tile(2)", "zeros_like()", "diag()", "abs()", "sign()", "exp()",
    "log()", "sqrt()", "square()", "floor()", "ceil()", "sin()", "cumsum()", "nansum()", "softmax()", "log_softmax()",
    "relu()", "sigmoid()", "expand_dims(0)", "flip(0)", "split(3,axis=1)", "slice_axis(1,0,2)", "slice((0,1),(1,2))",
    "pick(v[:2])", "broadcast_to((2,3))", "broadcast_like(y)", "slice_like(y)", "size_array()", "shape_array()",
    "reciprocal()", "rsqrt()", "depth_to_space(1)", "asscalar()", "pad(mode='constant',pad_width=(0,0,0,0))",
]
#: Of Gluon, on data of each type, after cast() to it.
LAYERS = [
    "Dense(2)", "Dense(2, activation='relu')", "Dense(2, flatten=False, use_bias=False)", "Activation('tanh')",
    "LeakyReLU(0.1)", "ELU()", "SELU()", "GELU()", "Swish()", "PReLU()", "Flatten()", "LayerNorm()", "BatchNorm()",
    "Dropout(0.3)", "Embedding(9, 2)", "HybridLambda('relu')", "Lambda(lambda a: a * 2)",
]
IMAGE_LAYERS = [
    "Conv2D(2, 2)", "Conv2D(2, 2, layout='NCHW', groups=1, activation='relu')", "Conv2DTranspose(2, 2)",
    "MaxPool2D(2)", "AvgPool2D(2)", "AvgPool2D(2, count_include_pad=False, padding=1)", "GlobalMaxPool2D()",
    "GlobalAvgPool2D()", "InstanceNorm()", "GroupNorm()", "ReflectionPad2D(1)", "BatchNorm(axis=-1)",
    "BatchNormReLU()", "MaxPool2D(2, ceil_mode=True)",
]
LOSSES = [
    "L1Loss()", "L2Loss()", "HuberLoss()", "SoftmaxCELoss()", "SigmoidBCELoss()", "KLDivLoss()", "HingeLoss()",
    "LogisticLoss()", "PoissonNLLLoss()",
]


def layer(kind, data):
    return (f"n = mx.gluon.nn.{kind}; n.initialize(mx.init.One()); n.cast(x.dtype); a = {data}\n"
            "with mx.autograd.record():\n    b = n(a)\nn.hybridize()\nr = [b, n(a)]")


def signs():
    return [f"r = x {s} y" for s in SIGNS] + [f"r = {a} {s} {b}" for s in SIGNS for n in NUMBERS
                                              for a, b in (("x", n), (n, "x"))]


def slopes(value):
    return f"x.attach_grad()\nwith mx.autograd.record():\n    l = {value}\nl.backward(); r = [l, x.grad]"


def lines():
    """Every line, with whether it is of mx.np."""
    both = [f"r = {g}" for g in GETTING] + [f"{line}; r = x" for line in SETTING]
    both += ["r = -x", "r = abs(x)", "r = ~x", "r = str(x)", *signs()]
    new = [f"r = np.{f}(x)" for f in ONE] + [f"r = np.{f}(v)" for f in VECTOR] + [f"r = np.{f}(x, y)" for f in TWO]
    new += [f"r = np.{f}(x, {n})" for f in WITH_NUMBER for n in NUMBERS]
    new += [f"r = {line}" for line in MORE] + [f"r = x.{m}" for m in METHODS]
    new += ["r = +x", "r = repr(x)", "r = divmod(x, 2)"]
    old = [f"r = {line}" for line in OLD] + [f"r = x.{m}" for m in OLD_METHODS]
    old += [layer(kind, "x") for kind in LAYERS] + [layer(kind, "s.reshape((1, 1, 3, 3))") for kind in IMAGE_LAYERS]
    old += [slopes(f"mx.gluon.loss.{kind}(x, y)") for kind in LOSSES] + [slopes("x * y"), slopes("mx.nd.dot(x, s)")]
    return [(line, True) for line in both + new] + [(line, False) for line in [b for b in both if "np." not in b] + old]


LINES = lines()


def drawn(draw):
    line, numpy = draw.one_of(LINES)
    made = draw.numbers.randint
    arrays = {"x": made(0, 5, (2, 3)), "y": made(0, 4, (2, 3)), "v": made(0, 4, 4), "w": made(1, 5, 3)}
    arrays["s"] = made(0, 2, (3, 3)) + 4 * (made(0, 1, (3, 3)) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    arrays["s"] += arrays["s"].T  # positive definite
    of_type = ("arrays = {{k: a.astype('{0}') for k, a in arrays.items()}}; "
               "x, y, v, w, s = [array(arrays[k], dtype='{0}') for k in 'xyvws']\n")
    name = line.replace("r = ", "", 1).split("(")[0][:40].strip()
    return Program(f"types {name}", "pass", [(t, of_type.format(t) + line) for t in TYPES], arrays, numpy, numpy)
