# SPDX-License-Identifier: Apache-2.0
"""Operators on random sparse arrays against NumPy: results, storage types, gradients and updates; their products in
test_ops_sparse_products.py.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_sparse.py
"""
import numpy as np
import pytest

from op_calls import ADD, Failure
from sparse_calls import Sparse, SparseLibrary, csr, dense_of, row_sparse
from sparse_checks import check, draw, draw_rows, draw_shape, laid_out

LIBRARY = SparseLibrary
SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_functions_that_keep_zero_keep_the_layout(mx, seed, stype):
    rng = np.random.default_rng(seed)
    x = draw(rng, draw_shape(rng))
    functions = {"abs": np.abs, "square": np.square, "sign": np.sign, "tanh": np.tanh, "expm1": np.expm1,
                 "relu": lambda a: np.maximum(a, 0), "negative": np.negative, "_copy": lambda a: a}
    for name, function in functions.items():
        check(mx, mx.run(name, laid_out(stype, x))[0], function(x), stype)
    check(mx, mx.run("_mul_scalar", laid_out(stype, x), scalar=2.5)[0], x * np.float32(2.5), stype)
    check(mx, mx.run("_plus_scalar", laid_out(stype, x), scalar=1)[0], x + 1)
    check(mx, mx.run("clip", laid_out(stype, x), a_min=-1, a_max=1)[0], np.clip(x, -1, 1), stype)
    check(mx, mx.run("clip", laid_out(stype, x), a_min=1, a_max=2)[0], np.clip(x, 1, 2))
    check(mx, mx.run("_greater_scalar", laid_out(stype, x), scalar=1)[0], (x > 1).astype(x.dtype), stype)
    check(mx, mx.run("exp", laid_out(stype, x))[0], np.exp(x), tolerance=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_and_products_of_all_layouts(mx, seed):
    rng = np.random.default_rng(seed)
    shape = draw_shape(rng)
    dtype = rng.choice(["float32", "float64", "int32"])
    a, b = draw_rows(rng, shape, dtype), draw_rows(rng, shape, dtype)
    result = {("row_sparse", "row_sparse"): ("row_sparse", "row_sparse"), ("csr", "csr"): ("csr", "csr"),
              ("default", "row_sparse"): ("default", "row_sparse"), ("row_sparse", "default"): ("default", "row_sparse"),
              ("default", "csr"): ("default", "csr"), ("csr", "default"): ("default", "csr"),
              ("row_sparse", "csr"): ("default", "default"), ("csr", "row_sparse"): ("default", "default")}
    for (lhs, rhs), (of_sum, of_product) in result.items():
        x, y = laid_out(lhs, a), laid_out(rhs, b)
        check(mx, mx.run("elemwise_add", x, y)[0], a + b, of_sum)
        check(mx, mx.run("elemwise_sub", x, y)[0], a - b, of_sum)
        check(mx, mx.run("elemwise_mul", x, y)[0], a * b, of_product)
        both = lhs if lhs == rhs else "default"
        check(mx, mx.run("_maximum", x, y)[0], np.maximum(a, b), both)


@pytest.mark.parametrize("seed", SEEDS)
def test_row_sparse_arrays_of_any_rank_add_up(mx, seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 9)), 3, 2)
    arrays = [draw_rows(rng, shape) for _ in range(int(rng.integers(1, 5)))]
    total = np.sum(arrays, axis=0, dtype="float32")
    check(mx, mx.run("add_n", *map(row_sparse, arrays), num_args=len(arrays))[0], total, "row_sparse")
    check(mx, mx.run("add_n", arrays[0], *map(row_sparse, arrays[1:]), num_args=len(arrays))[0], total)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_csr_matrix_scales_by_rows_and_columns(mx, seed):
    rng = np.random.default_rng(seed)
    rows, columns = draw_shape(rng)
    x = draw(rng, (rows, columns))
    for other in ((rows, columns), (1, columns), (rows, 1), (1, 1), (columns,)):
        y = draw(rng, other, density=1) + 10
        check(mx, mx.run("broadcast_mul", csr(x), y)[0], x * y, "csr")
        check(mx, mx.run("broadcast_div", csr(x), y)[0], x / y, "csr")
        check(mx, mx.run("broadcast_add", csr(x), y)[0], x + y)
    row, column = draw(rng, (1, columns)), draw(rng, (rows, 1))
    check(mx, mx.run("broadcast_mul", csr(row), x)[0], row * x, "csr")
    check(mx, mx.run("broadcast_mul", csr(column), x)[0], column * x, "csr")


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_of_sparse_arrays_over_axes_are_numpys(mx, seed):
    rng = np.random.default_rng(seed)
    x = draw(rng, draw_shape(rng))
    rows = draw_rows(rng, (int(rng.integers(1, 9)), 3, 4))
    for keepdims in (False, True):
        for axis in (0, 1, -1, (0, 1)):
            check(mx, mx.run("sum", csr(x), axis=axis, keepdims=keepdims)[0], np_shape(x.sum(axis, keepdims=keepdims)))
            check(mx, mx.run("mean", csr(x), axis=axis, keepdims=keepdims)[0], np_shape(x.mean(axis, keepdims=keepdims)))
        for axis in (0, 1, 2, (0, 2), (1, 2)):
            want = np_shape(rows.sum(axis, keepdims=keepdims))
            check(mx, mx.run("sum", row_sparse(rows), axis=axis, keepdims=keepdims)[0], want, tolerance=1e-4)
    check(mx, mx.run("sum", csr(x), axis=0, exclude=True)[0], x.sum(1))
    check(mx, mx.run("_square_sum", row_sparse(x), axis=1, keepdims=True)[0], (x * x).sum(1, keepdims=True), "row_sparse")
    check(mx, mx.run("norm", csr(x))[0], np.linalg.norm(x).reshape(1).astype("float32"))
    check(mx, mx.run("norm", row_sparse(rows), ord=1)[0], np.abs(rows).sum().reshape(1), tolerance=1e-4)


def np_shape(result):
    return result.reshape(1) if result.ndim == 0 else result


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_matrices(mx, seed):
    rng = np.random.default_rng(seed)
    rows, columns = draw_shape(rng)
    x, y = draw(rng, (rows, columns)), draw(rng, (int(rng.integers(1, 9)), columns))
    first, last = sorted(map(int, rng.integers(0, rows, 2)))
    left, right = sorted(map(int, rng.integers(0, columns, 2)))
    got = mx.run("slice", csr(x), begin=(first - rows, left), end=(last + 1, right + 1))[0]
    check(mx, got, x[first:last + 1, left:right + 1], "csr")
    check(mx, mx.run("slice", csr(x), begin=f"(None, {left})", end=f"(None, {right + 1})")[0], x[:, left:right + 1], "csr")
    check(mx, mx.run("Concat", csr(x), csr(y), csr(x), dim=0, num_args=3)[0], np.concatenate([x, y, x]), "csr")
    ids = rng.integers(-2 * rows, 2 * rows, 5)
    check(mx, mx.run("take", csr(x), ids, mode="clip")[0], x[np.clip(ids, 0, rows - 1)], "csr")
    check(mx, mx.run("take", csr(x), ids.astype("float32"), mode="wrap")[0], x[ids % rows], "csr")
    a, b = draw(rng, x.shape, density=1), draw(rng, x.shape, density=1)
    check(mx, mx.run("where", csr(x), a, b)[0], np.where(x != 0, a, b))
    check(mx, mx.run("_contrib_getnnz", csr(x))[0], np.array([(x != 0).sum()]))
    for axis in (0, 1):
        check(mx, mx.run("_contrib_getnnz", csr(x), axis=axis)[0], (x != 0).sum(axis))


@pytest.mark.parametrize("seed", SEEDS)
def test_any_byte_but_0_of_a_csr_condition_holds(mx, seed):
    """As many places were noted as the sum of the bytes, outside of the list of them."""
    rng = np.random.default_rng(seed)
    byte = (rng.integers(0, 256, (60, 40)) * rng.integers(0, 2, (60, 40))).astype("uint8")
    x, y = rng.normal(size=byte.shape).astype("float32"), rng.normal(size=byte.shape).astype("float32")
    check(mx, mx.run("where", csr(byte.view("bool")), x, y)[0], np.where(byte != 0, x, y))


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_of_sums_of_squares_have_the_rows_of_the_array(mx, seed, axis):
    rng = np.random.default_rng(seed)
    x = draw_rows(rng, draw_shape(rng))
    for keepdims in (False, True):
        small = np_shape((x * x).sum(axis, keepdims=keepdims)).shape
        head = draw_rows(rng, small) if keepdims and axis == 1 else draw(rng, small, density=1)
        want = 2 * x * (head if axis != 1 else head.reshape(-1, 1))
        for laid in (head, row_sparse(head)) if keepdims and axis == 1 else (head,):
            got = mx.gradient("_square_sum", [row_sparse(x)], laid, 0, "row_sparse", axis=axis, keepdims=keepdims)
            check(mx, got, want, "row_sparse")


def test_gradients_of_a_sparse_column_of_sums_of_squares_have_the_rows_of_both(mx):
    """Weights of factorization machines store all rows, a batch reads a few: updates leave the others alone."""
    x = np.arange(1, 13, dtype="float32").reshape(6, 2)
    x[3] = 0
    head = np.array([[0], [1], [0], [2], [0], [3]], "float32")
    got = mx.gradient("_square_sum", [row_sparse(x)], row_sparse(head), 0, "row_sparse", axis=1, keepdims=True)
    assert got.aux[0].tolist() == [1, 5]
    check(mx, got, 2 * x * head, "row_sparse")


@pytest.mark.parametrize("keepdims", [False, True])
def test_gradients_of_sums_of_squares_whose_head_stores_nothing_are_zero(mx, keepdims):
    x = np.ones((5, 3), "float32")
    head = np.zeros((1, 3) if keepdims else 3, "float32")
    got = mx.gradient("_square_sum", [row_sparse(x)], row_sparse(head), 0, "row_sparse", axis=0, keepdims=keepdims)
    check(mx, got, np.zeros_like(x), "row_sparse")


@pytest.mark.parametrize("seed", SEEDS)
def test_retained_rows_and_their_gradient(mx, seed):
    rng = np.random.default_rng(seed)
    shape = draw_shape(rng)
    x = draw_rows(rng, shape)
    kept = rng.integers(0, shape[0], 5).astype(rng.choice(["float32", "int64", "int32"]))
    mask = np.isin(np.arange(shape[0]), kept)[:, None]
    check(mx, mx.run("_sparse_retain", row_sparse(x), kept)[0], x * mask, "row_sparse")
    head = draw(rng, shape, density=1)
    check(mx, mx.gradient("_sparse_retain", [row_sparse(x), kept], head, 0, "row_sparse"), head * mask, "row_sparse")
    with pytest.raises(Failure, match="expected 0 <= row"):
        mx.run("_sparse_retain", row_sparse(x), np.array([shape[0]]))


@pytest.mark.parametrize("seed", SEEDS)
def test_embeddings_of_sparse_tables_and_their_gradients(mx, seed):
    rng = np.random.default_rng(seed)
    rows, width = draw_shape(rng)
    table = draw_rows(rng, (rows, width))
    ids = rng.integers(-1, rows + 1, (3, 4))
    clipped = np.clip(ids, 0, rows - 1)
    sizes = {"input_dim": rows, "output_dim": width}
    check(mx, mx.run("_contrib_SparseEmbedding", ids, row_sparse(table), **sizes)[0], table[clipped])
    check(mx, mx.run("Embedding", ids, row_sparse(table), **sizes)[0], table[clipped])
    head = draw(rng, (3, 4, width), density=1)
    want = np.zeros_like(table)
    np.add.at(want, clipped.ravel(), head.reshape(-1, width))
    got = mx.gradient("Embedding", [ids, table], head, 1, "row_sparse", sparse_grad=True, **sizes)
    check(mx, got, want, "row_sparse")
    np.testing.assert_array_equal(got.aux[0], np.unique(clipped))
    check(mx, mx.gradient("_contrib_SparseEmbedding", [ids, table], head, 1, np.ones_like(table), ADD, **sizes), want + 1)


UPDATES = {
    "sgd_update": (0, {"lr": 0.5, "wd": 0.1, "rescale_grad": 0.5, "clip_gradient": 1}),
    "sgd_mom_update": (1, {"lr": 0.5, "momentum": 0.9, "wd": 0.1}),
    "adam_update": (2, {"lr": 0.5, "wd": 0.1, "clip_gradient": 2}),
    "_sparse_adagrad_update": (1, {"lr": 0.5}),
    "_contrib_group_adagrad_update": (1, {"lr": 0.5}),
    "ftrl_update": (2, {"lr": 0.5, "wd": 0.1}),
}


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("seed", SEEDS)
def test_lazy_updates_change_the_rows_that_have_a_gradient(mx, seed, name):
    """The dense operator on those rows alone is what a lazy update is."""
    rng = np.random.default_rng(seed)
    count, attrs = UPDATES[name]
    shape = (int(rng.integers(2, 60)), int(rng.integers(1, 9)))
    weight, grad = draw(rng, shape, density=1) + 10, draw_rows(rng, shape)
    columns = 1 if "group" in name else shape[1]
    states = [np.abs(draw(rng, (shape[0], columns), density=1)) for _ in range(count)]
    rows = row_sparse(grad).aux[0]
    # ftrl computes dense weights from the states of all rows.
    for layout in ("default", "row_sparse"):
        all_rows = name == "ftrl_update" and layout == "default"
        chosen = np.arange(shape[0]) if all_rows else rows
        want = [weight.copy(), *(s.copy() for s in states)]
        if chosen.size:
            part = [mx.array(a[chosen]) for a in (weight, grad, *states)]
            mx.invoke(name, part, out=[part[0]], **attrs)
            for i, handle in enumerate([part[0], *part[2:]]):
                want[i][chosen] = mx.numpy(handle)
            mx.free(*part)
        handles = [mx.array(laid_out(layout, weight)), mx.array(row_sparse(grad)), *(mx.array(laid_out(layout, s)) for s in states)]
        mx.invoke(name, handles, out=[handles[0]], **attrs)
        for handle, expected in zip([handles[0], *handles[2:]], want):
            check(mx, mx.numpy(handle), expected, layout, 1e-6)
        mx.free(*handles)


@pytest.mark.parametrize("name", ["sgd_update", "sgd_mom_update", "adam_update"])
def test_updates_that_are_not_lazy_treat_missing_rows_as_zeros(mx, name):
    rng = np.random.default_rng(3)
    count, attrs = UPDATES[name]
    weight, grad = draw(rng, (9, 4), density=1), draw_rows(rng, (9, 4))
    states = [np.abs(draw(rng, (9, 4), density=1)) for _ in range(count)]
    results = []
    for given in (grad, row_sparse(grad)):
        handles = [mx.array(a) for a in (weight, given, *states)]
        made = mx.invoke(name, handles, lazy_update=False, **attrs)
        results.append([mx.numpy(h) for h in (*made, *handles[2:])])
        check(mx, mx.numpy(handles[0]), weight)
        mx.free(*handles, *made)
    for dense, sparse in zip(*results):
        np.testing.assert_array_equal(dense, sparse)


@pytest.mark.parametrize("name, weight, states", [
    ("sgd_mom_update", "row_sparse", ["default"]),
    ("sgd_mom_update", "default", ["row_sparse"]),
    ("adam_update", "row_sparse", ["default", "default"]),
    ("adam_update", "row_sparse", ["row_sparse", "default"]),
    ("ftrl_update", "row_sparse", ["default", "row_sparse"]),
    ("ftrl_update", "default", ["row_sparse", "row_sparse"]),
])  # fmt: skip
def test_updates_of_states_that_are_stored_otherwise_than_the_weight_are_not_lazy(mx, name, weight, states):
    rng = np.random.default_rng(4)
    count, attrs = UPDATES[name]
    arrays = [draw(rng, (9, 4), density=1), draw_rows(rng, (9, 4)), *(np.abs(draw(rng, (9, 4), density=1)) for _ in range(count))]
    results = []
    for layout in (("default",) * (2 + count), (weight, "row_sparse", *states)):
        handles = [mx.array(laid_out(kind, a)) for kind, a in zip(layout, arrays)]
        mx.invoke(name, handles, out=[handles[0]], **attrs)
        results.append([dense_of(mx.numpy(h)) for h in handles])
        mx.free(*handles)
    for dense, sparse in zip(*results):
        np.testing.assert_allclose(sparse, dense, 1e-6, 1e-6)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("gradient, out", [("weight", "weight"), ("state", "weight"), ("gradient", "gradient"), ("gradient", "state")])
def test_arrays_of_an_update_may_be_one(mx, gradient, out, lazy):
    """Weight and state store all rows afterwards: what was in their place is no longer read."""
    dense = {name: np.full((5, 3), value, "float32") for name, value in (("weight", 1), ("gradient", 4), ("state", 8))}
    for array in dense.values():
        array[::2] = 0
    arrays = {name: mx.array(row_sparse(array)) for name, array in dense.items()}
    mx.invoke("sgd_mom_update", [arrays["weight"], arrays[gradient], arrays["state"]], [arrays[out]], lr=0.5, momentum=0.5, lazy_update=lazy)
    state = dense["state"] / 2 - dense[gradient] / 2
    want = {"weight": dense["weight"], "state": state, out: dense["weight"] + state}
    for name, array in want.items():
        np.testing.assert_array_equal(mx.numpy(arrays[name]).dense(), array, name)
    mx.free(*arrays.values())


def test_operators_on_graphs_keep_edges_and_numbers(mx):
    rng = np.random.default_rng(5)
    graph = np.where(rng.random((9, 9)) < 0.4, np.arange(1, 82).reshape(9, 9), 0).astype("int64")
    u, v = rng.integers(0, 9, 20), rng.integers(0, 9, 20)
    check(mx, mx.run("_contrib_edge_id", csr(graph), u, v)[0], np.where(graph[u, v] != 0, graph[u, v], -1))
    check(mx, mx.run("_contrib_edge_id", csr(graph), np.array([9, -1]), np.array([0, 0]))[0], np.array([-1, -1]))
    check(mx, mx.run("_contrib_dgl_adjacency", csr(graph))[0], (graph != 0).astype("float32"), "csr")
    vertices = np.array([1, 4, 5, 8])
    new, old = mx.run("_contrib_dgl_subgraph", csr(graph), vertices, num_args=2, return_mapping=True)
    check(mx, old, graph[np.ix_(vertices, vertices)], "csr")
    np.testing.assert_array_equal(new.data, np.arange(new.data.size))
    with pytest.raises(Failure, match="ascending"):
        mx.run("_contrib_dgl_subgraph", csr(graph), vertices[::-1], num_args=2, return_mapping=True)
    with pytest.raises(Failure, match="expected a csr one"):
        mx.run("_contrib_dgl_adjacency", graph)


@pytest.mark.parametrize("weighted", [False, True])
def test_sampled_neighbourhoods_are_parts_of_the_graph(mx, weighted):
    rng = np.random.default_rng(7)
    graph = np.where(rng.random((30, 30)) < 0.3, np.arange(1, 901).reshape(30, 30), 0).astype("int64")
    weights = (np.arange(30) % 3).astype("float32")  # every third vertex is never chosen
    seeds, most, attrs = np.array([4, 2]), 12, {"num_hops": 2, "num_neighbor": 3, "max_num_vertices": 12}
    name = "_contrib_dgl_csr_neighbor_" + ("non_uniform_sample" if weighted else "uniform_sample")

    def draw_sample():
        mx.call("MXRandomSeed", 11)
        inputs = [csr(graph), *([weights] if weighted else []), seeds]
        return mx.run(name, *inputs, num_args=len(inputs), **attrs)

    sample = draw_sample()
    vertices, edges, layers = sample[0], sample[1], sample[-1]
    count = vertices[most]
    assert 2 <= count <= most
    assert set(seeds) <= set(vertices[:count]) and (np.diff(vertices[:count]) > 0).all() and (vertices[count:most] == -1).all()
    followed = np.zeros((most, 30), "int64")
    followed[:count] = edges.dense()[:count]
    assert ((followed == 0) | (followed == np.vstack([graph[vertices[:count]], np.zeros((most - count, 30), "int64")]))).all()
    assert (followed != 0).sum(axis=1).max() <= 3 and set(np.nonzero(followed)[1]) <= set(vertices[:count])
    assert set(layers[:count]) <= {0, 1, 2} and (layers[:count][np.isin(vertices[:count], seeds)] == 0).all()
    if weighted:
        np.testing.assert_array_equal(sample[2][:count], weights[vertices[:count]])
        assert (weights[np.nonzero(followed)[1]] > 0).all()
    for first, second in zip(sample, draw_sample()):
        np.testing.assert_array_equal(dense_of(first), dense_of(second))
    new, old = mx.run("_contrib_dgl_graph_compact", edges, vertices, num_args=2, return_mapping=True, graph_sizes=f"({count},)")
    check(mx, old, followed[:count][:, vertices[:count]], "csr")
    np.testing.assert_array_equal(new.data, np.arange(new.data.size))


def test_casts_between_layouts(mx):
    rng = np.random.default_rng(6)
    for dtype in ("float32", "float64", "float16", "int32", "uint8", "int64"):
        x = np.abs(draw(rng, (7, 5))).astype(dtype)
        for stype in ("default", "row_sparse", "csr"):
            check(mx, mx.run("cast_storage", x, stype=stype)[0], x, stype)
            check(mx, mx.run("cast_storage", laid_out(stype, x), stype="default")[0], x)
    with pytest.raises(Failure, match="expected default on one side"):
        mx.run("cast_storage", row_sparse(x), stype="csr")


@pytest.mark.parametrize("shape, axis", [((0, 3), 0), ((3, 0), 1), ((0, 3), "()")])
def test_means_of_nothing_are_those_of_dense_arrays(mx, shape, axis):
    for dtype in ("int32", "uint8", "int64", "float32"):
        nothing = np.zeros(shape, dtype)
        np.testing.assert_array_equal(mx.run("mean", csr(nothing), axis=axis)[0], mx.run("mean", nothing, axis=axis)[0])


@pytest.mark.parametrize("columns", [[0, 0, 7], [0, 5, 1], [2, -1, 0]])
@pytest.mark.parametrize("op", ["elemwise_add", "elemwise_mul", "_maximum"])
def test_columns_that_are_wrong_leave_the_result_as_it_was(mx, op, columns):
    kept = draw(np.random.default_rng(7), (2, 5), density=0.5)
    wrong = Sparse("csr", (2, 5), np.ones(3, "float32"), [np.array([0, 2, 3]), np.array(columns)])
    handles = [mx.array(array) for array in (csr(kept), wrong, csr(kept))]
    with pytest.raises(Failure, match=op):
        mx.invoke(op, handles[:2], handles[2:])
        mx.call("MXNDArrayWaitToRead", handles[2])
    check(mx, mx.numpy(handles[2]), kept, "csr")
    mx.free(*handles)


def test_empty_sparse_arrays_are_zeros(mx):
    zeros = np.zeros((3, 4), "float32")
    ones = np.ones((4, 2), "float32")
    for stype in ("row_sparse", "csr"):
        empty = laid_out(stype, zeros)
        check(mx, mx.run("elemwise_add", empty, empty)[0], zeros, stype)
        check(mx, mx.run("abs", empty)[0], zeros, stype)
        check(mx, mx.run("sum", empty)[0], np.zeros(1, "float32"))
        check(mx, mx.run("norm", empty)[0], np.zeros(1, "float32"))
    check(mx, mx.run("dot", csr(zeros), ones)[0], zeros @ ones)
    check(mx, mx.run("dot", csr(zeros), np.ones((3, 2), "float32"), transpose_a=True)[0], np.zeros((4, 2), "float32"), "row_sparse")
    never_filled = Sparse("row_sparse", (3, 4), np.zeros((0, 4), "float32"), [np.zeros(0, "int64")])
    check(mx, mx.run("elemwise_mul", never_filled, row_sparse(zeros + 1))[0], zeros, "row_sparse")
