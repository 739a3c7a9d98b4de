// SPDX-License-Identifier: Apache-2.0
// RecordIO files, and images into the bytes of files. What opens, closes or reads runs without the
// GIL; a reader or writer is its caller's alone.
#include <string>

#include "array.h"
#include "check.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Closed explicitly, or with the last reference.
class RecordWriter {
 public:
  explicit RecordWriter(const std::string& path) {
    check_blocking([&] { return MXRecordIOWriterCreate(path.c_str(), &handle_); });
  }
  ~RecordWriter() {
    if (handle_ != nullptr) MXRecordIOWriterFree(handle_);
  }
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  void close() {
    if (handle_ == nullptr) return;
    check_blocking([&] { return MXRecordIOWriterFree(handle_); });
    handle_ = nullptr;
  }
  void write(const py::buffer& bytes) {
    const py::buffer_info info = bytes.request();
    check(MXRecordIOWriterWriteRecord(handle_, static_cast<const char*>(info.ptr),
                                      static_cast<size_t>(info.size * info.itemsize)));
  }
  size_t tell() const {
    size_t position = 0;
    check(MXRecordIOWriterTell(handle_, &position));
    return position;
  }

 private:
  RecordIOHandle handle_ = nullptr;
};

class RecordReader {
 public:
  explicit RecordReader(const std::string& path) {
    check_blocking([&] { return MXRecordIOReaderCreate(path.c_str(), &handle_); });
  }
  ~RecordReader() { close(); }
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  void close() {
    if (handle_ != nullptr) MXRecordIOReaderFree(handle_);
    handle_ = nullptr;
  }
  py::object read() {
    const char* bytes = nullptr;
    size_t size = 0;
    check_blocking([&] { return MXRecordIOReaderReadRecord(handle_, &bytes, &size); });
    if (bytes == nullptr) return py::none();
    return py::bytes(bytes, size);
  }
  void seek(size_t position) { check(MXRecordIOReaderSeek(handle_, position)); }
  size_t tell() const {
    size_t position = 0;
    check(MXRecordIOReaderTell(handle_, &position));
    return position;
  }
  void set_skipping(bool skip) { check(MXRecordIOReaderSetSkipping(handle_, skip ? 1 : 0)); }
  py::tuple skipped() const {
    uint64_t places = 0, bytes = 0;
    check(MXRecordIOReaderGetSkipped(handle_, &places, &bytes));
    return py::make_tuple(places, bytes);
  }

 private:
  RecordIOHandle handle_ = nullptr;
};

py::bytes encode_image(const py::handle& image, const std::string& format, int quality) {
  const char* bytes = nullptr;
  size_t size = 0;
  NDArrayHandle array = handle_of(image);
  check_blocking([&] { return MXImageEncode(array, format.c_str(), quality, &bytes, &size); });
  return {bytes, size};
}

}  // namespace

void register_recordio(py::module_& module) {
  py::class_<RecordWriter>(module, "RecordWriter")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def("close", &RecordWriter::close)
      .def("write", &RecordWriter::write, py::arg("bytes"))
      .def("tell", &RecordWriter::tell);
  py::class_<RecordReader>(module, "RecordReader")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def("close", &RecordReader::close)
      .def("read", &RecordReader::read)
      .def("seek", &RecordReader::seek, py::arg("position"))
      .def("tell", &RecordReader::tell)
      .def("set_skipping", &RecordReader::set_skipping, py::arg("skip"))
      .def("skipped", &RecordReader::skipped);
  module.def("encode_image", &encode_image, py::arg("image"), py::arg("format"),
             py::arg("quality"));
}

}  // namespace mxnet::python
