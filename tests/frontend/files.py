# SPDX-License-Identifier: Apache-2.0
"""Files of every kind that one package writes and another reads. Each function writes its files if it is asked to, reads
them, and gives what it has read: with either package the same."""
import gzip
import pathlib
import pickle
import struct
import zlib
from typing import Any, Callable, Dict, List

#: Given the package, NumPy, a folder of its own, and whether the files shall be written.
Kind = Callable[[Any, Any, pathlib.Path, bool], Any]

KINDS: Dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    KINDS[function.__name__] = function
    return function


def described(value: Any) -> Any:
    """As JSON has it, with types, shapes and layouts; so that a file tells all of it."""
    if isinstance(value, dict):
        return {str(key): described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "asnumpy"):
        facts = described(value.asnumpy())
        return {**facts, "layout": getattr(value, "stype", "default")}
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "tobytes"):
        return {"type": str(value.dtype), "shape": list(value.shape), "values": value.ravel().tolist()}
    return value


def draws(np: Any, *shape: int, seed: int = 0) -> Any:
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


@kind
def arrays_by_name(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path = str(folder / "arrays")
    if writing:
        types = ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"]
        arrays = {f"of {name}": mx.nd.array(draws(np, 2, 3) * 9, dtype=name) for name in types}
        arrays["ends"] = mx.nd.array([np.inf, -np.inf, np.nan, -0.0, 1e-45])
        arrays["arg:deep"] = mx.nd.array(draws(np, 1, 2, 1, 3, 1, 2))
        arrays["ümlaut"] = mx.nd.ones(1)
        mx.nd.save(path, arrays)
    return mx.nd.load(path)


@kind
def arrays_in_order(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path, single = str(folder / "list"), str(folder / "single")
    if writing:
        mx.nd.save(path, [mx.nd.array(draws(np, size + 1, seed=size)) for size in range(12)])
        mx.nd.save(single, mx.nd.array(draws(np, 3)))
    with open(path, "rb") as file:
        return mx.nd.load(path), mx.nd.load(single), mx.nd.load_frombuffer(file.read())


@kind
def arrays_of_few(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path = str(folder / "sparse")
    if writing:
        dense = mx.nd.array(draws(np, 6, 4) * (draws(np, 6, 1, seed=1) > 0))
        arrays = {"rows": dense.tostype("row_sparse"), "cells": dense.tostype("csr"), "dense": dense,
                  "no rows": mx.nd.zeros((3, 2)).tostype("row_sparse"), "no cells": mx.nd.zeros((3, 2)).tostype("csr"),
                  "double": dense.astype("float64").tostype("csr"), "half": dense.astype("float16").tostype("row_sparse")}
        mx.nd.waitall()  # the release writes the number of values that it knows of, and waits for them behind that
        mx.nd.save(path, arrays)
    read = mx.nd.load(path)
    return read, {name: array.indices for name, array in read.items() if array.stype != "default"}


@kind
def arrays_like_numpys(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path = str(folder / "arrays")
    with mx.util.np_shape(True), mx.util.np_array(True):
        if writing:
            arrays = {"number": mx.np.array(3.5), "nothing": mx.np.zeros((0, 4)), "truth": mx.np.array([True, False]),
                      "whole": mx.np.arange(5, dtype="int64"), "deep": mx.np.array(draws(np, 2, 0, 3)),
                      "small": mx.np.array(7, dtype="uint8")}
            mx.npx.save(path, arrays)
        return mx.npx.load(path)


def network(mx: Any, **options: Any) -> Any:
    nn = mx.gluon.nn
    net = nn.HybridSequential(**options)
    with net.name_scope():
        net.add(nn.Conv2D(3, 3, activation="relu"), nn.BatchNorm(), nn.PReLU(), nn.MaxPool2D(), nn.Flatten(), nn.Dense(6),
                nn.LayerNorm(), nn.Dense(4, use_bias=False))
    return net


def learnt(mx: Any, np: Any, **options: Any) -> Any:
    mx.random.seed(3)
    net = network(mx, **options)
    net.initialize(mx.init.Xavier())
    with mx.autograd.record():
        loss = net(pictures(mx, np)).sum()
    loss.backward()
    return net


def pictures(mx: Any, np: Any) -> Any:
    return mx.nd.array(draws(np, 2, 1, 8, 8))


@kind
def parameters_of_blocks(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path, older = str(folder / "net.params"), str(folder / "older.params")
    if writing:
        net = learnt(mx, np, prefix="net_")
        net.save_parameters(path)
        net.collect_params().save(older, strip_prefix="net_")
    first, second = network(mx, prefix="net_"), network(mx, prefix="net_")
    first.load_parameters(path)
    second.collect_params().load(older, restore_prefix="net_")
    return first(pictures(mx, np)), second(pictures(mx, np)), sorted(mx.nd.load(path)), sorted(mx.nd.load(older))


@kind
def exported_blocks(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path = str(folder / "net")
    if writing:
        net = learnt(mx, np, prefix="net_")
        net.hybridize()
        net(pictures(mx, np))
        net.export(path, epoch=7)
    block = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0007.params")
    symbol, arguments, states = mx.model.load_checkpoint(path, 7)
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 1, 8, 8))], for_training=False)
    module.set_params(arguments, states)
    module.forward(mx.io.DataBatch([pictures(mx, np)]), is_train=False)
    return block(pictures(mx, np)), module.get_outputs(), arguments, states, symbol.tojson()


def settings() -> List[Any]:
    return [("sgd", {"momentum": 0.9, "wd": 0.01}), ("nag", {"momentum": 0.5}), ("adam", {}), ("rmsprop", {"centered": True}),
            ("adagrad", {}), ("adadelta", {}), ("ftrl", {}), ("signum", {}), ("ftml", {}), ("lamb", {}), ("nadam", {}),
            ("adamax", {}), ("lbsgd", {"momentum": 0.9}), ("sgld", {}), ("dcasgd", {})]


@kind
def states_of_trainers(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    """Three steps there and three here, with the count of updates that schedules and Adam's rates ask for."""
    results = {}
    for name, options in settings():
        if name == "sgld":  # draws
            continue
        net, path = mx.gluon.nn.Dense(2, in_units=3, prefix="net_"), str(folder / name)

        def steps(count: int, net: Any = net, name: str = name, options: Any = options, states: str = "") -> Any:
            trainer = mx.gluon.Trainer(net.collect_params(), name, {"learning_rate": 0.05, **options})
            if states:
                trainer.load_states(states)
            for seed in range(count):
                with mx.autograd.record():
                    loss = ((net(mx.nd.array(draws(np, 4, 3, seed=seed))) - 1) ** 2).mean()
                loss.backward()
                trainer.step(1)
            return trainer

        if writing:
            net.initialize(mx.init.One())
            trainer = steps(3)
            net.save_parameters(f"{path}.params")
            trainer.save_states(f"{path}.states")
        net.load_parameters(f"{path}.params")
        steps(3, states=f"{path}.states")
        results[name] = net.weight.data()
    return results


@kind
def states_of_updaters(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    """What optimizers keep, as modules and stores write it, with and without the optimizer itself."""
    results = {}
    for name, options in settings():
        if name == "sgld":
            continue
        for whole in (False, True):
            path, weight = folder / f"{name}-{whole}", mx.nd.array(draws(np, 3, 2))
            updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, **options))
            if writing:
                updater(0, mx.nd.array(draws(np, 3, 2, seed=1)), weight)
                path.write_bytes(updater.get_states(dump_optimizer=whole))
                np.save(f"{path}.npy", weight.asnumpy())
            weight, again = mx.nd.array(np.load(f"{path}.npy")), mx.optimizer.get_updater(mx.optimizer.create(name, **options))
            again.set_states(path.read_bytes())
            again(0, mx.nd.array(draws(np, 3, 2, seed=2)), weight)
            results[path.name] = [weight, again.optimizer.learning_rate if whole else None]
    return results


@kind
def states_of_stores(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path, value = str(folder / "store.states"), mx.nd.ones((2, 2))

    def stepped(seed: int, states: bool) -> Any:
        store = mx.kv.create("local")
        store.init(3, value)
        store.set_optimizer(mx.optimizer.Adam(learning_rate=0.1))
        if states:
            store.load_optimizer_states(path)
        store.push(3, mx.nd.array(draws(np, 2, 2, seed=seed)))
        store.pull(3, out=value)
        return store

    if writing:
        stepped(0, states=False).save_optimizer_states(path, dump_optimizer=True)
        mx.nd.save(f"{path}.values", value)
    value = mx.nd.load(f"{path}.values")[0]
    stepped(1, states=True)
    return value


@kind
def checkpoints_of_modules(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path, data = str(folder / "module"), mx.io.NDArrayIter(draws(np, 20, 5), np.arange(20) % 3, 5)
    if writing:
        net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="hidden", attr={"lr_mult": "0.5"})
        # No BatchNorm: in the release its training does not give the same twice.
        net = mx.sym.Activation(net, act_type="tanh")
        net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="last"), name="softmax")
        module = mx.mod.Module(net)
        module.bind(data.provide_data, data.provide_label)
        mx.random.seed(5)
        module.init_params(mx.init.Xavier())
        module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
        batches(module, data)
        module.save_checkpoint(path, 1, save_optimizer_states=True)
    module = mx.mod.Module.load(path, 1, load_optimizer_states=True)
    module.bind(data.provide_data, data.provide_label)
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
    batches(module, data)
    older = mx.model.FeedForward.load(path, 1)
    return module.get_params(), module.predict(data), older.predict(data), module.symbol.attr_dict()


def batches(module: Any, data: Any) -> None:
    data.reset()
    for batch in data:
        module.forward_backward(batch)
        module.update()


@kind
def records(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path, other, index = (str(folder / name) for name in ("plain.rec", "keyed.rec", "keyed.idx"))
    magic = (0xCED7230A).to_bytes(4, "little")
    texts = [b"", b"a", magic, b"abc" + magic + b"d", magic * 5, bytes(range(256)) * 300, b"abcd" + magic + b"efgh" + magic]
    if writing:
        plain = mx.recordio.MXRecordIO(path, "w")
        keyed = mx.recordio.MXIndexedRecordIO(index, other, "w")
        for key, text in enumerate(texts):
            plain.write(text)
            label = draws(np, 3) if key % 2 else float(key)
            keyed.write_idx(10 * key, mx.recordio.pack(mx.recordio.IRHeader(0, label, key, 0), text))
        plain.close()
        keyed.close()
    plain, keyed = mx.recordio.MXRecordIO(path, "r"), mx.recordio.MXIndexedRecordIO(index, other, "r")
    read = [list(iter(plain.read, None))]
    for key in reversed(keyed.keys):
        header, text = mx.recordio.unpack(keyed.read_idx(key))
        read.append([header.flag, header.label, header.id, text])
    return read, pathlib.Path(index).read_text()


def png(picture: Any) -> bytes:
    """Without a package that has codecs: not every interpreter with the release has one."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, _ = picture.shape
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


@kind
def records_of_pictures(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    """Lossless ones; read one by one, by Gluon's dataset and by the iterator."""
    path, index = str(folder / "pictures.rec"), str(folder / "pictures.idx")
    if writing:
        keyed = mx.recordio.MXIndexedRecordIO(index, path, "w")
        for key in range(6):
            picture = np.random.RandomState(key).randint(0, 256, (9, 8, 3)).astype("uint8")
            keyed.write_idx(key, mx.recordio.pack(mx.recordio.IRHeader(0, float(key), key, 0), png(picture)))
        keyed.close()
    data = mx.gluon.data.vision.ImageRecordDataset(path)
    iterator = mx.io.ImageRecordIter(path_imgrec=path, path_imgidx=index, data_shape=(3, 8, 8), batch_size=3, preprocess_threads=1)
    return [list(data[i]) for i in range(len(data))], [[batch.data[0], batch.label[0]] for batch in iterator]


@kind
def symbols(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    path = str(folder / "net.json")
    if writing:
        with mx.AttrScope(ctx_group="here", __layer__="1"):
            data = mx.sym.var("data", shape=(2, 3, 6, 6), lr_mult=0.1, init=mx.init.Constant(2), __kind__="input")
            part = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, stride=(2, 2), name="conv", attr={"__mood__": "good"})
        part = mx.sym.Pooling(part, pool_type="avg", kernel=(2, 2), pooling_convention="full", name="pool")
        part = mx.sym.slice(mx.sym.clip(part, -1, 1), begin=(0, None), end=(None, 2), step=(1, 1))
        both = mx.sym.Group([part, mx.sym.topk(part, k=2, ret_typ="both", axis=1, name="best"), part[0] + 1e-7, 2.5**part])
        both.save(path)
    symbol = mx.sym.load(path)
    shapes = symbol.infer_shape(data=(2, 3, 6, 6))
    return symbol.tojson(), symbol.attr_dict(), symbol.list_outputs(), symbol.get_internals().list_outputs(), shapes, symbol.infer_type(data="float32")


@kind
def pickles(mx: Any, np: Any, folder: pathlib.Path, writing: bool) -> Any:
    """What programs hand to pickle themselves."""
    path = folder / "all.pickle"
    if writing:
        with gzip.open(path, "wb") as file:
            pickle.dump({"array": mx.nd.array(draws(np, 2, 3)), "symbol": mx.sym.relu(mx.sym.var("x"), name="relu"),
                         "optimizer": mx.optimizer.SGD(learning_rate=0.3, momentum=0.5), "context": mx.cpu(1),
                         "schedule": mx.lr_scheduler.FactorScheduler(5, 0.5, base_lr=2.0),
                         "initializer": mx.init.Xavier(magnitude=2).dumps()}, file, protocol=2)
    with gzip.open(path, "rb") as file:
        read = pickle.load(file)
    return [read["array"], read["symbol"].tojson(), read["optimizer"].lr, read["optimizer"].momentum, str(read["context"]),
            [read["schedule"](step) for step in range(12)], read["initializer"]]
