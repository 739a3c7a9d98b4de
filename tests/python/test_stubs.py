# SPDX-License-Identifier: Apache-2.0
"""Type checkers: a program that uses the public interface passes mypy, one that misuses it does not."""

import pathlib
import shutil
import subprocess
import sys

import pytest

import mxnet as mx

pytest.importorskip("mypy.version")  # a folder of that name would pass for the package
ROOT = pathlib.Path(__file__).resolve().parents[2]

PROGRAM = '''
from typing import Any, List, Tuple

import numpy as np
import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(20, 3, activation="relu"), nn.MaxPool2D(), nn.Dense(10))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.log_softmax(self.body(x))


def train(epochs: int) -> List[float]:
    net = Net()
    net.initialize(mx.init.Xavier(), ctx=mx.cpu())
    net.hybridize(static_alloc=True)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 2e-3})
    data = gluon.data.ArrayDataset(np.zeros((8, 1, 8, 8), "float32"), np.zeros(8, "float32"))
    losses: List[float] = []
    for _ in range(epochs):
        for x, y in gluon.data.DataLoader(data, batch_size=4, shuffle=True):
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
        losses.append(float(loss.mean().asscalar()))
    net.save_parameters("net.params")
    net.export("net")
    return losses


def arrays() -> Tuple[int, ...]:
    a = mx.nd.zeros((2, 3)) + 1
    b = mx.nd.elemwise_add(a, a * 2 - 1)
    b[0] = mx.nd.random.uniform(shape=(3,))
    mx.nd.save("file", {"a": a})
    c = mx.nd.concat(a, b, dim=0).reshape((-1,)).astype("float16")
    shape: Tuple[int, ...] = c.shape
    d = mx.np.dot(mx.np.ones((2, 2)), mx.np.ones(2))
    print(d.asnumpy(), mx.nd.sparse.csr_matrix(a), mx.nd.linalg.gemm2(a, b, transpose_b=True))
    return shape


def operators_of_the_old_names() -> None:
    x = mx.sym.Variable("x")
    made = mx.sym.Convolution(x, kernel=[3, 3], num_filter=2, pad=(1, 1), name="conv")
    saved = mx.nd.load("file")["a"] + mx.nd.concatenate([mx.nd.ones(1), mx.nd.ones(2)])
    print(made.list_arguments(), saved)


def module() -> float:
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    made = mx.mod.Module(net, context=mx.cpu())
    rows = mx.io.NDArrayIter(np.zeros((8, 4)), np.zeros(8), batch_size=4)
    made.fit(rows, num_epoch=2, optimizer="sgd", optimizer_params={"learning_rate": 0.1})
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.ones(3)], [mx.nd.ones((3, 2))])
    return dict(made.score(rows, metric))["accuracy"]
'''

MISTAKES = {
    'mx.nd.Convolution(num_filter="many")': 'Argument "num_filter"',
    "mx.nd.softmax(3)": 'Argument 1 to "softmax"',
    "mx.gluon.Trainer([], 'sgd', 0.1)": 'Argument 3 to "Trainer"',
    "mx.nd.no_such_operator()": "has no attribute",
    "mx.cpu('zero')": 'Argument 1 to "cpu"',
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with the package and its stubs, as a wheel has them."""
    folder = tmp_path_factory.mktemp("typed")
    shutil.copytree(pathlib.Path(mx.__file__).parent, folder / "mxnet", ignore=shutil.ignore_patterns("*.so*", "__pycache__"))
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_pyi.py"), str(folder / "mxnet")], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def mypy(package):
    """Checks a program against the package; gives mypy's status and text."""

    def check(program):
        (package / "program.py").write_text(program)
        return run_mypy(package, "--follow-imports=silent", "program.py")

    return check


def run_mypy(folder, *arguments):
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(folder / "cache"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_whole_package_is_clean(package):
    status, text = run_mypy(package, "-p", "mxnet")
    assert status == 0, text


def test_a_program_of_a_user_is_clean(mypy):
    status, text = mypy(PROGRAM)
    assert status == 0, text


def test_mistakes_are_found_where_they_are(mypy):
    lines = ["import mxnet as mx", *MISTAKES]
    status, text = mypy("\n".join(lines) + "\n")
    assert status == 1
    for number, (line, message) in enumerate(MISTAKES.items(), start=2):
        assert any(f"program.py:{number}:" in found and message in found for found in text.splitlines()), (line, text)
