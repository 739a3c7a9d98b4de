# SPDX-License-Identifier: Apache-2.0
"""np.random and npx.random: the reference's numbers for a seed, moments, shapes and types."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx

# Obtained by running the reference 1.9.1 (float32, seed 7 before each call).
REFERENCE = {
    "np.random.uniform(size=(5,))": [0.42855945, 0.91751623, 0.80797774, 0.99770719, 0.74959618],
    "np.random.uniform(0.0, 2.0, size=(3,), dtype='float64')": [0.8571189, 1.83503246, 1.61595547],
    "np.random.uniform(np.array([0.0, 1.0]), 3.0, size=(3, 2))": [[1.28567839, 2.83503246], [2.42393327, 2.99541426], [2.2487886, 1.58677483]],
    "np.random.normal(size=(5,))": [0.80283999, -0.13737269, -0.83998173, 1.01473117, -1.00169504],
    "np.random.normal(1.0, np.array([1.0, 2.0]), size=(3, 2))": [[1.80283999, 0.72525465], [0.16001827, 3.02946234], [-0.00169504, 0.48828864]],
    "np.random.gamma(0.3, 2.0, size=(3,))": [3.3562569618225098, 0.009177908301353455, 1.2247899770736694],
    "np.random.beta(1.0, 2.0, size=(2,))": [0.5425549, 0.6554055],
    "np.random.choice(10, 4, replace=False)": [4, 3, 6, 9],
    "np.random.lognormal(size=(3,))": [2.23187041, 0.87164533, 0.43171841],
    "np.random.logistic(size=(3,))": [-0.28773102, 2.40906882, 1.43692315],
    "np.random.gumbel(size=(3,))": [0.16567001, 2.45242, 1.5454272],
    "np.random.exponential(2.0, size=(3,))": [1.6946516, 0.17217001, 0.42644155],
    "np.random.rayleigh(2.0, size=(3,))": [2.60357571, 0.82986748, 1.30604982],
    "np.random.weibull(2.0, size=(3,))": [0.92050302, 0.29340246, 0.46175835],
    "np.random.pareto(2.0, size=(3,))": [0.52754658, 0.04398227, 0.11250073],
    "np.random.power(2.0, size=(3,))": [0.75593686, 0.28719988, 0.43820345],
    "np.random.rand(3)": [0.42855945, 0.91751623, 0.80797774],
    "np.random.randn(2, 2)": [[0.80283999, -0.13737269], [-0.83998173, 1.01473117]],
    "np.random.randint(10, size=(5,))": [9.0, 1.0, 2.0, 5.0, 3.0],
    "np.random.choice(10, 5)": [2.0, 3.0, 3.0, 7.0, 1.0],
    "np.random.choice(10, (2, 3), replace=False)": [[0.0, 1.0, 2.0], [7.0, 8.0, 5.0]],
    "np.random.choice(3, 5, p=np.array([0.2, 0.3, 0.5]))": [1.0, 2.0, 2.0, 2.0, 2.0],
    "np.random.multinomial(10, [0.2, 0.3, 0.5])": [1.0, 1.0, 8.0],
    "npx.random.bernoulli(0.3, size=(8,))": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0],
    "npx.random.uniform_n(np.zeros(2), 1.0, batch_shape=(3,))": [[0.42855945, 0.91751623], [0.80797774, 0.99770719], [0.74959618, 0.29338741]],
    "npx.random.normal_n(np.zeros(2), 1.0, batch_shape=(3,))": [[0.80283999, -0.13737269], [-0.83998173, 1.01473117], [-1.00169504, -0.25585568]],
}


@pytest.mark.parametrize("expression", REFERENCE)
def test_a_seed_gives_the_references_numbers(expression):
    npx.random.seed(7)
    actual = eval(expression, {"np": np, "npx": npx})
    onp.testing.assert_allclose(actual.asnumpy(), REFERENCE[expression], rtol=2e-6, atol=1e-7)


# What comes after them: the release throws numbers away at the end of these.
AFTERWARDS = {
    "np.random.power(2.0, size=6)": [0.1291514, 0.2747346, 0.6085643],
    "np.random.power(np.array([1.0, 2.0, 3.0]), size=3)": [0.7495962, 0.2933874, 0.4052768],
    "np.random.multinomial(10, [0.2, 0.3, 0.5])": [0.3115822, 0.187926, 0.2591582],
    "np.random.multinomial(10, [0.2, 0.3, 0.5], size=5)": [0.07883953, 0.8059484, 0.668546],
    "np.random.multinomial(10, np.array([0.2, 0.3, 0.5]), size=2)": [0.9094957, 0.8566679, 0.2753928],
    "np.random.multinomial(10, [0.2, 0.3, 0.5], size=(2, 0))": [0.4285595, 0.9175162, 0.8079777],
}


@pytest.mark.parametrize("expression", AFTERWARDS)
def test_the_stream_goes_on_as_it_does_in_the_reference(expression):
    npx.random.seed(7)
    drawn = eval(expression, {"np": np})
    # Where it was drawn: each device has a stream of its own, and operators without `ctx` are the CPU's.
    after = np.random.uniform(size=3, ctx=drawn.ctx)
    onp.testing.assert_allclose(after.asnumpy(), AFTERWARDS[expression], rtol=2e-6)


# Mean and standard deviation of 20000 draws.
MOMENTS = {
    "np.random.uniform(1.0, 3.0, size=n)": (2, 3**-0.5),
    "np.random.normal(1.0, 2.0, size=n)": (1, 2),
    "np.random.lognormal(0.0, 0.5, size=n)": (onp.exp(0.125), onp.exp(0.125) * (onp.exp(0.25) - 1) ** 0.5),
    "np.random.logistic(1.0, 2.0, size=n)": (1, 2 * onp.pi / 3**0.5),
    "np.random.gumbel(1.0, 2.0, size=n)": (1 + 2 * 0.5772157, 2 * onp.pi / 6**0.5),
    "np.random.exponential(2.0, size=n)": (2, 2),
    "np.random.rayleigh(2.0, size=n)": (2 * (onp.pi / 2) ** 0.5, 2 * (2 - onp.pi / 2) ** 0.5),
    "np.random.weibull(1.0, size=n)": (1, 1),
    "np.random.pareto(5.0, size=n)": (0.25, (5 / 16 / 3) ** 0.5),
    "np.random.power(3.0, size=n)": (0.75, (3 / 80) ** 0.5),
    "np.random.gamma(2.0, 3.0, size=n)": (6, 18**0.5),
    "np.random.chisquare(3.0, size=n)": (3, 6**0.5),
    "np.random.beta(2.0, 3.0, size=n)": (0.4, 0.2),
    "np.random.rand(*n)": (0.5, 12**-0.5),
    "np.random.randn(*n)": (0, 1),
    "np.random.randint(3, 7, size=n)": (4.5, 1.25**0.5),
    "np.random.choice(5, size=n)": (2, 2**0.5),
    "npx.random.bernoulli(0.3, size=n)": (0.3, 0.21**0.5),
    "npx.random.bernoulli(logit=0.0, size=n)": (0.5, 0.5),
}


@pytest.mark.parametrize("expression", MOMENTS)
def test_draws_have_the_moments_of_their_distribution(expression):
    draws = eval(expression, {"np": np, "npx": npx, "n": (200, 100)})
    assert type(draws) is np.ndarray and draws.shape == (200, 100)
    mean, deviation = MOMENTS[expression]
    values = draws.asnumpy().astype("float64")
    assert abs(values.mean() - mean) < 5 * deviation / 20000**0.5
    assert abs(values.std() / deviation - 1) < 0.06


def test_shapes_follow_size_or_the_parameters():
    low = np.array([0.0, 10.0])
    assert np.random.uniform().shape == () and np.random.uniform(size=3).shape == (3,)
    made = np.random.uniform(low, 11.0)
    assert made.shape == (2,) and made[1].item() >= 10
    assert np.random.normal(low, low + 1, size=(4, 2)).shape == (4, 2)
    assert npx.random.uniform_n(low, 11.0, batch_shape=(3, 4)).shape == (3, 4, 2)
    assert npx.random.normal_n(batch_shape=(3,)).shape == (3,)
    assert np.random.beta(low + 1, 2.0).shape == np.random.gamma(2.0, low + 1).shape == (2,)


def test_draws_have_the_type_that_is_asked_for():
    assert np.random.uniform(size=2, dtype="float64").dtype == onp.float64
    assert np.random.normal(size=2, dtype="float16").dtype == onp.float16
    assert np.random.randint(5, size=2).dtype == onp.int64 and np.random.randint(5, dtype="int32").dtype == onp.int32
    assert npx.random.bernoulli(0.5, size=2, dtype="int32").dtype == onp.int32
    with pytest.raises(ValueError, match="int32"):
        np.random.uniform(dtype="int32")


def test_results_go_where_out_says():
    out = np.zeros((2, 3))
    for draw in (np.random.uniform, np.random.normal, np.random.gumbel, np.random.lognormal):
        assert draw(size=(2, 3), out=out) is out


def test_choice_of_elements_and_by_weight():
    assert set(np.random.choice(np.array([5.0, 7.0]), 50).tolist()) == {5.0, 7.0}
    assert sorted(np.random.choice(6, 6, replace=False).tolist()) == list(range(6))
    assert set(np.random.choice(3, 50, p=np.array([0.5, 0.0, 0.5])).tolist()) == {0, 2}


def test_shuffle_moves_rows_in_place():
    a = np.arange(20).reshape(10, 2)
    assert np.random.shuffle(a) is None
    assert sorted(a.tolist()) == onp.arange(20).reshape(10, 2).tolist() and a[0].tolist() != [0, 1]


def test_multinomial_deals_out_all_that_is_drawn():
    made = np.random.multinomial(10, [0.2, 0.3, 0.5], size=(4,))
    assert made.shape == (4, 3) and made.sum(axis=1).tolist() == [10] * 4
    assert np.random.multinomial(3, np.array([1.0, 0.0])).tolist() == [3, 0]
    with pytest.raises(ValueError, match="NumPy"):
        np.random.multinomial(3, onp.array([1.0, 0.0]))


def test_multivariate_normal_has_the_covariance():
    covariance = np.array([[2.0, 1.0], [1.0, 2.0]])
    draws = np.random.multivariate_normal(np.array([1.0, -1.0]), covariance, size=(20000,)).asnumpy()
    onp.testing.assert_allclose(draws.mean(axis=0), [1, -1], atol=0.05)
    onp.testing.assert_allclose(onp.cov(draws.T), covariance.asnumpy(), atol=0.1)
    assert np.random.multivariate_normal(np.zeros(2), covariance).shape == (2,)


def test_a_wrong_parameter_is_an_error_that_says_which():
    with pytest.raises(TypeError, match="for low"):
        np.random.uniform([1, 2])
    with pytest.raises(ValueError, match="one of the two"):
        npx.random.bernoulli()
    with pytest.raises(TypeError, match="foo"):
        np.random.multinomial(1, [1.0], foo=2)


@pytest.mark.parametrize("prob", [-0.1, 1.5, float("nan")])
def test_a_probability_outside_of_its_range_is_an_error(prob):
    with pytest.raises(mx.base.MXNetError, match="given prob = .*, expected a number from 0 to 1"):
        npx.random.bernoulli(prob, size=3)
    assert npx.random.bernoulli(0.0, size=2).tolist() == [0, 0] and npx.random.bernoulli(1.0, size=2).tolist() == [1, 1]


@pytest.mark.parametrize("initializer", ["Normal(1)", "Xavier('gaussian', 'in', 4)", "MSRAPrelu('in', 0)"])
def test_normal_weights_are_the_numbers_of_np_random(initializer):
    """mx.nd's normal numbers pair a stream in another way: a network of mx.np arrays began with other weights than in 1.9.1."""
    weight = np.zeros((2, 4))
    mx.random.seed(3)
    eval(initializer, vars(mx.init))(mx.init.InitDesc("fc_weight"), weight)
    mx.random.seed(3)
    drawn = np.random.normal(0, 1, (2, 4))
    scale = (weight / drawn).asnumpy()
    onp.testing.assert_allclose(scale, onp.full((2, 4), scale[0, 0]), rtol=1e-5)


def test_normal_weights_on_the_cpu_are_those_of_the_release():
    weight = np.zeros((2, 3), ctx=mx.cpu())
    mx.random.seed(3)
    mx.init.Normal(0.1)(mx.init.InitDesc("fc_weight"), weight)
    onp.testing.assert_allclose(weight.asnumpy().ravel(), [-0.1636, 0.1781, -0.1903, -0.0647, -0.0892, -0.0849], atol=6e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16"])
@pytest.mark.parametrize("initializer", ["Normal(0.1)", "Orthogonal()"])
def test_weights_of_other_types_are_the_same_numbers(initializer, dtype):
    weights = []
    for kind in ("float32", dtype):
        weight = np.zeros((2, 3), dtype=kind)
        mx.random.seed(3)
        eval(initializer, vars(mx.init))(mx.init.InitDesc("fc_weight"), weight)
        weights.append(weight.astype("float32").asnumpy())
    onp.testing.assert_allclose(weights[1], weights[0], rtol=1e-2)


@pytest.mark.parametrize(
    "name,given", [("uniform", ()), ("uniform", (2, 5.5)), ("normal", (-1,)), ("normal", (0.5, 2)), ("exponential", (3,)), ("gamma", (2,)), ("gamma", (0.5, 3))]
)
def test_the_numbers_do_not_depend_on_how_the_size_is_said(name, given):
    def drawn(**said):
        mx.random.seed(11)
        made = getattr(np.random, name)(*given, **said)
        assert isinstance(made, np.ndarray) and made.dtype == "float32" and made.shape == (2, 3)
        return made.asnumpy()

    numbers = drawn(size=[2, 3])  # which Python's function takes
    out = np.zeros((2, 3))
    for said in ({"size": (2, 3)}, {"size": (2, 3), "dtype": None, "ctx": None}, {"size": (2, 3), "out": out}):
        if name == "exponential":
            said.pop("dtype", None)
        assert (drawn(**said) == numbers).all()
    assert (out.asnumpy() == numbers).all()


def test_no_number_is_no_parameter_of_a_distribution():
    for call in (np.random.uniform, np.random.normal):
        with pytest.raises(TypeError):
            call(None, 1.0, 3)
        with pytest.raises(TypeError):
            call(0.0, "1", 3)
