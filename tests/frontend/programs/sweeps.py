# SPDX-License-Identifier: Apache-2.0
"""Every public function of the operator modules, called without knowing what it does: the names of what
it makes, shapes and types, or that it cannot be called like that."""
from registry import program, public_names

# Not functions on arrays or symbols; or they end the process with the reference's library; or it refuses
# what makes sense (a sum of nothing, pooling without a kernel, batch_take without indices).
LEFT_OUT = ("contrib.foreach", "contrib.while_loop", "contrib.cond", "random.shuffle", "load", "save", "waitall", "Custom",
            "fromjson", "contrib.dgl_", "contrib.calibrate_entropy", "contrib.quantized_rnn", "utils.", "contrib.edge_id", "add_n", "Reshape", "InstanceNorm",
            "ElementWiseSum", "Pooling", "batch_take", "contrib.allclose")


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
