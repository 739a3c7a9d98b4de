# SPDX-License-Identifier: Apache-2.0
"""Hybridized blocks: the same numbers as without, inputs of any structure, threads."""

import gc
import threading
import weakref

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn

from small_nets import fresh_names, small_net  # noqa: F401  (fixtures)


def gradients(net, x):
    with mx.autograd.record():
        out = net(x)
        loss = (out * out).sum()
    loss.backward()
    return out.asnumpy(), [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]


@pytest.mark.parametrize(
    "options", [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}, {"inline_limit": 0},
                {"forward_bulk_size": 3, "backward_bulk_size": 2}]
)
def test_hybridized_gives_the_same_numbers_and_gradients(options):
    x = mx.nd.random.uniform(shape=(2, 1, 8, 8))
    net = small_net()
    plain_out, plain_grads = gradients(net, x)
    states = net[1].running_mean.data().asnumpy()
    net[1].running_mean.set_data(mx.nd.zeros((4,)))
    net[1].running_var.set_data(mx.nd.ones((4,)))
    net.hybridize(**options)
    for _ in range(2):
        out, grads = gradients(net, x)
        np.testing.assert_allclose(out, plain_out, rtol=1e-5, atol=1e-6)
        for grad, plain in zip(grads, plain_grads):
            np.testing.assert_allclose(grad, plain, rtol=1e-4, atol=1e-5)
        if _ == 0:
            np.testing.assert_allclose(net[1].running_mean.data().asnumpy(), states, rtol=1e-5)


def test_shapes_may_change_between_calls():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, flatten=False, activation="tanh"), nn.Dense(2, flatten=False))
    net.initialize()
    inputs = [mx.nd.random.uniform(shape=(n, 5)) for n in (3, 1, 8, 3)]
    expected = [net(x).asnumpy() for x in inputs]
    net.hybridize()
    for x, wanted in zip(inputs, expected):
        np.testing.assert_allclose(net(x).asnumpy(), wanted, rtol=1e-5, atol=1e-7)


def test_new_values_are_seen_by_the_graph():
    net = nn.Dense(2, in_units=2)
    net.initialize(init="one")
    net.hybridize()
    x = mx.nd.ones((1, 2))
    assert net(x).asnumpy().tolist() == [[2, 2]]
    net.weight.set_data(mx.nd.full((2, 2), 3))
    assert net(x).asnumpy().tolist() == [[6, 6]]
    net.initialize(init="zeros", force_reinit=True)
    assert net(x).asnumpy().tolist() == [[0, 0]]
    net.cast("float64")
    assert net(x.astype("float64")).dtype == np.float64


def test_parameters_follow_the_device_of_the_input():
    net = nn.Dense(2, in_units=2)
    net.initialize(init="one", ctx=[mx.cpu(0), mx.cpu(1)])
    net.weight.data(mx.cpu(1))[:] = 5
    net.hybridize()
    for device, wanted in ((0, 2), (1, 10), (0, 2)):
        out = net(mx.nd.ones((1, 2), ctx=mx.cpu(device)))
        assert out.context == mx.cpu(device) and out.asnumpy().tolist() == [[wanted, wanted]]


def test_hooks_and_later_layers_end_the_short_way():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2))
    net.initialize(init="one")
    net.hybridize()
    x = mx.nd.ones((1, 2))
    net(x), net(x)
    seen = []
    with net.register_forward_hook(lambda *facts: seen.append(len(facts))):
        net(x)
    assert seen == [3]
    net.add(nn.HybridLambda(lambda F, y: y * 10))
    assert net(x).asnumpy().tolist() == [[20, 20]]
    net.hybridize(False)
    assert net(x).asnumpy().tolist() == [[20, 20]]


class Branches(gluon.HybridBlock):
    """Lists and None as inputs, nested outputs."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = nn.Dense(2, in_units=3)
            self.shift = self.params.get_constant("shift", [[1.0, 2.0]])

    def hybrid_forward(self, F, x, more=None, last=None, shift=None):
        out = F.broadcast_add(self.dense(x), shift)
        if isinstance(more, (list, tuple)):
            out = out + self.dense(more[0])
        if last is not None:
            out = F.broadcast_add(out, F.sum(last).reshape((1, 1)))
        return out, [out + 1, (out + 2,)]


def flat(nested):
    return [nested] if isinstance(nested, mx.nd.NDArray) else [item for part in nested for item in flat(part)]


@pytest.mark.parametrize("inputs", [lambda x: (x,), lambda x: (x, [x, x]), lambda x: (x, None, x), lambda x: (x, [x], x)])
def test_inputs_and_outputs_may_be_nested(inputs):
    net = Branches()
    net.initialize()
    x = mx.nd.random.uniform(shape=(2, 3))
    expected = net(*inputs(x))
    net.hybridize()
    found = net(*inputs(x))
    assert isinstance(found, list) and isinstance(found[1][1], list)
    for a, b in zip(flat(found), flat(expected)):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="structure"):
        net(x, x)


class Computes(gluon.HybridBlock):
    def __init__(self, made):
        super().__init__()
        self.made = made

    def hybrid_forward(self, F, x):
        return self.made(F, x)


def halves(F, x):
    return F.split(x, 2, axis=1)


@pytest.mark.parametrize(
    "made", [halves, lambda F, x: [x, halves(F, x)], lambda F, x: [halves(F, x), x * 2, [halves(F, x + 1), x - 1]],
             lambda F, x: F.LayerNorm(x, F.ones((4,)), F.zeros((4,)), output_mean_var=True),
             lambda F, x: [F.split(x, 1, axis=1)], lambda F, x: halves(F, x)[1]]
)
@pytest.mark.parametrize("calls", [1, 3])
def test_a_symbol_of_several_outputs_is_as_many_arrays(made, calls):
    def numbers(nested):
        return [numbers(item) for item in nested] if isinstance(nested, (list, tuple)) else nested.asnumpy().tolist()

    x = mx.nd.array(np.arange(8).reshape(2, 4))
    net = Computes(made)
    expected = numbers(net(x))
    net.hybridize()
    for _ in range(calls):
        assert numbers(net(x)) == expected
    x.attach_grad()
    with mx.autograd.record():
        out = net(x)
        first = out[0] if isinstance(out, list) else out
        (first[0] if isinstance(first, list) else first).sum().backward()
    assert x.grad.shape == x.shape


def test_gradients_of_all_outputs_of_one_symbol_arrive():
    net = Computes(halves)
    net.hybridize()
    x = mx.nd.ones((2, 4))
    x.attach_grad()
    with mx.autograd.record():
        left, right = net(x)
        loss = 2 * left + 3 * right
    loss.backward()
    assert x.grad.asnumpy().tolist() == [[2, 2, 3, 3]] * 2


def test_what_cannot_be_an_input_is_named():
    net = Branches()
    net.initialize()
    net.hybridize()
    with pytest.raises(ValueError, match="given 5 of type int as input"):
        net(mx.nd.ones((1, 3)), 5)
    with pytest.raises(ValueError, match="no array and no symbol"):
        net(None)


def test_unused_parameters_are_warned_of():
    class Unused(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.used = self.params.get("used", shape=(1,))
            self.other = self.params.get("other", shape=(1,))

        def hybrid_forward(self, F, x, used, other):
            return F.broadcast_mul(x, used)

    net = Unused(prefix="u_")
    net.initialize()
    net.hybridize()
    with pytest.warns(UserWarning, match="u_other is not used"):
        net(mx.nd.ones((1,)))


def test_symbols_go_through_blocks():
    out = small_net()(mx.sym.var("x"))
    assert out.name == "net_dense0_fwd"
    assert out.list_arguments()[:3] == ["x", "net_conv0_weight", "net_conv0_bias"]
    assert out.list_auxiliary_states() == ["net_batchnorm0_running_mean", "net_batchnorm0_running_var"]


def test_infer_shape_fills_the_parameters():
    net = small_net()
    net.infer_shape(mx.nd.ones((2, 3, 8, 8)))
    assert net[0].weight.shape == (4, 3, 3, 3) and net[4].weight.shape == (3, 36)
    wrong = nn.Dense(2, in_units=4)
    wrong.initialize()
    with pytest.raises(Exception, match="weight"):
        wrong(mx.nd.ones((1, 3))).wait_to_read()


def test_random_numbers_are_the_same_as_without_a_graph():
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5))
    x = mx.nd.ones((40, 5))
    results = []
    for hybridize in (False, True):
        net.hybridize(hybridize)
        mx.random.seed(3)
        with mx.autograd.record():
            results.append(net(x).asnumpy())
    np.testing.assert_array_equal(results[0], results[1])


def test_gradients_may_be_asked_for_before_the_call_has_run():
    """Whoever drops the loss at once leaves the call waiting in the engine, with nothing but its own references."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, padding=1, in_channels=8), nn.Conv2D(32, 3, padding=1, in_channels=32))
    net.initialize(mx.init.Uniform(0.05))
    net.hybridize(static_alloc=True)
    x = mx.nd.ones((16, 8, 32, 32))
    for _ in range(10):
        with mx.autograd.record():
            loss = net(x).mean()
        loss.backward()
        del loss
    mx.nd.waitall()
    assert np.isfinite(net[0].weight.grad().asnumpy()).all() and np.abs(net[0].weight.grad().asnumpy()).sum() > 0


def test_op_hooks_see_what_operators_compute():
    net = nn.Dense(2, in_units=2, prefix="d_")
    net.initialize(init="one")
    seen = []
    net.register_op_hook(lambda name, operator, array: seen.append((name, operator)))
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    texts = [tuple(part.decode() if isinstance(part, bytes) else part for part in pair) for pair in seen]
    assert texts == [("d_fwd_output", "FullyConnected")]
    seen.clear()
    with mx.autograd.record():
        out = net(mx.nd.ones((1, 2)))
    del net  # what has been recorded can be differentiated all the same
    out.backward()
    assert seen[1:] == [("d_fwd_backward_1", "_backward_FullyConnected"), ("d_fwd_backward_2", "_backward_FullyConnected")]


@pytest.mark.parametrize("recorded", [False, True])
def test_a_block_and_the_hook_that_holds_it_are_collected(recorded):
    def hooked():
        net = nn.Dense(2, in_units=2)
        net.initialize()
        net.hybridize()
        seen = []
        net.register_op_hook(lambda name, operator, array: seen.append((net.name, operator)))
        with mx.autograd.record(recorded) if recorded else mx.autograd.pause():
            out = net(mx.nd.ones((1, 2)))
        if recorded:
            out.backward()
        assert len(seen) == (3 if recorded else 1)
        return weakref.ref(net)

    kept = hooked()
    gc.collect()
    assert kept() is None


def test_op_hooks_of_a_normalisation_by_itself():
    net = nn.BatchNorm(in_channels=2, prefix="n_")
    net.initialize()
    net.hybridize(inline_limit=0)
    seen = []
    net.register_op_hook(lambda name, operator, array: seen.append(name))
    x = mx.nd.array([[0.0, 1.0], [2.0, 3.0]])
    np.testing.assert_allclose(net(x).asnumpy(), x.asnumpy(), rtol=1e-4)
    assert "n_fwd_output" in seen


class _Two(gluon.HybridBlock):
    """Two results, of a parameter each, and one that no parameter leads to."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.first = self.params.get("first", shape=(3,), init="ones")
            self.second = self.params.get("second", shape=(3,), init="ones")
            self.norm = nn.BatchNorm(in_channels=3, momentum=0.5)

    def hybrid_forward(self, F, x, first, second):
        return F.broadcast_mul(self.norm(x), first), F.broadcast_mul(x, second) ** 3, F.argmax(x, axis=1)


def _hooked_and_not(differentiate):
    """What `differentiate` makes of a network with a hook and of one without."""
    found = []
    for hooked in (False, True):
        net = _Two()
        net.initialize()
        net.hybridize()
        if hooked:
            net.register_op_hook(lambda name, operator, array: None, monitor_all=True)
        x = mx.nd.array(np.arange(6).reshape(2, 3))
        values = differentiate(net, x) + [p.grad() for p in net.collect_params().values() if p.grad_req != "null"]
        values += [net.norm.running_mean.data(), net.norm.running_var.data()]
        found.append([value.asnumpy() for value in values])
    return found


def _of_one_head(net, x):
    for param in net.collect_params().values():
        if param.grad_req != "null":
            param.grad()[:] = 7
    with mx.autograd.record():
        outs = net(x)
    outs[1].backward()
    return list(outs)


def _of_all_heads_twice(net, x):
    with mx.autograd.record():
        outs = net(x)
    for _ in range(2):
        mx.autograd.backward(list(outs), retain_graph=True)
    return list(outs)


@pytest.mark.parametrize("differentiate", [_of_one_head, _of_all_heads_twice])
def test_op_hooks_change_no_gradient(differentiate):
    plain, hooked = _hooked_and_not(differentiate)
    for one, other in zip(plain, hooked):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)


def test_gradients_with_an_op_hook_have_gradients():
    net = nn.Dense(1, activation="tanh", in_units=1, prefix="d_")
    net.initialize(init="one")
    net.hybridize()
    net.register_op_hook(lambda name, operator, array: None)
    x = mx.nd.array([[0.5]])
    x.attach_grad()
    with mx.autograd.record():
        slope = mx.autograd.grad(net(x), [x], create_graph=True, retain_graph=True)[0]
    slope.backward()
    t = np.tanh(0.5)
    np.testing.assert_allclose([slope.asscalar(), x.grad.asscalar()], [1 - t**2, -2 * t * (1 - t**2)], rtol=1e-5)


def test_backend_partitions_the_graph():
    net = small_net()
    x = mx.nd.random.uniform(shape=(2, 1, 8, 8))
    expected = net(x).asnumpy()
    net.optimize_for(x, backend="MKLDNN")
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("partition", [
    lambda net, x: net.optimize_for(x, backend="MKLDNN"),
    lambda net, x: net.hybridize(backend="MKLDNN"),
])
def test_backend_partitions_a_net_whose_shapes_wait_for_the_first_call(partition):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 3), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(2))
    net.initialize()
    x = mx.nd.random.uniform(shape=(2, 3, 8, 8))
    partition(net, x)
    found = net(x).asnumpy()
    assert net[0].weight.shape == (4, 3, 3, 3)
    net.hybridize(False)
    np.testing.assert_allclose(found, net(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_threads_share_a_net():
    net = small_net()
    net.hybridize(static_alloc=True)
    inputs = [mx.nd.random.uniform(shape=(1 + i, 1, 8, 8)) for i in range(4)]
    expected = [net(x).asnumpy() for x in inputs]
    barrier = threading.Barrier(4)
    failures = []

    def work(i):
        barrier.wait()
        for _ in range(50):
            found = net(inputs[i]).asnumpy()
            if not np.allclose(found, expected[i], rtol=1e-4, atol=1e-6):
                failures.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_names_are_counted_by_thread():
    """Blocks made in two threads at once do not end up in each other's scopes."""
    barrier = threading.Barrier(2)
    found = {}

    def work(prefix):
        net = nn.HybridSequential(prefix=prefix)
        with net.name_scope():
            barrier.wait()
            net.add(nn.Dense(1, in_units=1))
            barrier.wait()
        found[prefix] = list(net.collect_params())

    threads = [threading.Thread(target=work, args=(prefix,)) for prefix in ("a_", "b_")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {prefix: [f"{prefix}dense0_weight", f"{prefix}dense0_bias"] for prefix in ("a_", "b_")}


def test_options_of_the_graph_may_be_given_while_there_is_none():
    net = nn.Dense(2, in_units=3)
    net.initialize("ones")
    for active in (False, True, False):  # as packages restore what they have found
        net.hybridize(active=active, static_alloc=True, static_shape=True, backend=None)
        assert net(mx.nd.ones((1, 3))).asnumpy().tolist() == [[3, 3]]


def test_masks_of_which_only_the_type_is_asked_are_drawn_as_by_the_calls_of_the_block():
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            seen = F.Dropout(x, p=0.5)
            return F.broadcast_add(seen, F.zeros_like(F.Dropout(x * 2, p=0.5)))

    def two_calls(net):
        x = mx.nd.ones((16,))
        x.attach_grad()
        mx.random.seed(5)
        with mx.autograd.record():
            return [net(x).asnumpy().tolist() for _ in range(2)]

    expected = two_calls(Net())
    compiled = Net()
    compiled.hybridize()
    assert two_calls(compiled) == expected


def test_masks_in_branches_are_drawn_in_the_order_of_the_graph():
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            gate = F.tanh(F.Dropout(x, p=0.5)) * 0.5  # made first, and read second
            return F.Dropout(F.relu(x), p=0.5) + gate

    mx.random.seed(5)
    first, second = (mx.nd.Dropout(mx.nd.ones((16,)), p=0.5, mode="always") for _ in range(2))
    net = Net()
    net.hybridize()
    mx.random.seed(5)
    with mx.autograd.train_mode():
        result = net(mx.nd.ones((16,)))
    # As 1.9.1 draws them, too.
    expected = first + mx.nd.tanh(second) * 0.5
    np.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-5)
