# SPDX-License-Identifier: Apache-2.0
"""Operators of single elements, and sums over them."""
from registry_rows import FLOATS, INTEGERS, Given, Row, Sizes


class Elements(Sizes):
    def unary(self):
        positive = {"log", "log10", "log1p", "log2", "sqrt", "rsqrt", "gamma", "gammaln", "rcbrt", "cbrt", "reciprocal"}
        unit = {"arccos", "arcsin", "arctanh", "erfinv"}
        both = ("arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor log log10 log1p log2 logical_not negative "
                "radians reciprocal rint sign sin sinh sqrt square tan tanh trunc").split()
        plain = ("abs erf erfinv gamma gammaln rcbrt relu round rsqrt sigmoid softsign zeros_like ones_like _copy BlockGrad make_loss "
                 "_contrib_div_sqrt_dim _contrib_round_ste _contrib_sign_ste hard_sigmoid").split()
        numpy = "_npi_absolute _npi_isfinite _npi_isinf _npi_isnan _npi_isneginf _npi_isposinf _np_copy _npx_relu _npx_sigmoid _npi_around _npi_nan_to_num".split()

        def given(name, dtype):
            bare = name.replace("_npi_", "")
            low, high = (0.1, 3.9) if bare in positive else (-0.95, 0.95) if bare in unit else (1.1, 9.0) if bare == "arccosh" else (-2.0, 2.0)
            return self.plane(dtype, low, high)

        for name in both + plain:
            for dtype in FLOATS:
                yield Row(name, [given(name, dtype)])
        for name in ["_npi_" + name for name in both] + numpy:
            for dtype in ("float32", "float64"):
                yield Row(name, [given(name, dtype)], numpy=True)
        for name in "abs sign negative square relu _copy zeros_like ones_like logical_not".split():
            for dtype in ("int32", "int64", "uint8", "int8"):
                yield Row(name, [self.plane(dtype, 0, 100)])
        for name in "_npi_absolute _npi_sign _npi_negative _npi_square _npi_logical_not _npi_exp _npi_sqrt".split():
            for dtype in ("int32", "int64"):
                yield Row(name, [self.plane(dtype, 1, 80)], numpy=True)
        for dtype in ("int32", "uint8", "bool"):
            yield Row("_npi_bitwise_not", [self.plane(dtype, 0, 100)], numpy=True)
        yield Row("_npi_logical_not", [self.plane("bool")], numpy=True)
        yield Row("_npi_around", [self.plane()], {"decimals": 2}, numpy=True)
        yield Row("smooth_l1", [self.plane()], {"scalar": 1.0})
        for dtype in (*FLOATS, "int32", "uint8"):
            yield Row("clip", [self.plane(dtype, 0, 100)], {"a_min": 10, "a_max": 60})
        every = (*FLOATS, "int32", "int64", "uint8", "int8", "bool")
        for source in every:
            for target in every:
                yield Row("Cast", [self.plane(source, 0, 100)], {"dtype": target}, numpy=True)
        yield Row("amp_cast", [self.plane()], {"dtype": "float16"})
        yield Row("amp_multicast", [self.plane(), self.plane("float16")], {"num_outputs": 2})
        yield Row("MakeLoss", [self.plane()], {"grad_scale": 0.5})
        yield Row("MakeLoss", [self.plane()], {"grad_scale": 0.5, "normalization": "valid"})
        yield Row("_contrib_gradientmultiplier", [self.plane()], {"scalar": 0.5})
        yield Row("_contrib_quadratic", [self.plane()], {"a": 1.5, "b": 2.5, "c": 3.5})

    def binary(self):
        names = ("elemwise_add elemwise_sub elemwise_mul elemwise_div _power _maximum _minimum _mod _hypot _equal _not_equal _greater _greater_equal _lesser "
                 "_lesser_equal _logical_and _logical_or _logical_xor _grad_add _scatter_elemwise_div").split()
        for name in names:
            for dtype in FLOATS:
                yield Row(name, [self.plane(dtype, 0.5, 3), self.plane(dtype, 0.5, 3)])
        for name in "elemwise_add elemwise_mul elemwise_div _maximum _mod _equal _greater".split():
            for dtype in INTEGERS:
                yield Row(name, [self.plane(dtype, 1, 100), self.plane(dtype, 1, 100)])
        yield Row("add_n", [self.plane() for _ in range(4)], {"num_args": 4})
        yield Row("_identity_with_attr_like_rhs", [self.plane(), self.plane()])
        for condition in ("float32", "int32", "uint8"):
            yield Row("where", [self.plane(condition, 0, 2), self.plane(), self.plane()])
        yield Row("where", [self.of(self.size(512, 8), low=0, high=2, dtype="int32"), self.plane(), self.plane()])
        for dtype in ("float64", "float16", "int32", "int64", "uint8"):
            yield Row("where", [self.plane("float32", 0, 2), self.plane(dtype, 0, 100), self.plane(dtype, 0, 100)])

    def patterns(self, dtype, low, high):
        """Pairs of shapes that broadcast as those of users do."""
        n, m = self.size((512, 1024), (8, 8))
        pairs = [((n, m), (1, m)), ((n, m), (n, 1)), ((1, m), (n, m)), ((n, m), (1, 1)), ((n, 1), (1, m))]
        c, h = self.size((64, 28), (3, 4))
        pairs += [((self.size(8, 2), c, h, h), (1, c, 1, 1)), ((self.size(8, 2), c, h, h), (self.size(8, 2), 1, h, h)),
                  ((self.size(32, 2), 1, m), (1, self.size(32, 2), m))]
        for left, right in pairs:
            yield [Given(left, dtype, low, high), Given(right, dtype, low, high)]

    def broadcasting(self):
        names = "add sub mul div power maximum minimum mod hypot equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or logical_xor"
        for name in names.split():
            for pair in self.patterns("float32", 0.5, 3):
                yield Row("broadcast_" + name, pair)
        for name in "add mul div maximum greater".split():
            for dtype in ("float64", "float16", "int32", "int64", "uint8"):
                for pair in list(self.patterns(dtype, 1, 50))[:2]:
                    yield Row("broadcast_" + name, pair)
        numpy = ("add subtract multiply true_divide mod power hypot arctan2 copysign ldexp equal not_equal greater greater_equal less less_equal").split()
        for name in numpy:
            pairs = [[self.plane(low=0.5, high=3), self.plane(low=0.5, high=3)]] + list(self.patterns("float32", 0.5, 3))
            for pair in (pairs if name in ("add", "multiply", "true_divide") else pairs[:3]):
                yield Row("_npi_" + name, pair, numpy=True)
            yield Row("_npi_" + name, [self.plane("float64", 0.5, 3), self.plane("float64", 0.5, 3)], numpy=True)
        for name in "add subtract multiply true_divide mod power equal less".split():
            for dtype in ("int32", "int64"):
                yield Row("_npi_" + name, [self.plane(dtype, 1, 9), self.plane(dtype, 1, 5)], numpy=True)
        for left, right in (("float32", "int32"), ("int32", "float32"), ("float32", "float64"), ("bool", "float32"), ("bool", "int32")):
            for name in ("add", "multiply", "true_divide", "power", "mod", "subtract"):
                yield Row("_npi_" + name, [self.plane(left, 1, 5), self.plane(right, 1, 5)], numpy=True)
        for name in "bitwise_and bitwise_or bitwise_xor lcm".split():
            for dtype in ("int32", "int64"):
                yield Row("_npi_" + name, [self.plane(dtype, 1, 500), self.plane(dtype, 1, 500)], numpy=True)
        yield Row("_npi_bitwise_and", [self.plane("bool"), self.plane("bool")], numpy=True)
        yield Row("_npi_polyval", [self.of(6), self.of(self.size(1 << 19, 64))], numpy=True)
        yield Row("_npi_where", [self.plane("bool"), self.plane(), self.plane()], numpy=True)
        yield Row("_npi_where", [self.of(self.size(512, 8), 1, dtype="bool"), self.plane(), self.of(self.size(1024, 8))], numpy=True)
        n, m = self.size((512, 1024), (8, 8))
        for dtype in ("float32", "float16", "int64", "uint8"):
            yield Row("broadcast_to", [self.of(n, 1, dtype=dtype)], {"shape": (n, m)})
            yield Row("broadcast_to", [self.of(1, m, dtype=dtype)], {"shape": (n, m)})
        yield Row("broadcast_axis", [self.of(1, 64, 1)], {"axis": (0, 2), "size": self.size((64, 128), (2, 4))})
        yield Row("broadcast_like", [self.of(1, m), self.plane()])
        yield Row("_npi_broadcast_to", [self.of(n, 1)], {"shape": (n, m)}, numpy=True)

    def scalars(self):
        names = "plus minus rminus mul div rdiv mod rmod power rpower maximum minimum hypot equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or logical_xor"
        for name in names.split():
            for dtype in ("float32", "float16", "float64", "int32", "int64", "uint8"):
                if dtype not in FLOATS and name in ("power", "rpower", "hypot"):
                    continue
                yield Row(f"_{name}_scalar", [self.plane(dtype, 1, 4)], {"scalar": 2 if dtype not in FLOATS else 2.5})
        for power in (2, 3, -1, 0.5):
            yield Row("_power_scalar", [self.plane(low=0.5)], {"scalar": power})
        for name in "_scatter_plus_scalar _scatter_minus_scalar".split():
            yield Row(name, [self.plane()], {"scalar": 1.5})
        numpy = ("add subtract rsubtract multiply true_divide rtrue_divide mod rmod power rpower arctan2 rarctan2 copysign rcopysign ldexp rldexp equal not_equal "
                 "greater greater_equal less less_equal").split()
        for name in numpy:
            for dtype in ("float32", "float64", "int32"):
                yield Row(f"_npi_{name}_scalar", [self.plane(dtype, 1, 4)], {"scalar": 2, "is_int": dtype == "int32"}, numpy=True)
        for name in "bitwise_and bitwise_or bitwise_xor lcm".split():
            yield Row(f"_npi_{name}_scalar", [self.plane("int32", 1, 500)], {"scalar": 6, "is_int": True}, numpy=True)
        for name in "_npi_where_lscalar _npi_where_rscalar".split():
            yield Row(name, [self.plane("bool"), self.plane()], {"scalar": 3}, numpy=True)
        yield Row("_npi_where_scalar2", [self.plane("bool")], {"x": 1.5, "y": 0.5}, numpy=True)

    def reduced(self):
        n, m = self.size((512, 1024), (8, 8))
        picture = self.size((8, 64, 28, 28), (2, 3, 4, 4))
        return [((n, m), None), ((n, m), 0), ((n, m), 1), (picture, (0, 2, 3)), (picture, (2, 3)), (picture, 1), (self.size((100000, 3), (20, 3)), 1),
                (self.size((100000, 3), (20, 3)), 0)]

    def reductions(self):
        for name in "sum mean prod nansum nanprod max min".split():
            low, high = (0.99, 1.01) if "prod" in name else (-2, 2)
            for shape, axis in self.reduced():
                yield Row(name, [Given(shape, "float32", low, high)], {} if axis is None else {"axis": axis})
            for dtype in ("float16", "float64", "int32", "int64", "uint8"):
                for shape, axis in self.reduced()[:3]:
                    yield Row(name, [Given(shape, dtype, 0 if dtype == "uint8" else low, high)], {} if axis is None else {"axis": axis})
        for shape, axis in self.reduced():
            for order in (1, 2):
                yield Row("norm", [Given(shape)], {"ord": order} | ({} if axis is None else {"axis": axis}), gradients=not isinstance(axis, tuple) or len(axis) < 3)
        for name in "argmax argmin".split():
            for dtype in ("float32", "float16", "int32", "float64"):
                for axis in (0, 1):
                    yield Row(name, [self.plane(dtype, 0, 100)], {"axis": axis})
            yield Row(name, [self.of(*self.size((8, 64, 28, 28), (2, 3, 4, 4)))], {"axis": 1})
        yield Row("argmax_channel", [self.plane()])
        yield Row("moments", [self.of(*self.size((8, 64, 28, 28), (2, 3, 4, 4)))], {"axes": (0, 2, 3)})
        yield Row("moments", [self.plane()], {"axes": (1,)})
        yield Row("all_finite", [self.plane()], {"init_output": True})
        yield Row("multi_all_finite", [self.plane() for _ in range(4)], {"num_arrays": 4})
        yield Row("multi_sum_sq", [self.plane() for _ in range(4)], {"num_arrays": 4})
        yield Row("_contrib_allclose", [self.plane(), self.plane()], {"rtol": 0.1, "atol": 9.0})
        yield Row("_histogram", [self.plane()], {"bin_cnt": 30, "range": (-3.0, 3.0)})
        yield Row("_histogram", [self.plane(), self.of(31, low=-3, high=3, kind="ordered")])
        yield Row("_square_sum", [self.of(*self.size((2000, 256), (8, 8)), kind="row_sparse")], {"axis": 1})

    def numpy_reductions(self):
        for name in "_np_sum _npi_mean _np_prod _np_max _np_min _npi_std _npi_var".split():
            low, high = (0.99, 1.01) if "prod" in name else (-2, 2)
            for shape, axis in self.reduced():
                yield Row(name, [Given(shape, "float32", low, high)], {} if axis is None else {"axis": axis}, numpy=True)
            for dtype in ("float64", "int32", "int64"):
                yield Row(name, [self.plane(dtype, 0, 3)], numpy=True)
                yield Row(name, [self.plane(dtype, 0, 3)], {"axis": 1}, numpy=True)
        for name in "_npi_argmax _npi_argmin".split():
            for dtype in ("float32", "int32"):
                for axis in (0, 1):
                    yield Row(name, [self.plane(dtype, 0, 99)], {"axis": axis}, numpy=True)
            yield Row(name, [self.plane()], numpy=True)
        for name in "_np_all _np_any".split():
            for dtype in ("bool", "float32", "int32"):
                for axis in (None, 0, 1):
                    yield Row(name, [self.plane(dtype, 0, 3)], {} if axis is None else {"axis": axis}, numpy=True)
        for dtype in ("float32", "float64", "int32"):
            for axis in (None, 0, 1):
                yield Row("_np_cumsum", [self.plane(dtype)], {} if axis is None else {"axis": axis}, numpy=True)
        yield Row("_npi_average", [self.plane(), self.plane(low=0.1)], {"axis": 1}, numpy=True)
        yield Row("_npi_average", [self.plane()], {"axis": 0, "weighted": False}, numpy=True)
        yield Row("_npi_bincount", [self.of(self.size(1 << 19, 64), dtype="int32", low=0, high=100)], {"minlength": 8, "has_weights": False}, numpy=True)
        yield Row("_npi_bincount", [self.of(self.size(1 << 19, 64), dtype="int64", low=0, high=100), self.of(self.size(1 << 19, 64))],
                  {"minlength": 8, "has_weights": True}, numpy=True)
        for axis in (0, 1):
            for order in (1, 2):
                yield Row("_npi_diff", [self.plane()], {"n": order, "axis": axis}, numpy=True)
        yield Row("_npi_ediff1d", [self.of(self.size(1 << 19, 64))], numpy=True)
        for axis in (None, 0, 1):
            yield Row("_npi_percentile", [self.plane()], {"interpolation": "linear", "q_scalar": 40.0} | ({} if axis is None else {"axis": axis}), numpy=True)
        yield Row("_npi_percentile", [self.plane(), self.of(3, low=0, high=100)], {"interpolation": "nearest", "axis": 1}, numpy=True)
        for flag, order, axis in ((-1, 2, "(1,)"), (-1, 1, "(1,)"), (1, 2, "(0, 1)")):
            yield Row("_npi_norm", [self.plane()], {"ord": order, "axis": axis, "flag": flag}, numpy=True)

    def creation(self):
        shape = self.size((512, 1024), (8, 8))
        for dtype in ("float32", "float16", "float64", "int32", "uint8", "int64"):
            typed = {"shape": shape, "dtype": dtype}
            yield Row("_zeros", [], typed)
            yield Row("_ones", [], typed)
            yield Row("_full", [], typed | {"value": 2})
            yield Row("_arange", [], {"start": 0, "stop": self.size(500000, 64), "step": 1, "dtype": dtype} if dtype != "uint8" else {"start": 0, "stop": 200, "dtype": dtype})
            yield Row("_linspace", [], {"start": 0, "stop": 100, "num": self.size(500000, 64), "dtype": dtype})
            yield Row("_eye", [], {"N": shape[0], "M": shape[1], "k": 1, "dtype": dtype})
        typed = {"shape": shape, "dtype": "float32"}
        for op in "_npi_zeros _npi_ones".split():
            yield Row(op, [], typed, numpy=True)
        yield Row("_npi_identity", [], {"shape": (shape[0], shape[0])}, numpy=True)
        yield Row("_npi_arange", [], {"start": 0, "stop": self.size(500000, 64), "step": 1}, numpy=True)
        yield Row("_npi_eye", [], {"N": shape[0], "M": shape[1], "k": 0}, numpy=True)
        yield Row("_npi_full_like", [self.plane()], {"fill_value": 3}, numpy=True)
        for op in "_npi_blackman _npi_hamming _npi_hanning".split():
            yield Row(op, [], {"M": self.size(100000, 64)}, numpy=True)
        yield Row("_npi_indices", [], {"dimensions": self.size((256, 512), (4, 4))}, numpy=True)
        yield Row("_npi_logspace", [], {"start": 0, "stop": 3, "num": self.size(100000, 64)}, numpy=True)
        yield Row("_zeros_without_dtype", [], {"shape": shape, "dtype": 0})
        yield Row("_set_value", [self.plane()], {"src": 3}, out=(0,), gradients=False, outputs_only=(0,))
        yield Row("_copyto", [self.plane(), self.plane()], out=(1,), gradients=False, outputs_only=(1,))
        yield Row("_contrib_arange_like", [self.plane()], {"start": 1.5, "step": 0.5})
        yield Row("_contrib_arange_like", [self.plane()], {"axis": 1})
