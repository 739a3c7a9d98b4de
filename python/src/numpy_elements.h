// SPDX-License-Identifier: Apache-2.0
// NumPy's arrays as buffers: their elements where they lie.
#pragma once
#include <pybind11/pybind11.h>

#include <cstring>

namespace mxnet::python {

inline bool is_numpy_array(PyObject* object) {
  return std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") == 0;
}

// The buffer of one of NumPy's arrays, if it has one of this kind.
class NumpyBuffer {
 public:
  NumpyBuffer(const NumpyBuffer&) = delete;
  NumpyBuffer& operator=(const NumpyBuffer&) = delete;
  Py_ssize_t count() const { return view_.len / view_.itemsize; }

 protected:
  NumpyBuffer(PyObject* array, int flags)
      : there_(PyObject_GetBuffer(array, &view_, flags | PyBUF_FORMAT) == 0) {
    if (!there_) PyErr_Clear();
  }
  ~NumpyBuffer() {
    if (there_) PyBuffer_Release(&view_);
  }
  Py_buffer view_{};
  const bool there_;
};

// The elements of one of NumPy's arrays where they lie, if they are in C's order.
class NumpyElements : public NumpyBuffer {
 public:
  explicit NumpyElements(PyObject* array) : NumpyBuffer(array, PyBUF_C_CONTIGUOUS) {}
  // Whether they are of a type that `formats` has, as the module struct writes it.
  bool are(const char* formats) const {
    return there_ && view_.ndim > 0 && view_.format != nullptr && view_.format[1] == 0 &&
           std::strchr(formats, view_.format[0]) != nullptr;
  }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(view_.buf);
  }
  Py_ssize_t item_size() const { return view_.itemsize; }
  int ndim() const { return view_.ndim; }
  const Py_ssize_t* dims() const { return view_.shape; }
};

}  // namespace mxnet::python
