# SPDX-License-Identifier: Apache-2.0
"""Stores of one process as scripts use them: keys, lists, updaters, registered stores, errors."""

import gc
import os
import subprocess
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import mxnet as mx

TYPES = ["local", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device", "device"]


def full(value, shape=(2, 3), **kwargs):
    return mx.nd.full(shape, value, **kwargs)


def pulled(store, key, shape=(2, 3)):
    out = mx.nd.zeros(shape)
    store.pull(key, out=out)
    return out.asnumpy()


@pytest.fixture(params=TYPES)
def store(request):
    made = mx.kv.create(request.param)
    assert made.type == request.param
    return made


@pytest.mark.parametrize("keys", [[3, 5], ["weight", "bias"]])
def test_keys_are_integers_or_texts(store, keys):
    store.init(keys, [full(1), full(2)])
    store.push(keys, [[full(3), full(4)], full(5)])
    outs = [[mx.nd.zeros((2, 3)) for _ in range(2)], mx.nd.zeros((2, 3))]
    store.pull(keys, out=outs)
    assert [out.asnumpy()[0, 0] for out in [*outs[0], outs[1]]] == [7, 7, 5]


def test_numpy_integers_are_keys(store):
    store.init(np.int64(3), full(1))
    assert pulled(store, 3)[0, 0] == 1


def test_sums_are_those_of_numpy(store):
    random = np.random.RandomState(7)
    values = [random.randint(-1000, 1000, (50, 7)).astype("float32") for _ in range(9)]
    store.init("a", mx.nd.zeros((50, 7)))
    store.push("a", [mx.nd.array(value, ctx=mx.cpu(i)) for i, value in enumerate(values)])
    np.testing.assert_array_equal(pulled(store, "a", (50, 7)), sum(values))


def test_the_order_of_additions_is_that_of_1_9_1():
    # Running the 1.9.1 wheel gave these orders, bit for bit, for up to nine arrays.
    random = np.random.RandomState(11)
    values = [(random.randn(1000) * 10).astype("float32") for _ in range(6)]
    a, b, c, d, e, f = values
    for name, expected in [("local", (a + (((b + c) + d) + e)) + f), ("device", ((((a + b) + c) + d) + e) + f)]:
        store = mx.kv.create(name)
        store.init(0, mx.nd.zeros((1000,)))
        store.push(0, [mx.nd.array(value) for value in values])
        np.testing.assert_array_equal(pulled(store, 0, (1000,)), expected)


def test_pushpull_works_in_place_and_into_others(store):
    store.init("a", full(1))
    values = [full(2), full(3)]
    store.pushpull("a", values)
    assert [value.asnumpy()[0, 0] for value in values] == [5, 5]
    out = full(0)
    store.pushpull("a", values, out=out)
    assert out.asnumpy()[0, 0] == 10
    assert pulled(store, "a")[0, 0] == 10


def test_broadcast_is_an_init_and_a_pull(store):
    outs = [full(0), full(0)]
    store.broadcast("a", full(8), out=outs)
    assert outs[1].asnumpy()[0, 0] == 8
    with pytest.raises(ValueError, match="has a value already"):
        store.broadcast("a", full(8), out=outs)


@pytest.mark.parametrize("key", [3, "a"])
def test_an_updater_gets_key_sum_and_what_is_stored(store, key):
    calls = []

    def update(given, pushed, stored):
        calls.append((given, pushed.asnumpy()[0, 0], stored.asnumpy()[0, 0]))
        stored += pushed * 10

    store._set_updater(update)
    store.init(key, full(1))
    store.push(key, [full(1), full(2)])
    out = full(0)
    store.pushpull(key, full(1), out=out)
    assert calls == [(key, 3, 1), (key, 1, 31)]
    assert out.asnumpy()[0, 0] == 41


def test_what_an_updater_raises_comes_out_of_push(store):
    def update(key, pushed, stored):
        raise KeyError("no such thing")

    store.init("a", full(1))
    store._set_updater(update)
    with pytest.raises(KeyError, match="no such thing"):
        store.push("a", full(1))
    store._set_updater(lambda key, pushed, stored: pushed.copyto(stored))
    store.push("a", full(2))
    assert pulled(store, "a")[0, 0] == 2


def test_a_store_and_the_updater_that_holds_it_are_collected():
    def updated():
        store = mx.kv.create("local")
        store.init("a", full(1))
        store._set_updater(lambda key, pushed, stored: store.rank)
        store.push("a", full(1))
        return weakref.ref(store)

    kept = updated()
    gc.collect()
    assert kept() is None


def test_an_optimizer_works_on_what_is_stored_and_keeps_its_states(store, tmp_path):
    store.init("w", mx.nd.ones((3,)))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
    for _ in range(2):
        store.push("w", [mx.nd.ones((3,)), mx.nd.ones((3,))])
    # Printed by the 1.9.1 wheel for the same calls.
    np.testing.assert_allclose(pulled(store, "w", (3,)), 0.42000002, rtol=1e-6)
    states = str(tmp_path / "states")
    store.save_optimizer_states(states, dump_optimizer=True)
    store.load_optimizer_states(states)
    store.push("w", mx.nd.ones((3,)))
    np.testing.assert_allclose(pulled(store, "w", (3,)), -0.02199996, rtol=1e-6)


def test_row_sparse_pull_of_what_stores_nothing_stores_nothing():
    store = mx.kv.create("local")
    store.init("e", mx.nd.sparse.zeros("row_sparse", (4, 2)))
    out = mx.nd.sparse.row_sparse_array(([[1, 2]], [1]), shape=(4, 2))
    store.row_sparse_pull("e", out=out, row_ids=mx.nd.array([2, 0]))
    assert out.data.shape == (0, 2)
    assert not out.asnumpy().any()


def test_row_sparse_pull_gives_the_rows_asked_for(store):
    dense = mx.nd.array([[1, 1], [0, 0], [2, 2], [3, 3]])
    store.init("e", dense.tostype("row_sparse"))
    out = mx.nd.sparse.zeros("row_sparse", (4, 2))
    store.row_sparse_pull("e", out=out, row_ids=mx.nd.array([2, 1, 2]))
    assert out.indices.asnumpy().tolist() == [1, 2]
    assert out.data.asnumpy().tolist() == [[0, 0], [2, 2]]
    outs = [mx.nd.sparse.zeros("row_sparse", (4, 2)) for _ in range(2)]
    store.row_sparse_pull("e", out=outs, row_ids=[mx.nd.array([0]), mx.nd.array([3])])
    assert [one.indices.asnumpy().tolist() for one in outs] == [[0], [3]]
    store.row_sparse_pull(["e"], out=[outs], row_ids=[mx.nd.array([2])])
    assert [one.indices.asnumpy().tolist() for one in outs] == [[2], [2]]


def test_a_plain_pull_leaves_sparse_arrays_alone(store):
    store.init("e", mx.nd.ones((4, 2)).tostype("row_sparse"))
    out = mx.nd.sparse.zeros("row_sparse", (4, 2))
    store.pull("e", out=out)
    assert out.asnumpy().sum() == 0
    store.pull("e", out=out, ignore_sparse=False)
    assert out.asnumpy().sum() == 8


def test_rank_size_and_capabilities(store):
    assert (store.rank, store.num_workers) == (0, 1)
    assert store.is_capable("optimizer")
    with pytest.raises(ValueError, match="foo"):
        store.is_capable("foo")
    store._barrier()


def test_wrong_calls_say_what_is_expected(store):
    store.init("a", full(1))
    with pytest.raises(ValueError, match="key 'b'"):
        store.push("b", full(1))
    with pytest.raises(ValueError, match="integer key 3"):
        store.push(3, full(1))
    with pytest.raises(ValueError, match=r"given shape \(3,\), expected \(2,3\)"):
        store.push("a", full(1, (3,)))
    with pytest.raises(ValueError, match="2 keys and 1"):
        store.push(["a", "a"], [full(1)])
    with pytest.raises(ValueError, match=r"given keys 1 and 'b' in one list, expected keys of one kind"):
        store.push(["b", 1], [full(1), full(1)])
    with pytest.raises(TypeError, match="1.5"):
        store.push(1.5, full(1))
    with pytest.raises(TypeError, match="NoneType"):
        store.push("a", None)
    with pytest.raises(TypeError, match="csr"):
        store.push("a", full(1).tostype("csr"))
    with pytest.raises(ValueError, match="out"):
        store.pull("a")
    with pytest.raises(ValueError, match="states"):
        store.save_optimizer_states("unused")
    with pytest.raises(ValueError, match="states"):
        store.load_optimizer_states("unused")


def test_a_store_is_made_by_its_name_and_others_are_errors():
    assert mx.kv.create().type == "local"
    assert mx.kv.create("Device").type == "device"
    with pytest.raises(ValueError, match="local_allreduce_cpu"):
        mx.kv.create("localy")
    with pytest.raises(TypeError, match="name"):
        mx.kv.create(None)


def test_stores_of_other_packages_are_made_by_name():
    class MyStore(mx.kv.KVStoreBase):
        pass

    try:
        assert mx.kv.KVStoreBase.register(MyStore) is MyStore
        assert isinstance(mx.kv.create("MyStore"), MyStore)
    finally:
        del mx.kv.KVStoreBase.kv_registry["mystore"]


def test_teststore_sums_without_keeping_anything():
    store = mx.kv.create("teststore")
    assert (store.type, store.rank, store.num_workers, store.is_capable("optimizer")) == ("teststore", 0, 1, False)
    values = [full(1), full(2)]
    store.pushpull("k", values)
    assert [value.asnumpy()[0, 0] for value in values] == [3, 3]
    out = full(0)
    store.broadcast("k", values[0], out)
    assert out.asnumpy()[0, 0] == 3


@pytest.mark.parametrize("name", ["horovod", "byteps"])
def test_a_missing_package_is_named(name):
    with pytest.raises(ImportError, match=name):
        mx.kv.create(name)


def fake_horovod(calls):
    """What the store 'horovod' uses of that package, as rank 1 of 2 sees it: the other rank has the same values."""

    def allreduce_(array, average, name, priority):
        calls.append(("allreduce_", name, average, priority))
        array *= 2

    def allreduce(array, average, name, priority):
        calls.append(("allreduce", name, average, priority))
        return array * 2

    def broadcast(array, root_rank, name, priority):
        calls.append(("broadcast", name, root_rank, priority))
        return full(7, array.shape)

    return {"broadcast": broadcast, "allreduce": allreduce, "allreduce_": allreduce_}


def fake_byteps(calls):
    """The same of 'byteps', which knows sums only; rank 0 has broadcast 7."""

    def push_pull(array, version, priority, name, is_average):
        calls.append(("push_pull", name, is_average, priority))
        array += 7 if array.asnumpy().sum() == 0 else array

    return {"byteps_declare_tensor": lambda name: calls.append(("declare", name)), "byteps_push_pull": push_pull}


@pytest.fixture(params=[("horovod", fake_horovod), ("byteps", fake_byteps)], ids=["horovod", "byteps"])
def package_store(request, monkeypatch):
    """A store by another package, which is not the real one, and what it was asked."""
    name, fake = request.param
    calls = []
    package = types.ModuleType(f"{name}.mxnet")
    package.init = lambda: calls.append(("init",))
    package.rank, package.local_rank, package.size = lambda: 1, lambda: 0, lambda: 2
    vars(package).update(fake(calls))
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, f"{name}.mxnet", package)
    return mx.kv.create(name), calls


def test_stores_of_packages_hand_everything_to_them(package_store):
    store, calls = package_store
    assert (store.rank, store.num_workers, store.local_rank, store.is_capable("optimizer")) == (1, 2, 0, False)
    value, out = full(1), full(0)
    store.broadcast("w", value, out)
    assert (out.asnumpy() == 7).all()
    assert (value.asnumpy() == 1).all()
    store.pushpull("w", value, out=[out], priority=-3)
    assert (out.asnumpy() == 2).all()
    assert (value.asnumpy() == 1).all()
    store.pushpull(5, value)
    assert (value.asnumpy() == 2).all()
    sums = [call for call in calls if "push_pull" in call[0] or "allreduce" in call[0]]
    assert [call[1:] for call in sums[-2:]] == [("w", False, -3), ("5", False, 0)]
    assert calls[0] == ("init",)
    with pytest.raises(ValueError, match="given 2 values"):
        store.pushpull("w", [value, value])


def test_a_trainer_sums_by_a_store_of_a_package(package_store):
    store, _ = package_store
    net = mx.gluon.nn.Dense(1, use_bias=False, in_units=2)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1}, kvstore=store)
    with mx.autograd.record():
        loss = net(mx.nd.array([[1, 3]]))
    loss.backward()
    trainer.step(1)
    # Rank 0's weights are 7, and the gradients of both ranks are [1, 3].
    assert net.weight.data().asnumpy().tolist() == [[5, 1]]


def test_the_binding_on_ctypes_does_the_same():
    here = "an_updater or sums_are_those or row_sparse_pull or wrong_calls or pushpull or broadcast"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", here]
    environment = {**os.environ, "MXNET_ENABLE_CYTHON": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


def test_nccl_sums_on_gpus_and_says_what_is_missing_without(run_python):
    code = """if True:
        import mxnet as mx
        try:
            store = mx.kv.create("nccl")
        except mx.base.MXNetError as error:
            print(error)
        else:
            store.init("w", mx.nd.zeros(3))
            values = [mx.nd.full(3, i + 1, ctx=mx.gpu(i)) for i in range(3)]
            store.pushpull("w", values, out=values)
            print(store.type, [value.asnumpy().tolist() for value in values])
    """
    assert "no GPU that NCCL could use" in run_python(code, env={"CUDA_VISIBLE_DEVICES": "-1"}).stdout
    assert run_python(code, env={"MXNET_SIM_GPUS": "3"}).stdout.strip() == f"nccl {[[6.0] * 3] * 3}"


ALONE = """
import mxnet as mx

mx.kv.create("local")
try:
    mx.kv.create("dist_sync")
except mx.MXNetError as error:
    print(error)
"""


def test_without_the_plug_in_distributed_stores_say_what_to_install(run_python, tmp_path):
    library = tmp_path / "libmxnet.so"
    library.symlink_to(mx.libinfo.find_lib_path()[0])  # nothing lies beside it
    with open("/proc/self/maps", encoding="ascii") as maps:  # what it needs is found where it is loaded from here
        folders = {os.path.dirname(line.split()[-1]) for line in maps if ".so" in line}
    env = {"MXNET_LIBRARY_PATH": str(library), "LD_LIBRARY_PATH": ":".join(sorted(folders))}
    done = run_python(ALONE, env=env)
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path / 'libmxnet_mpi.so'}, which does not exist: install OpenMPI" in done.stdout


def test_rows_in_another_type_stay_where_they_are_even_if_zero():
    stored = mx.nd.sparse.row_sparse_array((np.array([[1.0, 1.0], [0.0, 0.0]]), [1, 2]), shape=(4, 2))
    assert stored.dtype == np.float64
    copied = mx.nd.zeros((4, 2), stype="row_sparse")
    stored.copyto(copied)
    assert copied.indices.asnumpy().tolist() == [1, 2]
    store = mx.kv.create("local")
    store.init("k", stored)
    for rows in ([1, 2, 3], [2]):
        pulled = mx.nd.zeros((4, 2), stype="row_sparse")
        store.row_sparse_pull("k", out=pulled, row_ids=mx.nd.array(rows, dtype="int64"))
        assert pulled.dtype == np.float32
        assert pulled.indices.asnumpy().tolist() == rows
        np.testing.assert_array_equal(pulled.asnumpy()[1], [1, 1] if 1 in rows else [0, 0])


def test_threads_push_to_one_store_and_each_gets_what_its_own_updater_call_raised(store):
    store.init(list(range(4)), [full(0)] * 4)
    seen = {key: [] for key in range(4)}

    def update(key, pushed, stored):
        if key % 2:
            raise ValueError(f"key {key}")
        stored += pushed

    store._set_updater(update)

    def push(key):
        for _ in range(50):
            try:
                store.push(key, full(1))
                seen[key].append(None)
            except ValueError as error:
                seen[key].append(str(error))

    threads = [threading.Thread(target=push, args=(key,)) for key in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {key: [f"key {key}" if key % 2 else None] * 50 for key in range(4)}
    assert [pulled(store, key)[0, 0] for key in range(4)] == [50, 0, 50, 0]


def test_an_updater_that_uses_its_store_leaves_a_pushpull_what_it_has_to_write(store):
    store.init([0, 1, 2], [full(0)] * 3)

    def update(key, pushed, stored):
        if key == 0:
            store.push(1, pushed * 5)
            with pytest.raises(mx.base.MXNetError):
                store.pull([1, 9], out=[full(0), full(0)])
            stored += float(pulled(store, 1)[0, 0])
        else:
            stored += pushed

    store._set_updater(update)
    outs = [full(-1), full(-1)]
    store.pushpull([0, 2], [full(1), full(2)], out=outs)
    assert [out.asnumpy()[0, 0] for out in outs] == [5, 2]
