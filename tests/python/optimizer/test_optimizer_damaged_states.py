# SPDX-License-Identifier: Apache-2.0
"""Files of optimizer states that are damaged, or hold something else: the error names the file, and what was there stays."""

import pickle

import numpy as np
import pytest
from damage import reads_or_refuses

import mxnet as mx


def trained(optimizer="adam", **kwargs):
    """A trainer that has made a step, and its parameters."""
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, **kwargs)
    with mx.autograd.record():
        loss = net(mx.nd.ones((2, 4)))
    loss.backward()
    trainer.step(2)
    return trainer


def states_of(path, optimizer):
    trained(optimizer).save_states(path)
    with open(path, "rb") as file:
        return file.read()


def a_trainer(path):
    trainer = trained()
    return lambda: trainer.load_states(path), lambda: trainer._updaters[0]


def a_trainer_on_a_store(path):
    trainer = trained(kvstore=mx.kv.create("local"), update_on_kvstore=True)
    return lambda: trainer.load_states(path), lambda: trainer._kvstore._updater


def a_store(path):
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.create("adam"))
    store.init(0, mx.nd.ones((2, 3)))
    store.push(0, mx.nd.ones((2, 3)))
    return lambda: store.load_optimizer_states(path), lambda: store._updater


def a_module(path):
    data = mx.sym.Variable("data")
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(data, num_hidden=2), name="lro"), label_names=["lro_label"])
    module.bind([("data", (2, 3))], [("lro_label", (2, 2))])
    module.init_params()
    module.init_optimizer(kvstore=None, optimizer="adam")
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones((2, 2))]))
    module.update()
    return lambda: module.load_optimizer_states(path), lambda: module._updater


class NoOptimizer:
    aggregate_num = 0


def a_pickle_of_less():
    """An optimizer whose attribute has another name."""
    return pickle.dumps(({}, mx.optimizer.create("sgd"))).replace(b"num_update", b"num_opdate")


CONTENTS = {
    "nothing": lambda: b"",
    "a text": lambda: b"these are no states",
    "a list": lambda: pickle.dumps([1, 2]),
    "a number": lambda: pickle.dumps(5),
    "three": lambda: pickle.dumps(({}, None, None)),
    "no states": lambda: pickle.dumps((None, mx.optimizer.create("sgd"))),
    "no optimizer": lambda: pickle.dumps(({}, NoOptimizer())),
    "less of an optimizer": a_pickle_of_less,
    "a class that is nowhere": lambda: b"cnowhere.at_all\nThing\n.",
    "a memo of gigabytes": lambda: b"\x80\x04}r\xff\xff\xff\x7f.",
    "bytes that are not there": lambda: b"\x80\x05\x96" + (1 << 60).to_bytes(8, "little") + b"1234.",
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("whose", [a_trainer, a_trainer_on_a_store, a_store, a_module])
def test_the_error_names_the_file_and_the_old_states_stay(tmp_path, whose, content):
    path = str(tmp_path / "odd.states")
    load, updater = whose(path)
    with open(path, "wb") as file:
        file.write(CONTENTS[content]())
    before, states = updater(), dict(updater().states)
    optimizer = before.optimizer
    assert states
    with pytest.raises(ValueError, match="states of an optimizer|dictionary of an optimizer's states|what each one has") as caught:
        load()
    assert str(caught.value).startswith(path)
    assert updater() is before and before.optimizer is optimizer and dict(before.states) == states


def test_damaged_files_are_read_or_refused(tmp_path):
    path = tmp_path / "damaged.states"
    contents = [states_of(path, optimizer) for optimizer in ("adam", "sgd", "ftrl")]
    load, _ = a_trainer(path)
    seen = reads_or_refuses(lambda _: load(), path, contents, 600, ValueError)
    assert seen[None] > 20 and seen["ValueError"] > 200, seen


def test_what_was_refused_leaves_a_trainer_that_goes_on(tmp_path):
    path = str(tmp_path / "cut.states")
    content = states_of(path, "adam")
    trainer = trained()
    with open(path, "wb") as file:
        file.write(content[: len(content) // 2])
    with pytest.raises(ValueError, match="cut.states"):
        trainer.load_states(path)
    parameter = trainer._params[0]
    before = parameter.data().asnumpy()
    with mx.autograd.record():
        loss = (parameter.data() * 2).sum()
    loss.backward()
    trainer.step(1, ignore_stale_grad=True)
    assert not np.array_equal(parameter.data().asnumpy(), before)
