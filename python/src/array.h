// SPDX-License-Identifier: Apache-2.0
// NDArrayBase: the Python object that owns a handle of an array. A plain CPython type, because
// making one is most of what a small operator costs.
#pragma once
#include <pybind11/pybind11.h>

#include <vector>

#include "kept_items.h"
#include "mxnet/c_api.h"

namespace mxnet::python {

// Guarded by the GIL.
struct ArrayObject {
  PyObject_HEAD NDArrayHandle handle;
  PyObject* weak_references;
  bool writable;
  bool numpy;  // an mx.np array: its arithmetic is that of NumPy
};

// What Python hands over at its start; owned references, never given back.
struct ArrayClasses {
  PyTypeObject* dense = nullptr;
  PyTypeObject* row_sparse = nullptr;
  PyTypeObject* csr = nullptr;
  PyTypeObject* numpy = nullptr;
  PyTypeObject* scalar = nullptr;  // numpy.generic
};
ArrayClasses& array_classes();

PyTypeObject* array_base();
// Adds the slots of the buffer protocol.
void append_buffer(std::vector<PyType_Slot>* slots);
// Adds array[key].
void append_indexing(std::vector<PyType_Slot>* slots);
inline bool is_array(PyObject* object) { return PyObject_TypeCheck(object, array_base()) != 0; }
inline ArrayObject* as_array(PyObject* object) { return reinterpret_cast<ArrayObject*>(object); }
// A new reference that owns the handle, or null with an exception set (the handle is freed then).
PyObject* wrap_array(NDArrayHandle handle, int storage_type, bool numpy);
// One array, or a list of them; all handles are owned or freed.
PyObject* wrap_results(int count, NDArrayHandle* handles, const int* storage_types, bool numpy);
// As wrap_array, but throws and finds the storage type itself.
pybind11::object wrapped(NDArrayHandle handle, bool numpy = false);
[[noreturn]] void fail_without_array(PyObject* object);
[[noreturn]] void fail_read_only();
// The handle behind an object; throws TypeError for anything but an array.
inline NDArrayHandle handle_of(pybind11::handle object) {
  if (!is_array(object.ptr())) fail_without_array(object.ptr());
  return as_array(object.ptr())->handle;
}
// The same for what is written; throws ValueError for a read-only array.
inline NDArrayHandle output_handle_of(pybind11::handle object) {
  const NDArrayHandle handle = handle_of(object);
  if (!as_array(object.ptr())->writable) fail_read_only();
  return handle;
}
// The handles of a sequence's arrays, which live as long as this: while a call runs without the
// GIL, another thread may empty the sequence.
class Handles {
 public:
  Handles() = default;
  Handles(const pybind11::sequence& arrays, bool null_for_none);
  NDArrayHandle* data() { return handles_.data(); }
  std::size_t size() const { return handles_.size(); }
  bool empty() const { return handles_.empty(); }

 private:
  KeptItems arrays_;
  std::vector<NDArrayHandle> handles_;
};
inline Handles handles_of(const pybind11::sequence& arrays) { return {arrays, false}; }
// The same with null for None.
inline Handles optional_handles_of(const pybind11::sequence& arrays) { return {arrays, true}; }
// The number of elements. Where the shape is not known it is 0 with NumPy's shapes, and 1 without:
// there the library shows no dimensions. Throws what asking for the shape throws.
int64_t size_of(NDArrayHandle handle);

}  // namespace mxnet::python
