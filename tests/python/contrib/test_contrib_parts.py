# SPDX-License-Identifier: Apache-2.0
"""Mixed precision of finished networks, text, older interfaces, and what is not there."""

from collections import Counter

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import amp, quantization, text

DRAWS = np.random.RandomState(0)


def network():
    layer = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=4, name="c1")
    layer = mx.sym.BatchNorm(layer, name="bn", fix_gamma=False)
    layer = layer + mx.sym.Convolution(layer, kernel=(3, 3), pad=(1, 1), num_filter=4, name="c2")
    return mx.sym.softmax(mx.sym.FullyConnected(layer, num_hidden=3, name="fc"))


@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("cast", [False, True])
def test_a_converted_model_computes_the_same(dtype, tolerance, cast):
    sym = network()
    shapes, _, states = sym.infer_shape(data=(2, 3, 8, 8))
    named = dict(zip(sym.list_arguments(), shapes))
    arguments = {name: mx.nd.array(DRAWS.randn(*shape) * 0.3) for name, shape in named.items() if name != "data"}
    aux = {name: mx.nd.ones(shape) for name, shape in zip(sym.list_auxiliary_states(), states)}
    data = mx.nd.array(DRAWS.randn(2, 3, 8, 8))

    def run(net, args):
        return net.bind(mx.cpu(), {**args, "data": data}, aux_states=aux).forward()[0]

    converted, cast_arguments, _ = amp.convert_model(sym, arguments, aux, dtype, cast_optional_params=cast)
    result = run(converted, cast_arguments)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.asnumpy(), run(sym, arguments).asnumpy(), atol=tolerance)
    assert (cast_arguments["c1_weight"].dtype != np.float32) == cast
    assert cast_arguments["bn_gamma"].dtype == np.float32


def test_every_operator_is_in_one_list():
    lists = [amp.list_lp16_ops, amp.list_fp32_ops, amp.list_lp16_fp32_ops, amp.list_widest_type_cast]
    names = [set(one("float16")) for one in lists]
    assert sum(map(len, names)) == len(set().union(*names))
    assert {"Convolution", "FullyConnected"} <= names[0] and "softmax" in names[1] and "broadcast_add" in names[3]
    with pytest.raises(ValueError, match="given target_dtype 'int8'"):
        amp.list_lp16_ops("int8")


def test_a_program_in_mixed_precision(run_python):
    code = """
import mxnet as mx
from mxnet import autograd, gluon
from mxnet.contrib import amp
amp.init('bfloat16')
y = mx.nd.FullyConnected(mx.nd.ones((2, 4)), mx.nd.ones((3, 4)), no_bias=True, num_hidden=3)
assert y.dtype != mx.nd.softmax(y).dtype
net = gluon.nn.Dense(1); net.initialize(mx.init.One())
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}); amp.init_trainer(trainer)
losses = []
for _ in range(3):
    with autograd.record():
        loss = (net(mx.nd.ones((2, 4))).astype('float32') ** 2).mean()
        with amp.scale_loss(loss, trainer) as scaled:
            autograd.backward(scaled)
    trainer.step(1); losses.append(float(loss.asscalar()))
assert losses[0] > losses[1], losses
grads = [p.grad() for p in net.collect_params().values()]
before = trainer._amp_loss_scaler.loss_scale
weight = net.weight.data().asnumpy()
with autograd.record():
    (net(mx.nd.ones((2, 4))).astype('float32') * float('inf')).mean().backward()
trainer.step(1)
assert (net.weight.data().asnumpy() == weight).all()
with autograd.record():
    (net(mx.nd.ones((2, 4))).astype('float32') * 0).mean().backward()
trainer.step(1)  # the scale follows one step later
assert trainer._amp_loss_scaler.loss_scale == before / 2
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_vocabularies_and_embeddings(tmp_path):
    counter = text.utils.count_tokens_from_str("a b b c\nc c d", to_lower=True)
    assert counter == Counter(c=3, b=2, a=1, d=1)
    vocabulary = text.vocab.Vocabulary(counter, most_freq_count=2, reserved_tokens=["<pad>"])
    assert vocabulary.idx_to_token == ["<unk>", "<pad>", "c", "b"]
    assert vocabulary.to_indices(["b", "x"]) == [3, 0] and vocabulary.to_tokens(2) == "c"
    path = tmp_path / "vectors.txt"
    path.write_text("c 1 2\nb 3 4\n")
    made = text.embedding.CustomEmbedding(str(path), vocabulary=vocabulary)
    np.testing.assert_array_equal(made.idx_to_vec.asnumpy(), [[0, 0], [0, 0], [1, 2], [3, 4]])
    made.update_token_vectors("b", mx.nd.array([5, 6]))
    np.testing.assert_array_equal(made.get_vecs_by_tokens(["b", "nothing"]).asnumpy(), [[5, 6], [0, 0]])


@pytest.mark.parametrize("lines, error", [
    ("c 1 2\nb 3 x4\n", "line 2: given 'b 3 x4', expected numbers"),
    ("c 1 2\nb 3 4 5\n", "line 2: given 3 numbers, expected 2"),
    ("c 1 2\n<unk> 3 4 5\n", "given 3 numbers of <unk>, expected 2"),
    ("c\n", "line 1: given 'c', expected a word and numbers"),
])  # fmt: skip
def test_files_of_vectors_are_refused_with_their_place(tmp_path, lines, error):
    path = tmp_path / "vectors.txt"
    path.write_text(lines)
    with pytest.raises(ValueError, match=f"vectors.txt.*{error}"):
        text.embedding.CustomEmbedding(str(path))


def test_gradients_by_the_old_interface():
    both = mx.contrib.autograd.grad_and_loss(lambda x, y: x * y)
    (first, second), value = both(mx.nd.array([2.0]), mx.nd.array([3.0]))
    assert (first.asscalar(), second.asscalar(), value.asscalar()) == (3.0, 2.0, 6.0)


def test_sections_record_for_training_or_nothing():
    old, new = mx.contrib.autograd, mx.autograd
    with old.train_section():
        assert new.is_recording() and new.is_training()
        with old.test_section():
            assert not new.is_recording() and not new.is_training()
        assert new.is_recording() and new.is_training()
    assert not new.is_recording() and not new.is_training()
    assert old.set_is_training(True) is False and old.set_is_training(False) is True


def test_gradients_go_to_marked_arrays():
    old = mx.contrib.autograd
    x, slope = mx.nd.array([1.0, 2.0]), mx.nd.zeros(2)
    old.mark_variables([x], [slope])
    with old.train_section():
        y = x * x
    old.compute_gradient([y])
    assert slope.asnumpy().tolist() == [2, 4]
    with pytest.raises(TypeError, match="expected a list of arrays"):
        old.compute_gradient(y)


def test_operators_of_contrib():
    assert mx.contrib.nd.div_sqrt_dim(mx.nd.ones((1, 4))).asnumpy().tolist() == [[0.5] * 4]
    assert mx.contrib.sym.div_sqrt_dim(mx.sym.Variable("x")).list_arguments() == ["x"]


def test_variance_reduced_gradients_are_exact_at_the_copied_point():
    rows = DRAWS.randn(12, 3).astype("float32")
    target = rows @ np.array([[1.0], [-2.0], [0.5]], "float32")
    layer = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    sym = mx.sym.LinearRegressionOutput(layer, mx.sym.Variable("label"), name="out")
    data = mx.io.NDArrayIter(rows, target, 4, label_name="label")
    module = mx.contrib.svrg_optimization.SVRGModule(sym, label_names=["label"], update_freq=1)
    mx.random.seed(2)
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Xavier())
    module.update_full_grads(data)
    seen = []
    for batch in data:
        module.forward_backward(batch)
        seen.append(module._exec_group.grad_arrays[0][0].asnumpy())
    # Where nothing has moved, every batch gives the mean gradient of all.
    np.testing.assert_allclose(seen[0], seen[1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(seen[0], seen[2], rtol=1e-4, atol=1e-5)
    module.update_full_grads(data)  # anew, not added to the first
    module.forward_backward(next(data))
    np.testing.assert_allclose(module._exec_group.grad_arrays[0][0].asnumpy(), seen[0], rtol=1e-4, atol=1e-5)
    data.reset()
    module.fit(data, num_epoch=150, eval_metric="mse", optimizer_params={"learning_rate": 0.1})
    found = module.get_params()[0]["fc_weight"].asnumpy()
    np.testing.assert_allclose(found, [[1, -2, 0.5]], atol=0.05)
