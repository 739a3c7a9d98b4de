// SPDX-License-Identifier: Apache-2.0
// The buffer protocol, both ways. Who reads an array gets its values at that moment: NumPy's
// asarray() must not show what the engine does to the array later. Who asks for memory to write to
// gets the array's own.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array.h"
#include "call_errors.h"
#include "check.h"
#include "dlpack.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

struct Element {
  int dtype;  // as MXNDArrayGetDType numbers it
  const char* format;
  int size;
};
// All types that the protocol has a letter for; bfloat16 has none.
constexpr Element kElements[] = {{0, "f", 4}, {1, "d", 8}, {2, "e", 2}, {3, "B", 1},
                                 {4, "i", 4}, {5, "b", 1}, {6, "q", 8}, {7, "?", 1}};

// What a view points to besides the elements.
struct Exported {
  std::vector<Py_ssize_t> shape, strides;
  std::vector<char> values;  // of readers
};

[[noreturn]] void refuse(const char* text) {
  PyErr_SetString(PyExc_BufferError, text);
  throw py::error_already_set();
}

const Element& element_of(int dtype) {
  for (const Element& element : kElements)
    if (element.dtype == dtype) return element;
  refuse("given an array of a type that buffers have no letter for");
}

// Rows behind each other; returns their bytes.
Py_ssize_t lay_out(Exported& exported, std::span<const int64_t> dims, const Element& element) {
  exported.shape.assign(dims.begin(), dims.end());
  exported.strides.resize(dims.size());
  Py_ssize_t bytes = element.size;
  for (std::size_t i = dims.size(); i-- > 0; bytes *= exported.shape[i])
    exported.strides[i] = bytes;
  return bytes;
}

// The array's own memory, when whatever uses it has ended.
void* lend(PyObject* array) {
  if (!as_array(array)->writable) refuse("given a read-only array, expected a writable one");
  const NDArrayHandle handle = as_array(array)->handle;
  void* data = nullptr;
  check_blocking([&] { return MXNDArrayWaitToWrite(handle); });
  check(MXNDArrayGetData(handle, &data));
  return data;
}

// A copy, so that what the array becomes later is not seen.
void* copied(NDArrayHandle handle, Exported& exported, std::size_t bytes, const Element& element) {
  exported.values.resize(bytes);
  void* const data = exported.values.data();
  const std::size_t count = bytes / static_cast<std::size_t>(element.size);
  if (count > 0) check_blocking([&] { return MXNDArraySyncCopyToCPU(handle, data, count); });
  return data;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  PyObject* done = guarded_call([&] {
    const NDArrayHandle handle = as_array(self)->handle;
    int dtype = 0, ndim = 0, storage_type = 0, dev_type = 0, dev_id = 0;
    const int64_t* dims = nullptr;
    check(MXNDArrayGetStorageType(handle, &storage_type));
    check(MXNDArrayGetContext(handle, &dev_type, &dev_id));
    if (storage_type != 0 || dev_type == 2)
      refuse("given an array that is sparse or not in host memory");
    check(MXNDArrayGetDType(handle, &dtype));
    const Element& element = element_of(dtype);
    check(MXNDArrayGetShapeEx64(handle, &ndim, &dims));
    auto exported = std::make_unique<Exported>();
    const Py_ssize_t bytes = lay_out(*exported, {dims, static_cast<std::size_t>(ndim)}, element);
    if ((flags & PyBUF_WRITABLE) != 0)
      view->buf = lend(self);
    else
      view->buf = copied(handle, *exported, static_cast<std::size_t>(bytes), element);
    view->len = bytes;
    view->readonly = 0;
    view->itemsize = element.size;
    view->ndim = ndim;
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(element.format) : nullptr;
    view->shape = (flags & PyBUF_ND) != 0 ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = exported.release();
    view->obj = new_reference(self);
    return new_reference(Py_None);
  });
  Py_XDECREF(done);
  return done == nullptr ? -1 : 0;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

// Another object's memory as the library takes it over.
struct Borrowed {
  DLManagedTensor tensor;
  Py_buffer view;
  std::vector<int64_t> shape;
};

// Called by the library, on any thread, after the last use.
void give_back(DLManagedTensor* tensor) {
  auto* borrowed = static_cast<Borrowed*>(tensor->context);
  if (Py_IsInitialized() == 0) return;  // the interpreter is gone, and the memory with it
  const Gil held;
  PyBuffer_Release(&borrowed->view);
  delete borrowed;
}

DLDataType dlpack_type(int dtype, int bits) {
  constexpr uint8_t kSigned = 0, kUnsigned = 1, kFloat = 2, kBool = 6;
  constexpr uint8_t kCodes[] = {kFloat,  kFloat,  kFloat,  kUnsigned,
                                kSigned, kSigned, kSigned, kBool};
  return {kCodes[dtype], static_cast<uint8_t>(bits), 1};
}

// An array on the memory of an object, which may not change it any more. `dtype` is the type that
// the caller knows its elements to have.
py::object from_buffer(const py::handle& object, int dtype, bool numpy) {
  const Element& element = element_of(dtype);
  auto borrowed = std::make_unique<Borrowed>();
  if (PyObject_GetBuffer(object.ptr(), &borrowed->view, PyBUF_C_CONTIGUOUS) != 0)
    throw py::error_already_set();
  Py_buffer& view = borrowed->view;
  if (view.itemsize != element.size) {
    PyBuffer_Release(&view);
    throw py::value_error("given elements of " + std::to_string(view.itemsize) +
                          " bytes, expected " + std::to_string(element.size));
  }
  borrowed->shape.assign(view.shape, view.shape + view.ndim);
  borrowed->tensor = {{view.buf,
                       {1, 0},
                       view.ndim,
                       dlpack_type(dtype, element.size * 8),
                       borrowed->shape.data(),
                       nullptr,
                       0},
                      borrowed.get(),
                      give_back};
  NDArrayHandle handle = nullptr;
  Borrowed* owned = borrowed.release();
  try {
    check(MXNDArrayFromDLPack(&owned->tensor, &handle));
  } catch (...) {
    give_back(&owned->tensor);
    throw;
  }
  return wrapped(handle, numpy);
}

}  // namespace

void append_buffer(std::vector<PyType_Slot>* slots) {
  slots->push_back(type_slot(Py_bf_getbuffer, get_buffer));
  slots->push_back(type_slot(Py_bf_releasebuffer, release_buffer));
}

void register_buffer(py::module_& module) { module.def("from_buffer", &from_buffer); }

}  // namespace mxnet::python
