# SPDX-License-Identifier: Apache-2.0
"""Functions and methods whose usual calls go straight to an operator: every way of calling them means what NumPy's does."""

import copy
import inspect
import pickle

import numpy as onp
import pytest

from mxnet import autograd, np

A = onp.arange(12, dtype=onp.float32).reshape(3, 4) - 5

# Source of a call for both packages; `a` is 3x4.
CALLS = """
np.sum(a)|np.sum(a, 1)|np.sum(a, axis=0)|np.sum(a, axis=(0, 1))|np.sum(a, axis=[0, 1][0], keepdims=True)|np.sum(a, axis=-1)
np.sum(a, dtype="float64")|np.sum(a, axis=np.int64(1) * 0 + 1 if False else 1)|np.sum(axis=1, a=a)|np.sum(a, None)|np.sum(a, axis=())
np.mean(a)|np.mean(a, 0)|np.mean(a, 1, None, None, True)|np.mean(a, axis=(0, 1), keepdims=True)|np.prod(a, 1)|np.prod(a, axis=None)
np.max(a)|np.max(a, 1)|np.max(a, axis=0, keepdims=True)|np.min(a)|np.min(a, -1)|np.min(a, keepdims=False)
np.concatenate([a, a])|np.concatenate((a, a, a), axis=1)|np.concatenate([a, a], None)|np.concatenate([a], axis=-1)
np.stack([a, a])|np.stack((a, a), axis=2)|np.stack([a, a], -1)|np.stack(arrays=[a, a])
np.dot(a, a.T)|np.dot(a, 2)|np.dot(a, b=a.T)|a.dot(a.T)|np.dot(a.T, a)
np.reshape(a, (4, 3))|np.reshape(a, -1)|np.reshape(a, (2, -1), "C")|np.reshape(a, [4, 3])|np.reshape(a, (4, 3), order="C")
a.reshape(4, 3)|a.reshape((4, 3))|a.reshape([4, 3])|a.reshape(-1)|a.reshape(2, 2, -1)|a.reshape((12,), order="C")|a[:1, :1].reshape(())
a.sum()|a.sum(1)|a.sum(axis=(0, 1))|a.sum(0, keepdims=True)|a.sum(-1, None, None, True)|a.mean(1)|a.mean(axis=0, keepdims=True)
a.prod(axis=1)|a.max()|a.max(0)|a.max(axis=1, keepdims=True)|a.min(1, None, True)|a.min(axis=0)
a.T|a.transpose()|a.transpose(1, 0)|a.transpose((1, 0))|a.transpose([1, 0])|a.transpose(None)|a.transpose(-1, 0)
np.transpose(a)|np.transpose(a, (1, 0))|np.transpose(a, axes=[1, 0])|np.transpose(a, None)
a[:1].squeeze()|a[:1].squeeze(0)|a[:1].squeeze(axis=0)|np.squeeze(a[:1])|np.squeeze(a[:1], (0,))
np.expand_dims(a, 0)|np.expand_dims(a, -1)|np.expand_dims(a, axis=1)|a.flatten()|a.ravel()|a.ravel("C")|np.ravel(a)|np.ravel(a, order="C")
np.zeros((2, 3))|np.zeros(3)|np.zeros([2])|np.zeros((2,), "int32")|np.zeros(shape=(2, 2))|np.zeros((0, 2))|np.zeros(())
np.ones((2, 3))|np.ones(3)|np.ones((2,), dtype="float64")|np.ones((1, 2), order="C")
"""


@pytest.mark.parametrize("recording", [False, True], ids=["", "recording"])
@pytest.mark.parametrize("source", CALLS.replace("\n", "|").strip("|").split("|"))
def test_a_call_means_what_numpys_does(source, recording):
    wanted = eval(source, {"np": onp, "a": A})  # noqa: S307
    with autograd.record() if recording else autograd.pause():
        found = eval(source, {"np": np, "a": np.array(A)})  # noqa: S307
    assert isinstance(found, np.ndarray) and found.shape == onp.shape(wanted)
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5)


OUTS = "np.sum(a, 1, out=o)|np.mean(a, 1, out=o)|np.max(a, 1, out=o)|a.sum(1, None, o)|a.min(1, o)|np.prod(a, 1, None, o)|np.dot(a, a[0], out=o)"


@pytest.mark.parametrize("source", OUTS.split("|"))
def test_out_is_written_and_returned(source):
    wanted, out = onp.zeros(3, onp.float32), np.zeros(3)
    eval(source, {"np": onp, "a": A, "o": wanted})  # noqa: S307
    assert eval(source, {"np": np, "a": np.array(A), "o": out}) is out  # noqa: S307
    onp.testing.assert_allclose(out.asnumpy(), wanted, rtol=1e-5)


WRONG = {
    "np.sum(a, 5)": "axis", "np.sum(a, axiss=1)": "axiss", "np.sum(a, 1, axis=1)": "axis", "np.sum()": "argument", "np.sum(3, 4, 5, 6, 7, 8, 9)": "",
    "np.sum(b)": "", "np.concatenate([a, 'x'])": "", "np.concatenate(3)": "concatenate", "np.stack([])": "", "np.reshape(a, None)": "reshape",
    "np.reshape(a, (5, 5))": "", "a.reshape()": "shape", "a.reshape(4, 3, shape=1)": "shape", "a.reshape(4, 'x')": "", "np.zeros('x')": "zeros",
    "np.zeros((2,), order='F')": "order", "np.expand_dims(a, None)": "", "a.transpose(0, 0)": "", "np.dot(a, b)": "", "np.zeros((2,), ctx=3)": "",
    "np.max(a, keepdims='x')": "",
}  # fmt: skip


@pytest.mark.parametrize("source", WRONG)
def test_wrong_calls_say_what_is_wrong(source):
    from mxnet import nd

    with pytest.raises(Exception, match=WRONG[source] or None):
        eval(source, {"np": np, "a": np.array(A), "b": nd.ones((3, 4))})  # noqa: S307
    assert np.sum(np.ones(2)).item() == 2  # nothing is left behind


def test_gradients_come_through():
    a = np.array(A)
    a.attach_grad()
    with autograd.record():
        np.concatenate([a.reshape(2, 6).T, np.ones((6, 2))], axis=1).sum(axis=0).mean().backward()
    onp.testing.assert_allclose(a.grad.asnumpy(), onp.full((3, 4), 0.25), rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "concatenate", "zeros", "reshape", "max"])
def test_functions_can_be_pickled_copied_and_described(name):
    function = getattr(np, name)
    assert pickle.loads(pickle.dumps(function))(*([(2,)] if name == "zeros" else [[np.ones(2)]] if name == "concatenate" else [np.ones(2), 0] if name != "reshape" else [np.ones(2), 2])).size
    assert copy.deepcopy(function) is function or callable(copy.deepcopy(function))
    assert function.__doc__ and "F" not in inspect.signature(function).parameters

    class Layer:
        kept = function

    assert Layer.kept is function and Layer().kept is function or inspect.ismethod(function)


def test_methods_belong_to_their_array():
    a = np.array(A)
    total = a.sum
    assert total().item() == A.sum() and np.ndarray.sum(a).item() == A.sum()
    assert list(inspect.signature(np.ndarray.sum).parameters)[:2] == ["self", "axis"]


# --- Lists as arrays

LISTS = [
    [1.5], [1, 2], [True, False], [[1, 2.5], [3, 4]], [(1, 2), [3, 4]], [[[1]], [[2]]], [float("nan"), float("inf")], [-0.0], [2**24 + 1], [2**60 + 1, 1],
    [0.1, 2**53 + 1], [], [[], []], [onp.float64(2), 1], [onp.ones(2), [1, 2]],
]  # fmt: skip


@pytest.mark.parametrize("given", LISTS, ids=str)
def test_numbers_in_lists_are_numpys_as_float32(given):
    from mxnet import nd

    wanted = onp.asarray(given).astype(onp.float64).astype(onp.float32)
    for array in (np.array, nd.array) if wanted.size else (np.array,):
        found = array(given)
        assert found.dtype == onp.float32 and found.shape == wanted.shape
        assert found.asnumpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("given", [[[1], [2, 3]], [[1], 2], [1, [2]], [[1, 2], [3, [4]]], [{}], [[1], "x"]], ids=str)
def test_lists_that_are_no_array_are_errors(given):
    from mxnet import nd

    for array in (np.array, nd.array):
        with pytest.raises((TypeError, ValueError)):
            array(given)
