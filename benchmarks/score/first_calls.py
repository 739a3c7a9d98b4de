# SPDX-License-Identifier: Apache-2.0
"""What happens once in a program: import, the first call, the first step; seconds and peak memory of each.

One scenario a process: it prints `part=seconds/MB` for each part of it. The least of several processes counts; this file
runs on the front end of 1.9.1 as well.

    python first_calls.py infer resnet50_v1
"""

import argparse
import resource
import time

_BEGIN = time.perf_counter()
import mxnet as mx  # pylint: disable=wrong-import-position

_IMPORTED = time.perf_counter()
_SHAPE = (3, 224, 224)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


class Parts:
    def __init__(self) -> None:
        self.texts = [f"import={_IMPORTED - _BEGIN:.4f}/{_peak()}MB"]

    def run(self, name, part):
        begin = time.perf_counter()
        result = part()
        mx.nd.waitall()
        self.texts.append(f"{name}={time.perf_counter() - begin:.4f}/{_peak()}MB")
        return result


def _images(batch):
    return mx.nd.random.uniform(shape=(batch, *_SHAPE))


def _initialize(net, images):
    net.initialize(mx.init.Xavier())
    net.infer_shape(images)
    for parameter in net.collect_params().values():
        parameter._finish_deferred_init()


def infer(parts, net):
    images = _images(1)
    parts.run("initialize", lambda: _initialize(net, images))
    net.hybridize(static_alloc=True, static_shape=True)
    for name in ("first", "second"):
        parts.run(name, lambda: net(images).asnumpy())


def train(parts, net, batch=8):
    images, labels = _images(batch), mx.nd.zeros((batch,))
    parts.run("initialize", lambda: _initialize(net, images))
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()

    def step():
        with mx.autograd.record():
            loss = loss_of(net(images), labels)
        loss.backward()
        trainer.step(batch)

    for name in ("first", "second"):
        parts.run(name, step)


def module(parts, net):
    symbol = mx.sym.SoftmaxOutput(net(mx.sym.var("data")), name="softmax")
    bound = mx.mod.Module(symbol, context=mx.cpu())
    parts.run("bind", lambda: bound.bind([("data", (1, *_SHAPE))], [("softmax_label", (1,))], for_training=False))
    parts.run("initialize", lambda: bound.init_params(mx.init.Xavier()))
    batch = mx.io.DataBatch([_images(1)], [mx.nd.zeros((1,))])
    for name in ("first", "second"):
        parts.run(name, lambda: (bound.forward(batch, is_train=False), bound.get_outputs()[0].asnumpy()))


def main() -> None:
    scenarios = {scenario.__name__: scenario for scenario in (infer, train, module)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=scenarios)
    parser.add_argument("network", help="of the model zoo")
    given = parser.parse_args()
    mx.random.seed(1)
    parts = Parts()
    scenarios[given.scenario](parts, mx.gluon.model_zoo.vision.get_model(given.network))
    print(given.scenario, given.network, *parts.texts)


if __name__ == "__main__":
    main()
