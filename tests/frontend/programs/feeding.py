# SPDX-License-Identifier: Apache-2.0
"""What comes into training and what is said of it: iterators and loaders of one's own, files of records, metrics, rates,
first values of parameters."""
from registry import program


@program()
def iterators_of_ones_own(mx, np):
    class Squares(mx.io.DataIter):
        def __init__(self):
            super().__init__(batch_size=2)
            self.provide_data = [mx.io.DataDesc("data", (2, 1))]
            self.provide_label = [mx.io.DataDesc("label", (2,))]
            self.at = 0

        def reset(self):
            self.at = 0

        def next(self):
            if self.at == 3:
                raise StopIteration
            self.at += 1
            return mx.io.DataBatch([mx.nd.full((2, 1), self.at ** 2)], [mx.nd.full((2,), self.at)], pad=0)

    shortened = mx.io.ResizeIter(Squares(), 5)
    fetched = mx.io.PrefetchingIter([Squares(), Squares()], rename_data=[{"data": "a"}, {"data": "b"}],
                                    rename_label=[{"label": "c"}, {"label": "d"}])
    results = [[batch.data[0] for batch in Squares()], [batch.data[0] for batch in shortened],
               [tuple(item.name for item in fetched.provide_data), [[array for array in batch.data] for batch in fetched]]]
    fetched.reset()
    return results + [fetched.next().label]


@program()
def last_batches_of_arrays(mx, np):
    results = []
    for way in ("pad", "discard", "roll_over"):
        data = mx.io.NDArrayIter({"a": np.arange(10).reshape(5, 2), "b": np.arange(5)}, {"y": np.arange(5) * 10}, batch_size=2,
                                 last_batch_handle=way)
        for _ in range(2):
            results.append([[batch.data, batch.label, batch.pad, batch.index if way == "pad" else None] for batch in data])
            data.reset()
        data.hard_reset()
        results.append([len(list(data)), data.num_data, [tuple(item) for item in data.provide_data]])
    return results


@program()
def records_with_headers(mx, np):
    header = mx.recordio.IRHeader(0, 3.5, 7, 0)
    many = mx.recordio.IRHeader(0, np.array([1.0, 2.0, 3.0], "float32"), 8, 1)
    results = []
    for item in (header, many):
        packed = mx.recordio.pack(item, b"payload")
        got, payload = mx.recordio.unpack(packed)
        results.append([packed, got.flag, got.label, got.id, got.id2, payload])
    with_keys = mx.recordio.MXIndexedRecordIO("keys.idx", "keys.rec", "w")
    for key in (5, 3, 9):
        with_keys.write_idx(key, b"record %d" % key)
    with_keys.close()
    reader = mx.recordio.MXIndexedRecordIO("keys.idx", "keys.rec", "r")
    results += [reader.keys, reader.read_idx(9), reader.read_idx(3), open("keys.idx").read(), open("keys.rec", "rb").read()]
    reader.seek(5)
    results.append(reader.read())
    reader.reset()
    results.append(reader.read())
    reader.close()
    try:
        reader.read_idx(1)
        results.append("read")
    except Exception:
        results.append("refused")
    return results


@program()
def samplers_and_batches(mx, np):
    data = mx.gluon.data
    np.random.seed(5)
    dataset = data.SimpleDataset(list(range(11)))
    results = [list(data.SequentialSampler(5)), sorted(data.RandomSampler(6)), list(data.FilterSampler(lambda x: x % 3 == 0, dataset))]
    for way in ("keep", "discard", "rollover"):
        sampler = data.BatchSampler(data.SequentialSampler(7), 3, way)
        results.append([list(sampler), list(sampler), len(sampler)])
    results += [list(data.IntervalSampler(7, 3)) if hasattr(data, "IntervalSampler") else
                list(mx.gluon.contrib.data.IntervalSampler(7, 3)),
                list(mx.gluon.contrib.data.IntervalSampler(7, 3, rollover=False))]
    loader = data.DataLoader(dataset.transform(lambda x: (x, x * 2.5)), batch_size=4, last_batch="rollover",
                             batchify_fn=lambda rows: [mx.nd.array([row[0] for row in rows]), sum(row[1] for row in rows)])
    results.append([list(loader), list(loader)])
    return results


@program()
def views_of_datasets(mx, np):
    data = mx.gluon.data
    dataset = data.ArrayDataset(np.arange(12).reshape(6, 2), list("abcdef"))
    parts = [dataset.shard(4, i) for i in range(4)]
    taken = dataset.take(2)
    kept = dataset.filter(lambda row: row[0][0] % 4 == 0)
    lazy = dataset.transform_first(lambda row: row * 10)
    eager = dataset.transform(lambda row, letter: letter, lazy=False)
    sampled = dataset.sample(data.SequentialSampler(3))
    return [[len(part) for part in parts], [list(part) for part in parts][1], list(taken), list(kept), lazy[3], list(eager),
            len(sampled), sampled[2], len(dataset.take(None)), [row for row in data.dataset._DownloadedDataset.__mro__][0].__name__]


@program()
def numbers_into_batches(mx, np):
    loader = mx.gluon.data.DataLoader
    results = []
    for rows in ([1, 2, 3], [1.5, 2.5], [np.float64(1), np.float64(2)], [np.ones(2, "int64"), np.zeros(2, "int64")],
                 [(1, 2.0), (3, 4.0)], [mx.nd.ones(2), mx.nd.zeros(2)], [[1, 2], [3, 4]]):
        try:
            results.append(list(loader(rows, batch_size=2)))
        except Exception:
            results.append("refused")
    return results


@program()
def workers_that_load(mx, np):
    dataset = mx.gluon.data.ArrayDataset(np.arange(24, dtype="float32").reshape(12, 2), np.arange(12))
    results = []
    for options in ({"num_workers": 2}, {"num_workers": 2, "thread_pool": True, "prefetch": 3}, {"num_workers": 1, "thread_pool": True}):
        loader = mx.gluon.data.DataLoader(dataset, batch_size=5, last_batch="keep", **options)
        results.append([len(loader), [list(batch) for batch in loader], [list(batch) for batch in loader]])
    return results


@program()
def metrics_of_parts(mx, np):
    rng = np.random.RandomState(1)
    m = mx.metric
    joint = m.CompositeEvalMetric()
    joint.add(m.Accuracy(name="mine", output_names=["scores"], label_names=["label"]))
    joint.add("mse")
    results = [joint.get_metric(0).name]
    labels, scores = {"label": mx.nd.array([0, 1, 1])}, {"scores": mx.nd.array(rng.dirichlet([1, 1], 3))}
    single = m.Accuracy(output_names=["scores"], label_names=["label"])
    single.update_dict(labels, scores)
    results.append(single.get())
    for make in (lambda: m.Accuracy(), lambda: m.F1(), lambda: m.MAE(), lambda: m.Perplexity(None), lambda: m.PearsonCorrelation(),
                 lambda: m.MCC(), lambda: m.TopKAccuracy(2)):
        metric = make()
        seen = [metric.get()]
        for _ in range(3):
            truth, guess = mx.nd.array(rng.randint(0, 2, 6)), mx.nd.array(rng.dirichlet([1, 1], 6))
            if metric.name in ("mae", "pearsonr"):
                truth, guess = mx.nd.array(rng.normal(size=6)), mx.nd.array(rng.normal(size=6))
            try:
                metric.update([truth], [guess])
            except Exception:
                seen.append("refused")
            seen.append([metric.get(), metric.get_global()])
            metric.reset_local()
            seen.append([metric.get(), metric.get_global()])
        metric.reset()
        results.append([seen, metric.get_global()])
    return results


@program()
def metrics_of_wrong_shapes(mx, np):
    results = []
    for metric, label, pred in ((mx.metric.Accuracy(), (3,), (4, 2)), (mx.metric.MSE(), (3,), (4,)), (mx.metric.F1(), (3,), (3, 3)),
                                (mx.metric.TopKAccuracy(2), (3,), (3, 2, 2)), (mx.metric.CrossEntropy(), (3,), (2, 2))):
        try:
            metric.update([mx.nd.ones(label)], [mx.nd.ones(pred)])
            results.append(metric.get())
        except Exception:
            results.append("refused")
    return results


@program()
def rates_that_warm_up(mx, np):
    s = mx.lr_scheduler
    made = [s.FactorScheduler(5, 0.5, stop_factor_lr=0.1, base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.2),
            s.FactorScheduler(5, 0.5, base_lr=1.0, warmup_steps=4, warmup_mode="constant"),
            s.MultiFactorScheduler([3, 6, 12], 0.1, base_lr=2.0, warmup_steps=2, warmup_begin_lr=0.5),
            s.PolyScheduler(12, base_lr=1.0, pwr=3, final_lr=0.1, warmup_steps=3),
            s.CosineScheduler(12, base_lr=1.0, final_lr=0.2, warmup_steps=3, warmup_begin_lr=0.3, warmup_mode="constant")]
    results = [[item(step) for step in range(16)] for item in made]
    for wrong in (lambda: s.FactorScheduler(0), lambda: s.FactorScheduler(1, 2.0), lambda: s.MultiFactorScheduler([3, 2]),
                  lambda: s.PolyScheduler(0), lambda: s.CosineScheduler(5, warmup_steps=-1),
                  lambda: s.FactorScheduler(1, 0.5, warmup_mode="cubic"), lambda: s.FactorScheduler(1, 0.5, base_lr=0.1, warmup_begin_lr=1)):
        try:
            wrong()
            results.append("taken")
        except Exception as error:
            results.append(type(error).__name__)
    return results


@program()
def first_values_by_pattern(mx, np):
    init = mx.init
    mx.nd.save("stored.params", {"arg:fc_weight": mx.nd.full((2, 3), 4), "aux:bn_moving_mean": mx.nd.full((2,), 5)})
    load = init.Load("stored.params", default_init=init.One())
    mixed = init.Mixed(["bias$", "gamma", ".*weight"], [init.Constant(2), init.Constant([1, 2]), init.Zero()])
    results = []
    for maker in (load, mixed):
        for name, shape in (("fc_weight", (2, 3)), ("bn_moving_mean", (2,)), ("a_bias", (2,)), ("bn_gamma", (2,)), ("x_weight", (2,))):
            array = mx.nd.full(shape, 9)
            try:
                maker(init.InitDesc(name), array)
                results.append([name, array])
            except Exception:
                results.append([name, "refused"])
    odd = mx.nd.full((2, 2), 9)
    init.Uniform()(init.InitDesc("x_weight", attrs={"__init__": init.Constant(6).dumps()}), odd)
    return results + [odd, init.create("xavier", magnitude=2).dumps(), init.Zero() == init.Zero()]


@program()
def stores_with_updaters(mx, np):
    store = mx.kv.create("local")
    store.init(["a", "b"], [mx.nd.ones(3), mx.nd.zeros((2, 2))])
    seen = []

    def update(key, given, stored):
        seen.append(str(key).strip("b'"))  # bytes in the release
        stored += given * 2

    store._set_updater(update)
    store.push("a", [mx.nd.ones(3), mx.nd.ones(3) * 3])
    store.push(["b"], [[mx.nd.ones((2, 2))]])
    out, both = mx.nd.zeros(3), [mx.nd.zeros(3), mx.nd.zeros(3)]
    store.pull("a", out=out)
    store.pull("a", out=both)
    joint = [mx.nd.zeros(3)]
    store.pushpull("a", [mx.nd.ones(3)], out=joint)
    rows = mx.kv.create("local")
    rows.init("r", mx.nd.array([[1, 2], [3, 4], [5, 6]]).tostype("row_sparse"))
    picked = mx.nd.sparse.zeros("row_sparse", (3, 2))
    rows.row_sparse_pull("r", out=picked, row_ids=mx.nd.array([2, 0]))
    results = [out, both, joint, seen, picked, store.rank, store.num_workers, store.type]
    for wrong in (lambda: store.pull("nobody", out=out), lambda: store.init("a", mx.nd.ones(3))):
        try:
            wrong()
            mx.nd.waitall()
            results.append("taken")
        except Exception:
            results.append("refused")
    return results


@program()
def words_of_texts(mx, np):
    text = mx.contrib.text
    counter = text.utils.count_tokens_from_str("a b b c c c\nd a c", to_lower=True)
    vocabulary = text.vocab.Vocabulary(counter, most_freq_count=3, min_freq=1, unknown_token="<u>", reserved_tokens=["<p>"])
    with open("vectors.txt", "w") as file:
        file.write("a 1 2\nb 3 4\nz 5 6\n")
    embedding = text.embedding.CustomEmbedding("vectors.txt", vocabulary=vocabulary)
    both = text.embedding.CompositeEmbedding(vocabulary, [embedding, text.embedding.CustomEmbedding("vectors.txt")])
    embedding.update_token_vectors("a", mx.nd.array([[7.0, 8.0]]))
    return [sorted(counter.items()), vocabulary.idx_to_token, vocabulary.to_indices(["c", "nobody"]), vocabulary.to_tokens([0, 1]),
            embedding.idx_to_vec, embedding.get_vecs_by_tokens(["a", "Z", "nobody"], lower_case_backup=True), both.idx_to_vec,
            both.vec_len, vocabulary.reserved_tokens]
