# SPDX-License-Identifier: Apache-2.0
"""Convolutions of few channels a group, which are summed up line by line: eager, recorded and with what plans put
behind them, against the sums of float64; of ragged sizes, so that vectors end within lines."""

import itertools

import mxnet as mx
import numpy as np
import pytest

# batch, image, groups, channels of a group and filters, kernel, stride, dilate, pad
CASES = {
    "depthwise over three dimensions": (2, (5, 9, 11), 6, (1, 1), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    "steps and holes in three dimensions": (2, (7, 10, 23), 3, (1, 2), (2, 3, 4), (2, 1, 3), (1, 2, 2), (0, 3, 4)),
    "long kernels over one": (3, (400,), 5, (1, 1), (31,), (1,), (1,), (15,)),
    "one line of a few numbers": (2, (19,), 4, (1, 1), (7,), (2,), (1,), (3,)),
    "one line in steps": (2, (301,), 3, (2, 3), (9,), (5,), (3,), (8,)),
    "several filters a channel": (2, (21, 35), 8, (1, 3), (3, 3), (1, 1), (1, 1), (1, 1)),
    "odd groups": (2, (15, 33), 5, (3, 5), (3, 3), (1, 1), (1, 1), (1, 1)),
    "steps of two": (1, (18, 70), 3, (5, 5), (5, 3), (2, 2), (1, 1), (2, 1)),
    "steps of three": (1, (14, 50), 3, (2, 2), (3, 5), (1, 3), (2, 1), (1, 7)),
    "more padding than image": (1, (2, 3), 2, (3, 3), (3, 3), (1, 1), (1, 1), (4, 6)),
    "images of several parts": (1, (150, 170), 2, (3, 2), (3, 3), (1, 1), (1, 1), (1, 1)),
    "volumes of several parts": (1, (9, 40, 60), 2, (3, 2), (3, 3, 3), (1, 2, 1), (1, 1, 1), (0, 1, 2)),
}


def given(case):
    batch, image, groups, (channels, filters), kernel, stride, dilate, pad = CASES[case]
    random = np.random.RandomState(len(case))
    data = random.standard_normal((batch, groups * channels, *image))
    weight = random.standard_normal((groups * filters, channels, *kernel))
    bias = random.standard_normal(groups * filters)
    return [data, weight, bias], {
        "kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_filter": groups * filters, "num_group": groups,
    }  # fmt: skip


def truth(arrays, call):
    """In float64, a place of the kernel after the other."""
    data, weight, bias = arrays
    kernel, stride, dilate, pad, groups = (call[name] for name in ("kernel", "stride", "dilate", "pad", "num_group"))
    padded = np.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
    places = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded.shape[2:], kernel, stride, dilate)]
    split = weight.reshape(groups, -1, *weight.shape[1:])
    sums = np.zeros((len(data), groups, split.shape[1], *places))
    for at in itertools.product(*map(range, kernel)):
        seen = padded[(..., *(slice(a * d, a * d + (n - 1) * s + 1, s) for a, d, n, s in zip(at, dilate, places, stride)))]
        sums += np.einsum("gfc,bgc...->bgf...", split[(..., *at)], seen.reshape(len(data), groups, -1, *places))
    return sums.reshape(len(data), -1, *places) + bias.reshape(-1, *[1] * len(kernel))


def as_arrays(values):
    return [mx.nd.array(value, dtype="float32") for value in values]


def close(got, wanted):
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=0, atol=4e-6 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("case", CASES)
def test_lines_are_the_sums_of_products(case):
    arrays, call = given(case)
    close(mx.nd.Convolution(*as_arrays(arrays), **call), truth(arrays, call))
    arrays[2][:] = 0
    close(mx.nd.Convolution(*as_arrays(arrays[:2]), no_bias=True, **call), truth(arrays, call))


@pytest.mark.parametrize("case", CASES)
def test_recorded_lines_and_their_gradients(case):
    arrays, call = given(case)
    made = as_arrays(arrays)
    for array in made:
        array.attach_grad()
    with mx.autograd.record():
        result = mx.nd.Convolution(*made, **call)
    close(result, truth(arrays, call))
    head = np.random.RandomState(1).standard_normal(result.shape)
    result.backward(mx.nd.array(head))
    # Linear in each argument: what a gradient says of a direction is what the direction does.
    for i, array in enumerate(made):
        direction = np.random.RandomState(i).standard_normal(array.shape)
        moved = [direction if j == i else value for j, value in enumerate(arrays)]
        if i < 2:
            moved[2] = 0 * arrays[2]
        else:
            moved[0] = 0 * arrays[0]
        terms = head * truth(moved, call)
        said = (array.grad.asnumpy().astype("float64") * direction).sum()
        assert abs(said - terms.sum()) < 1e-5 * np.abs(terms).sum()


BEHIND = {
    "nothing": lambda s, c, o: c,
    "relu": lambda s, c, o: s.Activation(c, act_type="relu"),
    "a slope": lambda s, c, o: s.LeakyReLU(c, act_type="leaky", slope=0.1),
    "limits": lambda s, c, o: s.clip(c, -1, 2),
    "a sum": lambda s, c, o: s.Activation(c + o, act_type="relu"),
    "what no loop knows": lambda s, c, o: s.Activation(c, act_type="sigmoid"),
}


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("case", CASES)
def test_plans_put_steps_behind_lines(case, behind):
    arrays, call = given(case)
    wanted = truth(arrays, call)
    s = mx.sym
    line = s.Convolution(s.var("data"), s.var("weight"), s.var("bias"), **call)
    normal = s.BatchNorm(line, s.var("gamma"), s.var("beta"), s.var("mean"), s.var("var"), fix_gamma=False, eps=1e-3)
    graph = BEHIND[behind](s, normal, s.var("other"))
    random = np.random.RandomState(7)
    gamma, beta, mean, var = (random.uniform(0.5, 1.5, wanted.shape[1]) for _ in range(4))
    other = random.standard_normal(wanted.shape)
    values = dict(zip(["data", "weight", "bias"], arrays), gamma=gamma, beta=beta, other=other)
    names = graph.list_arguments()
    bound = graph.bind(
        mx.cpu(),
        {name: mx.nd.array(values[name]) for name in names},
        aux_states={"mean": mx.nd.array(mean), "var": mx.nd.array(var)},
        grad_req="null",
    )
    got = bound.forward(is_train=False)[0]
    by_channel = (-1, *[1] * len(call["kernel"]))
    gamma, beta, mean, var = (value.reshape(by_channel) for value in (gamma, beta, mean, var))
    wanted = (wanted - mean) / np.sqrt(var + 1e-3) * gamma + beta
    wanted = {
        "nothing": lambda: wanted,
        "relu": lambda: np.maximum(wanted, 0),
        "a slope": lambda: np.where(wanted < 0, 0.1 * wanted, wanted),
        "limits": lambda: np.clip(wanted, -1, 2),
        "a sum": lambda: np.maximum(wanted + other, 0),
        "what no loop knows": lambda: 1 / (1 + np.exp(-wanted)),
    }[behind]()
    close(got, wanted)


def test_not_a_number_stays_where_it_is_seen():
    arrays, call = given("depthwise over three dimensions")
    arrays[0][1, 2, 0, 0, 0] = np.nan
    got = mx.nd.Convolution(*as_arrays(arrays), **call).asnumpy()
    assert np.isnan(got[1, 2, :2, :2, :2]).all()
    assert np.isnan(got).sum() == 8
