# SPDX-License-Identifier: Apache-2.0
"""Arrays of bfloat16 among Python's and NumPy's values: what is read of them are numbers, not the bits that asnumpy() gives."""

import copy
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon.data import ArrayDataset, DataLoader, batchify

SEED = 14
NUMBERS = [[1, -2.5], [0.5, 256]]  # bfloat16 has them exactly


@pytest.fixture(params=["nd", "np"])
def array(request):
    return getattr(mx, request.param).array(NUMBERS).astype("bfloat16")


def test_numpy_reads_numbers(array):
    assert np.asarray(array).tolist() == NUMBERS and np.asarray(array).dtype == np.float32
    assert np.asarray(array, dtype="float64").tolist() == NUMBERS and np.asarray(array, dtype=np.int32).tolist() == [[1, -2], [0, 256]]
    assert np.asarray(array, dtype=array.dtype).tobytes() == array.asnumpy().tobytes() == bytes.fromhex("803f20c0003f8043")
    assert array.tolist() == NUMBERS and -2.5 in array


def test_python_reads_numbers(array):
    one = array[0, 1:]
    assert float(one) == -2.5 and int(one) == -2 and bool(one) and one.asscalar() == one.item() == -2.5
    assert not array[0, :1] - 1
    assert sum(array[0]).asscalar() == -1.5


def test_what_is_shown_are_numbers(array):
    assert "256" in str(array) and "256" in repr(array) and "17280" not in repr(array) + str(array)
    if isinstance(array, mx.np.ndarray):
        assert repr(array[1]).startswith("array([  0.5, 256. ], dtype=bfloat16") and f"{array[0, 1]:.2f}" == "-2.50"


def test_bits_come_back_as_numbers(array):
    bits = array.asnumpy()
    make = type(array) is mx.np.ndarray and mx.np.array or mx.nd.array
    same = make(bits, dtype=array.dtype)
    assert same.dtype == array.dtype and same.tolist() == NUMBERS and make(bits).tolist() == NUMBERS
    same[:] = 0
    same[:] = bits
    same[0] = bits[1]
    assert same.tolist() == [NUMBERS[1], NUMBERS[1]]
    for clone in (pickle.loads(pickle.dumps(array)), copy.deepcopy(array)):
        assert clone.dtype == array.dtype and clone.tolist() == NUMBERS


@pytest.mark.parametrize("name", ["acc", "ce", "nll_loss", "f1", "mcc", "pcc", "perplexity", "top_k_accuracy", "loss"])
def test_metrics_of_predictions(name):
    rng = np.random.default_rng(SEED)
    predictions = mx.nd.softmax(mx.nd.array(rng.normal(size=(20, 2)))).astype("bfloat16")
    labels = mx.nd.array(rng.integers(0, 2, 20))
    options = {"top_k_accuracy": {"top_k": 2}, "perplexity": {"ignore_label": None}}.get(name, {})
    values = []
    for given in (predictions, predictions.astype("float32")):
        metric = mx.metric.create(name, **options)
        metric.update([labels], [given])
        values.append(metric.get()[1])
    np.testing.assert_allclose(*values, rtol=1e-6)


@pytest.mark.parametrize("name", ["mae", "mse", "rmse", "pearsonr"])
def test_metrics_of_numbers(name):
    rng = np.random.default_rng(SEED)
    predictions, labels = (mx.nd.array(rng.normal(size=(8, 3))).astype("bfloat16") for _ in range(2))
    values = []
    for kind in ("bfloat16", "float32"):
        metric = mx.metric.create(name)
        metric.update([labels.astype(kind)], [predictions.astype(kind)])
        values.append(metric.get()[1])
    np.testing.assert_allclose(*values, rtol=1e-6)


def test_accuracy_counts_what_is_right():
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.array([1, 0, 1])], [mx.nd.array([[0.1, 0.9], [0.8, 0.2], [0.6, 0.4]]).astype("bfloat16")])
    assert metric.get()[1] == pytest.approx(2 / 3)


def test_data_sets_of_vectors(array):
    vector = array[1]
    assert next(iter(DataLoader(ArrayDataset(vector), 2))).asnumpy().tolist() == NUMBERS[1]
    assert batchify.Pad()([vector, vector[:1]]).asnumpy().tolist() == [NUMBERS[1], [0.5, 0]]


def test_tests_compare_them():
    array = mx.nd.array(NUMBERS).astype("bfloat16")
    mx.test_utils.assert_almost_equal(array, np.array(NUMBERS) * (1 + 2**-9))
    with pytest.raises(AssertionError):
        mx.test_utils.assert_almost_equal(array, np.array(NUMBERS) * 1.1)


@pytest.mark.parametrize("kinds", [["bfloat16"], ["float16"], ["float32", "bfloat16"], ["float16", "float32"], ["float64"]])
def test_gradients_of_every_type_are_clipped(kinds):
    arrays = [mx.nd.array([3, 4]).astype(kind) for kind in kinds]
    norm = mx.gluon.utils.clip_global_norm(arrays, 1.0)
    assert norm == pytest.approx(5 * len(kinds) ** 0.5, rel=1e-5)
    for array, kind in zip(arrays, kinds):
        assert array.dtype == mx.nd.zeros(1, dtype=kind).dtype
        np.testing.assert_allclose(np.asarray(array, dtype="float64"), np.array([3, 4]) / norm, rtol=0.01)
