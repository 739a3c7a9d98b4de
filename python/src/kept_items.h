// SPDX-License-Identifier: Apache-2.0
// The arrays of a list that a call is given: while it runs without the GIL, another thread may
// empty the list. A tuple made of it would cost a small call some percent of its time.
#pragma once
#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>

namespace mxnet::python {

// What a sequence holds when it is kept lives as long as this. Needs the GIL, also at its end.
class KeptItems {
 public:
  KeptItems() = default;
  ~KeptItems() {
    for (std::size_t i = 0; i < num_own_; ++i) Py_DECREF(own_[i]);
  }
  KeptItems(const KeptItems&) = delete;
  KeptItems& operator=(const KeptItems&) = delete;

  // To be called once. A tuple is kept itself.
  void keep(PyObject* sequence) {
    if (PyList_CheckExact(sequence) && PyList_GET_SIZE(sequence) <= kMostOwn) {
      const auto size = static_cast<std::size_t>(PyList_GET_SIZE(sequence));
      PyObject* const* const items = PySequence_Fast_ITEMS(sequence);
      for (; num_own_ < size; ++num_own_) {
        Py_INCREF(items[num_own_]);
        own_[num_own_] = items[num_own_];
      }
      size_ = size;
      items_ = own_.data();
      return;
    }
    tuple_ = pybind11::reinterpret_steal<pybind11::object>(PySequence_Tuple(sequence));
    if (!tuple_) throw pybind11::error_already_set();
    size_ = static_cast<std::size_t>(PyTuple_GET_SIZE(tuple_.ptr()));
    items_ = PySequence_Fast_ITEMS(tuple_.ptr());
  }

  std::size_t size() const { return size_; }
  PyObject* operator[](std::size_t i) const { return items_[i]; }
  PyObject* const* begin() const { return items_; }
  PyObject* const* end() const { return items_ + size_; }

 private:
  static constexpr Py_ssize_t kMostOwn = 16;  // as many as calls of mx.np take the short way with

  std::array<PyObject*, kMostOwn> own_;  // the first num_own_ of them, with a reference each
  std::size_t num_own_ = 0, size_ = 0;
  PyObject* const* items_ = nullptr;
  pybind11::object tuple_;
};

}  // namespace mxnet::python
