# SPDX-License-Identifier: Apache-2.0
"""Functions and methods of mx.np, with arguments as NumPy takes them; NumPy runs the same lines."""
from . import Program, called

ONE = ["abs", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square", "sign", "rint", "ceil",
       "floor", "trunc", "fix", "sin", "cos", "tan",
       "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees", "radians",
       "rad2deg", "deg2rad", "reciprocal",
       "negative", "absolute", "logical_not", "isnan", "isinf", "isfinite", "isneginf", "isposinf", "bitwise_not",
       "invert", "fabs", "positive"]
TWO = ["add", "subtract", "multiply", "divide", "true_divide", "mod", "remainder", "fmod", "power", "maximum",
       "minimum", "fmax", "fmin", "arctan2", "hypot", "copysign",
       "ldexp", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
       "logical_xor", "bitwise_and", "bitwise_or",
       "bitwise_xor", "lcm", "floor_divide", "matmul", "dot", "outer", "inner", "kron", "vdot", "gcd"]
SIGNS = ["+", "-", "*", "/", "%", "**", "//", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "@"]
REDUCE = ["sum", "prod", "mean", "std", "var", "max", "min", "amax", "amin", "any", "all", "argmax", "argmin", "cumsum",
          "median", "average", "ptp", "nansum", "count_nonzero"]
DTYPES = ["float32", "float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool"]


def numbers(draw, shape, dtype):
    low = 0 if dtype in ("uint8", "bool") else -5
    made = draw.numbers.randint(low, 2 if dtype == "bool" else 7, shape)
    return (made / 2 if dtype[0] == "f" else made).astype(dtype)


def drawn(draw):
    kind = draw.one_of([elementwise, pair, pair, reduced, reduced, shaped, shaped, shaped, made, chosen, method])
    arrays = {}
    shape, other = draw.alike(3) if draw.chance(0.7) else (draw.shape(0, 3, 4, True), draw.shape(0, 3, 4, True))
    first = draw.one_of(DTYPES)
    for name, dims, dtype in (("x", shape, first), ("y", other, first if draw.chance(0.6) else draw.one_of(DTYPES)),
                              ("z", draw.shape(1, 3, 4), draw.one_of(DTYPES))):
        arrays[name] = numbers(draw, dims, dtype)
    name, line = kind(draw, arrays)
    start = "; ".join(f"{n} = array(arrays['{n}'], dtype=arrays['{n}'].dtype)" for n in arrays)
    steps = [("given", f"r = {line}" if not line.startswith("\n") else line)]
    if arrays["x"].dtype.kind == "f" and not line.startswith("\n") and "out=" not in line and draw.chance(0.4):
        steps.append(("slopes",
                      f"x.attach_grad()\nwith mx.autograd.record():\n    w = {line}\nw.backward(); r = x.grad"))
    return Program(f"np.{name}", start, steps, arrays, True, True)


def options(draw, arrays):
    """Where a result goes, or of what type it is."""
    return draw.one_of(["", "", "", "", "", "out=np.zeros(x.shape, dtype=x.dtype)", "out=x", "where=x > 0",
                        "dtype='float64'", "out=np.zeros_like(x)"])


def elementwise(draw, arrays):
    op = draw.one_of(ONE)
    return op, called(f"np.{op}", ["x", options(draw, arrays)])


def pair(draw, arrays):
    left, right = draw.one_of([("x", "y"), ("x", "y"), ("x", "2"), ("x", "2.5"), ("3", "x"), ("1.5", "x"), ("x", "-1"),
                               ("x", "0"), ("x", "True"), ("x", "onp.float64(2)"),
                               ("x", "arrays['y']"), ("arrays['y']", "x")])
    if draw.chance(0.5):
        sign = draw.one_of(SIGNS)
        if draw.chance(0.25) and sign not in ("==", "!=", "<", "<=", ">", ">="):
            return f"{sign}=", f"\nx {sign}= {right if right != 'x' else left}; r = x"
        return sign, f"{left} {sign} {right}"
    op = draw.one_of(TWO)
    return op, called(f"np.{op}", [left, right, options(draw, arrays)])


def axis_of(draw, rank, several=True):
    chosen = [str(draw.whole(-rank - 1 if draw.chance(0.05) else -rank, max(rank - 1, 0))), "None", ""]
    if several and rank > 1:
        chosen.append("(" + ", ".join(str(a) for a in draw.random.sample(range(rank), draw.whole(1, rank))) + ",)")
        chosen.append("()")
    axis = draw.one_of(chosen)
    return f"axis={axis}" if axis else ""


def reduced(draw, arrays):
    op, rank = draw.one_of(REDUCE), arrays["x"].ndim
    single = op in ("argmax", "argmin", "cumsum")
    extra = {"sum": ["dtype='float64'", "dtype='int32'", "initial=2"], "mean": ["dtype='float64'"],
             "prod": ["dtype='float64'", "initial=2"], "std": ["ddof=1"], "var": ["ddof=1", "dtype='float64'"],
             "max": ["initial=3"], "min": ["initial=-9"], "average": ["weights=abs(x) + 1", "returned=True"],
             "cumsum": ["dtype='float64'"]}.get(op, [""])
    keep = "" if op in ("cumsum", "average", "ptp") else draw.one_of(["", "", "keepdims=True", "keepdims=False"])
    if draw.chance(0.3) and op in ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin",
                                   "cumsum"):
        return f"ndarray.{op}", called(f"x.{op}", [axis_of(draw, rank, not single), keep])
    out = "out=np.zeros((), dtype=x.dtype)" if draw.chance(0.05) else ""
    return op, called(f"np.{op}", ["x", axis_of(draw, rank, not single), keep, draw.one_of(["", *extra]), out])


def shaped(draw, arrays):
    x = arrays["x"]
    rank, size = x.ndim, x.size
    axis = draw.whole(-rank, max(rank - 1, 0))
    order = draw.random.sample(range(rank), rank)
    reps, width = draw.one_of(["2", "(2, 1)", "(1, 2, 1)", "0", "()"]), draw.whole(0, 3)
    line = draw.one_of([
        f"np.reshape(x, {draw.one_of(['-1', '(-1, 1)', f'({size},)', '(1, -1, 1)', f'({size}, 1)', '(2, -1)'])})",
        f"x.reshape({draw.one_of(['-1', '-1, 1', '(-1,)', '1, -1'])})",
        f"np.transpose(x{draw.one_of(['', f', {order}'])})", "x.T", f"x.transpose({', '.join(map(str, order))})",
        f"np.swapaxes(x, {axis}, 0)", f"np.moveaxis(x, {axis}, 0)",
        f"np.rollaxis(x, {axis})", f"np.expand_dims(x, {draw.one_of([axis, rank, -rank - 1])})",
        f"np.squeeze(x{draw.one_of(['', f', axis={axis}'])})", f"np.tile(x, {reps})",
        f"np.repeat(x, {width}{draw.one_of(['', f', axis={axis}'])})",
        f"np.concatenate([x, y]{draw.one_of(['', f', axis={axis}', ', axis=None'])})", f"np.stack([x, x], axis={axis})",
        "np.vstack([x, y])", "np.hstack([x, x])", "np.dstack([x, x])", "np.column_stack([x, x])", "np.append(x, y)",
        f"np.append(x, x, axis={axis})",
        f"np.split(x, {draw.one_of(['2', '[1]', '[1, 2]', '1'])}, axis={axis})",
        f"np.array_split(x, {draw.whole(1, 4)}, axis={axis})", "np.hsplit(x, 1)", "np.vsplit(x, 1)", "np.dsplit(x, 1)",
        f"np.roll(x, {width}{draw.one_of(['', f', axis={axis}'])})",
        f"np.flip(x{draw.one_of(['', f', axis={axis}', ', axis=(0,)'])})", "np.flipud(x)", "np.fliplr(x)",
        f"np.rot90(x, {width})", "np.rot90(x, 1, axes=(1, 0))",
        f"np.broadcast_to(x, {draw.one_of(['(2,) + x.shape', 'x.shape', '(3, 3)'])})", "np.atleast_1d(x)",
        "np.atleast_2d(x)", "np.atleast_3d(x)",
        "np.ravel(x)", "x.flatten()", f"np.diff(x, n={draw.whole(0, 2)}, axis={axis})", "np.ediff1d(x)",
        f"np.tril(x, {width - 1})", f"np.triu(x, {width - 1})", f"np.diag(x, {width - 1})",
        "np.diagflat(x)", f"np.diagonal(x, {width - 1})", f"np.trace(x, {width - 1})",
        f"np.pad(x, {draw.one_of(['1', '(1, 2)', f'((1, 0),) * {rank}', '0'])}, mode='{draw.one_of(['constant', 'edge', 'reflect', 'symmetric', 'maximum', 'minimum'])}')",
        f"np.delete(x, {draw.one_of(['0', '[0]', 'slice(0, 1)', '-1'])}{draw.one_of(['', f', axis={axis}'])})",
        f"np.insert(x, {draw.one_of(['0', '[0, 1]', '1'])}, {draw.one_of(['5', '1.5'])}{draw.one_of(['', f', axis={axis}'])})",
        "np.meshgrid(x, z)", "np.broadcast_arrays(x, y)", "np.resize(x, (2, 3))", "np.vander(x.reshape(-1))",
        "np.rollaxis(x, 0, 1)"])
    return line.split("(")[0].replace("np.", ""), line


def made(draw, arrays):
    shape = draw.one_of(["3", "(2, 3)", "()", "(0, 2)", "[2]"])
    dtype = draw.one_of(["", "", "dtype='int32'", "dtype='float16'", "dtype=bool", "dtype='float64'", "dtype=int",
                         "dtype=float"])
    low, high, step = draw.one_of(["0", "1", "-2", "0.5"]), draw.one_of(["5", "3.5", "-4", "1"]), draw.one_of(["1", "2",
        "-1", "0.5"])
    line = draw.one_of([
        called("np.zeros", [shape, dtype]), called("np.ones", [shape, dtype]), called("np.full",
        [shape, draw.one_of(["2", "2.5", "True", "x.reshape(-1)[:1]"]), dtype]),
        called("np.arange", draw.one_of([[high], [low, high], [low, high, step]]) + [dtype]), called("np.linspace",
        [low, high, f"num={draw.whole(0, 6)}", draw.one_of(["", "endpoint=False"]), dtype]),
        called("np.logspace", [low, high, f"num={draw.whole(0, 6)}", draw.one_of(["", "base=2"])]), called("np.eye",
        [str(draw.whole(0, 4)), draw.one_of(["", "M=3"]), draw.one_of(["", "k=1", "k=-1"]), dtype]),
        called("np.identity", [str(draw.whole(0, 4)), dtype]), called("np.tri",
        [str(draw.whole(0, 4)), draw.one_of(["", "M=3"]), draw.one_of(["", "k=1", "k=-1"]), dtype]),
        called("np.array",
               [draw.one_of(["[1, 2]", "[1.5, 2]", "[[1], [2]]", "[True, False]", "3", "2.5", "[]", "x", "(1, 2)",
                             "arrays['x']", "[x, x]"]), dtype]),
        called("np.zeros_like", ["x", dtype]), called("np.ones_like", ["x", dtype]), called("np.full_like",
        ["x", "3", dtype]), called("np.empty_like", ["x", dtype]) + " * 0",
        f"np.indices({draw.one_of(['(2, 3)', '(2,)', '(0, 2)'])})", "np.hanning(5)", "np.hamming(4)", "np.blackman(6)",
        "np.tril_indices(3)", "np.triu_indices(3, 1)", "np.asarray(x)",
        called("x.astype",
               [draw.one_of(["'int32'", "'float16'", "'bool'", "'uint8'", "'float64'", "int", "float", "bool"])]),
               "x.copy()", "x.tolist()", "x.item()", "float(x)", "int(x)", "bool(x)",
        "len(x)", "[v for v in x]", "x.shape, x.size, x.ndim, str(x.dtype)", "np.shape(x)", "np.result_type(x, y)",
        "np.size(x)", "np.ndim(x)", "str(x)", "repr(x)", "hash(x) and 1", "x in [1]"])
    return line.split("(")[0].replace("np.", "").split("[")[0][:20], line


def chosen(draw, arrays):
    rank = arrays["x"].ndim
    axis = draw.one_of(["", f"axis={draw.whole(-rank, max(rank - 1, 0))}", "axis=None"])
    places = draw.one_of(["np.array([0, 1, -1])", "[0]", "0", "np.array([[0], [1]])", "np.array([9])"])
    line = draw.one_of([
        called("np.take", ["x", places, axis, draw.one_of(["mode='clip'", "mode='wrap'", ""])]),
        "np.where(x > 0, x, y)", "np.where(x, 1, 0)", "np.where(x > 0, 2.5, x)", "np.where(x > 1)", "np.nonzero(x)",
        "np.argwhere(x)",
        "np.flatnonzero(x)", "x.nonzero()", called("np.sort", ["x", axis]), called("np.argsort", ["x + 0 * x", axis]),
        f"np.unique(x, return_index={draw.chance(0.5)}, return_counts={draw.chance(0.5)}, return_inverse=False)",
        "np.unique(x)", called("np.clip", ["x", draw.one_of(["0", "None", "-1.5"]), draw.one_of(["2", "None", "1.5"])]),
        "np.bincount(abs(z.reshape(-1)).astype('int64'))", "np.histogram(x, bins=4, range=(-3, 3))",
        f"np.percentile(x, {draw.one_of(['50', '30', '[10, 90]'])})", called("np.quantile",
        ["x", "0.3", axis, draw.one_of(["", "keepdims=True"])]), "np.searchsorted(np.sort(z.reshape(-1)), x)",
        "np.isin(x, y)", "np.in1d(x, y)",
        "np.array_equal(x, y)", "np.allclose(x, y)", "np.isclose(x, y)", "np.may_share_memory(x, x)",
        "np.shares_memory(x, y)", "np.tensordot(x, x, axes=0)", "np.tensordot(x, x, axes=1)",
        f"np.tensordot(x, x, axes=([{0}], [0]))",
        "np.einsum('...i,...i->...', x, x)", "np.einsum('i...->...', x)", "np.einsum('ij,ij', x, x)",
        "np.einsum('ij->ji', x)", "np.cross(x, x)", "np.around(x, 1)", "np.round(x, 0)", "np.nan_to_num(x / 0)",
        "np.interp(x, [0, 1, 2], [3, 4, 5])",
        "np.linalg.norm(x)", called("np.linalg.norm", ["x", axis, draw.one_of(["", "keepdims=True"])]),
        "np.polyval(z.reshape(-1), x)", "np.compress([True], x, axis=0)", "np.choose(x, [x])",
        "np.select([x > 0], [x])",
        "np.partition(x, 0)", "np.lexsort((x,))", "np.fill_diagonal(x, 3)",
        "np.apply_along_axis(lambda v: v.sum(), 0, x)", "np.piecewise(x, [x > 0], [1])", "np.unravel_index(3, (2, 3))",
        "np.ravel_multi_index((1, 2), (2, 3))"])
    return line.split("(")[0].replace("np.", "", 1), line


def method(draw, arrays):
    rank = arrays["x"].ndim
    axis = f"axis={draw.whole(-rank, max(rank - 1, 0))}"
    line = draw.one_of([
        f"x.take(np.array([0]), {axis})", f"x.repeat(2, {axis})", "x.clip(0, 2)", "x.round()", "x.squeeze()",
        "x.swapaxes(0, -1)", f"x.argsort({axis})", f"\nx.sort({axis}); r = x", "\nx.fill(3); r = x",
        "-x", "+x", "abs(x)", "~x", "x.dot(y)", "divmod(x, 2)", "x.std()", "x.var()", "x.ravel()", "x.diagonal()",
        "x.trace()", "x.nonzero()", "x.any()", "x.cumsum()", "x.all()", "x.as_nd_ndarray().as_np_ndarray()",
        "x.reshape_view(-1)", "x.slice_assign_scalar(3, 0, 1, 1)", "x.broadcast_to((2,) + x.shape)",
        "x.reshape(-1, order='C')", "x.reshape(-1, order='F')", "x.flatten('F')", "x.astype('int32', copy=False)",
        "x.view", "x.flags", "x.strides",
        "x.nbytes", "x.itemsize", "x.base is None", "\nx[:] = y; r = x", "\nx[0] = y; r = x", "\nx[x > 0] = 1; r = x",
        "\nx[...] = 2.5; r = x", "\nx[None] = 3; r = x", "\nx.itemset(0, 3); r = x", "\nx.put([0], [3]); r = x",
        "x.max(axis=-1, keepdims=True)", "x.mean(axis=(0, 1))", "x.tobytes()", "x.tostring()", "x == None", "x != None",
        "x is None"])
    return "ndarray " + line.strip().replace("x.", "").split("(")[0][:20], line
