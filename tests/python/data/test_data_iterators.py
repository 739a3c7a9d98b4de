# SPDX-License-Identifier: Apache-2.0
"""Iterators of the library over text files and idx files. Orders and values marked so are those of MXNet 1.9.1."""

import os
import struct
import threading
import time

import numpy as np
import pytest

import mxnet as mx


def epoch(iterator):
    return [
        (batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist(), batch.pad, batch.index.tolist())
        for batch in iterator
    ]


@pytest.fixture
def csv(tmp_path):
    data, label = tmp_path / "data.csv", tmp_path / "label.csv"
    data.write_text("".join(f"{i},{i}.5\n" for i in range(5)))
    label.write_text("".join(f"{i * 10}\n" for i in range(5)))
    return {"data_csv": str(data), "label_csv": str(label), "data_shape": (2,)}


def test_csv_batches_and_the_round_ones(csv):
    iterator = mx.io.CSVIter(batch_size=3, **csv)
    assert [tuple(d) for d in iterator.provide_data] == [("data", (3, 2))]
    assert [tuple(d) for d in iterator.provide_label] == [("softmax_label", (3,))]
    assert epoch(iterator) == [
        ([[0, 0.5], [1, 1.5], [2, 2.5]], [0, 10, 20], 0, [0, 1, 2]),
        ([[3, 3.5], [4, 4.5], [0, 0.5]], [30, 40, 0], 1, [3, 4, 0]),
    ]
    iterator.reset()  # 1.9.1: what filled the last batch up is not repeated
    assert [index for _, _, _, index in epoch(iterator)] == [[1, 2, 3], [4, 0, 1]]
    iterator.reset()
    assert [index for _, _, _, index in epoch(iterator)] == [[2, 3, 4]]


def test_csv_without_rounding_pads_with_what_was_there(csv):
    iterator = mx.io.CSVIter(batch_size=3, round_batch=False, **csv)
    for _ in range(2):
        assert [(index, pad) for _, _, pad, index in epoch(iterator)] == [([0, 1, 2], 0), ([3, 4, 2], 1)]
        iterator.reset()


class SlowHandle:
    """As a handle of the library, where other threads come between any two calls."""

    def __init__(self, batches):
        self.batches, self.number = batches, -1

    def next(self):
        self.number += 1
        time.sleep(0.002)
        return self.number < self.batches

    def value(self):
        time.sleep(0.001)
        return self.number

    def index(self):
        return [self.value()]

    def data(self):
        return mx.nd.array([self.value()])

    label, pad = data, value


def test_each_batch_goes_whole_to_one_of_the_threads_that_share_an_iterator():
    iterator = mx.io.MXDataIter(SlowHandle(40))
    taken = []
    threads = [threading.Thread(target=lambda: taken.extend(epoch(iterator))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [([i], [i], i, [i]) for i in range(40)]


def test_a_reset_in_the_middle_starts_at_the_first_sample(csv):
    iterator = mx.io.CSVIter(batch_size=2, **csv)
    next(iterator)
    iterator.reset()
    assert epoch(iterator)[0][3] == [0, 1]


def test_a_batch_larger_than_the_data_goes_round_more_than_once(csv):
    assert [(index, pad) for _, _, pad, index in epoch(mx.io.CSVIter(batch_size=12, **csv))] == [
        ([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1], 7)
    ]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_csv_columns_come_in_the_type_that_is_asked_for(csv, dtype):
    batch = next(mx.io.CSVIter(batch_size=5, dtype=dtype, **csv))
    assert batch.data[0].dtype == np.dtype(dtype) and batch.label[0].dtype == np.dtype(dtype)
    assert batch.data[0].asnumpy().tolist() == np.array([[i, i + 0.5] for i in range(5)]).astype(dtype).tolist()


def test_csv_reads_what_people_write(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b" 1 , -2.5e1,+3\r\n\r\n4,5,6")
    iterator = mx.io.CSVIter(data_csv=str(path), data_shape=(3,), batch_size=2)
    assert epoch(iterator) == [([[1, -25, 3], [4, 5, 6]], [0, 0], 0, [0, 1])]


@pytest.mark.parametrize("line, what", [("1,2\n", "found 2 numbers"), ("1,2,3,4\n", "more than 3"), ("1,x,3\n", "number 2"), ("a,b,c\n", "number 1")])
def test_csv_errors_name_file_and_line(tmp_path, line, what):
    path = tmp_path / "bad.csv"
    path.write_text("1,2,3\n" + line)
    with pytest.raises(mx.MXNetError, match=rf"bad\.csv' at byte 6.*{what}"):
        epoch(mx.io.CSVIter(data_csv=str(path), data_shape=(3,), batch_size=1))


def test_arrays_of_a_batch_stay_as_they_are(csv):
    batches = list(mx.io.CSVIter(batch_size=1, prefetch_buffer=1, **csv))
    assert [batch.data[0].asnumpy()[0, 0] for batch in batches] == [0, 1, 2, 3, 4]


@pytest.fixture
def libsvm(tmp_path):
    path = tmp_path / "data.libsvm"
    path.write_text("".join(f"{i} 0:{i}.5 3:{i}\n" for i in range(5)))
    return str(path)


def test_libsvm_batches_are_csr(libsvm):
    iterator = mx.io.LibSVMIter(data_libsvm=libsvm, data_shape=(4,), batch_size=3)
    batch = next(iterator)
    assert batch.data[0].stype == "csr" and batch.label[0].stype == "default"
    assert batch.data[0].asnumpy().tolist() == [[0.5, 0, 0, 0], [1.5, 0, 0, 1], [2.5, 0, 0, 2]]
    assert batch.label[0].asnumpy().tolist() == [0, 1, 2]
    batch = next(iterator)
    assert (batch.pad, batch.index.tolist()) == (1, [3, 4, 0])


def test_libsvm_parts_are_bytes(libsvm):
    # 1.9.1: of 60 bytes the second half starts in the third line
    batch = next(mx.io.LibSVMIter(data_libsvm=libsvm, data_shape=(4,), batch_size=2, num_parts=2, part_index=1))
    assert batch.label[0].asnumpy().tolist() == [3, 4]


def test_libsvm_labels_from_a_second_file(libsvm):
    batch = next(mx.io.LibSVMIter(data_libsvm=libsvm, label_libsvm=libsvm, data_shape=(4,), label_shape=(4,), batch_size=2))
    assert batch.label[0].stype == "csr"
    assert batch.label[0].asnumpy().tolist() == batch.data[0].asnumpy().tolist()


def read_libsvm(path, text):
    path.write_text(text)
    batch = next(mx.io.LibSVMIter(data_libsvm=str(path), data_shape=(3,), batch_size=2))
    return batch.label[0].asnumpy().tolist(), batch.data[0].asnumpy().tolist()


@pytest.mark.parametrize("text", [
    "1 0:2 # of a user\n0 1:5\n", "# two samples\n1 0:2\n  # 1 0:7\n0 1:5", "1 0:2#2:7\r\n0 1:5 #\r\n",  # comments
    "1 qid:4 0:2\n0\tqid:5 1:5\n", "1 qid:4#\n0 qid:5 1:5\n1 0:7\n",  # numbers of queries, as in ranking
    "1:0.5 0:2\n0:2e-1 1:5\n", "1:0.5 qid:7 0:2\n0 1:5\n",  # weights
    "\ufeff1 0:2\n0 1:5\n", "\ufeff# head\n1 0:2\n0 1:5\n",  # a mark of UTF-8
])  # fmt: skip
def test_libsvm_files_are_read_as_other_programs_write_them(text, tmp_path):
    labels, rows = read_libsvm(tmp_path / "some.libsvm", text)
    assert labels == [1, 0] and rows == [[0 if "qid:4#" in text else 2, 0, 0], [0, 5, 0]]


@pytest.mark.parametrize("text, message", [
    ("1: 0:2\n", "a weight after label:|index:value"), ("1 qid:x 0:2\n", "a number after qid:"), ("1 0:2 qid:4\n", "index:value"),
    ("1 0:\n", "a value after index:"), ("1 0:2 \ufeff1:3\n", "index:value"), ("\ufeff\ufeff1 0:2\n", "the label"),
])  # fmt: skip
def test_libsvm_lines_that_cannot_be_read_are_named(text, message, tmp_path):
    with pytest.raises(mx.MXNetError, match=message):
        read_libsvm(tmp_path / "some.libsvm", text)


def test_csv_files_may_begin_with_a_mark_of_utf8(tmp_path):
    path = tmp_path / "marked.csv"
    path.write_text("\ufeff1,2\n3,4\n")
    assert next(mx.io.CSVIter(data_csv=str(path), data_shape=(2,), batch_size=2)).data[0].asnumpy().tolist() == [[1, 2], [3, 4]]


def test_libsvm_refuses_what_its_files_do_not_hold(libsvm, tmp_path):
    with pytest.raises(mx.MXNetError, match="index 3 is outside of 2 columns"):
        mx.io.LibSVMIter(data_libsvm=libsvm, data_shape=(2,), batch_size=2)
    with pytest.raises(NotImplementedError, match="round_batch"):
        mx.io.LibSVMIter(data_libsvm=libsvm, data_shape=(4,), batch_size=2, round_batch=False)
    with pytest.raises(mx.MXNetError, match="part_index 2 of num_parts 2"):
        mx.io.LibSVMIter(data_libsvm=libsvm, data_shape=(4,), batch_size=2, num_parts=2, part_index=2)


@pytest.fixture
def mnist(tmp_path):
    image, label = tmp_path / "images", tmp_path / "labels"
    image.write_bytes(struct.pack(">IIII", 2051, 11, 2, 2) + bytes(4 * i for i in range(11) for _ in range(4)))
    label.write_bytes(struct.pack(">II", 2049, 11) + bytes(range(11)))
    return {"image": str(image), "label": str(label), "silent": True}


def labels(iterator):
    return [batch.label[0].asnumpy().astype(int).tolist() for batch in iterator]


def test_mnist_values_and_shapes(mnist):
    batch = next(mx.io.MNISTIter(batch_size=4, shuffle=False, **mnist))
    assert batch.data[0].shape == (4, 1, 2, 2)
    assert batch.data[0].asnumpy()[:, 0, 0, 0].tolist() == [0, 4 / 256, 8 / 256, 12 / 256]
    flat = next(mx.io.MNISTIter(batch_size=4, shuffle=False, flat=True, dtype="float16", **mnist))
    assert flat.data[0].shape == (4, 4) and flat.data[0].dtype == np.float16


def test_mnist_orders_are_those_of_the_reference(mnist):
    # values of 1.9.1
    for seed, order in ((0, [0, 2, 3, 5, 9, 1, 10, 8, 4, 7, 6]), (5, [10, 5, 6, 3, 9, 0, 1, 7, 8, 4, 2])):
        iterator = mx.io.MNISTIter(batch_size=11, seed=seed, **mnist)
        assert labels(iterator) == [order]
        iterator.reset()
        assert labels(iterator) == [order]
    part = mx.io.MNISTIter(batch_size=2, num_parts=2, part_index=1, **mnist)
    assert labels(part) == [[5, 7], [8, 10], [9, 6]]


def test_mnist_leaves_out_a_short_batch(mnist):
    assert labels(mx.io.MNISTIter(batch_size=4, shuffle=False, **mnist)) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_mnist_refuses_files_that_are_cut_off_or_of_another_kind(mnist, tmp_path):
    short = tmp_path / "short"
    short.write_bytes(struct.pack(">II", 2049, 12) + b"1")
    with pytest.raises(mx.MXNetError, match="cut off"):
        mx.io.MNISTIter(**{**mnist, "label": str(short)})
    wraps = tmp_path / "wraps"  # its values are 2^64, which is 0 to who counts in 64 bits
    wraps.write_bytes(struct.pack(">IIII", 2051, 4, 2**31, 2**31))
    os.truncate(wraps, 2**33 + 16)  # of holes
    with pytest.raises(mx.MXNetError, match="cut off"):
        mx.io.MNISTIter(**{**mnist, "image": str(wraps)})
    with pytest.raises(mx.MXNetError, match="2051"):
        mx.io.MNISTIter(**{**mnist, "image": mnist["label"]})
    with pytest.raises(mx.MXNetError, match="nowhere"):
        mx.io.MNISTIter(**{**mnist, "image": "nowhere"})


def test_parameters_are_checked(csv, capfd):
    with pytest.raises(mx.MXNetError, match="batch_size"):
        mx.io.CSVIter(**csv)
    with pytest.raises(mx.MXNetError, match="'zero' for parameter batch_size"):
        mx.io.CSVIter(batch_size="zero", **csv)
    with pytest.raises(TypeError, match="by name"):
        mx.io.CSVIter("data.csv")
    mx.io.CSVIter(batch_size=1, data_name="x", no_such_thing=3, **csv)
    warnings = capfd.readouterr().err
    assert "no_such_thing" in warnings and "data_name" not in warnings


def test_names_of_inputs_can_be_chosen(csv):
    iterator = mx.io.CSVIter(batch_size=1, data_name="x", label_name="y", **csv)
    assert iterator.provide_data[0].name == "x" and iterator.provide_label[0].name == "y"


def test_many_iterators_are_made_and_dropped_in_the_middle(csv):
    for _ in range(30):
        batch = next(mx.io.CSVIter(batch_size=1, **csv))
        assert (batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist()) == ([[0, 0.5]], [0])
