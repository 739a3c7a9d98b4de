# SPDX-License-Identifier: Apache-2.0
"""Files of networks with buckets: what is written for each, and that it can be read again."""

import numpy as np
import pytest

import mxnet as mx


def sym_gen(key):
    layer = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, flatten=False, name="fc")
    return mx.sym.SoftmaxOutput(mx.sym.sum(layer, axis=1), name="softmax"), ("data",), ("softmax_label",)


def bound(module):
    module.bind([("data", (2, 10, 3))], [("softmax_label", (2,))])
    return module


def trained(lengths):
    """A module that has seen a batch of each length, by bucket."""
    module = bound(mx.mod.BucketingModule(sym_gen, default_bucket_key=next(iter(lengths))))
    module.init_params(mx.init.Xavier())
    for key, length in lengths.items():
        shapes = {"provide_data": [("data", (2, length, 3))], "provide_label": [("softmax_label", (2,))]}
        module.forward(mx.io.DataBatch([mx.nd.ones((2, length, 3))], [mx.nd.zeros(2)], bucket_key=key, **shapes), is_train=False)
    return module


@pytest.mark.parametrize("keys", [[10, 5, 7], [(10, 2), (5, 1)]])
def test_a_checkpoint_lists_its_buckets_in_the_order_of_their_first_use(keys, tmp_path):
    trained({key: key if isinstance(key, int) else key[0] for key in keys}).save_checkpoint(str(tmp_path / "net"), 3)
    (listed,) = mx.nd.load(str(tmp_path / "net.buckets"))
    assert listed.dtype == np.int32
    np.testing.assert_array_equal(listed.asnumpy(), keys)
    networks = [f"net-{key}-symbol.json" for key in keys]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*networks, "net-0003.params", "net.buckets"])


@pytest.mark.parametrize("keys", [["long", "short"], [10, (1, 2)]])
def test_buckets_whose_keys_are_no_array_of_integers_have_no_list(keys, tmp_path):
    trained(dict(zip(keys, (10, 5)))).save_checkpoint(str(tmp_path / "net"), 0)
    networks = [f"net-{key}-symbol.json" for key in keys]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["net-0000.params", *networks])


def test_parameters_come_back(tmp_path):
    module = trained({10: 10, 5: 5})
    module.save_checkpoint(str(tmp_path / "net"), 1)
    wanted = module.get_params()[0]
    loaded = bound(mx.mod.BucketingModule.load(str(tmp_path / "net"), 1, sym_gen=sym_gen, default_bucket_key=10))
    networks = {"sym_dict": {10: sym_gen(10)[0]}, "sym_gen": sym_gen}  # both, as the release's own load passes them
    given = bound(mx.mod.BucketingModule.load_dict(**networks, default_bucket_key=10, arg_params=wanted, aux_params={}))
    for other in (loaded, given):
        found = other.get_params()[0]
        assert sorted(found) == sorted(wanted)
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name].asnumpy(), array.asnumpy())


def unnamed(key):
    """A network whose layers have no names of their own."""
    layer = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, flatten=False)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.sum(layer, axis=1), num_hidden=2), name="softmax"), ("data",), ("softmax_label",)


def test_layers_without_names_have_the_same_parameters_in_each_bucket(tmp_path):
    with mx.name.Prefix("outer_") as outer:
        module = mx.mod.BucketingModule(unnamed, default_bucket_key=10)
        assert module.output_names == ["softmax_output"]
        bound(module).init_params(mx.init.One())
        module.init_optimizer(optimizer_params={"learning_rate": 1e-5})
        for length in (5, 10, 7):
            shapes = {"provide_data": [("data", (2, length, 3))], "provide_label": [("softmax_label", (2,))]}
            module.forward_backward(mx.io.DataBatch([mx.nd.ones((2, length, 3))], [mx.nd.zeros(2)], bucket_key=length, **shapes))
            before = {name: array.asnumpy() for name, array in module.get_params()[0].items()}
            module.update()
            after = module.get_params()[0]
            # The counters begin anew for each bucket, and no prefix is in the way: releases name them in this way, too.
            assert sorted(after) == [f"fullyconnected{layer}_{kind}" for layer in (0, 1) for kind in ("bias", "weight")]
            assert any((after[name].asnumpy() != before[name]).any() for name in after)
        assert outer.get(None, "fullyconnected") == "outer_fullyconnected0"
    module.save_checkpoint(str(tmp_path / "net"), 1)
    for length in (5, 10, 7):
        saved = mx.sym.load(str(tmp_path / f"net-{length}-symbol.json"))
        assert set(mx.nd.load(str(tmp_path / "net-0001.params"))) == {f"arg:{name}" for name in saved.list_arguments() if name in after}
