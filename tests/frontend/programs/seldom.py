# SPDX-License-Identifier: Apache-2.0
"""Names that users do not write themselves: what loads batches in worker processes, known data sets in a folder, samples of graphs,
operators that exist for quantized networks."""
import contextlib
import gzip
import http.server
import multiprocessing
import pathlib
import queue
import struct
import sys
import threading

from registry import program, settle


def attempt(call):
    """The result, or the word that says that there is none."""
    try:
        result = call()
        settle(result)
        return result
    except Exception:
        return "raises"


@contextlib.contextmanager
def files_count_as_published(*modules):
    """The small files here are not the published ones, whose sums the release knows."""
    checks = [getattr(module, "check_sha1", None) for module in modules]
    for module in modules:
        module.check_sha1 = lambda *_: True
    try:
        yield
    finally:
        for module, check in zip(modules, checks):
            module.check_sha1 = check


@program()
def queues_between_processes(mx, np):
    loader = mx.gluon.data.dataloader
    results = []
    for made in (loader.Queue(), loader.SimpleQueue()):
        made.put((3, mx.nd.arange(4)))
        results.append(list(made.get()))
    first, second = (loader.ConnectionWrapper(end) for end in multiprocessing.Pipe())
    first.send([mx.nd.arange(3) * 2, "text"])
    return results + [second.recv()]


@program()
def bodies_of_workers(mx, np):
    loader = mx.gluon.data.dataloader
    keys, batches = queue.Queue(), queue.Queue()
    keys.put((0, [1, 2]))
    keys.put((1, [0]))
    keys.put((None, None))
    loader.worker_loop_v1([10, 20, 30], keys, batches, mx.nd.array)
    batches.put((None, None))
    fetched = {}
    loader.fetcher_loop_v1(batches, fetched)
    return [[number, fetched[number]] for number in sorted(fetched)]


@program()
def branches_of_inception(mx, np):
    __import__("mxnet.gluon.model_zoo.vision.inception")
    branch = sys.modules["mxnet.gluon.model_zoo.vision.inception"].make_aux(5)
    branch.initialize(mx.init.Constant(0.01))
    return [branch(mx.nd.arange(17 * 17 * 2).reshape((1, 2, 17, 17)) / 600), [list(p.shape) for p in branch.collect_params().values()]]


def idx_file(path, array):
    """An idx file of bytes, as MNIST's are."""
    head = struct.pack(f">I{array.ndim}I", 0x800 + array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))


@program()
def known_data_sets_in_folders(mx, np):
    datasets = mx.gluon.data.vision.datasets
    folder = pathlib.Path("sets")
    folder.mkdir(exist_ok=True)
    digits = np.arange(3 * 28 * 28).reshape(3, 28, 28).astype("uint8")
    for part in ("train", "t10k"):
        idx_file(folder / f"{part}-images-idx3-ubyte.gz", digits)
        idx_file(folder / f"{part}-labels-idx1-ubyte.gz", np.array([7, 2, 1], "uint8"))
    rows = (np.arange(2 * 3072).reshape(2, 3072) % 253).astype("uint8")
    for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
        (folder / name).write_bytes(np.concatenate([np.array([[4], [9]], "uint8"), rows], 1).tobytes())
    for name in ("train.bin", "test.bin"):
        (folder / name).write_bytes(np.concatenate([np.array([[1, 40], [2, 50]], "uint8"), rows], 1).tobytes())
    results = []
    with files_count_as_published(datasets, mx.gluon.utils):
        for kind, settings in ((datasets.MNIST, {}), (datasets.FashionMNIST, {"train": False}), (datasets.CIFAR10, {}),
                               (datasets.CIFAR10, {"train": False}), (datasets.CIFAR100, {}), (datasets.CIFAR100, {"fine_label": True})):
            made = kind(root=str(folder), **settings)
            image, label = made[1]
            results.append([len(made), image, int(label)])
            turned = kind(root=str(folder), transform=lambda data, mark: (data.astype("float32") / 2, mark + 1), **settings)
            results.append([turned[0][0].sum(), int(turned[0][1])])
    return results


@program()
def words_of_articles_in_folders(mx, np):
    text = sys.modules["mxnet.gluon.contrib.data.text"]
    folder = pathlib.Path("articles")
    folder.mkdir(exist_ok=True)
    for part in ("train", "valid", "test"):
        (folder / f"wiki.{part}.tokens").write_text(f" = Title = \n \n the cat saw the {part} dog \n the dog ran \n", encoding="utf8")
    results = []
    with files_count_as_published(text, mx.gluon.utils):
        for kind in (text.WikiText2, text.WikiText103):
            for part in ("train", "validation", "test"):
                made = attempt(lambda: kind(root=str(folder), segment=part, seq_len=4))
                results.append(made if made == "raises" else
                               [len(made), [list(made[i]) for i in range(len(made))], sorted(made.vocabulary.token_to_idx)])
    return results


@program()
def files_from_a_server(mx, np):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/a.txt" else 404)
            self.end_headers()
            self.wfile.write(b"content")

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        download, base = mx.gluon.utils.download, f"http://127.0.0.1:{server.server_port}"
        digest = "040f06fd774092478d450774f5ba30c5da78acc8"  # SHA-1 of "content"
        return [download(base + "/a.txt"), pathlib.Path("a.txt").read_text(), download(base + "/a.txt", path="b.txt", sha1_hash=digest),
                mx.gluon.utils.check_sha1("b.txt", digest), mx.test_utils.download(base + "/a.txt", fname="c.txt", dirname="below"),
                attempt(lambda: download(base + "/missing", retries=0)), attempt(lambda: download(base + "/a.txt", path="d.txt", sha1_hash="0" * 40, retries=0))]
    finally:
        server.shutdown()
        server.server_close()


@program()
def neighbours_in_graphs(mx, np):
    """Each vertex has fewer neighbours than may be drawn: nothing depends on what is. Of the arrays, places without a vertex hold
    anything in the release."""
    places = np.array([v for row in range(5) for v in range(5) if v != row])
    graph = mx.nd.sparse.csr_matrix((np.arange(1, 21), places, np.arange(6) * 4), shape=(5, 5), dtype="int64")
    seeds = mx.nd.array([0, 1, 2, 3, 4], dtype="int64")
    some = mx.nd.array([2, 4], dtype="int64")
    limits = {"num_hops": 1, "num_neighbor": 10, "max_num_vertices": 6}
    uniform = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(graph, seeds, num_args=2, **limits)
    two = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(graph, seeds, some, num_args=3, **limits)
    weighted = mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(graph, mx.nd.array([0.9, 0.8, 0.2, 0.4, 0.1]), seeds, num_args=3, **limits)
    compact = mx.nd.contrib.dgl_graph_compact(uniform[1], uniform[0], graph_sizes=5, return_mapping=False)
    return [[array if array.stype == "csr" else array[:5] for array in list(uniform) + list(two) + list(weighted)], uniform[0][6:], compact]


@program()
def operators_for_graphs_alone(mx, np):
    contrib = mx.nd.contrib
    small, low, high = mx.nd.array([[1, -2, 3], [4, 5, -6]]).astype("int8"), mx.nd.array([-1.0]), mx.nd.array([1.0])
    names = "abcdef"
    product = mx.sym.contrib.quantized_elemwise_mul(*[mx.sym.var(name) for name in names])
    multiplied = product.bind(mx.cpu(), dict(zip(names, [small, small, low, high, low, high]))).forward()
    pictures, ones = small.reshape((1, 2, 1, 3)), mx.nd.ones(2)
    scaled = contrib.quantized_batch_norm(pictures, ones, ones * 0.25, ones * 0.5, ones, low, high, eps=1e-3,
                                          min_calib_range=-1.0, max_calib_range=1.0)
    weights = [mx.sym.var(name) for name in "wgmv"]
    numbers = mx.nd.array([[1, 2, 3, 4]])
    return [list(multiplied), list(scaled), attempt(lambda: contrib.fft(numbers)), attempt(lambda: contrib.ifft(numbers)),
            attempt(lambda: contrib.quantized_elemwise_mul(small, small, low, high, low, high)),
            attempt(lambda: contrib.quantized_rnn(small.astype("uint8").reshape((2, 1, 3)), mx.nd.ones(56), mx.nd.zeros((1, 1, 2)), mx.nd.zeros((1, 1, 2)),
                                                  high, high, state_size=2, num_layers=1, mode="lstm")),
            attempt(lambda: mx.sym.contrib.adamw_update(*weights, mx.sym.var("r"), lr=0.1, eta=1.0)),
            attempt(lambda: mx.sym.contrib.mp_adamw_update(*weights, mx.sym.var("s"), mx.sym.var("r"), lr=0.1, eta=1.0))]
