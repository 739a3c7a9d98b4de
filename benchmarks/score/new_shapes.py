# SPDX-License-Identifier: Apache-2.0
"""What a hybridized network takes for a shape that it has never met, for one that it has, and what twenty of them keep.

One network a process: it prints `new=`, `seen=` and `same=`, microseconds of processor time a call of the first pass over
all shapes, of the best later pass, and of calls with one shape; and `one=`, `all=`, MB that the process has more than
before after one shape and after all. This file runs on the front end of 1.9.1 as well.

    python new_shapes.py infer|train attention|convolutions|dense|lstm|buckets|growing|NETWORK_OF_THE_ZOO
"""

import argparse
import os
import time

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn

COUNT = 20
PASSES = 3


class Attention(gluon.HybridBlock):
    def __init__(self, units=64):
        super().__init__()
        with self.name_scope():
            self.query, self.key, self.value, self.out = (nn.Dense(units, flatten=False) for _ in range(4))
            self.wide = nn.Dense(2 * units, flatten=False, activation="relu")
            self.narrow = nn.Dense(units, flatten=False)
            self.first, self.second = nn.LayerNorm(), nn.LayerNorm()
            self.dropout = nn.Dropout(0.1)

    def hybrid_forward(self, F, x):
        scores = F.softmax(F.batch_dot(self.query(x), self.key(x), transpose_b=True) * 0.125)
        x = self.first(x + self.dropout(self.out(F.batch_dot(scores, self.value(x)))))
        return self.second(x + self.dropout(self.narrow(self.wide(x))))


class Recurrent(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.cells, self.last = rnn.LSTM(64, layout="NTC", input_size=32), nn.Dense(8, flatten=False)

    def hybrid_forward(self, F, x):
        return self.last(self.cells(x))


def _sequence(layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


def _filters():
    layers = []
    for channels in (8, 8, 16, 16):
        layers += [nn.Conv2D(channels, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D()]
    return _sequence([*layers, nn.GlobalAvgPool2D(), nn.Dense(10)])


# The network, and the shapes of its data, the largest first.
NETWORKS = {
    "attention": (lambda: _sequence([Attention() for _ in range(3)]), [(4, 44 - t, 64) for t in range(COUNT)]),
    "convolutions": (_filters, [(2, 3, 112 - 4 * s, 112 - 4 * s) for s in range(COUNT)]),
    "dense": (
        lambda: _sequence([nn.Dense(256, flatten=False, activation="tanh") for _ in range(8)]),
        [(32, 400 - 10 * t, 256) for t in range(COUNT)],
    ),
    "lstm": (Recurrent, [(4, 44 - t, 32) for t in range(COUNT)]),
}


def _resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _calls(net, shapes, train):
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-4}, kvstore=None)

    def infer(shape):
        net(mx.nd.ones(shape)).wait_to_read()

    def step(shape):
        with autograd.record():
            loss = (net(mx.nd.ones(shape)) ** 2).mean()
        loss.backward()
        trainer.step(1)
        mx.nd.waitall()

    net(mx.nd.ones(shapes[0])).wait_to_read()  # parameters have their shapes
    net.hybridize()
    return step if train else infer


def _recurrent(length):
    cells = mx.rnn.SequentialRNNCell()
    cells.add(mx.rnn.LSTMCell(32, prefix="l0_"))
    embedded = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=50, output_dim=16, name="embedded")
    states, _ = cells.unroll(length, inputs=embedded, merge_outputs=True)
    scores = mx.sym.FullyConnected(mx.sym.reshape(states, shape=(-1, 32)), num_hidden=50, name="scores")
    labels = mx.sym.reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(scores, labels, name="softmax")


def _dense(_):
    x = mx.sym.Variable("data")
    for i in range(6):
        x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=256, flatten=False, name=f"dense{i}"), act_type="tanh")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.mean(x, axis=1), num_hidden=10, name="scores"), name="softmax")


# Of `BucketingModule`, a symbol of its own for each length: shapes of data and label by the length, and the lengths.
BUCKETS = {
    "buckets": (_recurrent, lambda length: ((8, length), (8, length)), [44 - 2 * t for t in range(COUNT)]),
    "growing": (_dense, lambda length: ((32, length, 256), (32,)), [20 + 20 * t for t in range(COUNT)]),
}


def _buckets(network, train):
    symbol_of, shapes_of, lengths = BUCKETS[network]
    batches = {}
    for length in lengths:
        data, label = shapes_of(length)
        batches[length] = mx.io.DataBatch(
            [mx.nd.ones(data)],
            [mx.nd.ones(label)],
            bucket_key=length,
            provide_data=[mx.io.DataDesc("data", data)],
            provide_label=[mx.io.DataDesc("softmax_label", label)],
        )
    mx.nd.waitall()  # the batches are not what is counted
    largest = max(lengths)
    module = mx.mod.BucketingModule(lambda length: (symbol_of(length), ("data",), ("softmax_label",)), default_bucket_key=largest)
    module.bind(batches[largest].provide_data, batches[largest].provide_label, for_training=train)
    module.init_params(mx.init.Xavier())
    if train:
        module.init_optimizer(kvstore=None, optimizer="sgd")

    def call(length):
        module.forward(batches[length], is_train=train)
        if train:
            module.backward()
            module.update()
        mx.nd.waitall()

    return call, lengths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("infer", "train"))
    parser.add_argument("network")
    given = parser.parse_args()
    train = given.mode == "train"
    mx.random.seed(1)
    if given.network in BUCKETS:
        call, shapes = _buckets(given.network, train)
    else:
        zoo = mx.gluon.model_zoo.vision
        sizes = [(1, 3, 256 - 8 * s, 256 - 8 * s) for s in range(COUNT)]
        make, shapes = NETWORKS.get(given.network, (lambda: zoo.get_model(given.network), sizes))
        net = make()
        net.initialize(mx.init.Xavier())
        call = _calls(net, shapes, train)

    def time_of(several):
        begin = time.process_time()
        for shape in several:
            call(shape)
        return (time.process_time() - begin) / len(several) * 1e6

    before = _resident()
    call(shapes[0])
    one = _resident() - before
    new = time_of(shapes[1:])
    everything = _resident() - before
    seen = min(time_of(shapes[1:]) for _ in range(PASSES))
    same = min(time_of([shapes[1]] * (COUNT - 1)) for _ in range(PASSES))
    print(f"{given.mode} {given.network} {new=:.0f} {seen=:.0f} {same=:.0f} {one=:.1f} all={everything:.1f}")


if __name__ == "__main__":
    main()
