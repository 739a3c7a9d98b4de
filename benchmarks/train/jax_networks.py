# SPDX-License-Identifier: Apache-2.0
"""The networks of small.py in JAX, each compiled as one function: a call of inference, and a training step that gives the
next parameters, velocities and averages of batch normalization. Channels come second, as in the others."""
import math

import jax
import jax.numpy as jnp
from jax import lax

MOMENTUM_OF_AVERAGES = 0.9
EPSILON = 1e-5


class Parameters:
    """Arrays by the order in which layers ask for them; a network is a function that is given one of these, and goes
    through it once to make them and then each time it is called."""

    def __init__(self, arrays=None, averages=None):
        self.makes = arrays is None
        self.arrays, self.averages = ([], []) if self.makes else (list(arrays), list(averages))
        self.at = self.at_average = 0
        self.next_averages = []
        self.key = jax.random.key(0)

    def take(self, *shape, fill=None):
        if self.makes:
            self.key, key = jax.random.split(self.key)
            reach = math.sqrt(3 / max(1, math.prod(shape[1:])))
            self.arrays.append(jax.random.uniform(key, shape, minval=-reach, maxval=reach) if fill is None else jnp.full(shape, fill, "float32"))
        self.at += 1
        return self.arrays[self.at - 1]

    def average(self, channels, fill):
        if self.makes:
            self.averages.append(jnp.full(channels, fill, "float32"))
        self.at_average += 1
        return self.averages[self.at_average - 1]


def dense(p, x, units):
    return x @ p.take(units, x.shape[1]).T + p.take(units, fill=0)


def conv(p, x, channels, kernel, stride=1, pad=0, bias=True):
    y = lax.conv(x, p.take(channels, x.shape[1], kernel, kernel), (stride, stride), [(pad, pad)] * 2)
    return y + p.take(channels, fill=0)[:, None, None] if bias else y


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def batch_norm(p, x, training):
    channels = x.shape[1]
    scale, shift = p.take(channels, fill=1), p.take(channels, fill=0)
    means = p.average(channels, 0), p.average(channels, 1)
    if training:
        now = x.mean((0, 2, 3)), x.var((0, 2, 3))
        p.next_averages += [MOMENTUM_OF_AVERAGES * old + (1 - MOMENTUM_OF_AVERAGES) * new for old, new in zip(means, now)]
        means = now
    mean, variance = (value[:, None, None] for value in means)
    return (x - mean) * (lax.rsqrt(variance + EPSILON) * scale[:, None, None]) + shift[:, None, None]


def residual(p, x, channels, stride, training):
    y = jax.nn.relu(batch_norm(p, conv(p, x, channels, 3, stride, 1, bias=False), training))
    y = batch_norm(p, conv(p, y, channels, 3, 1, 1, bias=False), training)
    if stride > 1:
        x = batch_norm(p, conv(p, x, channels, 1, stride, bias=False), training)
    return jax.nn.relu(y + x)


def lstm(p, x, units):
    batch, _, width = x.shape
    gates = x.transpose(1, 0, 2) @ p.take(4 * units, width).T + p.take(4 * units, fill=0) + p.take(4 * units, fill=0)
    weight = p.take(4 * units, units)

    def step(state, gate):
        hidden, cell = state
        i, f, g, o = jnp.split(gate + hidden @ weight.T, 4, axis=-1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    zero = jnp.zeros((batch, units))
    return lax.scan(step, (zero, zero), gates)[1].transpose(1, 0, 2)


def network_of(name, classes, units, stages, blocks):
    """The function of a network of small.py: of parameters, images, and whether it is trained."""

    def perceptron(p, x, training):
        for hidden in (128, 64):
            x = jax.nn.relu(dense(p, x, hidden))
        return dense(p, x, classes)

    def lenet(p, x, training):
        for filters in (20, 50):
            x = pool(jnp.tanh(conv(p, x, filters, 5)))
        return dense(p, jnp.tanh(dense(p, x.reshape(len(x), -1), 500)), classes)

    def resnet(p, x, training):
        x = jax.nn.relu(batch_norm(p, conv(p, x, stages[0], 3, 1, 1, bias=False), training))
        for stage, channels in enumerate(stages):
            for block in range(blocks):
                x = residual(p, x, channels, 2 if stage > 0 and block == 0 else 1, training)
        return dense(p, x.mean((2, 3)), classes)

    def recurrent(p, x, training):
        return dense(p, lstm(p, x, units).reshape(len(x), -1), classes)

    return {"perceptron": perceptron, "lenet": lenet, "resnet": resnet, "lstm": recurrent}[name]


def calls_of(network, images, labels, settings):
    images, labels = jnp.asarray(images), jnp.asarray(labels)
    made = Parameters()
    network(made, images, False)

    @jax.jit
    def infer(arrays, averages):
        return network(Parameters(arrays, averages), images, False)

    def cost_of(arrays, averages):
        p = Parameters(arrays, averages)
        scores = jax.nn.log_softmax(network(p, images, True))
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean(), p.next_averages

    @jax.jit
    def step(arrays, velocities, averages):
        (cost, averages), slopes = jax.value_and_grad(cost_of, has_aux=True)(arrays, averages)
        velocities = [settings["momentum"] * v - settings["learning_rate"] * g for v, g in zip(velocities, slopes)]
        return [a + v for a, v in zip(arrays, velocities)], velocities, averages, cost

    state = [made.arrays, [jnp.zeros_like(array) for array in made.arrays], made.averages]

    def train():
        state[0], state[1], state[2], cost = step(*state)
        jax.block_until_ready(state)
        return float(cost)

    return {"inference": lambda: jax.block_until_ready(infer(state[0], state[2])), "training": train}
