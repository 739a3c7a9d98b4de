# SPDX-License-Identifier: Apache-2.0
"""Arrays of type csr and row_sparse: made, sliced, computed with, updated lazily and pulled by row from a store."""
import numpy as np

from . import Program

UNARY = ["abs", "sign", "round", "rint", "ceil", "floor", "trunc", "fix", "square", "sqrt", "cbrt", "expm1", "log1p",
         "relu", "sin", "tan", "tanh",
         "sinh", "arcsin", "arctan", "arcsinh", "degrees", "radians", "negative", "zeros_like", "sigmoid", "exp", "cos",
         "make_loss"]
TWO = ["elemwise_add", "elemwise_sub", "elemwise_mul", "broadcast_add", "broadcast_mul", "broadcast_sub",
       "broadcast_div", "add_n",
       "maximum", "minimum", "equal", "not_equal", "greater"]
UPDATES = [("SGD", ["learning_rate=0.1", "wd=0.01", "momentum=0.9", "lazy_update=False", "lazy_update=True",
                    "clip_gradient=0.5"]),
           ("Adam", ["learning_rate=0.1", "wd=0.01", "lazy_update=False", "lazy_update=True", "beta1=0.5",
                     "clip_gradient=0.5"]),
           ("AdaGrad", ["learning_rate=0.1", "wd=0.01", "eps=1e-4"]), ("Ftrl",
           ["learning_rate=0.1", "wd=0.01", "lamda1=0.1", "beta=0.5"]),
           ("RMSProp", ["learning_rate=0.1", "centered=True"]), ("NAG", ["momentum=0.9", "wd=0.01"]), ("Signum",
           ["momentum=0.9"])]


def made(draw, name, shape, dtype, kind):
    """An array and the line that makes it of this kind of NumPy's."""
    numbers = draw.numbers.randint(-4, 5, shape).astype(dtype)
    if kind == "row_sparse":
        numbers[draw.numbers.rand(shape[0]) < 0.5] = 0
    elif kind == "csr":
        numbers[draw.numbers.rand(*shape) < 0.6] = 0
    return numbers, f"{name} = mx.nd.array(arrays['{name}'], dtype='{dtype}').tostype('{kind}')"


def drawn(draw):
    return draw.one_of([values, values, products, updates, pulled, parts])(draw)


def values(draw):
    dtype = draw.one_of(["float32", "float32", "float64", "float16", "int32"])
    shape = draw.shape(2, 2, 6)
    kinds = [draw.one_of(["csr", "row_sparse", "row_sparse", "default"]) for _ in range(2)]
    arrays, lines = {}, []
    for name, kind in zip("xy", kinds):
        other = shape if name == "x" or draw.chance(0.8) else (1, shape[1])
        arrays[name], line = made(draw, name, other, dtype, kind)
        lines.append(line)
    op, two = draw.one_of(UNARY), draw.one_of(TWO)
    scalar = draw.one_of(["x * 2", "x + 1", "x / 2", "2 / (x + 9)", "x - 0.5", "x ** 2", "x == 0", "x > 1", "-x",
                          "x.sum()", "mx.nd.sum(x, axis=0)", "mx.nd.norm(x)",
                          "mx.nd.sum(x, axis=1)", "mx.nd.mean(x, axis=0)", "mx.nd.clip(x, -1, 1)",
                          "mx.nd.where(x, x * 2, x * 3)", "x.astype('float64')", "x.copy()",
                          "mx.nd.sparse.retain(x, mx.nd.array([0], dtype='int64'))", "x.tostype('default')",
                          "x.tostype('csr')", "x.tostype('row_sparse')",
                          "mx.nd.concat(x, x, dim=0)", "mx.nd.stack(x, x)",
                          "mx.nd.slice_axis(x, axis=0, begin=0, end=1)", "mx.nd.slice(x, begin=(0,), end=(1,))",
                          "mx.nd.cast_storage(x, 'csr')", "mx.nd.ones_like(x)", "mx.nd.sparse.zeros_like(x)", "x.T",
                          "mx.nd.softmax(x)"])
    steps = [("made", "r = [x, y]"), ("one",
                                      f"r = mx.nd.sparse.{op}(x) if hasattr(mx.nd.sparse, '{op}') else mx.nd.{op}(x)"),
             ("two", f"r = mx.nd.sparse.{two}(x, y) if hasattr(mx.nd.sparse, '{two}') else mx.nd.{two}(x, y)"),
             ("number", f"r = {scalar}"),
             ("onto", f"z = mx.nd.zeros(x.shape, stype='{draw.one_of(['csr', 'row_sparse', 'default'])}', dtype='{dtype}'); x.copyto(z); r = z"),
             ("as scipy", "r = x.asscipy().toarray() if x.stype == 'csr' else 0"), ("in place",
             f"x {draw.one_of(['+=', '*=', '-='])} y; r = x")]
    if dtype.startswith("float"):
        slopes = draw.one_of([f"mx.nd.{two}(x, y)", f"mx.nd.sparse.{draw.one_of(['abs', 'square', 'relu', 'sin'])}(x)"])
        kept = draw.one_of(["'default'", "None"] + (["'row_sparse'"] if kinds[0] != "csr" else []))
        steps.insert(4, ("slopes",
                         f"x.attach_grad(stype={kept})\nwith mx.autograd.record():\n    z = {slopes}\nz.backward(); r = [z, x.grad]"))
    return Program(f"sparse {'/'.join(kinds)}", "; ".join(lines), steps, arrays)


def products(draw):
    rows, inner, width = (draw.whole(1, 6) for _ in range(3))
    left, right = draw.one_of(["csr", "csr", "default", "row_sparse"]), draw.one_of(["default", "default", "row_sparse",
        "csr"])
    flips = [draw.chance(0.4), draw.chance(0.2)]
    arrays, lines = {}, []
    for name, kind, shape, flip in zip("xy", (left, right), ((rows, inner), (inner, width)), flips):
        arrays[name], line = made(draw, name, shape[::-1] if flip else shape, "float32", kind)
        lines.append(line)
    call = f"mx.nd.sparse.dot(x, y, transpose_a={flips[0]}, transpose_b={flips[1]})"
    if draw.chance(0.3):
        call = call.replace(")", f", forward_stype='{draw.one_of(['default', 'csr', 'row_sparse'])}')")
    steps = [("made", "r = [x, y]"), ("dot", f"r = {call}"),
             ("slopes",
              f"y.attach_grad(stype={draw.one_of(['None', repr('row_sparse')])})\nwith mx.autograd.record():\n    z = {call}\nz.backward(); r = y.grad"),
             ("embedding",
              "w = mx.nd.array(arrays['y']); w.attach_grad(stype='row_sparse')\nwith mx.autograd.record():\n"
              "    z = mx.nd.Embedding(mx.nd.array([[0, 0], [w.shape[0] - 1, 0]]), w, input_dim=w.shape[0], output_dim=w.shape[1], sparse_grad=True)\n"
              "z.backward(); r = [z, w.grad]")]
    return Program(f"sparse dot {left}/{right}", "; ".join(lines), steps, arrays)


def updates(draw):
    shape = draw.shape(2, 2, 6)
    name, choices = draw.one_of(UPDATES)
    dtype = draw.one_of(["float32", "float32", "float64"])
    given = {c.split("=")[0]: c for c in draw.random.sample(choices, draw.whole(1, len(choices)))}.values()
    weight, weight_kind = draw.numbers.randint(1, 9, shape).astype(dtype), draw.one_of(["default", "row_sparse",
        "row_sparse"])
    arrays, lines = {"weight": weight}, []
    for i in range(3):
        arrays[f"g{i}"], line = made(draw, f"g{i}", shape, dtype, "row_sparse")
        lines.append(line)
    steps = [("made",
              "; ".join(lines) + f"; weight = mx.nd.array(arrays['weight'], dtype='{dtype}').tostype('{weight_kind}'); r = weight\n"
              f"updater = mx.optimizer.get_updater(mx.optimizer.{name}({', '.join(given)}))")]
    steps += [(f"step {i}", f"updater(0, g{i}, weight); r = weight") for i in range(3)]
    return Program(f"sparse {name} {weight_kind}", "", steps, arrays)


def pulled(draw):
    shape = draw.shape(2, 2, 6)
    arrays, lines = {}, []
    for name in "wab":
        arrays[name], line = made(draw, name, shape, "float32", "row_sparse")
        lines.append(line)
    rows = draw.numbers.randint(0, shape[0], draw.whole(1, 5)).tolist()
    optimizer = draw.one_of(["", "s.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))",
                             "s.set_optimizer(mx.optimizer.Adam(learning_rate=0.5))"])
    steps = [("made",
              "; ".join(lines) + f"; s = mx.kv.create('{draw.one_of(['local', 'device'])}'); s.init(3, w); {optimizer or 'pass'}; r = w"),
             ("push", "s.push(3, [a, b]); o = mx.nd.zeros(w.shape, stype='row_sparse'); "
              f"s.row_sparse_pull(3, out=o, row_ids=mx.nd.array({rows}, dtype='int64')); r = o"),
             ("again", "s.push(3, b); p = [mx.nd.zeros(w.shape, stype='row_sparse') for _ in range(2)]; "
              f"s.row_sparse_pull(3, out=p, row_ids=[mx.nd.array({rows}, dtype='int64'), mx.nd.array([0], dtype='int64')]); r = p"),
             ("dense", "o = mx.nd.zeros(w.shape); s.pull(3, out=o, ignore_sparse=False); r = o")]
    return Program("sparse store", "", steps, arrays)


def parts(draw):
    """Made of parts, and read by index."""
    shape = draw.shape(2, 2, 6)
    x, line = made(draw, "x", shape, "float32", "csr")
    y, other = made(draw, "y", shape, "float32", "row_sparse")
    begin, end = draw.whole(-shape[0], shape[0] - 1), draw.whole(-shape[0], shape[0] + 1)
    row = np.flatnonzero(draw.numbers.rand(shape[0]) < 0.5).tolist()
    key = draw.one_of([f"{begin}", f"{begin}:{end}", f":{end}", f"{begin}:", ":", "0:1, 0:1", f"{begin}:{end}, 0:1"])
    dtype = draw.one_of(["None", "'float64'", "'float32'", "'int32'"])
    steps = [("made", "r = [x, y]"), ("csr part", f"r = x[{key}]"), ("rows part",
        f"r = y[{draw.one_of([':', '0', '...'])}]"),
             ("of rows",
              f"r = mx.nd.sparse.row_sparse_array((onp.ones(({len(row)}, 2)), onp.array({row}, 'int64')), shape=({shape[0]}, 2), dtype={dtype})"),
             ("of rows without shape",
              f"r = mx.nd.sparse.row_sparse_array((onp.ones(({len(row)}, 2)), {row}), dtype={dtype})"),
             ("of csr", f"r = mx.nd.sparse.csr_matrix((x.data, x.indices, x.indptr), shape=x.shape, dtype={dtype})"),
             ("of coordinates",
              f"r = mx.nd.sparse.csr_matrix((onp.array([1., 2, 3]), (onp.array([0, 0, 0]), onp.array([0, 1, 2]))), dtype={dtype})"),
             ("of dense", f"r = mx.nd.sparse.csr_matrix(arrays['x'], dtype={dtype})"), ("of array",
             f"r = mx.nd.sparse.array(x, dtype={dtype})"),
             ("of lists",
              f"r = mx.nd.sparse.row_sparse_array({draw.numbers.randint(0, 3, (2, 2)).tolist()}, dtype={dtype})"),
             ("of shape", f"r = mx.nd.sparse.zeros('{draw.one_of(['csr', 'row_sparse'])}', {shape}, dtype={dtype})"),
             ("empty", f"r = mx.nd.sparse.csr_matrix({shape}, dtype={dtype})"),
             ("about",
              "r = [str(x.dtype), str(x.indices.dtype), str(y.dtype), x.shape, x.size, x.ndim, x.stype, str(x.context)]"),
             ("write all",
              f"x[:] = {draw.one_of(['2', 'x * 2', 'y', 'onp.ones(x.shape)', 'mx.nd.ones(x.shape)'])}; r = x"),
             ("write rows",
              f"y[:] = {draw.one_of(['2', 'y * 2', 'x', 'onp.ones(x.shape)', 'mx.nd.ones(x.shape)'])}; r = y"),
             ("checked", "x.check_format(); y.check_format(); r = 1")]
    return Program("sparse parts", f"{line}; {other}", steps, {"x": x, "y": y})
