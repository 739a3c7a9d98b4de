# SPDX-License-Identifier: Apache-2.0
"""Matrix products, factors of small matrices and the updates of optimizers."""
import numpy as np
from case import Case, floats, normals

N = 1 << 20


def numpy_momentum(weight, grad, momentum, out):
    momentum *= 0.9
    momentum -= 0.01 * grad
    weight += momentum


def numpy_adam(weight, grad, mean, variance, out):
    mean *= 0.9
    mean += 0.1 * grad
    variance *= 0.999
    variance += 0.001 * grad * grad
    weight -= 0.01 * mean / (np.sqrt(variance) + 1e-8)


def numpy_rmsprop(weight, grad, square, out):
    square *= 0.9
    square += 0.1 * grad * grad
    weight -= 0.01 * grad / np.sqrt(square + 1e-8)


def torch_step(torch, kind, **settings):
    """A step of one of PyTorch's optimizers on the same arrays; its states are made by the first."""
    made = {}

    def step(weight, grad, *_):
        if not made:
            parameter = torch.nn.Parameter(weight)
            parameter.grad = grad
            made[kind] = getattr(torch.optim, kind)([parameter], lr=0.01, **settings)
        made[kind].step()

    return step


def updates(torch):
    weight, grad, state = normals("float32", N), normals("float32", N), floats("float32", N)
    for label, op, inputs, numpy, kind, settings, attrs in (
            ("momentum update", "sgd_mom_update", [weight, grad, state], numpy_momentum, "SGD",
             {"momentum": 0.9, "fused": True}, {"momentum": 0.9}),
            ("adam update", "adam_update", [weight, grad, state, state], numpy_adam, "Adam", {"fused": True}, {}),
            ("rmsprop update", "rmsprop_update", [weight, grad, state], numpy_rmsprop, "RMSprop", {}, {"gamma1": 0.9})):
        yield Case(label, op, inputs, numpy, torch_step(torch, kind, **settings), {"lr": 0.01, **attrs}, compare=False,
                   inplace=True, memory_bound=True)


def product(torch, label, op, a, b, **attrs):
    def numpy(x, y, o):
        return np.matmul(x, y.T if attrs else y, out=o)

    return Case(f"{op} {label}", op, [a, b], numpy, lambda x, y, o: torch.matmul(x, y.T if attrs else y, out=o), attrs,
                compare=a.shape[-1] < 1024, memory_bound=b.ndim == 1)


def factors(torch):
    """LQ factors, which are QR factors of the transposes."""
    for dtype, count, n in (("float64", 1000, 3), ("float32", 1000, 8), ("float32", 64, 24), ("float32", 8, 64)):
        yield Case(f"linalg_gelqf {count} of {n} x {n} {dtype}", "linalg_gelqf", [normals(dtype, count, n, n)],
                   lambda x, o: np.linalg.qr(x.swapaxes(1, 2)), lambda x, o: torch.linalg.qr(x.mT), compare=False)


def equations(torch):
    """Systems and eigenvectors of one matrix and of some."""
    for dtype, shape in (("float32", (64, 64)), ("float64", (64, 64)), ("float64", (512, 512))):
        a, label = normals(dtype, *shape), f"{shape[0]} {dtype}"
        yield Case(f"solve {label}", "_npi_solve", [a, normals(dtype, *shape)], lambda x, y, o: np.linalg.solve(x, y),
                   lambda x, y, o: torch.linalg.solve(x, y), compare=False)
    for dtype, shape in (("float32", (64, 64)), ("float64", (64, 64)), ("float32", (1000, 4, 4))):
        a = normals(dtype, *shape)
        yield Case(f"eigh {' x '.join(map(str, shape))} {dtype}", "_npi_eigh", [a + a.swapaxes(-1, -2)], lambda x, o: np.linalg.eigh(x),
                   lambda x, o: torch.linalg.eigh(x), compare=False)


def decompositions(torch):
    """Singular values, eigenvalues, Cholesky factors and inverses from them; products of small batches."""
    def positive(dtype, count, n):
        a = normals(dtype, count, n, n)
        return a @ a.swapaxes(1, 2) + n * np.eye(n, dtype=dtype)

    def named(name, op, a, numpy, torch_call):
        shape = " x ".join(str(n) for n in a.shape if n > 1 or a.ndim < 3)
        return Case(f"{name} {shape} {a.dtype}", op, [a], numpy, torch_call, compare=False)

    for dtype, count, n in (("float32", 1000, 8), ("float64", 1, 16), ("float64", 8, 64)):
        yield named("svd", "_npi_svd", normals(dtype, count, n, n), lambda x, o: np.linalg.svd(x, full_matrices=False),
                    lambda x, o: torch.linalg.svd(x, full_matrices=False))
    yield named("pinv", "_npi_pinv_scalar_rcond", normals("float64", 1, 256, 64), lambda x, o: np.linalg.pinv(x), lambda x, o: torch.linalg.pinv(x))
    for dtype, count, n in (("float64", 1000, 3), ("float32", 1, 32), ("float64", 1, 64)):
        a = positive(dtype, count, n) * np.linspace(1, 2, n, dtype=dtype)  # its eigenvalues are real
        yield named("eig", "_npi_eig", a, lambda x, o: np.linalg.eig(x), lambda x, o: torch.linalg.eig(x))
        yield named("eigvals", "_npi_eigvals", a, lambda x, o: np.linalg.eigvals(x), lambda x, o: torch.linalg.eigvals(x))
    for dtype, count, n in (("float32", 64, 32), ("float64", 1, 64)):
        a = normals(dtype, count, n, n)
        yield named("eigvalsh", "_npi_eigvalsh", a + a.swapaxes(1, 2), lambda x, o: np.linalg.eigvalsh(x), lambda x, o: torch.linalg.eigvalsh(x))
    for dtype, count, n in (("float64", 8, 64), ("float32", 1, 256)):
        a = positive(dtype, count, n)
        yield named("cholesky", "_npi_cholesky", a, lambda x, o: np.linalg.cholesky(x), lambda x, o: torch.linalg.cholesky(x))
        yield named("linalg_potri", "linalg_potri", np.linalg.cholesky(a), None, lambda x, o: torch.cholesky_inverse(x))
    for n, transpose in ((4, False), (16, True)):
        yield Case(f"linalg_gemm2 {n} x {n}{', turned' if transpose else ''}", "linalg_gemm2", [normals("float32", 1, n, n)] * 2,
                   lambda x, y, o, turned=transpose: np.matmul(x, y.swapaxes(1, 2) if turned else y, out=o),
                   lambda x, y, o, turned=transpose: torch.matmul(x, y.mT if turned else y, out=o), {"transpose_b": transpose})


def sums_of_products(torch):
    """Einstein sums that take microseconds, columns of integers among them, and dense layers of a few rows."""
    for text, dtype, *shapes in (("ab,ab->b", "float32", (20, 50), (20, 50)), ("ab,ab->a", "float64", (20, 50), (20, 50)),
                                 ("i,i->", "float32", (30,), (30,)), ("ij,ij->j", "int64", (90, 110), (90, 110)),
                                 ("ijk,ijk->ik", "int32", (20, 30, 40), (20, 30, 40)), ("ij,i->j", "int64", (221, 127), (221,))):
        arrays = [(10 * normals("float32", *shape)).astype(dtype) for shape in shapes]
        yield Case(f"einsum {text} {shapes[0]} {dtype}", "_npi_einsum", arrays, lambda *x, text=text: np.einsum(text, *x[:-1]),
                   lambda *x, text=text: torch.einsum(text, *x[:-1]), {"num_args": 2, "subscripts": text})
    for rows, units, inputs in ((2, 256, 256), (3, 256, 256), (2, 128, 512)):
        yield Case(f"dense layer {rows} x {inputs} to {units}", "FullyConnected",
                   [normals("float32", rows, inputs), normals("float32", units, inputs), normals("float32", units)],
                   lambda x, w, b, o: x @ w.T + b, lambda x, w, b, o: torch.nn.functional.linear(x, w, b), {"num_hidden": units})


def cases(torch):
    for dtype, n in (("float32", 8), ("float32", 32), ("float32", 64), ("float32", 256), ("float32", 1024), ("float64", 256)):
        yield product(torch, f"{n} {dtype}", "dot", normals(dtype, n, n), normals(dtype, n, n))
    yield product(torch, "vector float32", "dot", normals("float32", 1024, 1024), normals("float32", 1024))
    yield product(torch, "vector float16", "dot", normals("float16", 1024, 1024), normals("float16", 1024))
    for m, n, k in ((37, 41, 43), (100, 33, 100), (30, 30, 500), (64, 128, 784), (64, 1024, 1024)):
        yield product(torch, f"{m} x {k} by {k} x {n}", "dot", normals("float32", m, k), normals("float32", k, n))
    yield product(torch, "64 x 784 by 128 x 784, turned", "dot", normals("float32", 64, 784), normals("float32", 128, 784), transpose_b=True)
    for dtype in ("float32", "float64"):
        yield product(torch, f"3 x 1000 by 1000 x 1000 {dtype}", "dot", normals(dtype, 3, 1000), normals(dtype, 1000, 1000))
        yield product(torch, f"20000 x 64 by 64 x 4 {dtype}", "dot", normals(dtype, 20000, 64), normals(dtype, 64, 4))
        yield product(torch, f"8 x 100000 by itself {dtype}", "dot", *[normals(dtype, 8, 100000)] * 2, transpose_b=True)
    yield product(torch, "transposed float32", "dot", normals("float32", 512, 512), normals("float32", 512, 512), transpose_b=True)
    for batch, n in ((64, 32), (16, 128)):
        yield product(torch, f"{batch} x {n}", "batch_dot", normals("float32", batch, n, n), normals("float32", batch, n, n))
    for m, k, n in ((1, 20, 20), (8, 1, 20), (2, 20, 20)):
        yield product(torch, f"1000 of {m} x {k} by {k} x {n}", "batch_dot", normals("float32", 1000, m, k), normals("float32", 1000, k, n))
    yield from sums_of_products(torch)
    yield from factors(torch)
    yield from equations(torch)
    yield from decompositions(torch)
    yield from updates(torch)
