# SPDX-License-Identifier: Apache-2.0
"""Random numbers, optimizers, quantized and sparse operators."""
from registry_rows import FLOATS, Given, Row, Sizes


class Others(Sizes):
    def random(self):
        shape = self.size((256, 512), (8, 8))
        plain = {"uniform": {"low": -1, "high": 1}, "normal": {"loc": 0, "scale": 2}, "gamma": {"alpha": 2.5, "beta": 1.5}, "exponential": {"lam": 2},
                 "poisson": {"lam": 3}, "negative_binomial": {"k": 3, "p": 0.5}, "generalized_negative_binomial": {"mu": 2, "alpha": 0.4}}
        for name, attrs in plain.items():
            for dtype in FLOATS:
                yield Row("_random_" + name, [], attrs | {"shape": shape, "dtype": dtype})
            yield Row(f"_random_{name}_like", [Given(shape)], attrs, gradients=False)
        yield Row("_random_gamma", [], {"alpha": 0.5, "beta": 1.0, "shape": shape})
        yield Row("_random_poisson", [], {"lam": 50, "shape": shape})
        for dtype in ("int32", "int64"):
            yield Row("_random_randint", [], {"low": 0, "high": 11, "shape": shape, "dtype": dtype})
        some = self.of(8, low=1, high=3)
        each = {"shape": (self.size(10000, 8),)}
        for name, count in (("uniform", 2), ("normal", 2), ("gamma", 2), ("exponential", 1), ("poisson", 1), ("generalized_negative_binomial", 2)):
            yield Row("_sample_" + name, [some] * count, each, gradients=False)
        yield Row("_sample_negative_binomial", [some, self.of(8, low=0.3, high=0.6)], each, gradients=False)
        yield Row("_sample_multinomial", [self.of(8, 16, low=1 / 16, high=1 / 16)], each, gradients=False)
        yield Row("_sample_multinomial", [self.of(8, 16, low=1 / 16, high=1 / 16)], each | {"get_prob": True}, gradients=False)
        yield Row("_sample_unique_zipfian", [], {"range_max": 5000000, "shape": (1, self.size(3000, 8))})
        for given in (self.of(self.size(200000, 64)), self.of(self.size(2000, 8), 64), self.of(self.size(200000, 64), dtype="int64", high=99)):
            yield Row("_shuffle", [given], gradients=False)
        sized = {"size": shape, "ctx": "cpu(0)"}
        for name, attrs in {"uniform": {"low": -1, "high": 1}, "normal": {"loc": 0, "scale": 1}, "gamma": {"shape": 2.0, "scale": 0.5},
                            "bernoulli": {"prob": 0.4, "logit": "None", "is_logit": False}, "uniform_n": {"low": 0.0, "high": 1.0}, "normal_n": {"loc": 0.0, "scale": 1.0},
                            "exponential": {"scale": 2.5}, "gumbel": {"loc": 1.0, "scale": 1.0}, "logistic": {"loc": 0.1, "scale": 1.2}, "rayleigh": {"scale": 2.5},
                            "weibull": {"a": 2.4}, "pareto": {"a": 5.4}}.items():
            yield Row("_npi_" + name, [], attrs | sized, numpy=True)
        yield Row("_npi_powerd", [], {"a": 2.7, "size": shape}, numpy=True)
        for weighted in (False,):
            yield Row("_npi_choice", [], {"a": self.size(1000, 12), "size": (self.size(20000, 8),), "ctx": "cpu(0)", "replace": True, "weighted": weighted}, numpy=True)
            yield Row("_npi_choice", [], {"a": self.size(20000, 12), "size": (self.size(1000, 8),), "ctx": "cpu(0)", "replace": False, "weighted": weighted}, numpy=True)
        yield Row("_npi_multinomial", [], {"n": 20, "pvals": "(0.2,0.3,0.5)", "size": (self.size(5000, 8),)}, numpy=True)

    def densities(self):
        n, m = self.size((64, 2048), (4, 8))
        for name, count in (("uniform", 2), ("normal", 2), ("gamma", 2), ("exponential", 1), ("poisson", 1), ("negative_binomial", 2), ("generalized_negative_binomial", 2)):
            discrete = name in ("poisson", "negative_binomial", "generalized_negative_binomial")
            low, high = ((0, 0.4), (0.6, 0.9)) if name == "uniform" else ((1, 3), (0.3, 0.6))
            given = [self.of(n, low=low[0], high=low[1]), self.of(n, low=high[0], high=high[1])][:count]
            for log in (False, True):
                yield Row("_random_pdf_" + name, [Given((n, m), "float32", 0.4 if not discrete else 1, 0.6 if not discrete else 4), *given], {"is_log": log},
                          gradients=list(range(1 if discrete else 0, count + 1)))
        yield Row("_random_pdf_dirichlet", [self.of(n, m // 8, 8, low=0.1, high=0.2), self.of(n, 8, low=1, high=2)], {"is_log": False})

    def optimizers(self):
        rates = {"lr": 1e-6, "wd": 1e-6}
        momentum = {"momentum": 0.9}

        def state(dtype="float32"):
            return self.plane(dtype, 0.1, 1)

        for dtype in ("float32", "float64", "float16"):
            for name, states, attrs in (("sgd", 0, {}), ("sgd_mom", 1, momentum), ("nag_mom", 1, momentum), ("signsgd", 0, {}), ("signum", 1, momentum), ("adam", 2, {}),
                                        ("rmsprop", 1, {}), ("rmspropalex", 3, {}), ("ftrl", 2, {}), ("ftml", 3, {"t": 7})):
                inputs = [state(dtype), state(dtype)] + [state(dtype) for _ in range(states)]
                yield Row(name + "_update", inputs, rates | attrs, out=(0,), gradients=False)
        yield Row("sgd_update", [state(), state()], rates | {"clip_gradient": 0.5, "rescale_grad": 0.5}, out=(0,), gradients=False)
        half = [self.plane("float16"), self.plane("float16")]
        yield Row("mp_sgd_update", [*half, state()], rates, out=(0,), gradients=False)
        for name in ("mp_sgd_mom_update", "mp_nag_mom_update"):
            yield Row(name, [*half, state(), state()], rates | momentum, out=(0,), gradients=False)
        one = self.of(1, low=1, high=1)
        yield Row("_adamw_update", [state(), state(), state(), state(), one], rates | {"eta": 0.9}, out=(0,), gradients=False)
        yield Row("_mp_adamw_update", [*half, state(), state(), state(), one], rates | {"eta": 0.9}, out=(0,), gradients=False)
        yield Row("lamb_update_phase1", [state() for _ in range(4)], {"t": 1, "wd": 0.1}, gradients=False)
        yield Row("mp_lamb_update_phase1", [*half, state(), state(), state()], {"t": 1, "wd": 0.1}, gradients=False)
        yield Row("lamb_update_phase2", [state(), state(), one, one], {"lr": 1e-6}, gradients=False)
        yield Row("mp_lamb_update_phase2", [half[0], state(), one, one, state()], {"lr": 1e-6}, gradients=False)
        two = {"num_weights": 2}
        lists = {"lrs": "(1e-6,1e-6)", "wds": "(1e-6,1e-6)"}
        pair = [self.of(2, low=1e-6, high=1e-6)] * 2
        for prefix, given in (("", [state(), state()]), ("mp_", half)):
            main = [state()] if prefix else []
            each, with_momentum = given + main, given + [state()] + main
            yield Row(f"multi_{prefix}sgd_update", each * 2, two | lists, out=(0, len(each)), gradients=False)
            yield Row(f"multi_{prefix}sgd_mom_update", with_momentum * 2, two | lists | momentum, out=(0, len(with_momentum)), gradients=False)
            yield Row(f"preloaded_multi_{prefix}sgd_update", each * 2 + pair, two, out=(0, len(each)), gradients=False)
            yield Row(f"preloaded_multi_{prefix}sgd_mom_update", with_momentum * 2 + pair, two | momentum, out=(0, len(with_momentum)), gradients=False)
            whole = given + [state(), state()] + main
            yield Row(f"_multi_{prefix}adamw_update", whole * 2 + [one], two | lists | {"etas": "(0.7,0.7)"}, out=(0, len(whole)), gradients=False)
            yield Row(f"_multi_{prefix}lamb_update", whole * 2, {"num_tensors": 2, "learning_rates": "(1e-6,1e-6)", "wds": "(1e-6,1e-6)", "step_count": "(5,5)"},
                      out=(0, len(whole)), gradients=False)
        yield Row("reset_arrays", [state(), state()], {"num_arrays": 2}, gradients=False)
        yield Row("multi_lars", [self.of(self.size(200, 8), low=0.1, high=1) for _ in range(4)], {"eta": 0.1, "eps": 1e-5, "rescale_grad": 1.0}, gradients=False)

    def quantized(self):
        low, high = self.of(1, low=-2, high=-2), self.of(1, low=2, high=2)
        picture = self.size((8, 64, 28, 28), (2, 4, 6, 6))
        signed, unsigned = self.of(*picture, dtype="int8", low=-127, high=127), self.of(*picture, dtype="uint8", low=0, high=255)
        yield Row("_contrib_quantize_v2", [self.of(*picture)], {"out_type": "int8", "min_calib_range": -2.0, "max_calib_range": 2.0}, gradients=False)
        yield Row("_contrib_quantize_v2", [self.of(*picture)], {"out_type": "int8"}, gradients=False)
        yield Row("_contrib_quantize_v2", [self.of(*picture)], {"out_type": "uint8", "min_calib_range": 0.0, "max_calib_range": 2.0}, gradients=False)
        yield Row("_contrib_quantize", [self.of(*picture), low, high], {"out_type": "uint8"}, gradients=False)
        yield Row("_contrib_quantize", [self.of(*picture), low, high], {"out_type": "int8"}, gradients=False)
        for given in (signed, unsigned):
            yield Row("_contrib_dequantize", [given, low, high], gradients=False)
            yield Row("_contrib_quantized_pooling", [given, low, high], {"kernel": (2, 2), "stride": (2, 2), "pool_type": "max"}, gradients=False)
            yield Row("_contrib_quantized_pooling", [given, low, high], {"kernel": (2, 2), "stride": (2, 2), "pool_type": "avg"}, gradients=False)
            yield Row("_contrib_quantized_flatten", [given, low, high], gradients=False)
            yield Row("_contrib_quantized_act", [given, low, high], {"act_type": "relu"}, gradients=False)
            yield Row("_contrib_quantized_concat", [given, given, low, low, high, high], {"num_args": 2, "dim": 1}, gradients=False)
            yield Row("_contrib_quantized_elemwise_add", [given, given, low, high, low, high], gradients=False)
            yield Row("_contrib_quantized_elemwise_mul", [given, given, low, high, low, high], gradients=False)
            yield Row("_contrib_quantized_conv", [given, self.of(32, picture[1], 3, 3, dtype="int8", low=-127, high=127), low, high, low, high],
                      {"kernel": (3, 3), "pad": (1, 1), "num_filter": 32, "no_bias": True, "layout": "NCHW"}, gradients=False)
            width = self.size(512, 8)
            yield Row("_contrib_quantized_fully_connected", [self.of(32, width, dtype=given.dtype, low=0, high=127), self.of(128, width, dtype="int8", low=-127, high=127), low, high, low, high],
                      {"num_hidden": 128, "no_bias": True}, gradients=False)
        yield Row("_contrib_requantize", [self.of(*picture, dtype="int32", low=-1e6, high=1e6), low, high], {"out_type": "int8", "min_calib_range": -1.0, "max_calib_range": 1.0}, gradients=False)
        yield Row("_contrib_requantize", [self.of(*picture, dtype="int32", low=-1e6, high=1e6), low, high], {"out_type": "int8"}, gradients=False)
        yield Row("_contrib_quantize_asym", [self.of(*picture)], {"min_calib_range": -2.0, "max_calib_range": 2.0}, gradients=False)
        channels = [self.of(picture[1], low=0.5, high=1) for _ in range(4)]
        yield Row("_contrib_quantized_batch_norm", [signed, *channels, low, high], {"min_calib_range": -3.0, "max_calib_range": 3.0, "eps": 1e-3}, gradients=False)
        rows = self.size(2000, 8)
        yield Row("_contrib_quantized_embedding", [self.of(64, 64, low=0, high=rows), self.of(rows, 64, dtype="int8", low=-127, high=127), low, high],
                  {"input_dim": rows, "output_dim": 64}, gradients=False)
        yield Row("_contrib_calibrate_entropy", [self.of(self.size(8001, 1001), low=0, high=50), self.of(self.size(8002, 1002), kind="ordered")],
                  {"num_quantized_bins": self.size(255, 31)}, gradients=False)

    def sparse(self):
        n, m = self.size((2000, 256), (8, 8))
        compressed, rows = self.of(n, m, kind="csr", density=0.05), self.of(n, m, kind="row_sparse")
        dense = self.of(n, m)
        yield Row("cast_storage", [compressed], {"stype": "default"}, gradients=False)
        yield Row("cast_storage", [rows], {"stype": "default"}, gradients=False)
        yield Row("cast_storage", [self.of(n, m, kind="csr", density=0.05)], {"stype": "csr"}, gradients=False)
        yield Row("cast_storage", [Given((n, m), "float32", 0, 1)], {"stype": "csr"}, gradients=False)
        yield Row("cast_storage", [Given((n, m), "float32", 0, 1)], {"stype": "row_sparse"}, gradients=False)
        yield Row("dot", [compressed, self.of(m, 64)], gradients=False)
        yield Row("dot", [compressed, self.of(n, 64)], {"transpose_a": True}, gradients=False)
        yield Row("dot", [compressed, self.of(n, 64)], {"transpose_a": True, "forward_stype": "row_sparse"}, gradients=False)
        yield Row("dot", [compressed, self.of(m, 64, kind="row_sparse")], gradients=False)
        yield Row("_sparse_retain", [rows, self.of(self.size(100, 4), dtype="int64", high=n, kind="distinct")], gradients=False)
        for op in "abs sqrt square sign sin relu negative tanh exp cos sigmoid _copy".split():
            yield Row(op, [rows], gradients=False)
        yield Row("clip", [rows], {"a_min": -1, "a_max": 1}, gradients=False)
        for op in "elemwise_add elemwise_sub elemwise_mul".split():
            yield Row(op, [rows, rows], gradients=False)
            yield Row(op, [rows, dense], gradients=False)
        yield Row("_mul_scalar", [rows], {"scalar": 2.5}, gradients=False)
        yield Row("_mul_scalar", [compressed], {"scalar": 2.5}, gradients=False)
        yield Row("add_n", [rows, rows, rows], {"num_args": 3}, gradients=False)
        yield Row("broadcast_mul", [compressed, self.of(n, 1)], gradients=False)
        yield Row("broadcast_div", [compressed, self.of(n, 1)], gradients=False)
        for axis in (0, 1):
            yield Row("sum", [compressed], {"axis": axis}, gradients=False)
            yield Row("mean", [compressed], {"axis": axis}, gradients=False)
        yield Row("norm", [rows], gradients=False)
        yield Row("norm", [compressed], gradients=False)
        yield Row("slice", [compressed], {"begin": "(1,)", "end": f"({n - 1},)"}, gradients=False)
        yield Row("Concat", [compressed, compressed], {"num_args": 2, "dim": 0}, gradients=False)
        yield Row("where", [compressed, dense, dense], gradients=False)
        yield Row("take", [compressed, self.of(self.size(500, 4), dtype="int64", low=0, high=n)], gradients=False)
        yield Row("FullyConnected", [compressed, self.of(16, m), self.of(16)], {"num_hidden": 16}, gradients=False)
        yield Row("_contrib_getnnz", [compressed], {"axis": 1}, gradients=False)
        rates = {"lr": 1e-6, "wd": 1e-6}
        for lazy in (True, False):
            yield Row("sgd_update", [dense, rows], rates | {"lazy_update": lazy}, out=(0,), gradients=False)
            yield Row("sgd_mom_update", [dense, rows, dense], rates | {"lazy_update": lazy, "momentum": 0.9}, out=(0,), gradients=False)
            yield Row("adam_update", [dense, rows, dense, self.of(n, m, low=0.1)], rates | {"lazy_update": lazy}, out=(0,), gradients=False)
        yield Row("ftrl_update", [dense, rows, dense, self.of(n, m, low=0.1)], rates, out=(0,), gradients=False)
        yield Row("_sparse_adagrad_update", [dense, rows, self.of(n, m, low=0.1)], {"lr": 1e-6}, out=(0,), gradients=False)
        yield Row("_contrib_group_adagrad_update", [dense, rows, self.of(n, 1, low=0.1)], {"lr": 1e-6}, out=(0,), gradients=False)

    def others(self):
        n = self.size(64, 4)
        yield Row("_contrib_fft", [self.of(n, 512)], {"compute_size": 128})
        yield Row("_contrib_ifft", [self.of(n, 512)], {"compute_size": 128})
        yield Row("_contrib_count_sketch", [self.of(n, 512), self.of(1, 512, low=0, high=63), self.of(1, 512, low=1, high=1)], {"out_dim": 64}, gradients=[0])
