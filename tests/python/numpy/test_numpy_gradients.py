# SPDX-License-Identifier: Apache-2.0
"""Gradients through mx.np's functions agree with differences of their values."""

import numpy as onp
import pytest

from mxnet import MXNetError, autograd, np, npx

# Expressions of x, float64 (2, 3) in (0.3, 1.3), that are summed with weights before they are differentiated.
DIFFERENTIABLE = """
np.add(x, x * 2)
np.subtract(1, x)
np.multiply(x, x[0])
np.true_divide(1, x)
np.power(x, 2.5)
np.power(2.0, x)
np.mod(x, 0.7)
np.maximum(x, 0.8)
np.hypot(x, 2)
np.arctan2(x, 0.5)
np.copysign(x, -1.0)
np.exp(x)
np.log(x)
np.sqrt(x)
np.cbrt(x)
np.sin(x)
np.tanh(x)
np.arcsinh(x)
np.expm1(x)
np.square(x)
np.abs(x - 0.8)
np.reciprocal(x)
np.clip(x, 0.5, 1.0)
np.sum(x, axis=1, keepdims=True)
np.mean(x, axis=0)
np.prod(x, axis=1)
np.max(x, axis=1)
np.min(x)
np.var(x, axis=1)
np.std(x)
np.cumsum(x, axis=1)
np.average(x, axis=0)
np.concatenate([x, x * 2], axis=1)
np.stack([x, x * x])
np.vstack([x, x])
np.dstack([x, x])
np.split(x, 3, axis=1)[1]
np.reshape(x, (3, 2))
np.transpose(x)
np.swapaxes(x, 0, 1)
np.moveaxis(x, 0, 1)
np.expand_dims(x, 1)
np.squeeze(x[:1])
np.broadcast_to(x[0], (4, 3))
np.tile(x, (2, 2))
np.repeat(x, 2, axis=0)
np.repeat(x, [2, 1], axis=0)
np.roll(x, 1)
np.flip(x)
np.rot90(x)
np.pad(x, ((1, 0), (0, 2)))
np.resize(x, (4, 2))
np.tril(x)
np.diag(x[0])
np.diagonal(x)
np.trace(x)
np.where(x > 0.8, x * 2, x * 3)
np.where(x > 0.8, x, 1.0)
np.take(x, np.array([0, 2], dtype='int32'), axis=1)
np.dot(x, x.T)
np.matmul(x, x.T)
np.tensordot(x, x, axes=([1], [1]))
np.inner(x, x)
np.outer(x, x)
np.vdot(x, x)
np.einsum('ij,kj->ik', x, x)
np.linalg.norm(x)
np.linalg.norm(x, 1, axis=1)
np.linalg.inv(x[:, :2] + np.eye(2, dtype='float64'))
np.linalg.det(x[:, :2])
np.linalg.solve(x[:, :2] + np.eye(2, dtype='float64'), x)
np.linalg.cholesky(np.dot(x, x.T) + np.eye(2, dtype='float64'))
np.diff(x, axis=1)
np.ediff1d(x)
np.ptp(x)
np.ptp(x, axis=1)
np.polyval(x[0], x)
np.nan_to_num(x)
x[:, 1] * x[0, 0]
x[[1, 0]]
x.T.reshape(-1)[::2]
npx.softmax(x)
npx.log_softmax(x, axis=0)
npx.relu(x - 0.8)
npx.sigmoid(x)
npx.layer_norm(x, np.ones(3, dtype='float64'), np.zeros(3, dtype='float64'))
npx.batch_dot(x[None], x.T[None])
npx.reshape(x, (-6, 1, 2, -4))
npx.pick(x, np.array([0, 2], dtype='int32'))
""".strip().splitlines()


def differences(function, values, step=1e-6):
    """The slope of a function of an array, in each of its elements."""
    slopes = onp.zeros_like(values)
    for place in onp.ndindex(*values.shape):
        above, below = values.copy(), values.copy()
        above[place] += step
        below[place] -= step
        slopes[place] = (function(above) - function(below)) / (2 * step)
    return slopes


@pytest.mark.parametrize("expression", DIFFERENTIABLE)
def test_a_gradient_agrees_with_differences(expression, rng):
    values = rng.uniform(0.3, 1.3, size=(2, 3))
    code = compile(expression, expression, "eval")
    scope = {"np": np, "npx": npx}
    weights = rng.uniform(0.5, 1.5, size=eval(code, {**scope, "x": np.array(values)}).shape)

    def loss(at):
        return float((eval(code, {**scope, "x": np.array(at)}) * np.array(weights)).sum())

    x = np.array(values)
    x.attach_grad()
    with autograd.record():
        total = (eval(code, {**scope, "x": x}) * np.array(weights)).sum()
    total.backward()
    assert type(x.grad) is np.ndarray
    onp.testing.assert_allclose(x.grad.asnumpy(), differences(loss, values), rtol=1e-4, atol=1e-5)


ONCE = ["linalg.solve", "ediff1d", "polyval", "nan_to_num", "layer_norm"]  # by kernels that have no gradient themselves
TWICE = DIFFERENTIABLE + """
(x + x[0])**3
(x[:, :1] * x[1])**2
(x.sum() * x)**2
np.var(x, axis=0)**2
np.var(x, ddof=1, keepdims=True) * x
np.std(x)**3
np.linalg.norm(x)**3
np.prod(x, axis=1)**2
npx.fully_connected(x, x, x[:, 0], num_hidden=2)**2
""".strip().splitlines()


@pytest.mark.parametrize("expression", TWICE)
def test_a_second_gradient_agrees_with_differences_or_is_refused(expression, rng):
    values = rng.uniform(0.3, 1.3, size=(2, 3))
    code = compile(expression, expression, "eval")
    scope = {"np": np, "npx": npx}
    weights, directions = rng.uniform(0.5, 1.5, size=eval(code, {**scope, "x": np.array(values)}).shape), rng.uniform(0.5, 1.5, size=(2, 3))

    def slope(at, **kwargs):
        """The first gradient along the directions, and what it was taken at."""
        x = np.array(at)
        x.attach_grad()
        with autograd.record():
            (first,) = autograd.grad((eval(code, {**scope, "x": x}) * np.array(weights)).sum(), [x], **kwargs)
            return x, (first * np.array(directions)).sum()

    x, total = slope(values, create_graph=True)
    try:
        total.backward()
    except MXNetError as error:
        assert "no gradient" in str(error) and any(name in expression for name in ONCE)
        return
    assert not any(name in expression for name in ONCE)
    expected = differences(lambda at: float(slope(at)[1]), values)
    onp.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-4, atol=1e-4)


def test_gradients_are_mx_np_arrays():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x**3).sum()
    (made,) = autograd.grad(y, x, create_graph=False)
    assert type(made) is np.ndarray and made.tolist() == [3, 12]


def test_a_gradient_is_added_up_on_request():
    x = np.array([1.0, 2.0])
    x.attach_grad(grad_req="add")
    for _ in range(3):
        with autograd.record():
            y = (x * x).sum()
        y.backward()
    assert x.grad.tolist() == [6, 12]


def test_a_gradient_of_a_gradient():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x**3).sum()
        (first,) = autograd.grad(y, x, create_graph=True)
        again = (first * first).sum()
    again.backward()
    assert x.grad.tolist() == [36, 288]  # d/dx (3 x^2)^2


def test_a_function_with_its_own_gradient():
    class Double(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            assert isinstance(dy, np.ndarray)
            return dy * 5

    x = np.ones((2, 2))
    x.attach_grad()
    with autograd.record():
        y = Double()(x)
    y.backward()
    assert type(y) is np.ndarray and x.grad.tolist() == [[5, 5], [5, 5]]


@pytest.mark.parametrize("appended", [False, True])
def test_tensors_of_any_shapes_are_joined_flat_and_get_their_shapes_back(rng, appended):
    shapes = (2, 3), (4,), (), (0, 5), (1, 2, 2)
    values = [rng.standard_normal(shape).astype("float32") for shape in shapes]
    arrays = [np.array(value) for value in values]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        joined = np.append(arrays[0], np.concatenate(arrays[1:], axis=None)) if appended else np.concatenate(arrays, axis=None)
        loss = (joined * np.arange(joined.size)).sum()
    loss.backward()
    onp.testing.assert_array_equal(joined.asnumpy(), onp.concatenate(values, axis=None))
    first = 0
    for array, value in zip(arrays, values):
        onp.testing.assert_array_equal(array.grad.asnumpy(), onp.arange(first, first + value.size).reshape(value.shape))
        first += value.size
