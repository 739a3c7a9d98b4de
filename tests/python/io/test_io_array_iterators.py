# SPDX-License-Identifier: Apache-2.0
"""Iterators over arrays: the last batch, shuffles, sparse data, prefetching. Orders were obtained from the reference."""

import threading

import numpy as np
import pytest

import mxnet as mx

DATA = np.arange(14).reshape(7, 2)
LABEL = np.arange(7) * 10


def epoch(iterator):
    """(labels, pad) of each batch; the data must be the rows of these labels."""
    found = []
    for batch in iterator:
        labels = batch.label[0].asnumpy().astype(int)
        np.testing.assert_array_equal(batch.data[0].asnumpy(), DATA[labels // 10])
        found.append(((labels // 10).tolist(), batch.pad))
    iterator.reset()
    return found


def test_pad_fills_up_from_the_beginning():
    iterator = mx.io.NDArrayIter(DATA, LABEL, 3)
    for _ in range(2):
        assert epoch(iterator) == [([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 0, 1], 2)]


def test_discard_leaves_the_rest_out():
    assert epoch(mx.io.NDArrayIter(DATA, LABEL, 3, last_batch_handle="discard")) == [([0, 1, 2], 0), ([3, 4, 5], 0)]


def test_roll_over_keeps_the_rest_for_the_next_epoch():
    iterator = mx.io.NDArrayIter(DATA, LABEL, 3, last_batch_handle="roll_over")
    assert epoch(iterator) == [([0, 1, 2], 0), ([3, 4, 5], 0)]
    assert epoch(iterator) == [([6, 0, 1], 1), ([2, 3, 4], 0)]
    assert epoch(iterator) == [([5, 6, 0], 2), ([1, 2, 3], 0), ([4, 5, 6], 0)]


def test_a_seed_shuffles_as_the_reference():
    np.random.seed(1)
    iterator = mx.io.NDArrayIter(DATA, LABEL, 3, shuffle=True)
    assert [rows for rows, _ in epoch(iterator)] == [[6, 2, 1], [0, 4, 3], [5, 6, 2]]
    assert [rows for rows, _ in epoch(iterator)] == [[2, 6, 4], [1, 3, 5], [0, 2, 6]]


@pytest.mark.parametrize("handle", ["pad", "discard", "roll_over"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_sparse_rows_come_as_dense_ones(handle, shuffle):
    csr = mx.nd.array(DATA).tostype("csr")
    orders = []
    for data in (DATA, csr):
        np.random.seed(5)
        iterator = mx.io.NDArrayIter(data, LABEL, 3, shuffle, handle)
        assert iterator.next().data[0].stype == ("csr" if data is csr else "default")
        iterator.hard_reset()
        orders.append([epoch(iterator) for _ in range(3)])
    assert orders[0] == orders[1]


def test_names_of_lists_and_dictionaries():
    def names(data):
        return [desc.name for desc in mx.io.NDArrayIter(data, batch_size=2).provide_data]

    assert names(DATA) == ["data"]
    assert names([DATA, DATA]) == ["_0_data", "_1_data"]
    assert names({"b": DATA, "a": DATA}) == ["a", "b"]


def test_a_description_is_a_pair_with_type_and_layout():
    desc = mx.io.NDArrayIter(DATA, LABEL, 2).provide_data[0]
    assert desc == ("data", (2, 2))
    assert repr(desc) == "DataDesc[data,(2, 2),<class 'numpy.float32'>,NCHW]"
    assert mx.io.DataDesc.get_batch_axis("TNC") == 1


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="softmax_label: given 5 rows, expected 7"):
        mx.io.NDArrayIter(DATA, LABEL[:5], 2)
    with pytest.raises(ValueError, match="last_batch_handle 'foo'"):
        mx.io.NDArrayIter(DATA, LABEL, 2, last_batch_handle="foo")
    with pytest.raises(TypeError, match="given str"):
        mx.io.NDArrayIter("foo")


def test_resize_starts_anew_within_an_epoch():
    iterator = mx.io.ResizeIter(mx.io.NDArrayIter(DATA, LABEL, 3), 4)
    assert [rows for rows, _ in epoch(iterator)] == [[0, 1, 2], [3, 4, 5], [6, 0, 1], [0, 1, 2]]


def test_a_resized_iterator_is_described_as_the_one_inside():
    """What Module.bind reads of it."""
    inside = mx.io.NDArrayIter(DATA, LABEL, 3, label_name="truth")
    iterator = mx.io.ResizeIter(inside, 4)
    assert iterator.provide_data == inside.provide_data and iterator.provide_label == inside.provide_label
    assert [desc.name for desc in iterator.provide_label] == ["truth"] and iterator.batch_size == 3
    inside.default_bucket_key = 10
    assert mx.io.ResizeIter(inside, 4).default_bucket_key == 10


def test_a_batch_keeps_what_describes_it():
    data, label = [mx.io.DataDesc("a", (2, 3))], [mx.io.DataDesc("b", (2,))]
    batch = mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones(2)], 1, [4, 5], "key", data, label)
    assert (batch.provide_data, batch.provide_label) == (data, label)
    assert (batch.pad, batch.index, batch.bucket_key) == (1, [4, 5], "key")


def test_prefetching_gives_the_same_batches():
    iterator = mx.io.PrefetchingIter(mx.io.NDArrayIter(DATA, LABEL, 3))
    for _ in range(3):
        assert epoch(iterator) == [([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 0, 1], 2)]


def test_prefetching_joins_iterators_under_new_names():
    parts = [mx.io.NDArrayIter(DATA, LABEL, 7), mx.io.NDArrayIter(DATA * 2, LABEL, 7)]
    iterator = mx.io.PrefetchingIter(parts, [{"data": "a"}, {"data": "b"}], [{"softmax_label": "x"}, {"softmax_label": "y"}])
    assert [desc.name for desc in iterator.provide_data + iterator.provide_label] == ["a", "b", "x", "y"]
    first, second = iterator.next().data
    np.testing.assert_array_equal(first.asnumpy() * 2, second.asnumpy())


class Failing(mx.io.NDArrayIter):
    def next(self):
        raise KeyError("broken")


def test_a_failure_of_the_thread_is_raised_where_the_batch_is_asked_for():
    iterator = mx.io.PrefetchingIter(Failing(DATA, LABEL, 3))
    with pytest.raises(KeyError, match="broken"):
        iterator.next()


def test_threads_end_with_their_iterator():
    before = threading.active_count()
    iterator = mx.io.PrefetchingIter(mx.io.NDArrayIter(DATA, LABEL, 3))
    threads = list(iterator._fetchers)
    del iterator
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    assert threading.active_count() <= before


@pytest.mark.parametrize("size", [0, -3])
def test_batches_have_a_size(size):
    with pytest.raises(ValueError, match=f"given batch_size {size}"):
        mx.io.NDArrayIter(np.ones((4, 2)), batch_size=size)


class Counted(mx.io.DataIter):
    """Three batches of data alone: what an iterator needs at least."""

    provide_data, provide_label = [mx.io.DataDesc("data", (2, 3))], []

    def reset(self):
        self.left = 3

    def iter_next(self):
        self.left -= 1
        return self.left >= 0

    def getdata(self):
        return [mx.nd.full((2, 3), self.left)]


def test_an_iterator_needs_neither_labels_nor_filling():
    data = Counted(batch_size=2)
    data.reset()
    batches = list(data)
    assert [batch.data[0].asnumpy()[0, 0] for batch in batches] == [2, 1, 0]
    assert all(batch.label is None and batch.pad is None and batch.index is None for batch in batches)
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc"), label_names=None)
    module.bind(data.provide_data, for_training=False)
    module.init_params(mx.init.One())
    np.testing.assert_array_equal(module.predict(data).asnumpy().ravel(), [6, 6, 3, 3, 0, 0])


def test_filling_is_what_getpad_says():
    """SageMaker's inference handler sets it on the iterator, so that predict leaves out its own rows."""
    values = np.arange(12, dtype=np.float32).reshape(6, 2)
    data = mx.io.NDArrayIter(values, batch_size=4)
    data.getpad = lambda: 1
    assert [batch.pad for batch in data] == [1, 1]
    module = mx.mod.Module(mx.sym.identity(mx.sym.var("data")), label_names=None)
    module.bind(data.provide_data, for_training=False)
    module.init_params()
    np.testing.assert_array_equal(module.predict(data).asnumpy(), values[[0, 1, 2, 4, 5, 0]])


class Tenfold(mx.io.NDArrayIter):
    """Data and labels are asked for, so that they may be other ones."""

    def getdata(self):
        return [data * 10 for data in super().getdata()]

    def getlabel(self):
        return []


def test_parts_of_a_batch_are_those_of_a_class_that_says_them():
    batches = list(Tenfold(np.arange(3, dtype=np.float32), batch_size=2))
    assert [batch.data[0].asnumpy().tolist() for batch in batches] == [[0, 10], [20, 0]]
    assert [(batch.label, batch.pad) for batch in batches] == [([], 0), ([], 1)]


@pytest.mark.parametrize("name", ["iter_next", "getdata"])
def test_what_an_iterator_must_have_is_named(name):
    with pytest.raises(NotImplementedError, match=f"DataIter has no {name}"):
        getattr(mx.io.DataIter(), name)()


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float64"])
@pytest.mark.parametrize("order", [[3], [2, 3, 4], [0, 1, 2, 3, 4, 5], [2, 4, 3, 5], [2, 2, 4], [4, 3, 2], [5, 0], [0, 2, 1, 3]], ids=str)
def test_rows_are_those_of_any_order(dtype, order):
    """Only where they lie one after the other they are the source's own memory."""
    values = np.arange(18, dtype=np.float32).reshape(6, 3)
    source = mx.nd.array(values)
    got = mx.io.utils.rows(source, np.array(order, dtype))
    assert np.array_equal(got.asnumpy(), values[order])
    source[:] = -1
    assert np.array_equal(got.asnumpy(), -np.ones((len(order), 3)) if order == list(range(order[0], order[0] + len(order))) else values[order])
