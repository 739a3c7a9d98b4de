# SPDX-License-Identifier: Apache-2.0
"""Networks and states of optimizers are saved whole: a program that is killed meanwhile leaves the file of before."""

import os
import stat
import threading

import pytest

import mxnet as mx


def symbol_of(number):
    return mx.sym.var(f"x{number}")


def trainer_of(number, on_kvstore):
    weight = mx.gluon.Parameter("weight", shape=(3,))
    weight.initialize(ctx=mx.cpu())
    trainer = mx.gluon.Trainer([weight], "sgd", {"learning_rate": number, "momentum": 0.5}, update_on_kvstore=on_kvstore)
    with mx.autograd.record():
        loss = weight.data() * number
    loss.backward()
    trainer.step(1)
    return trainer


def store_of(number):
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
    store.init(0, mx.nd.ones(3))
    store.push(0, mx.nd.full(3, number))
    return store


def module_of(number):
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), label_names=None, context=mx.cpu())
    module.bind([("data", (1, 3))])
    module.init_params()
    module.init_optimizer(kvstore=None, optimizer_params={"momentum": 0.5})
    module.forward_backward(mx.io.DataBatch([mx.nd.full((1, 3), number)]))
    module.update()
    return module


WRITERS = {
    "symbol": lambda number, path: symbol_of(number).save(path),
    "trainer": lambda number, path: trainer_of(number, False).save_states(path),
    "trainer on a store": lambda number, path: trainer_of(number, True).save_states(path),
    "store": lambda number, path: store_of(number).save_optimizer_states(path),
    "module": lambda number, path: module_of(number).save_optimizer_states(path),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_the_file_of_before_is_not_written_to_but_replaced(tmp_path, kind):
    path, link, before = tmp_path / "saved", tmp_path / "link", tmp_path / "before"
    WRITERS[kind](1, str(path))
    path.chmod(0o640)
    content = path.read_bytes()
    link.symlink_to(path)
    os.link(path, before)
    WRITERS[kind](2, str(link))
    assert before.read_bytes() == content != path.read_bytes()
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["before", "link", "saved"]


def test_after_an_error_the_file_of_before_is_there(tmp_path, monkeypatch):
    path = tmp_path / "states"
    trainer = trainer_of(1, False)
    trainer.save_states(path)
    content = path.read_bytes()
    monkeypatch.setattr(trainer._updaters[0], "get_states", lambda dump_optimizer: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        trainer.save_states(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["states"]


def test_a_pipe_is_written_to(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    symbol_of(1).save(path)
    reader.join(60)
    assert read == [symbol_of(1).tojson()] and stat.S_ISFIFO(path.stat().st_mode)
