# SPDX-License-Identifier: Apache-2.0
"""What tests need of the machine: devices, files, data sets that lie there already, and retries."""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import os
import pickle
import platform
import shutil
import sys
import urllib.request
import zipfile
from typing import Any, Callable, Dict, Iterator, Optional

import numpy as np

from .._files import replacing
from ..io import DataIter
from ..util import environment  # noqa: F401  (public here)


class DummyIter(DataIter):
    """Gives the first batch of another iterator again and again: for measuring without loading."""

    def __init__(self, real_iter: Any) -> None:
        super().__init__()
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.batch_size = real_iter.batch_size
        self.the_batch = next(real_iter)

    def __iter__(self) -> Iterator[Any]:
        return self

    def next(self) -> Any:
        """The same batch each time; there is no last one."""
        return self.the_batch


def list_gpus() -> range:
    """Numbers of the GPUs."""
    from ..context import num_gpus

    return range(num_gpus())


def has_tvm_ops() -> bool:
    """Whether there are operators compiled by TVM: there are none."""
    return False


def is_op_runnable() -> bool:
    """Whether operators that TVM compiles could run here: on a CPU, or a GPU of capability 5.3 and above."""
    return True


def is_cd_run() -> bool:
    """Whether a release is being built: CD_JOB is 1."""
    return os.environ.get("CD_JOB", "0") == "1"


def is_aarch64_run() -> bool:
    """Whether this is a 64-bit ARM."""
    return platform.machine() == "aarch64"


def get_im2rec_path(home_env: str = "MXNET_HOME") -> str:
    """Where the tool im2rec lies: under the folder that a variable names, else in the package or the sources."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    named = os.environ.get(home_env)
    for home in [named] if named is not None else [package, os.path.dirname(os.path.dirname(package))]:
        path = os.path.join(home, "tools", "im2rec.py")
        if os.path.isfile(path):
            return path
    raise OSError(f"there is no {path}, expected the tool; {home_env} names the folder above tools")


def retry(n: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Tries a test that is random up to `n` times."""
    if n <= 0:
        raise ValueError(f"given {n} tries, expected at least 1")

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def call(*args: Any, **kwargs: Any) -> Any:
            for left in reversed(range(n)):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    if left == 0:
                        raise
            return None

        return call

    return decorate


@contextlib.contextmanager
def discard_stderr() -> Iterator[None]:
    """Inside the block nothing is written to the error stream, of the library either."""
    sys.stderr.flush()
    number = sys.stderr.fileno()
    kept = os.dup(number)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), number)
        try:
            yield
        finally:
            os.dup2(kept, number)
            os.close(kept)


# --- Files


def download(url: str, fname: Optional[str] = None, dirname: Optional[str] = None, overwrite: bool = False, retries: int = 5) -> str:
    """Fetches a file, unless it is there; its path."""
    if retries < 0:
        raise ValueError(f"given {retries} retries, expected 0 or more")
    fname = url.split("/")[-1] if fname is None else fname
    if dirname is not None:
        os.makedirs(dirname, exist_ok=True)
        fname = os.path.join(dirname, fname)
    if os.path.exists(fname) and not overwrite:
        return fname
    for left in reversed(range(retries + 1)):
        try:
            with replacing(fname) as file, urllib.request.urlopen(url) as source:
                shutil.copyfileobj(source, file)
            return fname
        except OSError as error:
            if left == 0:
                raise OSError(f"{url} could not be fetched: {error}") from error
    return fname


def _fetched_archive(data_dir: str, name: str, url: str) -> str:
    path = os.path.join(data_dir, name)
    return path if os.path.exists(path) else download(url, fname=name, dirname=data_dir)


def get_zip_data(data_dir: str, url: str, data_origin_name: str) -> None:
    """Fetches an archive and unpacks it into its folder."""
    with zipfile.ZipFile(_fetched_archive(data_dir, data_origin_name, url)) as archive:
        archive.extractall(data_dir)


def get_bz2_data(data_dir: str, data_name: str, url: str, data_origin_name: str) -> None:
    """Fetches a compressed file and unpacks it under another name."""
    target = os.path.join(data_dir, data_name)
    if os.path.exists(target):
        return
    packed = _fetched_archive(data_dir, data_origin_name, url)
    with bz2.BZ2File(packed, "rb") as source, open(target, "wb") as file:
        shutil.copyfileobj(source, file)
    os.remove(packed)


def download_model(model_name: str, dst_dir: str = "./", meta_info: Optional[Dict[str, Any]] = None) -> Any:
    """Fetches network and parameters that `meta_info[model_name]` gives the addresses of ("symbol", "params")."""
    if meta_info is None or model_name not in meta_info:
        raise ValueError(f"given model {model_name!r} without its addresses, expected meta_info[{model_name!r}] with 'symbol' and 'params'")
    prefix = os.path.join(dst_dir, model_name)
    download(meta_info[model_name]["symbol"], f"{prefix}-symbol.json")
    download(meta_info[model_name]["params"], f"{prefix}-0000.params")
    return prefix, 0


# --- Data sets

_MNIST = {
    "train-images-idx3-ubyte": "train_data",
    "train-labels-idx1-ubyte": "train_label",
    "t10k-images-idx3-ubyte": "test_data",
    "t10k-labels-idx1-ubyte": "test_label",
}


def _mnist_file(name: str) -> str:
    for folder in ("data", os.path.join(os.path.expanduser("~"), ".mxnet", "datasets", "mnist")):
        for path in (os.path.join(folder, name), os.path.join(folder, f"{name}.gz")):
            if os.path.exists(path):
                return path
    raise OSError(f"there is no {name}, expected it (or {name}.gz) in ./data or ~/.mxnet/datasets/mnist")


def _idx(path: str) -> np.ndarray:
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        data = file.read()
    dims = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def get_mnist() -> Dict[str, np.ndarray]:
    """MNIST from files that lie in ./data or ~/.mxnet/datasets/mnist: images as float32 from 0 to 1."""
    found = {}
    for name, key in _MNIST.items():
        values = _idx(_mnist_file(name))
        images = values.ndim == 3
        found[key] = values.reshape(-1, 1, 28, 28).astype(np.float32) / 255 if images else values.astype(np.int32)
    return found


def get_mnist_pkl() -> None:
    """Writes the images of get_mnist to ./data/mnist.pkl.gz, if it is not there."""
    path = os.path.join("data", "mnist.pkl.gz")
    if os.path.exists(path):
        return
    mnist = get_mnist()
    os.makedirs("data", exist_ok=True)
    parts = [(mnist[f"{part}_data"].reshape(-1, 784), mnist[f"{part}_label"]) for part in ("train", "test")]
    with gzip.open(path, "wb") as file:
        pickle.dump((parts[0], parts[1], parts[1]), file)


def get_mnist_ubyte() -> None:
    """Puts the four files of MNIST into ./data, unpacked, if they are not there."""
    for name in _MNIST:
        target = os.path.join("data", name)
        if os.path.exists(target):
            continue
        source = _mnist_file(name)
        os.makedirs("data", exist_ok=True)
        opened = gzip.open(source, "rb") if source.endswith(".gz") else open(source, "rb")
        with opened as packed, open(target, "wb") as file:
            shutil.copyfileobj(packed, file)


def get_cifar10() -> None:
    """Checks that ./data/cifar holds the record files of CIFAR-10: there is nowhere to fetch them from."""
    for name in ("train.rec", "test.rec"):
        path = os.path.join("data", "cifar", name)
        if not os.path.exists(path):
            raise OSError(f"there is no {path}, expected the record files of CIFAR-10 in ./data/cifar")


def get_mnist_iterator(batch_size: int, input_shape: Any, num_parts: int = 1, part_index: int = 0) -> Any:
    """Iterators over MNIST for training and validation, over one of `num_parts` parts."""
    from .. import io

    get_mnist_ubyte()
    flat = len(input_shape) != 3
    common = {"input_shape": input_shape, "batch_size": batch_size, "flat": flat, "num_parts": num_parts, "part_index": part_index}
    made = []
    for part, shuffle in (("train", True), ("t10k", False)):
        made.append(
            io.MNISTIter(  # type: ignore[attr-defined]
                image=os.path.join("data", f"{part}-images-idx3-ubyte"),
                label=os.path.join("data", f"{part}-labels-idx1-ubyte"),
                shuffle=shuffle,
                **common,
            )
        )
    return tuple(made)
