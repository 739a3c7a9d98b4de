# SPDX-License-Identifier: Apache-2.0
"""Data: iterators, RecordIO, datasets, loaders, images, stores."""
from registry import program


def drain(mx, iterator):
    rows = []
    for batch in iterator:
        rows.append([batch.data, batch.label, batch.pad, None if batch.index is None else list(map(int, batch.index))])
    return rows


@program()
def array_iterators(mx, np):
    x, y = np.arange(20).reshape(10, 2).astype("float32"), np.arange(10).astype("float32")
    results = []
    for handling in ("pad", "discard", "roll_over"):
        iterator = mx.io.NDArrayIter(x, y, batch_size=4, last_batch_handle=handling)
        results += [drain(mx, iterator), [list(item.shape) for item in iterator.provide_data]]
        iterator.reset()
        results.append(drain(mx, iterator))
    several = mx.io.NDArrayIter({"a": x, "b": y}, {"c": y}, batch_size=5)
    return results + [[item.name for item in several.provide_data], drain(mx, mx.io.ResizeIter(several, 3)),
                      drain(mx, mx.io.PrefetchingIter(mx.io.NDArrayIter(x, y, batch_size=5)))]


@program()
def csv_iterators(mx, np):
    np.savetxt("data.csv", np.arange(24).reshape(8, 3), delimiter=",")
    np.savetxt("label.csv", np.arange(8), delimiter=",")
    iterator = mx.io.CSVIter(data_csv="data.csv", data_shape=(3,), label_csv="label.csv", batch_size=3)
    first = drain(mx, iterator)
    iterator.reset()
    return [[row[:3] for row in first], [row[:3] for row in drain(mx, iterator)], iterator.provide_data[0].shape]


@program()
def libsvm_iterators(mx, np):
    with open("data.svm", "w") as file:
        file.write("1 0:1.5 2:2\n0 1:3\n1 0:4 3:1\n")
    iterator = mx.io.LibSVMIter(data_libsvm="data.svm", data_shape=(4,), batch_size=2)
    return [[batch.data, batch.label, batch.pad] for batch in iterator]


@program()
def recordio(mx, np):
    writer = mx.recordio.MXRecordIO("a.rec", "w")
    for i in range(5):
        writer.write(b"x" * i + b"\x0a\x23\xd7\xce" * (i % 2))
    writer.close()
    reader = mx.recordio.MXRecordIO("a.rec", "r")
    first = [reader.read() for _ in range(6)]
    reader.reset()
    with open("a.rec", "rb") as file:
        content = file.read()
    return [first, reader.read(), content]


@program()
def indexed_recordio(mx, np):
    writer = mx.recordio.MXIndexedRecordIO("b.idx", "b.rec", "w")
    for i in range(5):
        writer.write_idx(i, mx.recordio.pack(mx.recordio.IRHeader(0, float(i), i, 0), b"payload%d" % i))
    writer.close()
    reader = mx.recordio.MXIndexedRecordIO("b.idx", "b.rec", "r")
    header, payload = mx.recordio.unpack(reader.read_idx(3))
    label = mx.recordio.unpack(mx.recordio.pack(mx.recordio.IRHeader(0, np.array([1, 2, 3]), 7, 0), b"z"))
    return [list(header), payload, reader.keys, list(map(float, label[0].label)), label[1], open("b.idx").read()]


@program()
def datasets(mx, np):
    data = mx.gluon.data
    x, y = np.arange(12).reshape(6, 2), np.arange(6)
    dataset = data.ArrayDataset(x, y)
    return [len(dataset), dataset[2], dataset.transform(lambda a, b: (a * 2, b))[1],
            dataset.transform_first(lambda a: a + 1)[0], data.SimpleDataset([1, 2, 3])[1],
            [item for item in data.SimpleDataset(list(range(6))).filter(lambda v: v % 2 == 0)],
            list(data.SimpleDataset(list(range(6))).shard(2, 1)), list(data.SimpleDataset(list(range(6))).take(2)),
            list(data.BatchSampler(data.SequentialSampler(7), 3, "keep")), list(data.SequentialSampler(3)),
            list(data.BatchSampler(data.SequentialSampler(7), 3, "discard")), len(list(data.RandomSampler(5))),
            list(data.FilterSampler(lambda v: v > 3, data.SimpleDataset(list(range(6)))))]


@program()
def loaders(mx, np):
    dataset = mx.gluon.data.ArrayDataset(np.arange(20).reshape(10, 2).astype("float32"), np.arange(10))
    results = []
    for options in ({"batch_size": 4}, {"batch_size": 4, "last_batch": "discard"}, {"batch_size": 3, "num_workers": 2},
                    {"batch_size": 4, "num_workers": 2, "thread_pool": True}):
        results.append([list(batch) for batch in mx.gluon.data.DataLoader(dataset, **options)])
    return results


@program()
def transforms(mx, np):
    t = mx.gluon.data.vision.transforms
    image = mx.nd.array(np.arange(8 * 8 * 3).reshape(8, 8, 3) % 255, dtype="uint8")
    chain = t.Compose([t.ToTensor(), t.Normalize((0.1, 0.2, 0.3), (0.5, 0.5, 0.5))])
    return [chain(image), t.Cast("float32")(image), t.CenterCrop(4)(image), t.Resize(4)(image).shape]


@program()
def stores(mx, np):
    store = mx.kv.create("local")
    store.init(3, mx.nd.ones((2, 2)))
    out = mx.nd.zeros((2, 2))
    store.push(3, [mx.nd.ones((2, 2)) * 2, mx.nd.ones((2, 2)) * 3])
    store.pull(3, out)
    first = out.copy()
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.1))
    store.push(3, mx.nd.ones((2, 2)))
    store.pull(3, out=out)
    return [first, out, store.rank, store.num_workers, store.type]


@program()
def stores_with_names(mx, np):
    store = mx.kv.create("device")
    store.init(["a", "b"], [mx.nd.ones(2), mx.nd.zeros(3)])
    a, b = mx.nd.zeros(2), mx.nd.ones(3)
    store.pull(["a", "b"], [a, b])
    store._set_updater(lambda key, value, stored: stored.__iadd__(value * 2))
    store.push("a", mx.nd.ones(2))
    store.pull("a", a)
    c = mx.nd.zeros(2)
    store.pushpull("a", mx.nd.ones(2), out=c)
    return [a, b, c]


@program()
def image_functions(mx, np):
    image = mx.nd.array(np.arange(10 * 12 * 3).reshape(10, 12, 3) % 255, dtype="uint8")
    i = mx.image
    return [i.fixed_crop(image, 1, 2, 5, 6), i.center_crop(image, (4, 4)), i.scale_down((10, 12), (20, 20)),
            i.color_normalize(image.astype("float32"), mx.nd.array([1, 2, 3]), mx.nd.array([2, 2, 2]))]


@program()
def data_descriptions(mx, np):
    item = mx.io.DataDesc("data", (2, 3), "float32", "NC")
    return [item.name, item.shape, item.layout, mx.io.DataDesc.get_batch_axis("TNC"), repr(item), list(item),
            str(mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones(2)]))]
