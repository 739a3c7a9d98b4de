# SPDX-License-Identifier: Apache-2.0
"""The calls that numpy_sweep.py times: each function of mx.np that NumPy has too, with what it is called with.

x, y, one: matrices (`one`: 1 and more); s, r: square matrices, s positive definite; v, w: vectors as long as a matrix has columns; flat: as many elements as a
matrix; i: int64 places of columns; c: bool; n: size of the square matrices, of which linear algebra gets the small ones.
"""
import numpy as np

# What is called alike; "{}" stands for the name.
_SHARED = {
    "np.{}(x)": """abs absolute arccos arcsin arcsinh arctan arctanh bitwise_not cbrt ceil cos cosh deg2rad degrees exp expm1 fabs fix floor invert isfinite
        isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative rad2deg radians reciprocal rint sign sin sinh sqrt square tan
        tanh trunc all amax amin any argmax argmin argsort around average cumsum diag diagflat diagonal diff ediff1d flip fliplr flipud max mean min
        nan_to_num nonzero ones_like prod ptp ravel round sort std sum trace transpose tril unique var zeros_like empty_like copy atleast_1d
        atleast_2d atleast_3d shape argwhere count_nonzero flatnonzero frexp i0 modf nanargmax nanargmin nancumprod nancumsum nanmax nanmedian nanmin
        nanprod ndim positive real signbit size spacing unwrap""",
    "np.{}(one)": "arccosh",
    "np.{}(x, y)": """add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal greater greater_equal hypot lcm less less_equal maximum
        minimum mod multiply not_equal power remainder subtract true_divide append may_share_memory shares_memory vdot allclose array_equal
        array_equiv divmod float_power heaviside isclose""",
    "np.{}([x, y])": "column_stack concatenate dstack hstack row_stack stack vstack",
    "np.{}(x, 2)": "array_split split hsplit vsplit repeat tile",
    "np.{}(v, w)": "outer inner dot correlate intersect1d setdiff1d setxor1d union1d",
    "np.{}(s, r)": "matmul tensordot",
    "np.linalg.{}(s)": "cholesky cond det eig eigh eigvals eigvalsh inv matrix_rank norm pinv qr slogdet svd",
    "np.random.{}(size=shape)": "exponential gumbel logistic lognormal normal uniform",
    "np.random.{}(2.5, size=shape)": "chisquare pareto power rayleigh weibull",
    "np.{}(n * n)": "blackman hamming hanning",
    "np.{}(n)": "identity eye",
    "np.{}(shape)": "empty ones zeros indices",
}
# The others, some in several ways.
_EACH = """
all(x, axis=0)
any(x, axis=1)
amax(x, axis=0)
max(x, axis=1)
min(x, axis=0)
argmax(x, axis=1)
argmin(x, axis=0)
argsort(x, axis=0)
mean(x, axis=0)
mean(x, axis=1)
prod(x, axis=0)
ptp(x, axis=1)
std(x, axis=0)
sum(x, axis=0)
sum(x, axis=1)
sum(x, axis=1, keepdims=True)
var(x, axis=1)
cumsum(x, axis=0)
cumsum(x, axis=1)
sort(x, axis=0)
diff(x, axis=0)
flip(x, axis=1)
add(x, 2)
add(x, v)
multiply(x, x[:, :1])
power(x, 2)
less(x, 1)
maximum(x, 1)
arange(n * n)
average(x, axis=0, weights=y[:, 0])
bincount(i)
broadcast_arrays(x, v)
broadcast_to(v, shape)
clip(x, 0.25, 0.75)
delete(x, 2, axis=0)
diag_indices_from(s)
dot(s, r)
dsplit(x.reshape(2, 2, -1), 4)
einsum('ij,ij->i', x, y)
einsum('ij,jk->ik', s, r)
expand_dims(x, 1)
full(shape, 2.5)
full_like(x, 2)
histogram(x, bins=16, range=(0, 1))
inner(s, r)
insert(x, 2, 1.0, axis=0)
isin(x, v)
isin(x, v[:4])
isin(flat, y)
ldexp(x, 2)
linspace(0, 1, n * n)
logspace(0, 1, n * n)
meshgrid(v, w)
moveaxis(x, 0, -1)
nonzero(c)
pad(x, 1)
percentile(x, 30)
percentile(x, 30, axis=1)
polyval(v[:4], x)
quantile(x, 0.3)
reshape(x, -1)
resize(x, (3, n))
roll(x, 3)
roll(x, 3, axis=1)
rot90(x)
squeeze(x[None])
swapaxes(x, 0, 1)
take(x, i, axis=1)
take(flat, i)
tensordot(s, r, 1)
tile(v, (8, 1))
where(c, x, y)
where(c, x, 0)
unravel_index(i, shape)
linalg.lstsq(s, r[:, 0], None)
linalg.matrix_power(s, 3)
linalg.multi_dot([s, r, s])
linalg.norm(x, axis=1)
linalg.solve(s, r)
linalg.tensorinv(s, 1)
linalg.tensorsolve(s, r[:, 0])
random.beta(2.0, 3.0, size=shape)
random.choice(n * n, n)
random.gamma(2.5, size=shape)
random.multinomial(100, [0.25] * 4)
random.multivariate_normal(v[:2] * 0, s[:2, :2])
random.rand(n, n)
random.randint(0, 100, shape)
random.randn(n, n)
random.shuffle(flat)
apply_along_axis(lambda row: row[0], 1, x)
apply_over_axes(np.sum, x, [0])
argpartition(x, 3)
choose(i % 2, [v, w])
compress(c[0], x, axis=1)
corrcoef(s)
cov(s)
digitize(x, v[:1])
extract(c, x)
histogram2d(flat, flat, 8)
histogram_bin_edges(x, 16)
histogramdd(x[:, :2], 8)
interp(x, [0, 1], [0, 1])
ix_(v, w)
lexsort((v, w))
min_scalar_type(x)
nanpercentile(x, 30)
nanquantile(x, 0.3)
packbits(c)
partition(x, 3)
piecewise(x, [c], [1, 2])
poly(v[:4])
polyadd(v, w)
polydiv(v[:4], w[:2])
polyfit(v[:8], w[:8], 1)
polyint(v)
polymul(v, w)
polysub(v, w)
promote_types('int32', 'float32')
result_type(x, y)
rollaxis(x, 1)
roots(v[:4])
searchsorted(v, x)
select([c], [x], 0)
take_along_axis(x, i[None], 1)
tril_indices_from(s)
triu_indices_from(s)
trim_zeros(v)
unpackbits(bytes_)
vander(v[:4])
"""
# Names that are no work on arrays, or have nothing in NumPy 2 to be beside.
_LEFT_OUT = """array from_dlpack genfromtxt set_printoptions bool msort product sometrue alltrue in1d trapz fallback""".split()


def calls():
    """Pairs: function's name below np, call."""
    made = []
    for text, names in _SHARED.items():
        prefix = "linalg." if ".linalg." in text else "random." if ".random." in text else ""
        made += [(prefix + name, text.replace("{}", name)) for name in names.split()]
    for line in _EACH.strip().splitlines():
        made.append((line.split("(")[0], "np." + line))
    return made


def missing(ours):
    """Functions of both libraries that no call is of."""
    named = {label for label, _ in calls()}
    found = []
    for prefix, module, theirs in (("", ours, np), ("linalg.", ours.linalg, np.linalg), ("random.", ours.random, np.random)):
        for name in module.__all__ if prefix else dir(ours):
            function = getattr(module, name)
            both = callable(function) and hasattr(theirs, name) and not isinstance(function, type) and not name.startswith("_")
            if both and prefix + name not in named and name not in _LEFT_OUT:
                found.append(prefix + name)
    return found


def inputs(dtype, large):
    """What calls may name, as NumPy's arrays."""
    rng = np.random.default_rng(1)
    rows, columns, size = (512, 1024, 192) if large else (8, 8, 8)

    def numbers(*shape):
        if dtype == "bool":
            return rng.random(shape) < 0.5
        return rng.integers(1, 100, shape).astype(dtype) if dtype[:3] == "int" else rng.uniform(0.1, 0.9, shape).astype(dtype)

    square = numbers(size, size)
    definite = square if dtype == "bool" else (square @ square.T + size * np.eye(size)).astype(dtype)
    given = {
        "x": numbers(rows, columns), "y": numbers(rows, columns), "one": (numbers(rows, columns) + 1).astype(dtype), "s": definite, "r": square,
        "v": numbers(columns), "w": numbers(columns), "flat": numbers(rows * columns), "i": rng.integers(0, columns, columns),
        "c": rng.random((rows, columns)) < 0.5, "bytes_": rng.integers(0, 255, rows * columns).astype("uint8"),
    }
    return {**given, "n": size, "shape": (rows, columns)}
