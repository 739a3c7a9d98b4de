# SPDX-License-Identifier: Apache-2.0
"""Calls of NumPy's functions drawn at random: an expression and its operands, from a number of its own. For numpy_random.py."""
import numpy as np

TYPES = ["float32"] * 4 + ["float64", "float16", "int32", "int64", "uint8", "int8", "bool"]
FLOATS = ["float32", "float32", "float64", "float16"]
UNARY = """abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fabs fix floor isfinite isinf isnan isneginf isposinf log
log10 log1p log2 logical_not negative radians reciprocal rint sign sin sinh sqrt square tan tanh trunc invert nan_to_num ravel copy
ones_like zeros_like""".split()
BINARY = """add subtract multiply divide true_divide mod remainder power arctan2 copysign hypot maximum minimum equal not_equal less less_equal greater
greater_equal""".split()
BITS = "bitwise_and bitwise_or bitwise_xor lcm".split()
REDUCED = "sum prod max min mean std var all any amax amin ptp".split()


class Draw:
    """One call. Numbers come from a generator whose stream is the same in every version of NumPy."""

    def __init__(self, number, seed):
        self.rng = np.random.RandomState((number * 7919 + seed) % 2**32)
        self.operands = {}
        kinds = [getattr(Draw, name) for name in sorted(vars(Draw)) if name.startswith("of_")]
        self.text = self.pick(kinds)(self)

    # --- Parts

    def pick(self, values):
        return values[self.rng.randint(len(values))]

    def maybe(self, share=0.5):
        return self.rng.rand() < share

    def shape(self, least=0, most=4):
        dims = [int(self.pick([1, 2, 3, 4, 5, 7, 17])) for _ in range(self.rng.randint(least, most + 1))]
        if dims and self.maybe(0.06):  # a dimension without elements
            dims[self.rng.randint(len(dims))] = 0
        return tuple(dims)

    def numbers(self, dtype, shape, special=0.15):
        if dtype == "bool":
            return self.rng.rand(*shape) < 0.5 if shape else np.array(self.maybe())
        if "int" in dtype:
            low = 0 if dtype == "uint8" else -9
            return np.asarray(self.rng.randint(low, 10, size=shape)).astype(dtype)
        values = np.asarray(self.rng.standard_normal(shape) * self.pick([0.3, 1, 3]))
        if self.maybe(special) and values.size:
            flat = values.reshape(-1)
            for _ in range(3):
                flat[self.rng.randint(flat.size)] = self.pick([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0])
        return values.astype(dtype)

    def operand(self, dtype=None, shape=None, special=0.15):
        """The name of a new one."""
        name = "abcdefgh"[len(self.operands)]
        shape = self.shape() if shape is None else shape
        self.operands[name] = self.numbers(dtype or self.pick(TYPES), shape, special)
        return name

    def given(self, name):
        return self.operands[name]

    def axis_of(self, ndim, beyond=0.04):
        if self.maybe(beyond):
            return int(self.pick([ndim, ndim + 1, -ndim - 1]))
        return int(self.rng.randint(-ndim, ndim)) if ndim else 0

    def axes_of(self, ndim):
        chosen = [axis for axis in range(ndim) if self.maybe()]
        return tuple(axis - ndim if self.maybe(0.3) else axis for axis in chosen)

    # --- Families

    def of_unary(self):
        return f"np.{self.pick(UNARY)}({self.operand()})"

    of_unary_again = of_unary

    def partner(self, a):
        """An operand that broadcasts with another one, mostly."""
        shape = self.given(a).shape
        kept = tuple(1 if self.maybe(0.3) else dim for dim in shape)[self.rng.randint(len(shape) + 1) if self.maybe(0.4) else 0 :]
        return self.operand(shape=self.shape() if self.maybe(0.05) else kept)

    def of_binary(self):
        a = self.operand()
        name, b = self.pick(BINARY), self.partner(a)
        pair = [a, b]
        if self.maybe():
            pair.reverse()
        return f"np.{name}({', '.join(pair)})"

    of_binary_again = of_binary

    def of_scalars(self):
        a, number = self.operand(), self.pick([0, 1, 2, -1, 3, 0.5, -1.5, 2.5])
        name = self.pick(BINARY)
        return f"np.{name}({a}, {number})" if self.maybe() else f"np.{name}({number}, {a})"

    def of_bits(self):
        a = self.operand(self.pick(["int32", "int64", "uint8", "int8", "bool"]))
        b = self.operand(str(self.given(a).dtype), self.given(a).shape)
        return f"np.{self.pick(BITS)}({a}, {b})"

    def of_operators(self):
        a = self.operand()
        b = self.partner(a)
        text = self.pick(["{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} % {}", "{} ** {}", "{} < {}", "{} == {}", "{} >= {}", "{} != {}"])
        return text.format(a, b)

    def of_reductions(self):
        a = self.operand()
        ndim = self.given(a).ndim
        axis = self.pick([None, self.axis_of(ndim), self.axes_of(ndim)])
        name = self.pick(REDUCED)
        more = ", keepdims=True" if self.maybe() else ""
        if name in ("std", "var") and self.maybe():
            more += f", ddof={self.pick([0, 1, 2])}"
        if name in ("sum", "prod", "mean", "std", "var") and self.maybe(0.2):
            more += f", dtype='{self.pick(['float32', 'float64', 'int32', 'int64'])}'"
        if name == "sum" and self.maybe(0.2):
            more += f", initial={self.pick([0, 1, 2.5])}"
        return f"np.{name}({a}, axis={axis}{more})"

    of_reductions_again = of_reductions

    def of_results_given(self):
        """With `out` of the right shape, or of a wrong one."""
        a = self.operand(self.pick(FLOATS))
        shape = self.given(a).shape
        out = self.operand(str(self.given(a).dtype), shape if self.maybe(0.9) else self.shape())
        name = self.pick(["exp", "sin", "negative", "square", "abs", "add", "multiply", "maximum"])
        return f"np.{name}({a}, {a if name in BINARY else ''}{', ' if name in BINARY else ''}out={out})"

    def of_one_axis(self):
        a = self.operand()
        ndim = self.given(a).ndim
        name = self.pick(["argmax", "argmin", "argsort", "sort", "cumsum", "diff", "expand_dims", "squeeze", "flip", "average", "repeat", "roll"])
        axis = self.pick([None, self.axis_of(ndim), self.axis_of(ndim)])
        if name in ("diff", "expand_dims") and axis is None:
            axis = self.axis_of(ndim)
        if name == "diff":
            return f"np.diff({a}, n={self.pick([1, 1, 2, 0])}, axis={axis})"
        if name == "repeat":
            return f"np.repeat({a}, {self.pick([0, 1, 2, 3])}, axis={axis})"
        if name == "roll":
            return f"np.roll({a}, {self.pick([0, 1, -2, 9])}, axis={axis})"
        if name == "argsort":  # equal elements in any order
            return f"np.sort({a}, axis={axis})"
        return f"np.{name}({a}, axis={axis})"

    def of_shapes(self):
        a = self.operand()
        value = self.given(a)
        ndim, size = value.ndim, value.size
        order = tuple(int(axis) for axis in self.rng.permutation(ndim))
        texts = [
            f"np.reshape({a}, {self.pick([-1, (1, -1), (-1, 1), (size,), (1, size, 1), (2, -1)])})",
            f"np.transpose({a}, {self.pick([None, order])})",
            f"{a}.T",
            f"np.swapaxes({a}, {self.axis_of(ndim)}, {self.axis_of(ndim)})",
            f"np.moveaxis({a}, {self.axis_of(ndim)}, {self.axis_of(ndim)})",
            f"np.atleast_{self.pick([1, 2, 3])}d({a})",
            f"np.broadcast_to({a}, {(2,) + value.shape if self.maybe(0.9) else self.shape()})",
            f"np.tile({a}, {self.pick([1, 2, (2, 1), (1, 2, 2), 0])})",
            f"np.pad({a}, {self.pick([0, 1, (1, 2)])})",
            f"np.pad({a}, 1, mode='{self.pick(['edge', 'reflect', 'symmetric', 'maximum', 'minimum'])}')",
            f"np.rot90({a}, k={self.pick([0, 1, 2, 3, -1])})",
            f"np.{self.pick(['flipud', 'fliplr', 'diagflat', 'diag', 'tril', 'trace', 'diagonal', 'ravel', 'squeeze'])}({a})",
            f"np.diag({a}, k={self.pick([-1, 0, 1, 5])})",
            f"np.tril({a}, k={self.pick([-1, 0, 1, 5])})",
            f"np.trace({a}, offset={self.pick([-1, 0, 1, 5])})",
            f"np.diagonal({a}, offset={self.pick([-1, 0, 1])}, axis1={self.axis_of(ndim)}, axis2={self.axis_of(ndim)})",
            f"np.resize({a}, {self.pick([(2, 3), (7,), (1,), (0,)])})",
            f"np.full_like({a}, {self.pick([0, 1, 2.5])})",
        ]
        return self.pick(texts)

    def of_joining(self):
        a = self.operand()
        value = self.given(a)
        axis = self.axis_of(value.ndim)
        other = list(value.shape)
        if other and self.maybe():
            other[axis % len(other)] = self.pick([1, 2, 3])
        b = self.operand(str(value.dtype) if self.maybe(0.7) else None, tuple(other))
        texts = [
            f"np.concatenate([{a}, {b}], axis={self.pick([axis, None])})",
            f"np.append({a}, {b}, axis={self.pick([axis, None])})",
            f"np.stack([{a}, {b}], axis={self.axis_of(value.ndim + 1)})",
            f"np.{self.pick(['vstack', 'hstack', 'dstack', 'column_stack'])}([{a}, {b}])",
            f"np.split({a}, {self.pick([1, 2, 3, [1], [1, 2], [2, 9]])}, axis={axis})",
            f"np.array_split({a}, {self.pick([1, 2, 3, 5, [1, 3]])}, axis={axis})",
            f"np.{self.pick(['hsplit', 'vsplit', 'dsplit'])}({a}, {self.pick([1, 2, [1]])})",
        ]
        return self.pick(texts)

    def index(self, shape, advanced=True):
        parts = []
        for dim in shape:
            if self.maybe(0.12):
                break
            slices = ":", "1:", ":-1", "::2", "::-1", f"{self.rng.randint(-dim, dim + 1)}:", "5:2"
            kind = self.rng.randint(8 if advanced else 6)
            if kind < 3:
                parts.append(self.pick(slices))
            elif kind < 5:
                parts.append(str(self.rng.randint(-dim, max(dim, 1 - dim)) if dim and not self.maybe(0.03) else dim))
            elif kind == 5:
                parts.append(self.pick(["None", "..."]) if "..." not in parts else "None")
            else:
                low, high = (-dim, dim) if dim else (0, 1)
                places = self.rng.randint(low, high, size=self.pick([(2,), (2,), (1,), (3, 2), (3, 1)]))
                parts.append(f"np.array(onp.array({places.tolist()}))")
        return ", ".join(parts) or "..."

    def of_indices(self):
        a = self.operand()
        return f"{a}[{self.index(self.given(a).shape)}]"

    of_indices_again = of_indices

    def of_assignments(self):
        a = self.operand()
        value = self.pick(["2", "-1", "0.5"]) if str(self.given(a).dtype) not in ("uint8", "bool") else "1"
        return f"{a}[{self.index(self.given(a).shape)}] = {value}"

    def of_masks(self):
        a = self.operand()
        b = self.operand("bool", self.given(a).shape)
        return self.pick([f"{a}[{b}]", f"{a}[{b}] = 1", f"np.nonzero({a})", f"np.where({b})"])

    def of_places(self):
        a = self.operand()
        value = self.given(a)
        axis = self.pick([None, self.axis_of(value.ndim)])
        dim = value.size if axis is None else value.shape[axis] if -value.ndim <= axis < value.ndim else 1
        mode = self.pick(["clip", "wrap", "raise"])
        low, high = (0, dim) if mode == "raise" else (-2 * dim, 2 * dim)
        places = self.rng.randint(low, max(high, low + 1), size=self.pick([(), (3,), (2, 2)]))
        at = int(self.rng.randint(-dim, dim)) if dim else 0
        texts = [
            f"np.take({a}, np.array(onp.array({np.asarray(places).tolist()})), axis={axis}, mode='{mode}')",
            f"np.delete({a}, {self.pick([at, slice(0, 2), slice(1, None, 2)])}, axis={axis})",
            f"np.insert({a}, {at}, {self.pick([1, 2])}, axis={axis})",
            f"np.insert({a}, {self.pick([slice(0, 2), at])}, 3, axis={axis})",
        ]
        return self.pick(texts)

    def of_choices(self):
        a = self.operand()
        c = self.operand(self.pick(["bool", "bool", "int32", "float32"]), self.given(a).shape, special=0)
        b = self.partner(a)
        return self.pick([f"np.where({c}, {a}, {b})", f"np.where({c}, {a}, 2)", f"np.where({c}, 0.5, {a})", f"np.clip({a}, {self.pick([-1, None])}, 2)",
                          f"np.clip({a}, 0.5, {self.pick([1.5, None])})", f"np.isin({a}, {b})", f"np.isin({a}, [0, 1, 2.5], invert=True)"])

    def of_statistics(self):
        a = self.operand(self.pick(["float32", "float64", "int32", "int64"]))
        value = self.given(a)
        axis = self.pick([None, self.axis_of(value.ndim)])
        keep = ", keepdims=True" if self.maybe(0.4) else ""
        counts = self.operand(self.pick(["int32", "int64"]), (self.pick([0, 1, 5, 30]),))
        self.operands[counts] = abs(self.operands[counts])
        return self.pick([
            f"np.percentile({a}, {self.pick([0, 30, 50, 99.5, 100])}, axis={axis}{keep})",
            f"np.quantile({a}, {self.pick([0, 0.3, 0.5, 1])}, axis={axis}{keep})",
            f"np.bincount({counts}, minlength={self.pick([0, 3, 20])})",
            f"np.unique({a})",
            f"np.unique({counts}, return_index=True, return_inverse=True, return_counts=True)",
            f"np.histogram({a}, bins={self.pick([1, 4, 10])}, range=(-2, 2))",
            f"np.average({a}, axis={axis})",
            f"np.ediff1d({a})",
        ])

    def of_products(self):
        n, k, m = (self.pick([1, 2, 3, 5]) for _ in range(3))
        batch = self.pick([(), (), (2,), (2, 3)])
        dtype = self.pick(["float32", "float32", "float64", "int32"])
        a, b = self.operand(dtype, batch + (n, k), 0.05), self.operand(dtype, self.pick([batch, ()]) + (k, m), 0.05)
        v = self.operand(dtype, (k,), 0.05)
        return self.pick([
            f"np.matmul({a}, {b})", f"{a} @ {b}", f"np.matmul({a}, {v})", f"np.dot({a}, {v})", f"np.dot({a}, {b})", f"np.tensordot({a}, {b}, axes=1)",
            f"np.tensordot({a}, {v}, axes=([-1], [0]))", f"np.inner({a}, {v})", f"np.outer({a}, {v})", f"np.vdot({v}, {v})",
            f"np.einsum('...ij,j->...i', {a}, {v})" if not batch else f"np.einsum('aij,j->ai', {a}, {v})", f"np.einsum('i,i->', {v}, {v})",
            f"np.polyval({v}, {a})",
        ])

    def of_linear_algebra(self):
        n = self.pick([1, 2, 3, 4])
        batch = self.pick([(), (), (2,)])
        a = self.operand(self.pick(["float32", "float64"]), batch + (n, n), 0)
        b = self.operand(str(self.given(a).dtype), batch + (n, 2), 0)
        self.operands[a] = self.operands[a] + 3 * np.eye(n, dtype=self.operands[a].dtype)
        order = self.pick([None, 1, 2, -1, "'fro'", "'nuc'", "onp.inf", 0, 3])
        return self.pick([
            f"np.linalg.norm({a}, {order})" if not batch else f"np.linalg.norm({a}, {order}, axis=(1, 2))",
            f"np.linalg.norm({b}, {self.pick([None, 1, 2, 3, 0, 'onp.inf'])}, axis={self.axis_of(self.given(b).ndim)})",
            f"np.linalg.det({a})", f"np.linalg.inv({a})", f"np.linalg.solve({a}, {b})", f"np.linalg.slogdet({a})", f"np.linalg.pinv({a})",
            f"np.linalg.cholesky({a} @ np.swapaxes({a}, -1, -2))", f"np.linalg.eigvalsh({a} + np.swapaxes({a}, -1, -2))",
        ])

    def of_creation(self):
        n = self.pick([0, 1, 2, 5])
        return self.pick([
            f"np.arange({self.pick([0, 1, 5, 2.5])})", f"np.arange({self.pick([0, 3, -2.5])}, {self.pick([0, 7, 2.5])}, {self.pick([1, 2, -1, 0.5])})",
            f"np.linspace({self.pick([0, -1, 2.5])}, {self.pick([3, 0.5])}, {self.pick([0, 1, 2, 7])}, endpoint={self.maybe()})",
            f"np.logspace(0, {self.pick([1, 2])}, {self.pick([0, 1, 5])}, base={self.pick([2.0, 10.0])})", f"np.eye({n}, {self.pick([None, 1, 3])}, k={self.pick([-1, 0, 2])})",
            f"np.identity({n})", f"np.{self.pick(['zeros', 'ones'])}({self.pick([n, (), (2, n)])})", f"np.full({self.pick([n, (), (2, n)])}, {self.pick([1, 2.5])})",
            f"np.indices({self.pick([(2, 3), (1,), (2, 0)])})", f"np.{self.pick(['hanning', 'hamming', 'blackman'])}({self.pick([0, 1, 2, 7])})",
            f"np.unravel_index({self.pick([0, 3, 5])}, (2, 3))",
        ])
