# SPDX-License-Identifier: Apache-2.0
"""Record files and data iterators as programs in other languages use them."""
import ctypes as C
import struct
import threading

import pytest
from c_library import Library, library_path

MAGIC = struct.pack("<I", 0xCED7230A)
RECORDS = [b"first", b"", b"1234" + MAGIC + b"5", b"z" * 70000, b"last"]


@pytest.fixture(scope="module")
def lib():
    return Library(library_path())


def position(lib, function, handle):
    result = C.c_size_t()
    getattr(lib, function)(handle, C.byref(result))
    return result.value


def write(lib, path, records):
    """Writes the records; where each began, and where the last one ended."""
    writer = lib.new("MXRecordIOWriterCreate", str(path).encode())
    places = []
    for record in records:
        places.append(position(lib, "MXRecordIOWriterTell", writer))
        lib.MXRecordIOWriterWriteRecord(writer, record, C.c_size_t(len(record)))
    places.append(position(lib, "MXRecordIOWriterTell", writer))
    lib.MXRecordIOWriterFree(writer)
    return places


def read(lib, reader):
    """The next record, or None at the end."""
    content, size = C.c_void_p(), C.c_size_t()
    lib.MXRecordIOReaderReadRecord(reader, C.byref(content), C.byref(size))
    return None if content.value is None else C.string_at(content, size.value)


def read_all(lib, reader):
    return list(iter(lambda: read(lib, reader), None))


def test_writers_tell_where_records_are(lib, tmp_path):
    path = tmp_path / "a.rec"
    places = write(lib, path, RECORDS)
    assert places[:4] == [0, 16, 24, 24 + 12 + 12]  # heads of 8 bytes, lengths rounded up to 4; the magic splits the third
    content = path.read_bytes()
    assert places[-1] == len(content)
    assert all(content[place:place + 4] == MAGIC for place in places[:-1])


def test_readers_tell_and_seek(lib, tmp_path):
    path = tmp_path / "a.rec"
    places = write(lib, path, RECORDS)
    reader = lib.new("MXRecordIOReaderCreate", str(path).encode())
    for place, record in zip(places, RECORDS):
        assert position(lib, "MXRecordIOReaderTell", reader) == place
        assert read(lib, reader) == record
    assert position(lib, "MXRecordIOReaderTell", reader) == places[-1]
    assert read(lib, reader) is None
    for i in (3, 0, 2, 4, 1):
        lib.MXRecordIOReaderSeek(reader, C.c_size_t(places[i]))
        assert position(lib, "MXRecordIOReaderTell", reader) == places[i]
        assert read(lib, reader) == RECORDS[i]
    lib.MXRecordIOReaderSeek(reader, C.c_size_t(places[-1]))
    assert read(lib, reader) is None
    lib.MXRecordIOReaderFree(reader)


def test_a_place_within_a_record_is_an_error_with_its_offset(lib, tmp_path):
    path = tmp_path / "a.rec"
    write(lib, path, RECORDS)
    reader = lib.new("MXRecordIOReaderCreate", str(path).encode())
    lib.MXRecordIOReaderSeek(reader, C.c_size_t(4))
    with pytest.raises(RuntimeError, match=f"'{path}' at byte 4"):
        read(lib, reader)
    lib.MXRecordIOReaderSetSkipping(reader, 1)
    lib.MXRecordIOReaderSeek(reader, C.c_size_t(4))
    assert read_all(lib, reader) == RECORDS[1:]
    places, skipped = C.c_uint64(), C.c_uint64()
    lib.MXRecordIOReaderGetSkipped(reader, C.byref(places), C.byref(skipped))
    assert (places.value, skipped.value) == (1, 12)
    lib.MXRecordIOReaderFree(reader)


def test_readers_on_threads_read_one_file(lib, tmp_path):
    path = tmp_path / "a.rec"
    places = write(lib, path, RECORDS * 20)
    found = {}

    def work(number):
        reader = lib.new("MXRecordIOReaderCreate", str(path).encode())
        backwards = []
        for place in reversed(places[:-1]):
            lib.MXRecordIOReaderSeek(reader, C.c_size_t(place))
            backwards.append(read(lib, reader))
        lib.MXRecordIOReaderSeek(reader, C.c_size_t(0))
        found[number] = read_all(lib, reader), backwards
        lib.MXRecordIOReaderFree(reader)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: (RECORDS * 20, RECORDS[::-1] * 20) for i in range(4)}


def iterator(lib, kind, **parameters):
    count, creators = C.c_uint(), C.POINTER(C.c_void_p)()
    lib.MXListDataIters(C.byref(count), C.byref(creators))
    name, doc, number = C.c_char_p(), C.c_char_p(), C.c_uint()
    lists = [C.POINTER(C.c_char_p)() for _ in range(3)]
    for i in range(count.value):
        creator = C.c_void_p(creators[i])
        lib.MXDataIterGetIterInfo(creator, C.byref(name), C.byref(doc), C.byref(number), *map(C.byref, lists))
        if name.value == kind.encode():
            keys = [key.encode() for key in parameters]
            values = [str(value).encode() for value in parameters.values()]
            texts = C.c_char_p * len(keys)
            return lib.new("MXDataIterCreateIter", creator, len(keys), texts(*keys), texts(*values))
    raise KeyError(kind)


def advance(lib, handle):
    more = C.c_int(-1)
    lib.MXDataIterNext(handle, C.byref(more))
    return more.value


def batch(lib, handle, width, size):
    """Data, label, padding and numbers of the batch."""
    data, label = lib.new("MXDataIterGetData", handle), lib.new("MXDataIterGetLabel", handle)
    pad, index, count = C.c_int(-1), C.POINTER(C.c_uint64)(), C.c_uint64()
    lib.MXDataIterGetPadNum(handle, C.byref(pad))
    lib.MXDataIterGetIndex(handle, C.byref(index), C.byref(count))
    result = lib.numbers(data, width * size), lib.numbers(label, size), pad.value, index[:count.value]
    lib.MXNDArrayFree(data)
    lib.MXNDArrayFree(label)
    return result


def test_an_iterator_gives_data_labels_padding_and_numbers(lib, tmp_path):
    (tmp_path / "data.csv").write_text("1,2\n3,4\n5,6\n")
    (tmp_path / "label.csv").write_text("7\n8\n9\n")
    handle = iterator(lib, "CSVIter", data_csv=tmp_path / "data.csv", data_shape=(2,), label_csv=tmp_path / "label.csv",
                      batch_size=2, round_batch=True)
    epoch = [([1, 2, 3, 4], [7, 8], 0), ([5, 6, 1, 2], [9, 7], 1)]
    for expected in epoch:
        assert advance(lib, handle) == 1
        assert batch(lib, handle, 2, 2)[:3] == expected
    assert advance(lib, handle) == 0
    lib.MXDataIterFree(handle)


def test_an_iterator_begins_anew(lib, tmp_path):
    (tmp_path / "data.csv").write_text("1\n2\n3\n4\n")
    handle = iterator(lib, "CSVIter", data_csv=tmp_path / "data.csv", data_shape=(1,), batch_size=2)
    with pytest.raises(RuntimeError, match=r"\[MXDataIterGetData\]|MXDataIterGetData: "):
        lib.new("MXDataIterGetData", handle)  # before the first batch
    for _ in range(3):
        assert advance(lib, handle) == 1
        data, _, pad, index = batch(lib, handle, 1, 2)
        assert (data, pad, index) == ([1, 2], 0, [0, 1])
        lib.MXDataIterBeforeFirst(handle)  # in the middle of the epoch
    assert [advance(lib, handle) for _ in range(3)] == [1, 1, 0]
    lib.MXDataIterBeforeFirst(handle)
    assert advance(lib, handle) == 1
    lib.MXDataIterFree(handle)
