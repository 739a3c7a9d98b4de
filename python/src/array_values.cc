// SPDX-License-Identifier: Apache-2.0
// Elements to and from the host: buffers, numbers, new arrays of NumPy's.
#include "array_values.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

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
    auto made = py::reinterpret_steal<py::object>(wrap_array(handle, 0, truth_of(args[4])));
    if (!made) throw py::error_already_set();
    if (values.elements() > 0)
      check_blocking(
          [&] { return MXNDArraySyncCopyFromCPU(handle, values.data(), values.elements()); });
    return made;
  });
}

// Nested lists of Python's numbers.
struct Numbers {
  std::vector<int64_t> dims;
  std::vector<float> values;  // in C's order
};

bool is_list(PyObject* object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }

// False for what NumPy warns of or reads in another way: a number beyond float32, or an integer
// that is no float64.
bool add_number(PyObject* object, std::vector<float>* values) {
  constexpr double kMost = std::numeric_limits<float>::max();
  constexpr int64_t kExact = int64_t{1} << 53;
  if (PyFloat_CheckExact(object)) {
    const double number = PyFloat_AS_DOUBLE(object);
    if (std::isfinite(number) && std::abs(number) > kMost) return false;
    values->push_back(static_cast<float>(number));
    return true;
  }
  if (!PyLong_CheckExact(object) && !PyBool_Check(object)) return false;
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0 || number > kExact || number < -kExact) return false;
  values->push_back(static_cast<float>(number));
  return true;
}

// False for lists of several lengths, of none, and of anything but numbers.
bool add_list(PyObject* list, std::size_t depth, Numbers* numbers) {
  constexpr std::size_t kMostDims = 16;
  const Py_ssize_t length = PySequence_Fast_GET_SIZE(list);
  PyObject** items = PySequence_Fast_ITEMS(list);
  if (length == 0) return false;
  if (depth < numbers->dims.size()) {
    if (numbers->dims[depth] != length) return false;
  } else if (numbers->values.empty() && depth < kMostDims) {
    numbers->dims.push_back(length);  // on the way to the first number
  } else {
    return false;
  }
  const bool nested = is_list(items[0]);
  if (!nested && depth + 1 != numbers->dims.size()) return false;
  for (Py_ssize_t i = 0; i < length; ++i) {
    const bool fits = nested ? is_list(items[i]) && add_list(items[i], depth + 1, numbers)
                             : add_number(items[i], &numbers->values);
    if (!fits) return false;
  }
  return true;
}

// create_of_list(list, dev_type, dev_id, numpy): the numbers of nested lists as float32. None where
// they are anything else, which the caller knows what to say of.
PyObject* create_of_list(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 4) throw py::type_error("create_of_list: expected 4 arguments");
    Numbers numbers;
    if (!is_list(args[0]) || !add_list(args[0], 0, &numbers)) return py::none();
    NDArrayHandle handle = nullptr;
    check(MXNDArrayCreateEx64(numbers.dims.data(), static_cast<int>(numbers.dims.size()),
                              int_of(args[1]), int_of(args[2]), 0, 0, &handle));
    auto made = py::reinterpret_steal<py::object>(wrap_array(handle, 0, truth_of(args[3])));
    if (!made) throw py::error_already_set();
    check_blocking([&] {
      return MXNDArraySyncCopyFromCPU(handle, numbers.values.data(), numbers.values.size());
    });
    return made;
  });
}

PyMethodDef kFunctions[] = {fast_method("create", create, nullptr),
                            fast_method("create_of", create_of, nullptr),
                            fast_method("create_of_list", create_of_list, nullptr),
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
