// SPDX-License-Identifier: Apache-2.0
// Data iterators of the library: what there is, and the batches of one.
#include <pybind11/stl.h>

#include <span>
#include <string>
#include <vector>

#include "array.h"
#include "check.h"
#include "mxnet/c_api.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

struct IterInfo {
  const char *name = nullptr, *description = nullptr;
  uint32_t num_args = 0;
  const char **names = nullptr, **types = nullptr, **docs = nullptr;  // of the arguments
};

IterInfo info_of(DataIterCreator creator) {
  IterInfo info;
  check(MXDataIterGetIterInfo(creator, &info.name, &info.description, &info.num_args, &info.names,
                              &info.types, &info.docs));
  return info;
}

std::span<DataIterCreator> all_creators() {
  uint32_t count = 0;
  DataIterCreator* creators = nullptr;
  check(MXListDataIters(&count, &creators));
  return {creators, count};
}

DataIterCreator creator_of(const std::string& wanted) {
  for (DataIterCreator creator : all_creators())
    if (wanted == info_of(creator).name) return creator;
  throw py::key_error(wanted);
}

// Name, description, and (name, type, description) of each parameter.
py::list data_iters() {
  py::list all;
  for (DataIterCreator creator : all_creators()) {
    const IterInfo info = info_of(creator);
    py::list params;
    for (uint32_t k = 0; k < info.num_args; ++k)
      params.append(py::make_tuple(info.names[k], info.types[k], info.docs[k]));
    all.append(py::make_tuple(info.name, info.description, params));
  }
  return all;
}

class DataIter {
 public:
  DataIter(const std::string& name, const py::dict& params) {
    std::vector<std::string> texts;
    for (const auto& [key, value] : params) {
      texts.push_back(py::str(key));
      texts.push_back(py::str(value));
    }
    std::vector<const char*> keys, values;
    for (std::size_t i = 0; i < texts.size(); i += 2) {
      keys.push_back(texts[i].c_str());
      values.push_back(texts[i + 1].c_str());
    }
    DataIterCreator creator = creator_of(name);
    check_blocking([&] {
      return MXDataIterCreateIter(creator, static_cast<uint32_t>(keys.size()), keys.data(),
                                  values.data(), &handle_);
    });
  }
  ~DataIter() {
    // Waits for the thread that reads ahead.
    without_gil([this] { return MXDataIterFree(handle_); });
  }
  DataIter(const DataIter&) = delete;
  DataIter& operator=(const DataIter&) = delete;

  bool next() {
    int more = 0;
    check_blocking([&] { return MXDataIterNext(handle_, &more); });
    return more != 0;
  }
  void before_first() {
    check_blocking([&] { return MXDataIterBeforeFirst(handle_); });
  }
  py::object data() const {
    NDArrayHandle array = nullptr;
    check(MXDataIterGetData(handle_, &array));
    return wrapped(array);
  }
  py::object label() const {
    NDArrayHandle array = nullptr;
    check(MXDataIterGetLabel(handle_, &array));
    return wrapped(array);
  }
  int pad() const {
    int pad = 0;
    check(MXDataIterGetPadNum(handle_, &pad));
    return pad;
  }
  std::vector<uint64_t> index() const {
    uint64_t* index = nullptr;
    uint64_t size = 0;
    check(MXDataIterGetIndex(handle_, &index, &size));
    return {index, index + size};
  }

 private:
  DataIterHandle handle_ = nullptr;
};

}  // namespace

void register_data_iter(py::module_& module) {
  module.def("data_iters", &data_iters);
  py::class_<DataIter>(module, "DataIter")
      .def(py::init<const std::string&, const py::dict&>(), py::arg("name"), py::arg("params"))
      .def("next", &DataIter::next)
      .def("before_first", &DataIter::before_first)
      .def("data", &DataIter::data)
      .def("label", &DataIter::label)
      .def("pad", &DataIter::pad)
      .def("index", [](const DataIter& iter) { return py::cast(iter.index()); });
}

}  // namespace mxnet::python
