# SPDX-License-Identifier: Apache-2.0
"""Arrays out of nothing: constants, ranges, random numbers."""
import numpy as np
from case import Case

N = 1 << 20
GENERATOR = np.random.default_rng(1)


def random(name, numpy, torch, label="", dtype="float32", **params):
    return Case(f"{name} {dtype}{label}", f"_random_{name}", [], numpy, torch, {"shape": f"({N},)", "dtype": dtype, **params}, compare=False)


def cases(torch):
    for count in (N, 16 * N):
        yield Case(f"zeros {count >> 20} Mi float32", "_zeros", [], lambda o: o.fill(0), lambda o: o.zero_(),
                   {"shape": f"({count},)"}, compare=False, memory_bound=True)
    for dtype in ("float32", "int64"):
        yield Case(f"arange {dtype}", "_arange", [], lambda o: np.copyto(o, np.arange(N, dtype=o.dtype)),
                   lambda o: torch.arange(N, out=o), {"start": 0, "stop": N, "dtype": dtype}, compare=False,
                   memory_bound=True)
    for shape in ((512, 512, 3), (1000000,), (300000, 3)):
        yield Case(f"indices {' x '.join(map(str, shape))}", "_npi_indices", [], lambda o, shape=shape: np.indices(shape, "int32"), None,
                   {"dimensions": str(shape)})
    yield random("uniform", lambda o: GENERATOR.random(out=o, dtype="float32"), lambda o: o.uniform_())
    yield random("normal", lambda o: GENERATOR.standard_normal(out=o, dtype="float32"), lambda o: o.normal_())
    yield random("exponential", lambda o: GENERATOR.standard_exponential(out=o, dtype="float32"), lambda o: o.exponential_())
    yield random("normal", lambda o: GENERATOR.standard_normal(out=o), lambda o: o.normal_(), dtype="float64")
    yield random("exponential", lambda o: GENERATOR.standard_exponential(out=o), lambda o: o.exponential_(), dtype="float64")
    yield Case("normal of mx.np float32", "_npi_normal", [], lambda o: GENERATOR.standard_normal(out=o, dtype="float32"), lambda o: o.normal_(),
               {"loc": 0, "scale": 1, "size": f"({N},)"}, compare=False)
    yield random("poisson", lambda o: GENERATOR.poisson(100, N), lambda o: torch.poisson(torch.full((N,), 100.0)), " of mean 100", lam=100)
    yield random("randint", lambda o: GENERATOR.integers(0, 1000, N, dtype="int32"), lambda o: o.random_(0, 1000), dtype="int32", low=0, high=1000)
    for count, drawn in ((1000000, 1000), (1000000, 100000)):
        yield Case(f"choice of {drawn} of {count}", "_npi_choice", [], lambda o, n=count, k=drawn: GENERATOR.choice(n, k, replace=False),
                   lambda o, n=count, k=drawn: torch.randperm(n)[:k], {"a": count, "size": f"({drawn},)", "replace": False}, compare=False)
    # A number for each element of arrays of parameters.
    low, high = (np.linspace(a, a + 1, 100000, dtype="float32") for a in (0, 1))
    yield Case("uniform from arrays float32", "_sample_uniform", [low, high], lambda a, b, o: GENERATOR.uniform(a, b),
               lambda a, b, o: torch.rand(100000) * (b - a) + a, compare=False)
    yield Case("exponential from an array float32", "_sample_exponential", [high], lambda a, o: GENERATOR.exponential(1 / a),
               lambda a, o: o.exponential_().div_(a), compare=False)
    # NumPy draws shape 1 as an exponential number.
    for shape in (1.0, 2.5):
        yield random("gamma", lambda o, shape=shape: GENERATOR.standard_gamma(shape, out=o, dtype="float32"), None,
                     f" of shape {shape:g}", alpha=shape)
