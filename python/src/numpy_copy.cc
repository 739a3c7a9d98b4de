// SPDX-License-Identifier: Apache-2.0
// NumPy's arrays are read where they lie, through the buffer protocol.
#include "numpy_copy.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "array.h"
#include "array_facts.h"
#include "call_errors.h"
#include "check.h"
#include "mxnet/c_api_ext.h"
#include "numpy_elements.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// The library's number of a type as the module struct writes it, in the machine's order of bytes;
// -1 where it has none.
int number_of_format(const char* format) {
  if (format == nullptr) return -1;
  const std::string_view text(format);
  // Sizes are the usual ones where NumPy names an order, which it does of what is not aligned, and
  // before NumPy 2 also of what was asked for in the machine's own.
  constexpr char kOwnOrder = std::endian::native == std::endian::little ? '<' : '>';
  const bool named = text.starts_with('=') || text.starts_with(kOwnOrder);
  const std::string_view type = named ? text.substr(1) : text;
  if (type.size() != 1) return -1;
  switch (type[0]) {
    case 'f':
      return kFloat32;
    case 'd':
      return kFloat64;
    case 'e':
      return kFloat16;
    case 'B':
      return kUint8;
    case 'i':
      return kInt32;
    case 'b':
      return kInt8;
    case 'l':
      return named ? kInt32 : kInt64;
    case 'q':
      return kInt64;
    case '?':
      return kBool;
    default:
      return -1;
  }
}

class StridedElements : public NumpyBuffer {
 public:
  explicit StridedElements(PyObject* array) : NumpyBuffer(array, PyBUF_STRIDES) {}
  int dtype() const { return there_ ? number_of_format(view_.format) : -1; }
  bool contiguous() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }
  bool aligned() const {
    const Py_ssize_t item = view_.itemsize;
    bool fits = reinterpret_cast<uintptr_t>(view_.buf) % static_cast<uintptr_t>(item) == 0;
    for (int i = 0; i < view_.ndim; ++i)
      fits = fits && (view_.shape[i] <= 1 || view_.strides[i] % item == 0);
    return fits;
  }
  // Whether the library can read them for an array of a type.
  bool readable_as(int wanted) const {
    const int given = dtype();
    const bool same = given == wanted, converts = wanted == kFloat32 || wanted == kFloat64;
    return given >= 0 && (same || converts) && ((same && contiguous()) || aligned());
  }
  const int64_t* dims() const { return reinterpret_cast<const int64_t*>(view_.shape); }
  const int64_t* strides() const { return reinterpret_cast<const int64_t*>(view_.strides); }
  int ndim() const { return view_.ndim; }
  const void* data() const { return view_.buf; }
};
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));

// create_of(values, dev_type, dev_id, dtype, numpy): copy_of_numpy(), None for null.
PyObject* create_of(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 5) throw py::type_error("create_of: expected 5 arguments");
    py::object made = copy_of_numpy(args[0], int_of(args[3]), int_of(args[1]), int_of(args[2]),
                                    truth_of(args[4]));
    return made ? made : py::none();
  });
}

PyMethodDef kFunctions[] = {fast_method("create_of", create_of, nullptr),
                            {nullptr, nullptr, 0, nullptr}};

}  // namespace

py::object copy_of_numpy(PyObject* values, int dtype, int dev_type, int dev_id, bool numpy) {
  if (!is_numpy_array(values)) return {};
  const StridedElements given(values);
  if (!given.readable_as(dtype)) return {};
  NDArrayHandle handle = nullptr;
  check(MXNDArrayCreateEx64(given.dims(), given.ndim(), dev_type, dev_id, 0, dtype, &handle));
  auto made = py::reinterpret_steal<py::object>(wrap_array(handle, 0, numpy));
  if (!made) throw py::error_already_set();
  if (given.count() == 0) return made;
  int overflows = 0;
  check_blocking([&] {
    if (given.dtype() == dtype && given.contiguous())
      return MXNDArraySyncCopyFromCPU(handle, given.data(),
                                      static_cast<std::size_t>(given.count()));
    return MXNDArraySyncCopyFromStrided(handle, given.data(), given.dtype(), given.ndim(),
                                        given.strides(), &overflows);
  });
  return overflows != 0 ? py::object() : made;
}

bool write_numpy_if_free(PyObject* values, NDArrayHandle array, int ndim, const int64_t* dims) {
  const StridedElements given(values);
  int dtype = 0, done = 0;
  check(MXNDArrayGetDType(array, &dtype));
  if (!given.readable_as(dtype) || !given.aligned() || given.ndim() != ndim ||
      !std::equal(dims, dims + ndim, given.dims()))
    return false;
  check_blocking([&] {
    return MXNDArrayCopyFromStridedIfFree(array, given.data(), given.dtype(), ndim, given.strides(),
                                          &done);
  });
  return done != 0;
}

void register_numpy_copy(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
}

}  // namespace mxnet::python
