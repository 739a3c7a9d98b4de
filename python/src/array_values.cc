// SPDX-License-Identifier: Apache-2.0
// Elements to and from the host: buffers, numbers, new arrays of NumPy's.
#include "array_values.h"

#include <cstdint>
#include <cstring>

#include "array.h"
#include "call_errors.h"
#include "check.h"
#include "dims.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// A contiguous buffer of another object for the time of a copy.
class Buffer {
 public:
  Buffer(PyObject* object, int flags) {
    if (PyObject_GetBuffer(object, &view_, flags) != 0) throw py::error_already_set();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() const { return view_.buf; }
  std::size_t elements() const { return static_cast<std::size_t>(view_.len / view_.itemsize); }
  int ndim() const { return view_.ndim; }
  const Py_ssize_t* dims() const { return view_.shape; }

 private:
  Py_buffer view_{};
};

template <class T>
T read(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

// An element as Python's number; None for the types of two bytes, which NumPy reads.
py::object number_of(const void* element, int dtype) {
  switch (dtype) {
    case 0:
      return py::float_(read<float>(element));
    case 1:
      return py::float_(read<double>(element));
    case 3:
      return py::int_(read<uint8_t>(element));
    case 4:
      return py::int_(read<int32_t>(element));
    case 5:
      return py::int_(read<int8_t>(element));
    case 6:
      return py::int_(read<int64_t>(element));
    case 7:
      return py::bool_(read<uint8_t>(element) != 0);
    default:
      return py::none();
  }
}

int int_of(PyObject* number) {
  const long value = PyLong_AsLong(number);
  if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return static_cast<int>(value);
}

// create(shape, dev_type, dev_id, delay_alloc, dtype, numpy): a dense array.
PyObject* create(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded_call([&] {
    if (count != 6) throw py::type_error("create: expected 6 arguments");
    GivenDims shape(args[0]);
    NDArrayHandle handle = nullptr;
    check(MXNDArrayCreateEx64(shape.data(), shape.count(), int_of(args[1]), int_of(args[2]),
                              truth_of(args[3]), int_of(args[4]), &handle));
    return wrap_array(handle, 0, truth_of(args[5]));
  });
}

// create_of(values, dev_type, dev_id, dtype, numpy): a dense array in the shape and with the values
// of a NumPy array, whose elements the caller knows to have that type and to lie in C's order.
PyObject* create_of(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 5) throw py::type_error("create_of: expected 5 arguments");
    const Buffer values(args[0], PyBUF_C_CONTIGUOUS);
    static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
    NDArrayHandle handle = nullptr;
    check(MXNDArrayCreateEx64(reinterpret_cast<const int64_t*>(values.dims()), values.ndim(),
                              int_of(args[1]), int_of(args[2]), 0, int_of(args[3]), &handle));
    auto made =
        py::reinterpret_steal<py::object>(wrap_array(handle, 0, truth_of(args[4])));
    if (!made) throw py::error_already_set();
    if (values.elements() > 0)
      check_blocking(
          [&] { return MXNDArraySyncCopyFromCPU(handle, values.data(), values.elements()); });
    return made;
  });
}

PyMethodDef kFunctions[] = {fast_method("create", create, nullptr),
                            fast_method("create_of", create_of, nullptr),
                            {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* copy_to_buffer(PyObject* self, PyObject* target) {
  return returning([&]() -> py::object {
    const Buffer buffer(target, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
    check_blocking([&] {
      return MXNDArraySyncCopyToCPU(as_array(self)->handle, buffer.data(), buffer.elements());
    });
    return py::none();
  });
}

PyObject* only_number(PyObject* self, PyObject*) {
  return returning([&]() -> py::object {
    const NDArrayHandle handle = as_array(self)->handle;
    int storage_type = 0, dtype = 0;
    check(MXNDArrayGetStorageType(handle, &storage_type));
    check(MXNDArrayGetDType(handle, &dtype));
    if (storage_type != 0 || size_of(handle) != 1) return py::none();
    int64_t element = 0;  // at least as large as that of any type
    check_blocking([&] { return MXNDArraySyncCopyToCPU(handle, &element, 1); });
    return number_of(&element, dtype);
  });
}

void register_array_values(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
}

}  // namespace mxnet::python
