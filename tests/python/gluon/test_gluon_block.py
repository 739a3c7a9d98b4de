# SPDX-License-Identifier: Apache-2.0
"""Blocks: names, children, parameters, hooks, files, tables and copies."""

import copy
import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.Block):
    """Two layers inside the scope of names, one outside, and a parameter of its own."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(2)
            self.second = nn.Dense(3)
        self.outside = nn.Dense(4)
        self.scale = self.params.get("scale", shape=(1,), init="ones")

    def forward(self, x):
        return self.outside(self.second(self.first(x))) * self.scale.data()


@pytest.fixture(autouse=True)
def fresh_names():
    """Numbers in names start at 0 in each test."""
    with mx.name.NameManager():
        yield


def test_names_follow_the_scope():
    assert list(Net().collect_params()) == [
        "net0_scale", "net0_dense0_weight", "net0_dense0_bias", "net0_dense1_weight", "net0_dense1_bias",
        "dense0_weight", "dense0_bias",
    ]
    assert Net().prefix == "net1_" and Net().name == "net2"


@pytest.mark.parametrize(
    "prefix, name, first", [("foo_", "foo", "foo_scale"), ("ab", "ab", "abscale"), ("", "", "scale")]
)
def test_prefix_can_be_given(prefix, name, first):
    net = Net(prefix=prefix)
    assert net.name == name and next(iter(net.collect_params())) == first


def test_empty_prefix_leaves_names_to_the_scope_around():
    net = nn.Sequential(prefix="outer_")
    with net.name_scope():
        inner = nn.Sequential(prefix="")
        with inner.name_scope():
            inner.add(nn.Dense(1))
        net.add(inner, nn.Dense(2))
    assert [name for name in net.collect_params() if "weight" in name] == ["outer_dense0_weight", "outer_dense1_weight"]


def test_params_of_another_block_are_shared():
    first = nn.Dense(3, in_units=2, prefix="a_")
    second = nn.Dense(3, in_units=2, params=first.params)
    assert second.weight is first.weight and second.prefix == "dense0_"
    first.initialize()
    x = mx.nd.ones((1, 2))
    np.testing.assert_array_equal(first(x).asnumpy(), second(x).asnumpy())


def test_collect_params_selects_by_the_start_of_names():
    net = Net()
    assert [name for name in net.collect_params(".*weight")] == ["net0_dense0_weight", "net0_dense1_weight", "dense0_weight"]
    assert list(net.collect_params("dense")) == ["dense0_weight", "dense0_bias"]
    assert list(net.params) == ["net0_scale"]


def test_collect_params_asks_children_that_have_their_own():
    class Chosen(nn.HybridSequential):
        def collect_params(self, select=None):
            return super().collect_params(".*weight")

    net = nn.Sequential(prefix="")
    chosen, replaced, shared = Chosen(prefix="chosen_"), nn.Dense(1, prefix="replaced_"), nn.Dense(1, prefix="shared_")
    chosen.add(nn.Dense(1, prefix="inner_"))
    replaced.collect_params = lambda select=None: {"given": replaced.weight}
    net.add(chosen, replaced, shared, shared)
    names = ["inner_weight", "given", "shared_weight", "shared_bias"]
    assert list(net.collect_params()) == names
    assert list(net.collect_params("shared.*bias")) == [*names[:2], names[3]]
    net.add(nn.Dense(2, prefix="shared_"))
    with pytest.raises(AssertionError, match="two different parameters of the name shared_weight"):
        net.collect_params()
    transforms = nn.Sequential()
    transforms.add(abs)
    with pytest.raises(AttributeError, match="collect_params"):
        transforms.collect_params()


def test_attributes_keep_their_kind():
    net = Net()
    with pytest.raises(TypeError, match="attribute first"):
        net.first = 3
    with pytest.raises(TypeError, match="attribute scale"):
        net.scale = 3
    with pytest.raises(AssertionError, match="another parameter"):
        net.scale = gluon.Parameter("other", shape=(1,))
    net.first = nn.Dense(7)
    assert net.first._units == 7 and list(net._children) == ["first", "second", "outside"]


def test_blocks_in_lists_are_warned_of():
    net = Net()
    net.more = [nn.Dense(1)]
    with pytest.warns(UserWarning, match="Net.more holds blocks") as told:
        net.collect_params()
    assert told[0].filename == __file__


def test_nested_blocks_in_any_attribute_are_warned_of():
    outer = nn.HybridSequential()
    outer.add(nn.Dense(1))
    outer[0].kept = {"a": [(nn.Dense(1),)]}
    with pytest.warns(UserWarning, match="Dense.kept holds blocks"):
        outer.collect_params()
    net = Net()
    net._flags = [nn.Dense(1)]  # a HybridBlock has an attribute of this name, for other things
    with pytest.warns(UserWarning, match="Net._flags holds blocks"):
        net.collect_params()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hybrid = nn.HybridSequential()
        hybrid.add(nn.Dense(1, in_units=1))
        hybrid.initialize()
        hybrid.hybridize(static_alloc=True)
        hybrid(mx.nd.ones((1, 1)))
        hybrid.values = mx.nd.ones((2, 2))  # has no truth value
        hybrid.own = [hybrid[0]]
        hybrid.collect_params()


def test_repr_shows_the_tree():
    assert repr(Net()) == (
        "Net(\n  (first): Dense(None -> 2, linear)\n  (second): Dense(None -> 3, linear)\n"
        "  (outside): Dense(None -> 4, linear)\n)"
    )
    net = nn.Sequential()
    net.add(nn.Dense(3, in_units=2, activation="relu"), Net())
    assert repr(net).splitlines()[1:3] == ["  (0): Dense(2 -> 3, Activation(relu))", "  (1): Net("]
    assert "<td>0</td><td>Dense</td><td>weight (3, 2), bias (3,)</td><td>9</td>" in net._repr_html_()


def test_apply_visits_children_first():
    seen = []
    net = Net()
    assert net.apply(lambda block: seen.append(block.name)) is net
    assert seen == ["net0_dense0", "net0_dense1", "dense0", "net0"]


def test_hooks_run_around_forward_until_they_are_detached():
    net = nn.Dense(2, in_units=3)
    net.initialize()
    events = []
    before = net.register_forward_pre_hook(lambda block, inputs: events.append(("before", len(inputs))))
    after = net.register_forward_hook(lambda block, inputs, output: events.append(("after", output.shape)))
    net(mx.nd.ones((4, 3)))
    assert events == [("before", 1), ("after", (4, 2))]
    before.detach()
    before.detach()
    net(mx.nd.ones((4, 3)))
    assert events[2:] == [("after", (4, 2))]
    after.detach()
    with net.register_forward_hook(lambda *_: events.append("inside")):
        net(mx.nd.ones((4, 3)))
    net(mx.nd.ones((4, 3)))
    assert events[3:] == ["inside"]


def test_a_class_beside_hybrid_block_may_wrap_calls():
    class Counts:
        calls = 0

        def __call__(self, *args):
            self.calls += 1
            return super().__call__(*args)

    class Wrapped(mx.gluon.HybridBlock, Counts, mx.gluon.Block):
        def hybrid_forward(self, F, x):
            return x + 1

    block = Wrapped()
    assert block(mx.nd.ones((1,))).asscalar() == 2 and block.calls == 1


def test_hook_handle_survives_pickling():
    net = nn.Dense(2, in_units=3)
    handle = net.register_forward_hook(print)
    restored = pickle.loads(pickle.dumps(handle))
    restored.detach()  # its own hooks, not the net's
    assert len(net._forward_hooks) == 1


def test_forward_has_to_be_given():
    with pytest.raises(NotImplementedError, match="Block has no forward"):
        gluon.Block()(1)
    with pytest.raises(NotImplementedError, match="HybridBlock has no hybrid_forward"):
        gluon.HybridBlock()(mx.nd.ones(1))
    with pytest.raises(ValueError, match="no array and no symbol"):
        nn.Dense(2)(1)


# --- Files


def run_once(net):
    net.initialize()
    net(mx.nd.ones((1, 5)))
    return net


def test_files_name_parameters_by_their_path(tmp_path):
    net = run_once(Net())
    path = tmp_path / "net.params"
    net.save_parameters(path)
    assert sorted(mx.nd.load(str(path))) == sorted(
        ["scale", "first.weight", "first.bias", "second.weight", "second.bias", "outside.weight", "outside.bias"]
    )
    other = Net(prefix="other_")
    other.load_parameters(path, ctx=mx.cpu(1))
    np.testing.assert_array_equal(net.first.weight.data().asnumpy(), other.first.weight.data().asnumpy())
    assert other.first.weight.list_ctx() == [mx.cpu(1)]


def test_files_of_other_writers_load_too(tmp_path):
    """With full names, with the prefix left out, and with kinds before the names."""

    def net():
        made = nn.Sequential(prefix="n_")
        with made.name_scope():
            made.add(nn.Dense(2), nn.Dense(3))
        return made

    source = run_once(net())
    full, short, kinds = (str(tmp_path / name) for name in ("full", "short", "kinds"))
    source.collect_params().save(full)
    source.collect_params().save(short, strip_prefix="n_")
    mx.nd.save(kinds, {f"arg:{name}": p.data() for name, p in source.collect_params().items()})
    for path in (full, short, kinds):
        other = net()
        other.load_parameters(path)
        np.testing.assert_array_equal(source[1].weight.data().asnumpy(), other[1].weight.data().asnumpy())


def test_load_names_what_does_not_fit(tmp_path):
    net = run_once(Net())
    path = str(tmp_path / "net.params")
    net.save_parameters(path)
    with pytest.raises(ValueError, match="has scale"):
        run = nn.Sequential()
        run.add(nn.Dense(2))
        run.load_parameters(path, allow_missing=True)
    with pytest.raises(AssertionError, match="0.weight is missing"):
        run.load_parameters(path)
    narrow = Net()
    narrow.first = nn.Dense(9)
    with pytest.raises(ValueError, match=r"given shape \(2, 5\) in the file"):
        narrow.load_parameters(path)


def test_shared_parameters_can_be_written_once(tmp_path):
    class Shared(gluon.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.a = nn.Dense(3, in_units=3)
                self.own = nn.Dense(3, in_units=3)
                self.b = nn.Dense(3, in_units=3, params=self.a.params)

        def forward(self, x):
            return self.b(self.own(self.a(x)))

    net = Shared()
    net.initialize()
    path = str(tmp_path / "shared.params")
    net.save_parameters(path)
    assert sorted(mx.nd.load(path)) == ["a.bias", "a.weight", "b.bias", "b.weight", "own.bias", "own.weight"]
    net.save_parameters(path, deduplicate=True)
    assert list(mx.nd.load(path)) == ["b.weight", "b.bias", "own.weight", "own.bias"]  # in places of the first names
    other = Shared()
    other.load_parameters(path)
    np.testing.assert_array_equal(other.a.weight.data().asnumpy(), net.a.weight.data().asnumpy())


# --- Copies, types, tables


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
@pytest.mark.parametrize("hybridize", [False, True])
def test_copies_compute_the_same_and_train_alone(clone, hybridize):
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    if hybridize:
        net.hybridize()
    x = mx.nd.random.uniform(shape=(3, 5))
    expected = net(x).asnumpy()
    copied = clone(net)
    np.testing.assert_array_equal(copied(x).asnumpy(), expected)
    copied[0].weight.set_data(mx.nd.zeros((4, 5)))
    np.testing.assert_array_equal(net(x).asnumpy(), expected)
    with mx.autograd.record():
        loss = copied(x).sum()
    loss.backward()
    assert np.abs(copied[2].bias.grad().asnumpy()).sum() > 0
    assert np.abs(net[2].bias.grad().asnumpy()).sum() == 0


def test_cast_keeps_single_precision_in_batch_norm():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3), nn.BatchNorm(in_channels=4))
    net.initialize()
    net.cast("float16")
    assert net[0].weight.data().dtype == np.float16 and net[1].gamma.data().dtype == np.float32


def test_summary_counts_parameters(capsys):
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.BatchNorm(), nn.Dropout(0.5), nn.Dense(3))
    net.initialize()
    net(mx.nd.ones((2, 3)))
    net.summary(mx.nd.ones((2, 3)))
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines()[3:9]]
    assert rows == [
        ["Input", "(2,", "3)", "0"],
        ["Activation-1", "(2,", "4)", "0"],
        ["Dense-2", "(2,", "4)", "16"],
        ["BatchNorm-3", "(2,", "4)", "16"],
        ["Dropout-4", "(2,", "4)", "0"],
        ["Dense-5", "(2,", "3)", "15"],
    ]
    assert "Total params: 47" in shown and "Trainable params: 39" in shown and "Non-trainable params: 8" in shown
    net.hybridize()
    with pytest.raises(AssertionError, match="hybridized"):
        net.summary(mx.nd.ones((2, 3)))


def test_containers_are_sequences():
    net = nn.Sequential(prefix="s_")
    layers = [nn.Dense(1), nn.Dense(2), nn.Dense(3)]
    net.add(*layers)
    assert len(net) == 3 and list(net) == layers and net[-1] is layers[2] and net[1] is layers[1]
    part = net[0:2]
    assert list(part) == layers[:2] and part.prefix == "s_"
    with pytest.raises(IndexError):
        net[3]


def test_hybrid_containers_take_hybrid_blocks_only():
    with pytest.raises(ValueError, match="expected a HybridBlock"):
        nn.HybridSequential().add(nn.Lambda("relu"))
    net = nn.Sequential()
    net.add(nn.Dense(1))
    with pytest.warns(UserWarning, match="HybridSequential"):
        net.hybridize()


class Scaled(gluon.HybridBlock):
    """x times a parameter."""

    def __init__(self, scale=None, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.scale = scale or self.params.get("scale", shape=(1,), init="ones")

    def hybrid_forward(self, F, x, scale):
        return F.broadcast_mul(x, scale)


def test_layers_that_are_no_graph_see_every_change_of_their_parameters():
    block, x = Scaled(), mx.nd.array([1, 2])
    block.initialize()

    def result(of=block, at=x):
        return of(at).asnumpy().tolist()

    assert result() == result() == [1, 2]
    block.scale.set_data(mx.nd.array([3]))
    assert result() == [3, 6]
    block.scale.initialize(mx.init.Constant(4), force_reinit=True)
    assert result() == [4, 8]
    clone, loaded = copy.deepcopy(block), pickle.loads(pickle.dumps(block))
    block.cast("float64")
    assert block(x.astype("float64")).dtype == np.float64
    assert result(clone) == result(loaded) == [4, 8]
    clone.collect_params().reset_ctx([x.context, mx.cpu(1)])
    clone.scale.list_data()[1][:] = 5
    assert result(clone) == [4, 8]
    assert result(clone, x.as_in_context(mx.cpu(1))) == [5, 10]
    clone.scale.grad_req = "null"
    with mx.autograd.record():
        y = clone(x)
    with pytest.raises(mx.MXNetError, match="computational graph"):
        y.backward()
    loaded._reg_params["scale"] = clone.scale
    clone.scale.set_data(mx.nd.array([6]))
    assert result(loaded) == [6, 12]


def test_a_parameter_may_give_another_array_each_time():
    class Counting(gluon.Parameter):
        calls = 0

        def data(self, ctx=None):
            self.calls += 1
            return super().data(ctx) * self.calls

    scale = Counting("scale", shape=(1,), init="ones")
    block = Scaled(scale)
    scale.initialize()
    assert [block(mx.nd.ones((1,))).asscalar() for _ in range(3)] == [1, 2, 3]


def test_a_parameter_object_may_give_another_array_each_time():
    block = Scaled()
    block.initialize()
    plain, calls = block.scale.data, []

    def counting(ctx=None):
        calls.append(ctx)
        return plain(ctx) * len(calls)

    block.scale.data = counting
    assert [block(mx.nd.ones((1,))).asscalar() for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("hybridized", (False, True))
def test_layers_let_go_of_arrays_that_parameters_have_no_more(hybridized):
    block = Scaled()
    block.initialize()
    block.hybridize(hybridized)
    for _ in range(2):
        block(mx.nd.ones((1,)))
    array, gradient = weakref.ref(block.scale.data()), weakref.ref(block.scale.grad())
    block.scale.cast("float64")  # the block, as a child of one that becomes a graph, is not called again
    gc.collect()
    assert array() is None and gradient() is None
    assert block(mx.nd.ones((1,), dtype="float64")).dtype == np.float64


def test_a_layer_leaves_the_device_as_it_was_when_it_fails():
    block, x = Scaled(), mx.nd.ones((1,))
    block.initialize()
    with mx.cpu(3):
        with pytest.raises(TypeError):
            block(x, x)
        assert mx.current_context() == mx.cpu(3)
