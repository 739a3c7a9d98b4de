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

// A contiguous buffer of another object, to be written to, for the time of a copy.
class Buffer {
 public:
  explicit Buffer(PyObject* object) {
    if (PyObject_GetBuffer(object, &view_, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0)
      throw py::error_already_set();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() const { return view_.buf; }
  std::size_t elements() const { return static_cast<std::size_t>(view_.len / view_.itemsize); }

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

constexpr int kTypes = 13;  // of the library, by their numbers
// What Python left, guarded by the GIL; owned references, never given back. By the kind of array
// (mx.nd, mx.np) and the type's number + 1, which is 0 where an array has no type.
PyObject* g_shown[2][kTypes + 1];

// A type of NumPy's scalars.
struct Scalar {
  PyTypeObject* type = nullptr;
  std::size_t size = 0;
  // Its objects hold the element behind their head, as NumPy's headers say, and so did one that was
  // looked at: they can be made without a call.
  bool plain = false;
};
Scalar g_scalars[kTypes];

char* value_in(PyObject* scalar) { return reinterpret_cast<char*>(scalar) + sizeof(PyObject); }

// A NumPy scalar with the value of an element; None where NumPy has no such type.
py::object numpy_scalar(const void* element, int dtype) {
  if (dtype < 0 || dtype >= kTypes || g_scalars[dtype].type == nullptr) return py::none();
  const Scalar& scalar = g_scalars[dtype];
  if (!scalar.plain) {
    py::object number = number_of(element, dtype);
    if (number.is_none()) return number;
    return py::handle(reinterpret_cast<PyObject*>(scalar.type))(number);
  }
  auto made = py::reinterpret_steal<py::object>(scalar.type->tp_alloc(scalar.type, 0));
  if (!made) throw py::error_already_set();
  std::memcpy(value_in(made.ptr()), element, scalar.size);
  return made;
}

// The one element of a dense array. False: there are several, or none.
bool read_only_element(PyObject* self, int64_t* element, int* dtype) {
  const NDArrayHandle handle = as_array(self)->handle;
  int storage_type = 0;
  check(MXNDArrayGetStorageType(handle, &storage_type));
  check(MXNDArrayGetDType(handle, dtype));
  if (storage_type != 0 || size_of(handle) != 1) return false;
  // 8 bytes are at least as large as an element of any type.
  check_blocking([&] { return MXNDArraySyncCopyToCPU(handle, element, 1); });
  return true;
}

// set_dtypes(numpy, {number: what dtype shows}).
void set_dtypes(bool numpy, const py::dict& shown) {
  for (const auto& [number, dtype] : shown)
    g_shown[numpy][py::cast<int>(number) + 1] = dtype.inc_ref().ptr();
}

// set_scalars({number: (type, bytes of an element, its scalar)}): a bool's objects are two, and
// never made.
void set_scalars(const py::dict& types) {
  for (const auto& [number, row] : types) {
    const auto facts = py::cast<py::tuple>(row);
    const auto bytes = py::cast<std::string>(facts[1]);
    const py::object probe = facts[2];
    Scalar& scalar = g_scalars[py::cast<int>(number)];
    scalar.type = reinterpret_cast<PyTypeObject*>(py::object(facts[0]).release().ptr());
    scalar.size = bytes.size();
    scalar.plain =
        Py_TYPE(probe.ptr()) == scalar.type && Py_REFCNT(probe.ptr()) <= 2 &&
        scalar.type->tp_itemsize == 0 &&
        static_cast<std::size_t>(scalar.type->tp_basicsize) >= sizeof(PyObject) + bytes.size() &&
        std::memcmp(value_in(probe.ptr()), bytes.data(), bytes.size()) == 0;
  }
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
                            fast_method("create_of_list", create_of_list, nullptr),
                            {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* copy_to_buffer(PyObject* self, PyObject* target) {
  return returning([&]() -> py::object {
    const Buffer buffer(target);
    check_blocking([&] {
      return MXNDArraySyncCopyToCPU(as_array(self)->handle, buffer.data(), buffer.elements());
    });
    return py::none();
  });
}

PyObject* only_number(PyObject* self, PyObject*) {
  return returning([&]() -> py::object {
    int64_t element = 0;
    int dtype = 0;
    return read_only_element(self, &element, &dtype) ? number_of(&element, dtype) : py::none();
  });
}

PyObject* item_of(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    int64_t element = 0;
    int dtype = 0;
    if (count == 0 && read_only_element(self, &element, &dtype)) {
      py::object number =
          as_array(self)->numpy ? number_of(&element, dtype) : numpy_scalar(&element, dtype);
      if (!number.is_none()) return number;
    }
    py::tuple places(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(places.ptr(), i, new_reference(args[i]));
    return py::handle(self).attr("_item")(*places);
  });
}

PyObject* scalar_of(PyObject* self, PyObject*) {
  return returning([&]() -> py::object {
    int64_t element = 0;
    int dtype = 0;
    if (read_only_element(self, &element, &dtype)) {
      py::object scalar = numpy_scalar(&element, dtype);
      if (!scalar.is_none()) return scalar;
    }
    return py::handle(self).attr("_asscalar")();
  });
}

PyObject* float_of(PyObject* self) {
  return returning([&]() -> py::object {
    int64_t element = 0;
    int dtype = 0;
    if (read_only_element(self, &element, &dtype)) {
      py::object number = number_of(&element, dtype);
      if (PyFloat_CheckExact(number.ptr())) return number;
      if (!number.is_none()) return py::float_(number);
    }
    return py::handle(self).attr("_float")();
  });
}

PyObject* dtype_of(PyObject* self, void*) {
  return returning([&]() -> py::object {
    int dtype = 0;
    check(MXNDArrayGetDType(as_array(self)->handle, &dtype));
    PyObject* shown =
        dtype < -1 || dtype >= kTypes ? nullptr : g_shown[as_array(self)->numpy][dtype + 1];
    if (shown == nullptr) throw py::key_error(std::to_string(dtype));
    return py::reinterpret_borrow<py::object>(shown);
  });
}

void register_array_values(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
  module.def("set_dtypes", &set_dtypes, py::arg("numpy"), py::arg("shown"),
             "What the dtype of arrays of one kind is, by the library's number.");
  module.def("set_scalars", &set_scalars, py::arg("types"),
             "NumPy's scalars by the library's number: type, an element's bytes, a scalar of it.");
}

}  // namespace mxnet::python
