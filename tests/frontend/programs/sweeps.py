# SPDX-License-Identifier: Apache-2.0
"""Every public function of the operator modules, called without knowing what it does: the names of what
it makes, shapes and types, or that it cannot be called like that."""
from registry import program, public_names

# Not functions on arrays or symbols; or they end the process with the reference's library.
NOT_CALLED = ("contrib.foreach", "contrib.while_loop", "contrib.cond", "random.shuffle", "load", "save", "waitall", "Custom",
              "fromjson", "contrib.dgl_", "contrib.calibrate_entropy", "contrib.quantized_rnn", "utils.", "contrib.edge_id",
              "contrib.quantize_asym", "contrib.backward_")
# Where the reference accepts what makes no sense (an array as a scale, a reshape to nothing) or infers less than we do;
# InstanceNorm of two dimensions, quantized_batch_norm and decompositions of matrices that are not square, which we refuse;
# names of outputs of sort and make_loss; results in place of sparse inputs.
DIFFERENT = ("Reshape", "InstanceNorm", "contrib.quantized_batch_norm", "contrib.allclose", "contrib.boolean_mask",
             "contrib.quantized_elemwise_mul", "random_pdf_dirichlet", "LinearReg", "LogisticReg", "MAEReg",
             "sparse.LinearReg", "sparse.LogisticReg", "sparse.MAEReg", "sparse.elemwise_", "make_loss", "sparse.make_loss",
             "sort", "contrib.ifft", "linalg.potr", "linalg_potr", "linalg.sumlogdiag", "linalg_sumlogdiag", "linalg.tr", "linalg_tr", "reshape", "random_pdf")
LEFT_OUT = NOT_CALLED + DIFFERENT


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
                results[f"{name}/{count}"] = results_of(function, [item.copy() for item in inputs[:count]], random)
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
