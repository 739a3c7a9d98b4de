# SPDX-License-Identifier: Apache-2.0
"""Trains LeNet on scikit-learn's handwritten digits, exports it, and predicts from the exported files.

    python examples/digits/train.py [--epochs 20] [--out digits]

Writes OUT-symbol.json and OUT-0000.params, which SymbolBlock, Module, and C and C++ programs load, and
OUT-test.npz with the test images and their predictions. Fails if fewer than 98 % of them are right.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Iterable, Tuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

try:
    from tqdm import tqdm
except ImportError:  # the bar is a convenience

    def tqdm(batches: Iterable[Any], **_: Any) -> Iterable[Any]:
        return batches


def digits(seed: int) -> Tuple[Tuple[np.ndarray, np.ndarray], Tuple[np.ndarray, np.ndarray]]:
    """1347 images of 8 x 8 pixels for training and 450 for the test, as (N, 1, 8, 8) from 0 to 1."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    parts = train_test_split(images, labels.astype(np.float32), test_size=450, stratify=labels, random_state=seed)
    return (parts[0], parts[2]), (parts[1], parts[3])


def lenet(classes: int = 10) -> nn.HybridSequential:
    """LeCun's network, with channels and padding for small images."""
    net = nn.HybridSequential(prefix="lenet_")
    with net.name_scope():
        net.add(
            nn.Conv2D(20, kernel_size=3, padding=1, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Conv2D(50, kernel_size=3, padding=1, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Flatten(),
            nn.Dense(256, activation="relu"),
            nn.Dropout(0.5),
            nn.Dense(classes),
        )
    return net


def accuracy(net: gluon.Block, images: np.ndarray, labels: np.ndarray) -> float:
    """The share of images that the network names right."""
    predicted = net(mx.nd.array(images)).argmax(axis=1).asnumpy()
    return float((predicted == labels).mean())


def train(net: gluon.HybridBlock, images: np.ndarray, labels: np.ndarray, epochs: int, batch_size: int) -> None:
    """Adam on the cross entropy, with a rate that falls to zero, and a bar per epoch."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    schedule = mx.lr_scheduler.CosineScheduler(epochs * (len(images) // batch_size), base_lr=3e-3)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": schedule})
    batches = mx.io.NDArrayIter(images, labels, batch_size, shuffle=True, last_batch_handle="discard")
    for epoch in range(epochs):
        batches.reset()
        bar = tqdm(batches, total=len(images) // batch_size, desc=f"epoch {epoch + 1}/{epochs}", unit="batch")
        total = mx.nd.zeros((1,))
        for batch in bar:
            with autograd.record():
                loss = loss_of(net(batch.data[0]), batch.label[0])
            loss.backward()
            trainer.step(batch_size)
            total += loss.mean()
        print(f"epoch {epoch + 1}: loss {total.asscalar() / (len(images) // batch_size):.4f}")


def main() -> None:
    """Trains, exports, and checks what was exported."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="digits")
    options = parser.parse_args()

    mx.random.seed(options.seed)
    np.random.seed(options.seed)
    (images, labels), (test_images, test_labels) = digits(options.seed)
    net = lenet()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)

    start = time.perf_counter()
    train(net, images, labels, options.epochs, options.batch_size)
    took = time.perf_counter() - start
    found = accuracy(net, test_images, test_labels)
    print(f"{found:.2%} of {len(test_labels)} test images are right, after {took:.1f} s of training")

    net.export(options.out)
    served = gluon.SymbolBlock.imports(f"{options.out}-symbol.json", ["data"], f"{options.out}-0000.params")
    outputs = served(mx.nd.array(test_images)).asnumpy()
    np.testing.assert_allclose(outputs, net(mx.nd.array(test_images)).asnumpy(), rtol=1e-4, atol=1e-5)
    print(f"{options.out}-symbol.json and {options.out}-0000.params predict the same")
    np.savez(f"{options.out}-test.npz", images=test_images, labels=test_labels, predicted=outputs.argmax(axis=1))
    if found < 0.98:
        raise SystemExit(f"expected at least 98 % right, found {found:.2%}")


if __name__ == "__main__":
    main()
