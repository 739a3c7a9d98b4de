# SPDX-License-Identifier: Apache-2.0
"""Parts of arrays read and written, and types that come out of two types."""
from registry import lines, program

TYPES = ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64")


def attempts(cases, make, np):
    """The value of each case with an array of its own; "raises" where it does."""
    results = {}
    for name, act in cases.items():
        array = make()
        try:
            given = act(array)
            results[name] = array.copy() if given is None else given
            results[name].wait_to_read()
        except Exception:
            results[name] = "raises"
    return results


def setter(key, value):
    def act(array):
        array[key] = value
    return act


@program()
def arrays_written_in_parts(mx, np):
    def nd(*numbers, dtype="int32"):
        return mx.nd.array(numbers, dtype=dtype)

    keys = {"int": 1, "negative": -1, "slice": slice(0, 2), "steps": slice(None, None, 2), "backwards": slice(None, None, -1),
            "tuple": (1, 2), "mixed": (slice(None), 1), "ellipsis": (Ellipsis, 0), "list": [0, 2], "array": nd(2, 0),
            "floats": nd(1, 2, dtype="float32"), "pair": ([0, 1], [1, 2]), "array_pair": (nd(0, 2), nd(1, 1)), "list_slice": ([0, 2], slice(1, 3)),
            "slice_list": (slice(0, 2), [3, 1]), "new": (None, 1), "numpy": np.array([0, 1]), "empty": slice(2, 2), "outside": 7,
            "too_many": (0, 0, 0, 0), "int_list": (1, [0, 2]), "backwards_part": (slice(2, 0, -1), slice(3, None, -2))}
    results = {}
    for name, key in keys.items():
        for kind, value in (("number", 9), ("array", lambda part: mx.nd.arange(part.size).reshape(part.shape) + 50),
                            ("numpy", lambda part: np.full(part.shape, 7)), ("row", np.array([1, 2, 3, 4]))):
            array = mx.nd.arange(12).reshape((3, 4))
            try:
                given = value(array[key]) if callable(value) else value
                array[key] = given
                array.wait_to_read()
                results[f"{name}/{kind}"] = array
            except Exception:
                results[f"{name}/{kind}"] = "raises"
    return results


@program()
def arrays_read_in_parts(mx, np):
    x = mx.nd.arange(24).reshape((2, 3, 4))
    return lines("""
        x[0]
        x[-1, 1]
        x[:, ::2]
        x[..., 1]
        x[1, ..., 2]
        x[:, None, 1]
        x[[0, 1], [2, 0]]
        x[[0, 1], [2, 0], [3, 1]]
        x[:, [2, 0]]
        x[[1, 0], :, [3, 2]]
        x[mx.nd.array([1, 0])]
        x[mx.nd.array([[1, 0], [0, 1]], dtype="int32")]
        x[::-1, ::-2]
        x[1:1]
        x[5:7]
        x[2]
        x[0, 0, 0]
        x[0][1][2]
        x[True]
        x[1.5]
        x[np.int64(1)]
        x[:, 1:3, 2:3]
        x[(0, slice(1, 3))]
        x[np.array([0, 1]), 1]
        x.slice_axis(axis=2, begin=-2, end=None)
        x[None]
        x[..., None]
        x["a"]
    """, x=x, mx=mx, np=np)


@program()
def numpy_arrays_written_in_parts(mx, np):
    cases = {"mask": setter(slice(0, 2), 5), "row": setter(1, np.array([1, 2, 3, 4])), "column": setter((slice(None), 2), 8),
             "pairs": setter(([0, 1], [2, 3]), 6), "backwards": setter(slice(None, None, -1), np.arange(12).reshape(3, 4)),
             "new": setter((None, 1), 4), "ellipsis": setter((Ellipsis, slice(1, 3)), 3), "empty": setter(slice(1, 1), 9),
             "outside": setter(5, 1), "wrong": setter(0, np.ones(3)), "float": setter((0, 0), 2.75),
             "boolean": lambda a: a.__setitem__(a > 5, 0), "booleans_row": lambda a: a.__setitem__(mx.np.array([True, False, True]), -1),
             "by_array": lambda a: a.__setitem__(mx.np.array([2, 0], dtype="int64"), 7),
             "read_mask": lambda a: a[a % 2 == 0], "read_list": lambda a: a[[2, 0, 2]], "read_grid": lambda a: a[mx.np.array([[0, 1]]), 1],
             "read_scalar": lambda a: a[1, 1], "read_new": lambda a: a[:, None, ::2]}
    return attempts(cases, lambda: mx.np.arange(12).reshape(3, 4), np)


@program()
def types_of_two_numpy_arrays(mx, np):
    results = {}
    for first in TYPES:
        for second in TYPES:
            a, b = mx.np.array([1, 0, 1], dtype=first), mx.np.array([1, 1, 1], dtype=second)
            for name in ("add", "subtract", "multiply", "true_divide", "power", "mod", "maximum", "less", "equal"):
                try:
                    made = getattr(mx.np, name)(a, b)
                    made.wait_to_read()
                    results[f"{name} {first} {second}"] = made
                except Exception:
                    results[f"{name} {first} {second}"] = "raises"
    return results


@program()
def types_of_arrays_and_numbers(mx, np):
    results = {}
    for kind in TYPES:
        for module in (mx.np, mx.nd):
            for number in (2, 2.5, True):
                array = module.array([1, 0, 1], dtype=kind)
                for name, act in (("+", lambda a, n: a + n), ("*", lambda a, n: a * n), ("/", lambda a, n: a / n), ("r-", lambda a, n: n - a),
                                  ("**", lambda a, n: a ** n), (">", lambda a, n: a > n), ("r/", lambda a, n: n / (a + 1))):
                    try:
                        made = act(array, number)
                        made.wait_to_read()
                        results[f"{module.__name__} {name} {kind} {number}"] = made
                    except Exception:
                        results[f"{module.__name__} {name} {kind} {number}"] = "raises"
    return results


@program(1e-3)  # one place of float16
def sums_and_means_by_type(mx, np):
    results = {}
    for kind in TYPES:
        x = mx.np.array([[1, 0, 1], [1, 1, 1]], dtype=kind)
        for name in ("sum", "mean", "prod", "max", "argmax", "cumsum", "std", "var", "any", "all"):
            try:
                made = getattr(mx.np, name)(x, axis=1)
                made.wait_to_read()
                results[f"{name} {kind}"] = made
            except Exception:
                results[f"{name} {kind}"] = "raises"
    return results


@program()
def places_that_are_not_zero(mx, np):
    x = mx.np.array([[1.0, 0, 2], [0, 0, 3]])
    return lines("""
        mx.npx.nonzero(x)
        mx.np.nonzero(x)
        mx.npx.index_add(x, mx.np.array([[0, 1], [1, 2]]), mx.np.array([5.0, 6.0]))
        mx.npx.index_update(x, mx.np.array([[0, 1], [1, 2]]), mx.np.array([5.0, 6.0]))
        mx.npx.gather_nd(x, mx.np.array([[0, 1], [2, 2]]))
        mx.npx.pick(x, mx.np.array([2, 0]), axis=1)
        mx.npx.one_hot(mx.np.array([1, 0, 2]), 3)
        mx.npx.topk(x, k=2, axis=1)
        mx.npx.reshape_like(x, mx.np.ones((3, 2)))
        mx.npx.arange_like(x, axis=1)
        mx.npx.sequence_mask(x, mx.np.array([1, 2, 1]), use_sequence_length=True, value=-1)
        mx.npx.batch_dot(x.reshape(1, 2, 3), x.reshape(1, 3, 2))
        mx.np.where(x > 1, x, -x)
        mx.np.take(x, mx.np.array([2, -1]), axis=1, mode="wrap")
        mx.np.unique(mx.np.array([3, 1, 3, 2]), return_index=True, return_inverse=True, return_counts=True)
        mx.np.flatnonzero(x)
        mx.np.delete(x, 1, axis=1)
        mx.np.diag_indices_from(mx.np.ones((3, 3)))
        mx.np.tril_indices(3)
        mx.np.unravel_index(mx.np.array([3, 5]), (2, 3))
    """, mx=mx, np=np, x=x)


@program()
def arithmetic_of_sparse_arrays(mx, np):
    dense = mx.nd.array([[1, 0, 2], [0, 0, 0], [0, 3, 0]])
    csr, rows = dense.tostype("csr"), dense.tostype("row_sparse")
    return lines("""
        csr + csr
        csr - csr
        csr * csr
        csr * 2
        csr / 2
        csr + 1
        csr + dense
        csr * dense
        dense - csr
        rows + rows
        rows - rows
        rows * rows
        rows * 3
        rows + dense
        rows / 2
        csr ** 2
        -csr
        abs(rows)
        csr[1]
        csr[0:2]
        csr[-1]
        rows[0:2]
        csr.sum()
        csr.sum(axis=0)
        csr.sum(axis=1)
        csr.mean(axis=1)
        rows.sum()
        mx.nd.sparse.dot(csr, dense)
        mx.nd.sparse.dot(csr, dense, transpose_a=True)
        mx.nd.sparse.dot(csr, rows)
        mx.nd.sparse.dot(dense, csr)
        mx.nd.sparse.dot(dense, csr, transpose_b=True)
        mx.nd.sparse.retain(rows, mx.nd.array([0, 1]))
        mx.nd.sparse.where(csr, dense, dense * 2)
        csr.copy()
        csr.astype("float64")
        csr.asscipy().toarray()
        csr.indices
        csr.indptr
        csr.data
        rows.indices
        rows.data
        csr.tostype("default")
        rows.tostype("csr")
        csr == csr
        csr.square()
        rows.sqrt()
        rows.clip(0, 1)
        mx.nd.concat(csr, csr, dim=0)
        mx.nd.sparse.concat(csr, csr, dim=0)
        mx.nd.sparse.add_n(rows, rows, rows)
        mx.nd.sparse.norm(csr)
        csr.asnumpy()
        mx.nd.sparse.csr_matrix(([1, 2], ([0, 1], [2, 0])), shape=(2, 3))
        mx.nd.sparse.csr_matrix(([1, 2], [2, 0], [0, 1, 2]), shape=(2, 3))
        mx.nd.sparse.csr_matrix(([1, 2], [2, 0], [0, 1]), shape=(2, 3)).check_format()
        mx.nd.sparse.row_sparse_array(([[1, 2]], [3]), shape=(5, 2))
        mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [3, 1]), shape=(5, 2)).check_format()
    """, mx=mx, np=np, dense=dense, csr=csr, rows=rows)


@program()
def draws_with_seeds(mx, np):
    names = {"uniform": (0, 1), "normal": (0, 1), "exponential": (2.0,), "poisson": (3.0,), "gamma": (2.0, 1.0),
             "negative_binomial": (3, 0.5), "generalized_negative_binomial": (2.0, 0.5), "randint": (0, 10)}
    results = {}
    for name, given in names.items():
        drawn = []
        for seed in (3, 3, 4):
            mx.random.seed(seed)
            drawn.append(getattr(mx.nd.random, name)(*given, shape=(1000,)).asnumpy())
        results[name] = [bool((drawn[0] == drawn[1]).all()), bool((drawn[0] == drawn[2]).all()), str(drawn[0].dtype),
                         bool(abs(float(drawn[0].mean()) - float(drawn[2].mean())) < 0.5)]
    for name in ("uniform", "normal", "gamma", "exponential", "randn"):
        if name == "randn":
            results["randn"] = mx.nd.random.randn(2, 3).shape
            continue
        many = getattr(mx.nd.random, name)(mx.nd.array([1.0, 2.0]), **({} if name == "exponential" else {
            {"uniform": "high", "normal": "scale", "gamma": "beta"}[name]: mx.nd.array([3.0, 4.0])}), shape=(5,))
        results[f"{name} of arrays"] = [many.shape, str(many.dtype)]
    chosen, odds = mx.nd.random.multinomial(mx.nd.array([[0.0, 1.0], [1.0, 0.0]]), shape=4, get_prob=True)
    shuffled = mx.nd.random.shuffle(mx.nd.arange(10)).asnumpy()
    return [results, chosen, odds, sorted(shuffled.tolist())]
