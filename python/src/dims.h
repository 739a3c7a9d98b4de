// SPDX-License-Identifier: Apache-2.0
// Shapes as Python gives them: a tuple or a list of integers, read without an allocation.
#pragma once
#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mxnet::python {

class GivenDims {
 public:
  // Throws for what is neither a tuple nor a list, and for elements that are no integers. How many
  // there may be is the library's to say.
  explicit GivenDims(PyObject* given) {
    if (!PyTuple_Check(given) && !PyList_Check(given))
      throw pybind11::type_error(std::string("given ") + Py_TYPE(given)->tp_name +
                                 " as shape, expected a tuple of integers");
    count_ = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(given));
    if (count_ > few_.size()) many_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      PyObject* dim = PySequence_Fast_GET_ITEM(given, static_cast<Py_ssize_t>(i));
      data()[i] = PyLong_AsLongLong(dim);
      if (data()[i] == -1 && PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
    }
  }
  int count() const { return static_cast<int>(count_); }
  int64_t* data() { return count_ > few_.size() ? many_.data() : few_.data(); }

 private:
  std::array<int64_t, 8> few_;
  std::vector<int64_t> many_;
  std::size_t count_ = 0;
};

}  // namespace mxnet::python
