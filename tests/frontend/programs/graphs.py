# SPDX-License-Identifier: Apache-2.0
"""Symbols as graphs: putting them together, attributes and names from scopes, shapes that are known in part."""
from registry import program


def network(mx):
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1")
    return mx.sym.Activation(net, act_type="relu", name="relu1")


@program()
def shapes_known_in_part(mx, np):
    data = mx.sym.var("data")
    cases = {"zeros": (mx.sym.FullyConnected(data, num_hidden=3, name="fc"), {"data": (0, 5)}),
             "images": (mx.sym.Convolution(data, kernel=(3, 3), num_filter=2, name="c"), {"data": (0, 3, 8, 8)}),
             "backwards": (data + mx.sym.var("other"), {"other": (2, 3)}),
             "merged": (mx.sym.elemwise_add(data, mx.sym.var("other")), {"data": (0, 3), "other": (2, 0)}),
             "reshape": (mx.sym.Reshape(data, shape=(-1, 4)), {"data": (0, 4)}),
             "concat": (mx.sym.concat(data, mx.sym.var("other"), dim=1), {"data": (2, 3), "other": (0, 4)}),
             "slices": (mx.sym.SliceChannel(data, num_outputs=2, axis=1), {"data": (0, 6)}),
             "pool": (mx.sym.Pooling(data, kernel=(2, 2), stride=(2, 2), pool_type="max"), {"data": (0, 3, 8, 8)}),
             "norm": (mx.sym.BatchNorm(data, name="bn"), {"data": (0, 3, 0, 0)}),
             "dot": (mx.sym.dot(data, mx.sym.var("other")), {"data": (2, 3)}),
             "embed": (mx.sym.Embedding(data, input_dim=5, output_dim=4, name="e"), {"data": (0, 7)})}
    results = {}
    for name, (net, shapes) in cases.items():
        try:
            results[name] = net.infer_shape_partial(**shapes)
        except Exception:
            results[name] = "raises"
    return results


@program()
def types_known_in_part(mx, np):
    data, other = mx.sym.var("data"), mx.sym.var("other", dtype="float64")
    results = [mx.sym.FullyConnected(data, num_hidden=3).infer_type(data="float16"), (data + other).infer_type(),
               mx.sym.Cast(data, dtype="int32").infer_type(data="float64"),
               mx.sym.Embedding(data, input_dim=5, output_dim=4, dtype="float64").infer_type(data="int32"),
               mx.sym.BatchNorm(data).infer_type(data="float16"), data.infer_type(), mx.sym.argmax(data).infer_type(data="float64")]
    return [[[str(np.dtype(item)) if item is not None else "" for item in part] if part is not None else None for part in result]
            for result in results]


@program()
def symbols_put_together(mx, np):
    first = network(mx)
    second = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="fc2")
    by_name = second(x=first, name="joined")
    group = mx.sym.Group([first, second, by_name])
    bound = mx.sym.Convolution(name="open", kernel=(1, 1), num_filter=2)
    results = [by_name, by_name.name, group, group[0], group["fc2_output"], group[1:], len(group), bound,
               [item.name for item in group], second.list_arguments(), group.list_inputs()]
    for call in (lambda: second(nobody=first), lambda: second(first, x=first), lambda: group["nobody"], lambda: group[7]):
        try:
            results.append(call())
        except Exception:
            results.append("refused")
    return results


@program()
def inner_parts_of_networks(mx, np):
    net = mx.sym.BatchNorm(network(mx), name="bn")
    inner = net.get_internals()
    part = inner["relu1_output"]
    return [inner.list_outputs(), part, part.get_children(), net.get_children(), inner[0].get_children() is None,
            part.get_internals().list_outputs(), net.name, mx.sym.Group([net, part]).name is None, net[0]]


@program()
def attributes_of_scopes(mx, np):
    with mx.AttrScope(__group__="4", __stage__="outer"):
        a = mx.sym.var("a", attr={"__own__": "1"})
        with mx.AttrScope(__stage__="inner"):
            b = mx.sym.FullyConnected(a, num_hidden=2, name="b", attr={"__own__": "2"})
        c = mx.sym.exp(b, name="c")
    c._set_attr(__more__="3")
    results = [{name: dict(sorted(item.items())) for name, item in sorted(c.attr_dict().items())}, a.attr("__own__"), b.attr("__stage__"),
               c.attr("__more__"), c.attr("nobody"), a.list_attr(), b.list_attr()]
    again = mx.sym.load_json(c.tojson())
    results.append({name: dict(sorted(item.items())) for name, item in sorted(again.attr_dict().items())})
    for scope in (lambda: mx.AttrScope(number=3), lambda: mx.sym.var("x", attr={"k": 3})):
        try:
            scope()
            results.append("taken")
        except Exception:
            results.append("refused")
    return results


@program()
def variables_with_hints(mx, np):
    variable = mx.sym.var("w", shape=(2, 3), lr_mult=0.5, wd_mult=2, dtype="float64", init=mx.init.Constant(3), stype="default",
                          __mine__="yes")
    net = mx.sym.FullyConnected(mx.sym.var("data", shape=(4, 3)), weight=variable, num_hidden=2, name="fc")
    return [dict(sorted(variable.list_attr().items())), net.infer_shape(), sorted(net.attr_dict())]


@program()
def names_of_scopes(mx, np):
    with mx.name.Prefix("outer_"):
        a = mx.sym.exp(mx.sym.var("x"))
        with mx.name.Prefix("inner_"):
            b = mx.sym.FullyConnected(a, num_hidden=1)
            c = mx.sym.FullyConnected(b, num_hidden=1, name="mine")
    with mx.name.NameManager():
        d = mx.sym.exp(c) + mx.sym.exp(c)
    return [a.name.startswith("outer_exp"), b.name.startswith("inner_"), c.name, d.list_outputs(), d.get_internals().list_outputs()[-3:]]


@program()
def arithmetic_with_numbers(mx, np):
    x = mx.sym.var("x")
    nets = [x + 1, 1 + x, x - 2, 2 - x, x * 3, x / 4, 4 / x, x ** 2, 2 ** x, x % 3, 7 % x, -x, x > 1, x >= 1, x < 2, x <= 2, x == 2,
            x != 2, abs(x) if hasattr(x, "__abs__") else mx.sym.abs(x)]
    array = mx.nd.array([1, 2, 3.5])
    return [net.eval(x=array)[0] for net in nets]


@program()
def graphs_read_and_changed(mx, np):
    import json

    net = mx.sym.SoftmaxOutput(network(mx), name="softmax", grad_scale=0.5)
    graph = json.loads(net.tojson())
    for node in graph["nodes"]:
        if node["name"] == "fc1":
            node["attrs"]["num_hidden"] = "7"
    changed = mx.sym.load_json(json.dumps(graph))
    net.save("net.json")
    results = [changed.infer_shape(data=(2, 3))[1], mx.sym.load("net.json").tojson() == net.tojson(), sorted(graph),
               [[node["op"], node["name"], node.get("attrs"), node["inputs"]] for node in graph["nodes"]], graph["heads"],
               graph["arg_nodes"]]
    for text in ("", "{}", "[1]", '{"nodes": [{"op": "nobody", "name": "x", "inputs": []}], "arg_nodes": [], "heads": [[0, 0, 0]]}'):
        try:
            mx.sym.load_json(text)
            results.append("taken")
        except Exception:
            results.append("refused")
    return results


@program()
def copies_of_symbols(mx, np):
    import copy
    import pickle

    net = network(mx)
    twin, deep, thawed = copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))
    deep._set_attr(__only__="deep")
    return [twin, deep, thawed, net.attr("__only__"), deep.attr("__only__"), net.tojson() == thawed.tojson(), str(net), repr(net)]


@program()
def tables_of_networks(mx, np):
    import contextlib
    import io

    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    net = mx.sym.Pooling(mx.sym.BatchNorm(net, name="bn"), kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=3, name="fc"), name="softmax")
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        mx.viz.print_summary(net, shape={"data": (1, 3, 8, 8)}, line_length=100)
    return [line.split() for line in shown.getvalue().splitlines()]
