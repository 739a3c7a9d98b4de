# SPDX-License-Identifier: Apache-2.0
"""foreach, while_loop and cond: called at once, in a hybridized block and in a symbol; with what lies outside, one in the other, with
gradients."""
from . import Program

BODIES = ["x * s + w", "x + s", "F.tanh(x * w) + s", "F.broadcast_add(x, s)", "F.relu(s - x)", "s * 0.5 + x",
          "F.maximum(x, s) * w"]


def loop(draw, depth=1):
    """Lines that define `loop(F, d, s, w)`: d has one axis more than s and w, which are alike."""
    kind = draw.one_of(["foreach", "foreach", "while_loop", "cond"])
    body, other = draw.one_of(BODIES), draw.one_of(BODIES)
    inner = "s2 = s"
    if depth and draw.chance(0.35):
        inner = draw.one_of([
            "s2 = F.contrib.cond(F.sum(x) > 0, lambda: x * 2 + s, lambda: s - x)",
            "o2, s2 = F.contrib.foreach(lambda a, b: (a + b, a * b), d, s)\n        s2 = s2 + F.sum(o2, axis=0)" if kind == "foreach" and draw.chance(0.5) else
            "o2, (i2, s2) = F.contrib.while_loop(lambda i, v: i < 2, lambda i, v: (v, (i + 1, v * 0.5 + x)), (F.sum(x) * 0, s), max_iterations=3)"])
    if kind == "foreach":
        states = draw.one_of(["one", "list"])
        gives = {"one": "new", "list": "[new, t + x]"}[states]
        outputs = draw.one_of(["new", "x * 2", "[new, s2 + w]", "[x - s]"])
        begin = {"one": "s", "list": "[s, w]"}[states]
        head = "s = st" if states == "one" else "s, t = st"
        return kind, (f"def loop(F, d, s, w):\n    def body(x, st):\n        {head}\n        {inner}\n        s = s2\n        new = {body}\n        return {outputs}, {gives}\n"
                      f"    o, e = F.contrib.foreach(body, d, {begin})\n    return flat(o) + flat(e)\n")
    if kind == "while_loop":
        # What lies behind the last iteration is not defined there: all run that there are, or there are no outputs.
        most = draw.whole(1, 5)
        until = draw.one_of([f"i < {most}", f"i < {most}", f"F.sum(s) < {most * 3}",
                             f"(i < {most + 1}) * (F.sum(s) < 40)"])
        outputs = draw.one_of(["new", "[new, i]", "[s * 2]", "[]"]) if until == f"i < {most}" else "[]"
        return kind, (f"def loop(F, d, s, w):\n    x = F.sum(d, axis=0)\n    def body(i, s):\n        {inner}\n        s = s2\n        new = {body}\n        return {outputs}, [i + 1, new]\n"
                      f"    o, e = F.contrib.while_loop(lambda i, s: {until}, body, [F.sum(d) * 0, s], max_iterations={most})\n    return flat(o) + flat(e)\n")
    test = draw.one_of(["F.sum(d) > 0", "F.sum(s) < F.sum(w)", "F.sum(s * w) > 1"])
    several = draw.chance(0.4)
    then, another = (f"[{body}, s]", f"[{other}, x]") if several else (body, other)
    return kind, (f"def loop(F, d, s, w):\n    x = F.sum(d, axis=0)\n    {inner.replace('        ', '    ')}\n    s = s2\n"
                  f"    return flat(F.contrib.cond({test}, lambda: {then}, lambda: {another}))\n")


def drawn(draw):
    steps, shape, dtype = draw.whole(1, 4), draw.shape(1, 2, 3), draw.one_of(["float32", "float32", "float64"])
    kind, text = loop(draw)
    arrays = {name: (draw.numbers.randint(-4, 5, dims) / 4).astype(dtype) for name, dims in (("d", (steps, *shape)),
        ("s", shape), ("w", shape))}
    start = ("flat = lambda v: sum(map(flat, v), []) if isinstance(v, (list, tuple)) else [v]\n" + text +
             "d, s, w = (mx.nd.array(arrays[n], dtype=arrays[n].dtype) for n in 'dsw')\nfor a in (d, s, w): a.attach_grad()\n"
             "class Net(mx.gluon.HybridBlock):\n    def hybrid_forward(self, F, d, s, w):\n        return tuple(v * 1 for v in loop(F, d, s, w))\n")
    learn = "\n    z = sum((v * v).sum() for v in o)\nz.backward(); r = [list(o), d.grad, s.grad, w.grad]"
    flags = draw.one_of(["", "static_alloc=True", "static_alloc=True, static_shape=True"])
    names = "{n: mx.nd.array(arrays[n], dtype=arrays[n].dtype) for n in g.list_arguments()}"
    whole = "mx.sym.Group([v * 1 for v in loop(mx.sym, *(mx.sym.var(n) for n in 'dsw'))])"
    made = [("at once, values", "r = loop(mx.nd, d, s, w)"), ("at once, slopes",
        f"with mx.autograd.record():\n    o = loop(mx.nd, d, s, w){learn}"),
            ("hybrid, values", f"n = Net(); n.hybridize({flags}); n(d, s, w); r = list(n(d, s, w))"),
            ("hybrid, slopes",
             f"n = Net(); n.hybridize({flags})\nwith mx.autograd.record():\n    o = n(d, s, w){learn}"),
            ("symbol, values", f"g = {whole}; e = g.bind(mx.cpu(), {names}); r = list(e.forward())"),
            ("symbol, slopes",
             f"g = {whole}; v = {names}; slopes = {{n: mx.nd.zeros_like(a) for n, a in v.items()}}; e = g.bind(mx.cpu(), v, slopes); "
             "o = list(e.forward(is_train=True)); e.backward([a * 2 for a in o]); r = o + [slopes.get(n, d * 0 if n == 'd' else s * 0) for n in 'dsw']"),
            ("loaded, values",
             f"g = mx.sym.load_json(({whole}).tojson()); e = g.bind(mx.cpu(), {names}); r = list(e.forward())")]
    return Program(f"control {kind}", start, made, arrays, ways="at once")
