# SPDX-License-Identifier: Apache-2.0
"""Losses against NumPy, with weights, other batch axes, and as graphs. Gradients are those of autograd's operators."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon.loss import *  # pylint: disable=wildcard-import,unused-wildcard-import

STATE = np.random.RandomState(11)
PRED = STATE.standard_normal((4, 5)).astype(np.float32)
OTHER = STATE.standard_normal((4, 5)).astype(np.float32)
CLASSES = STATE.randint(0, 5, 4).astype(np.float32)
BINARY = STATE.randint(0, 2, (4, 5)).astype(np.float32)
SHARES = np.exp(OTHER) / np.exp(OTHER).sum(1, keepdims=True)
COUNTS = STATE.randint(0, 4, (4, 5)).astype(np.float32)
WEIGHTS = STATE.uniform(0.5, 1.5, (4, 1)).astype(np.float32)


def log_softmax(x):
    return x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def picked(x):
    return -log_softmax(x)[np.arange(4), CLASSES.astype(int)][:, None]


def logistic(label):
    return softplus(PRED) - PRED * label


# Loss, its inputs, and the loss of each element.
ELEMENTS = {
    "l1": (L1Loss(), (PRED, OTHER), np.abs(PRED - OTHER)),
    "l2": (L2Loss(), (PRED, OTHER), (PRED - OTHER) ** 2 / 2),
    "sigmoid": (SigmoidBCELoss(), (PRED, BINARY), logistic(BINARY)),
    "sigmoid of probabilities": (
        SigmoidBCELoss(from_sigmoid=True), (1 / (1 + np.exp(-PRED)), BINARY), logistic(BINARY)
    ),
    "softmax": (SoftmaxCELoss(), (PRED, CLASSES), picked(PRED)),
    "softmax of distributions": (
        SoftmaxCELoss(sparse_label=False), (PRED, SHARES), -(SHARES * log_softmax(PRED)).sum(1, keepdims=True)
    ),
    "softmax of logits": (SoftmaxCELoss(from_logits=True), (log_softmax(PRED), CLASSES), picked(PRED)),
    "huber": (
        HuberLoss(rho=0.5), (PRED, OTHER),
        np.where(np.abs(PRED - OTHER) > 0.5, np.abs(PRED - OTHER) - 0.25, (PRED - OTHER) ** 2),
    ),
    "hinge": (HingeLoss(margin=2), (PRED, 2 * BINARY - 1), np.maximum(0, 2 - PRED * (2 * BINARY - 1))),
    "squared hinge": (SquaredHingeLoss(), (PRED, 2 * BINARY - 1), np.maximum(0, 1 - PRED * (2 * BINARY - 1)) ** 2),
    "logistic": (LogisticLoss(), (PRED, 2 * BINARY - 1), logistic(BINARY)),
    "binary logistic": (LogisticLoss(label_format="binary"), (PRED, BINARY), logistic(BINARY)),
}


def arrays(inputs):
    return [mx.nd.array(part) for part in inputs]


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("hybridize", [False, True])
def test_loss_is_the_mean_over_each_sample(name, hybridize):
    loss, inputs, elements = ELEMENTS[name]
    loss.hybridize(hybridize)
    np.testing.assert_allclose(loss(*arrays(inputs)).asnumpy(), elements.mean(1), rtol=1e-4, atol=1e-5)
    loss.hybridize(hybridize)  # inputs of another structure need another graph
    weighted = loss(*arrays(inputs), mx.nd.array(WEIGHTS))
    np.testing.assert_allclose(weighted.asnumpy(), (elements * WEIGHTS).mean(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["l1", "softmax", "hinge"])
def test_weight_is_a_factor(name):
    loss, inputs, elements = ELEMENTS[name]
    heavier = type(loss)(weight=3.0) if name != "hinge" else HingeLoss(margin=2, weight=3.0)
    np.testing.assert_allclose(heavier(*arrays(inputs)).asnumpy(), 3 * elements.mean(1), rtol=1e-4)


@pytest.mark.parametrize("loss", [gluon.loss.L2Loss(), gluon.loss.L1Loss(), gluon.loss.HingeLoss(), gluon.loss.LogisticLoss()], ids=repr)
@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 1), (12,)])
def test_labels_of_another_shape_are_as_good_and_have_gradients(loss, shape):
    random = np.random.RandomState(3)
    pred, values = mx.nd.array(random.randn(4, 3)), random.randn(4, 3)
    made, gradients = [], []
    for label in (mx.nd.array(values), mx.nd.array(values.reshape(shape))):
        label.attach_grad()
        with mx.autograd.record():
            made.append(loss(pred, label))
        made[-1].backward()
        gradients.append(label.grad.asnumpy())
    assert np.array_equal(made[0].asnumpy(), made[1].asnumpy())
    assert gradients[1].shape == shape and gradients[0].any() and np.array_equal(gradients[0], gradients[1].reshape(4, 3))


def test_other_batch_axes():
    found = L2Loss(batch_axis=1)(*arrays((PRED, OTHER))).asnumpy()
    np.testing.assert_allclose(found, ((PRED - OTHER) ** 2 / 2).mean(0), rtol=1e-5)


def test_positive_weight_of_sigmoid_loss():
    factor = np.linspace(1, 2, 5, dtype=np.float32)[None]
    elements = BINARY * softplus(-PRED) * factor + (1 - BINARY) * softplus(PRED)
    expected = elements.mean(1)
    inputs = arrays((PRED, BINARY))
    found = SigmoidBCELoss()(*inputs, None, mx.nd.array(factor))
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-4)
    probabilities = mx.nd.sigmoid(inputs[0])
    found = SigmoidBCELoss(from_sigmoid=True)(probabilities, inputs[1], None, mx.nd.array(factor))
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-3, atol=1e-5)


def gradient(loss, inputs, others=()):
    """Of the sum of a loss with respect to its first inputs."""
    inputs, others = arrays(inputs), arrays(others)
    for part in inputs:
        part.attach_grad()
    with mx.autograd.record():
        found = loss(*inputs, *others)
    found.backward()
    return [part.grad.asnumpy() for part in inputs]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("kind", ["sigmoid", "weighted sigmoid", "logistic"])
def test_gradients_of_sure_and_of_undecided_scores_are_exact(kind, hybridize):
    """Of the sure ones that are right nothing is left but an exponential, at 0 both classes are as likely."""
    scores = np.concatenate([np.linspace(-80, 80, 321), [0, -0.0, 1e-30, -1e-30, 1e4, -1e4]]).astype(np.float32)[None]
    chance, other = (1 / (1 + np.exp(np.clip(side, -700, 700))) for side in (-scores.astype(np.float64), scores.astype(np.float64)))
    for label in (0.0, 1.0):
        labels, weight, others = np.full_like(scores, label), 1.0, ()
        loss = LogisticLoss() if kind == "logistic" else SigmoidBCELoss()
        if kind == "logistic":
            labels = 2 * labels - 1
        elif kind == "weighted sigmoid":
            weight, others = 2.5, (np.ones_like(scores), np.full_like(scores, 2.5))
        if hybridize:
            loss.hybridize()
        found = gradient(loss, (scores,), (labels, *others))[0]
        expected = ((1 - label) * chance - label * weight * other) / scores.size
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-38)


def test_kl_divergence_takes_logarithms_or_makes_them():
    expected = (SHARES * (np.log(SHARES) - log_softmax(PRED))).sum(1)
    np.testing.assert_allclose(KLDivLoss(from_logits=False)(*arrays((PRED, SHARES))).asnumpy(), expected, rtol=1e-4)
    np.testing.assert_allclose(KLDivLoss()(*arrays((log_softmax(PRED), SHARES))).asnumpy(), expected, rtol=1e-4)


def test_triplet_is_the_margin_between_two_distances():
    distance = ((OTHER - PRED) ** 2 - (SHARES - PRED) ** 2).sum(1)
    found = TripletLoss(margin=2)(*arrays((PRED, OTHER, SHARES))).asnumpy()
    np.testing.assert_allclose(found, np.maximum(0, distance + 2), rtol=1e-4, atol=1e-5)


def test_poisson_is_the_likelihood_with_and_without_stirlings_term():
    found = PoissonNLLLoss()(*arrays((PRED, COUNTS))).asnumpy()
    np.testing.assert_allclose(found, [(np.exp(PRED) - COUNTS * PRED).mean()], rtol=1e-5)
    rate = np.exp(PRED)
    stirling = np.where(
        COUNTS > 1, COUNTS * np.log(np.maximum(COUNTS, 1)) - COUNTS + 0.5 * np.log(2 * np.pi * np.maximum(COUNTS, 1)), 0
    )
    found = PoissonNLLLoss(from_logits=False, compute_full=True)(*arrays((rate, COUNTS))).asnumpy()
    np.testing.assert_allclose(found, [(rate - COUNTS * np.log(rate) + stirling).mean()], rtol=1e-4)


def test_cosine_embedding_is_the_angle_or_what_exceeds_the_margin():
    labels = np.array([1, -1, 1, -1], np.float32)
    cosine = (PRED * OTHER).sum(1) / np.linalg.norm(PRED, axis=1) / np.linalg.norm(OTHER, axis=1)
    expected = np.where(labels == 1, 1 - cosine, np.maximum(0, cosine - 0.1))[:, None]
    found = CosineEmbeddingLoss(margin=0.1)(*arrays((PRED, OTHER, labels))).asnumpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
def test_cosine_embedding_of_tiny_vectors_and_of_none_has_gradients(hybridize):
    """The squares of the former are 0. A vector of zeros has no direction: what its angle is to be is held by 1e-12."""
    loss = CosineEmbeddingLoss()
    if hybridize:
        loss.hybridize()
    direction = np.array([[0.6, 0.8], [1, 0]])
    other = direction[::-1] * 1e3
    cosine = (direction * direction[::-1]).sum(1, keepdims=True)
    labels = np.ones(2)
    slope = direction[::-1] - cosine * direction  # of the cosine, across the vector
    np.testing.assert_allclose(gradient(loss, (direction * 1e-25, direction[::-1] * 1e25), (labels,))[0], slope * -1e25, rtol=1e-5, atol=1e19)
    for size in (1e-30, 0):
        first, second = gradient(loss, (direction * size, other), (labels,))
        np.testing.assert_allclose(first, other / -1e-12, rtol=1e-5)
        np.testing.assert_allclose(second, direction * size / -1e-12, rtol=1e-5)


@pytest.mark.parametrize("hybridize", [False, True])
def test_cosine_embedding_in_float16_of_a_vector_of_zeros_is_a_number(hybridize):
    loss = CosineEmbeddingLoss()
    if hybridize:
        loss.hybridize()
    first, second = (mx.nd.array(rows, dtype="float16") for rows in ([[0, 0], [3, 4]], [[1, 2], [4, 3]]))
    for each in (first, second):
        each.attach_grad()
    with mx.autograd.record():
        found = loss(first, second, mx.nd.ones(2, dtype="float16"))
    found.backward()
    np.testing.assert_allclose(found.asnumpy(), [[1], [0.04]], atol=2e-3)
    assert np.isfinite(first.grad.asnumpy()).all() and np.isfinite(second.grad.asnumpy()).all()


def test_smoothed_metric_learning():
    distance = ((PRED[:, None] - OTHER[None]) ** 2).sum(2)
    labels = np.full((4, 4), 0.1, np.float32)
    np.fill_diagonal(labels, 0.7)
    expected = (labels * (np.log(labels) - log_softmax(-distance))).sum(1)
    found = SDMLLoss(smoothing_parameter=0.3)(*arrays((PRED, OTHER))).asnumpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    with pytest.raises(ValueError, match="at least 2"):
        SDMLLoss()(*arrays((PRED[:1], OTHER[:1])))


def test_ctc_sums_over_alignments():
    """Two steps and one label: the alignments are (a, a), (a, blank), (blank, a)."""
    scores = STATE.standard_normal((2, 2, 3)).astype(np.float32)
    p = np.exp(log_softmax(scores))
    labels = np.array([[0], [1]], np.float32)
    expected = []
    for sample, (label,) in zip(p, labels.astype(int)):
        expected.append(-np.log(sample[0, label] * sample[1, label] + sample[0, label] * sample[1, 2] + sample[0, 2] * sample[1, label]))
    np.testing.assert_allclose(CTCLoss()(*arrays((scores, labels))).asnumpy(), expected, rtol=1e-4)
    turned = CTCLoss(layout="TNC", label_layout="TN")(*arrays((scores.swapaxes(0, 1), labels.T))).asnumpy()
    np.testing.assert_allclose(turned, expected, rtol=1e-4)
    one_step = CTCLoss()(*arrays((scores, labels, np.array([1, 1], np.float32), np.array([1, 1], np.float32)))).asnumpy()
    np.testing.assert_allclose(one_step, [-np.log(p[0, 0, 0]), -np.log(p[1, 0, 1])], rtol=1e-4)


def test_what_is_not_allowed_is_named():
    with pytest.raises(ValueError, match="expected NTC or TNC"):
        CTCLoss(layout="NCT")
    with pytest.raises(ValueError, match="expected signed or binary"):
        LogisticLoss(label_format="other")
    with pytest.raises(ValueError, match="expected a number"):
        L1Loss(weight="much")(*arrays((PRED, OTHER)))
    assert repr(gluon.loss.L2Loss()) == "L2Loss(batch_axis=0, w=1.0)"


@pytest.mark.parametrize("name", ["HuberLoss", "L2Loss", "SquaredHingeLoss", "PoissonNLLLoss"])
def test_in_one_step_losses_are_the_same_bits(name):
    """Whole losses are one loop over their arrays where shapes agree: of labels of another shape, too."""
    rows = [STATE.standard_normal((67, 31)).astype(np.float32) * 2 for _ in range(2)]
    for label in (rows[1], rows[1].reshape(67, 31, 1)):
        found = []
        for hybridize in (False, True):
            loss = getattr(gluon.loss, name)()
            if hybridize:
                loss.hybridize(static_alloc=True)
            pred, label_array = arrays((rows[0], label))
            pred.attach_grad()
            with mx.autograd.record():
                value = loss(pred, label_array)
            value.backward()
            found.append((value.asnumpy(), pred.grad.asnumpy()))
        for eager, whole in zip(*found):
            np.testing.assert_array_equal(eager, whole)


def test_huber_losses_of_any_rho_are_one_formula_and_differentiable_twice():
    """rho = 1 is an operator of its own."""
    label = np.zeros((4, 5), "float32")
    for rho in (1, 0.5):
        distance = np.abs(PRED * 3)
        expected = np.where(distance > rho, distance - rho / 2, distance**2 / (2 * rho)).mean(axis=1)
        pred, target = arrays((PRED * 3, label))
        pred.attach_grad()
        with mx.autograd.record():
            value = HuberLoss(rho=rho)(pred, target)
            slope = mx.autograd.grad(value, pred, create_graph=True)[0]
        np.testing.assert_allclose(value.asnumpy(), expected, rtol=1e-6)
        np.testing.assert_allclose(slope.asnumpy(), np.clip(PRED * 3 / rho, -1, 1) / 5, rtol=1e-6)
        slope.backward(mx.nd.full((4, 5), 2))
        np.testing.assert_allclose(pred.grad.asnumpy(), np.where(distance > rho, 0, 2 / rho / 5), rtol=1e-6)


def test_a_constant_weight_is_one_product_for_each_sample():
    pred, label = mx.sym.var("pred"), mx.sym.var("label")
    for loss in (L1Loss(weight=3.0), gluon.loss.L2Loss(), HuberLoss(weight=3.0)):
        assert loss(pred, label).get_internals().list_outputs()[-2].endswith("mean0_output")


def test_graphs_of_losses_keep_their_reshapes():
    """Plans go without reshapes to the same shape; symbols, and what a monitor sees, do not."""
    pred, label = mx.sym.var("pred"), mx.sym.var("label")
    symbol = HuberLoss(rho=0.5, prefix="huber_")(pred, label)
    executor = symbol.simple_bind(mx.cpu(), pred=(4, 5), label=(4, 5))
    executor.forward(is_train=True, pred=PRED, label=OTHER)
    expected = executor.outputs[0].asnumpy()
    assert '"op": "reshape_like"' in symbol.tojson()
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    np.testing.assert_array_equal(executor.forward(is_train=True)[0].asnumpy(), expected)
    assert [name for name in seen if "reshape_like" in name] and [name for name in seen if "where" in name]


def test_an_argument_of_which_only_the_shape_is_asked_stays_one():
    data, like = mx.sym.var("data"), mx.sym.var("like")
    symbol = mx.sym.exp(mx.sym.reshape_like(data, like))
    executor = symbol.simple_bind(mx.cpu(), data=(4, 5), like=(4, 5))
    executor.forward(is_train=True, data=PRED, like=OTHER)
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), np.exp(PRED), rtol=1e-5)
    executor.backward(mx.nd.ones((4, 5)))
    np.testing.assert_allclose(executor.grad_dict["data"].asnumpy(), np.exp(PRED), rtol=1e-5)
    assert not executor.grad_dict["like"].asnumpy().any()


def test_a_reshape_to_the_same_shape_is_an_array_of_its_own():
    data, like = arrays((PRED, OTHER))
    for hybridize in (False, True):
        block = gluon.nn.HybridLambda("reshape_like")
        if hybridize:
            block.hybridize()
        result = block(data, like)
        result[:] = 0
        np.testing.assert_array_equal(data.asnumpy(), PRED)
