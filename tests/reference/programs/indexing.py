# SPDX-License-Identifier: Apache-2.0
"""Reading and writing by index expressions of all kinds, with gradients, of arrays of mx.nd and mx.np."""
from . import Program


def part_of(draw, size, kinds, together):
    kind = draw.one_of(kinds)
    if kind == "whole" and size:
        return str(draw.whole(-size, size - 1))
    if kind == "places" and size:
        places = draw.numbers.randint(-size, size, draw.one_of([together, together, together[-1:]])).tolist()
        return draw.one_of([f"onp.array({places})", f"{places}", f"array({places}, dtype='int32')",
                            f"array({places}, dtype='int64')"])
    begin, end = (str(draw.whole(-size - 2, size + 2)) if draw.chance(0.5) else "" for _ in range(2))
    return f"{begin}:{end}:{draw.one_of(['', '1', '2', '3', '-1', '-2'])}"


def key_of(draw, shape):
    """The text between the brackets."""
    if shape and draw.chance(0.12):
        dims = shape[:draw.whole(1, len(shape))]
        return f"array(onp.array({draw.numbers.randint(0, 2, dims).tolist()}, 'bool').reshape({dims}), dtype='bool')"
    together = tuple(draw.whole(1, 3) for _ in range(draw.whole(1, 2)))
    kinds = draw.one_of([["whole", "slice"], ["slice"], ["whole", "slice", "places", "places"]])
    parts = [part_of(draw, size, kinds, together) for size in shape[:draw.whole(0, len(shape))]]
    if draw.chance(0.25):
        parts.insert(draw.whole(0, len(parts)), "...")
    for _ in range(draw.one_of([0, 0, 0, 1, 2])):
        parts.insert(draw.whole(0, len(parts)), "None")
    return ", ".join(parts) or "..."


def drawn(draw):
    numpy = draw.chance(0.5)
    shape = draw.shape(0 if numpy else 1, 4, 5, empty=numpy)
    dtype = draw.one_of(["float32", "float32", "float64", "float16", "int32", "uint8",
                         "int64"] + (["bool"] if numpy else []))
    key, other = key_of(draw, shape), key_of(draw, shape)
    numbers = draw.numbers.randint(-4 if dtype[0] != "u" else 0, 9, shape).astype(dtype)
    value = draw.one_of(["1", "2.5", "array(onp.full(x[{0}].shape, 3), dtype=x.dtype)", "onp.full(x[{0}].shape, 3.0)",
                         "x[{0}] * 2",
                         "array(onp.arange(x[{0}].size).reshape(x[{0}].shape), dtype='float32')",
                         "array(onp.arange((x[{0}].shape or (1,))[-1]), dtype='float32')", "[7]"])
    steps = [("made", "r = x"), ("read", f"r = x[{key}]"),
             ("read twice", f"r = x[{key}][{other}]")]
    steps += [("write", f"x[{key}] = {value.format(key)}; r = x"),
              ("in place", f"x[{other}] {draw.one_of(['+=', '*=', '-='])} 2; r = x"),
              ("kept", f"y = x[{key}]; y[{draw.one_of([':', '...', '0'])}] = 5; r = [x, y]")]
    if dtype.startswith("float"):
        steps.append(("slopes",
                      f"x.attach_grad()\nwith mx.autograd.record():\n    y = x[{key}]; z = (y * y).sum()\nz.backward(); r = [y, x.grad]"))
        steps.append(("recorded write", "x.attach_grad()\nwith mx.autograd.record():\n    w = x * 2\n"
                      f"    w[{key}] = {draw.one_of(['3', 'x[' + key + '] * x[' + key + ']'])}\n    z = (w * w).sum()\nz.backward(); r = [w, x.grad]"))
    return Program(f"index {'np' if numpy else 'nd'}", "x = array(arrays['x'], dtype=arrays['x'].dtype)", steps,
                   {"x": numbers}, numpy, alone=True)
