# SPDX-License-Identifier: Apache-2.0
"""Every public function of the operator modules, called without knowing what it does: the names of what
it makes, shapes and types, or that it cannot be called like that."""
from registry import program, public_names

# Not functions on arrays or symbols; or they end the process with the reference's library; or it refuses
# what makes sense (a sum of nothing, pooling without a kernel, batch_take without indices).
LEFT_OUT = ("contrib.foreach", "contrib.while_loop", "contrib.cond", "random.shuffle", "load", "save", "waitall", "Custom",
            "fromjson", "contrib.dgl_", "contrib.calibrate_entropy", "contrib.quantized_rnn", "utils.", "contrib.edge_id", "add_n", "Reshape", "InstanceNorm",
            "ElementWiseSum", "Pooling", "batch_take", "contrib.allclose",
            "set_printoptions", "contrib.quantize_asym", "multiarray.unravel_index", "unravel_index", "random.multivariate_normal",
            "resize", "contrib.backward_", "sparse.LinearReg", "sparse.LogisticReg", "sparse.MAEReg", "sparse.elemwise_add", "io.genfromtxt", "genfromtxt", "seed", "set_np", "reset_np")


def functions(module, part):
    for name in public_names(part):
        if name.startswith(LEFT_OUT):
            continue
        value = module
        try:
            for item in name.split("."):
                value = getattr(value, item)
        except AttributeError:
            continue
        if callable(value) and not isinstance(value, type):
            yield name, value


@program()
def operators_without_inputs(mx, np):
    results = {}
    for name, function in functions(mx.sym, "sym"):
        with mx.name.NameManager():
            try:
                made = function()
                results[name] = made if isinstance(made, mx.sym.Symbol) else "no symbol"
            except Exception:
                results[name] = "raises"
    return results


@program()
def operators_on_symbols(mx, np):
    results = {}
    x, y = mx.sym.var("x"), mx.sym.var("y")
    for name, function in functions(mx.sym, "sym"):
        with mx.name.NameManager():
            for inputs in ((x,), (x, y)):
                try:
                    made = function(*inputs)
                    results[f"{name}/{len(inputs)}"] = [made, [list(map(str, part)) for part in made.infer_shape_partial(
                        x=(2, 3))] if len(inputs) == 1 else 0] if isinstance(made, mx.sym.Symbol) else "no symbol"
                except Exception:
                    results[f"{name}/{len(inputs)}"] = "raises"
    return results


def results_of(function, inputs, names_only):
    made = function(*inputs)
    items = made if isinstance(made, (list, tuple)) else [made]
    for item in items:
        if hasattr(item, "wait_to_read"):
            item.wait_to_read()
    return [item.shape if names_only and hasattr(item, "shape") else item for item in items]


def sweep(module, part, inputs, only=None):
    results = {}
    for name, function in functions(module, part):
        if only is not None and not name.startswith(only):
            continue
        random = any(word in name for word in ("random", "sample", "normal", "uniform", "Dropout", "dropout"))
        for count in (1, 2, 3):
            try:
                results[f"{name}/{count}"] = results_of(function, inputs[:count], random)
            except Exception:
                results[f"{name}/{count}"] = "raises"
    return results


@program(1e-3)
def operators_on_arrays(mx, np):
    x = mx.nd.array([[0.25, 0.5, 0.75], [0.5, 0.125, 0.625]])
    return sweep(mx.nd, "nd", [x, x + 0.125, x * 0.5])


@program(1e-3)
def operators_on_sparse_arrays(mx, np):
    x = mx.nd.sparse.row_sparse_array((np.full((2, 3), 0.5), [0, 2]), shape=(3, 3))
    return sweep(mx.nd, "nd", [x, x, x], "sparse.")


@program(1e-3)
def operators_on_numpy_arrays(mx, np):
    mx.npx.set_np()
    try:
        x = mx.np.array([[0.25, 0.5, 0.75], [0.5, 0.125, 0.625]])
        return [sweep(mx.npx, "npx", [x, x, x]), sweep(mx.np, "np", [x, x, x])]
    finally:
        mx.npx.reset_np()
