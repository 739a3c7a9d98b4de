// SPDX-License-Identifier: Apache-2.0
// Functions on arrays that are no operators: making, saving, loading, exchanging them.
#include <string>

#include <pybind11/stl.h>

#include "array.h"
#include "check.h"
#include "mxnet/c_api_ext.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// plain_ints(value): one of Python's integers or a tuple of them as a tuple; None for anything
// else, which ndarray/_integers.py reads.
PyObject* plain_ints(PyObject*, PyObject* value) {
  if (PyLong_CheckExact(value)) return PyTuple_Pack(1, value);
  if (!PyTuple_CheckExact(value)) return new_reference(Py_None);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
    if (!PyLong_CheckExact(PyTuple_GET_ITEM(value, i))) return new_reference(Py_None);
  return new_reference(value);
}

py::object create_sparse(int storage_type, const std::vector<int64_t>& shape, int dev_type,
                         int dev_id, bool delay_alloc, int dtype, std::vector<int> aux_types,
                         const std::vector<std::vector<int64_t>>& aux_shapes) {
  std::vector<int> aux_ndims;
  std::vector<int64_t> aux_dims;
  for (const std::vector<int64_t>& aux : aux_shapes) {
    aux_ndims.push_back(static_cast<int>(aux.size()));
    aux_dims.insert(aux_dims.end(), aux.begin(), aux.end());
  }
  NDArrayHandle handle = nullptr;
  check(MXNDArrayCreateSparseEx64(storage_type, shape.data(), static_cast<int>(shape.size()),
                                  dev_type, dev_id, delay_alloc ? 1 : 0, dtype,
                                  static_cast<uint32_t>(aux_types.size()), aux_types.data(),
                                  aux_ndims.data(), aux_dims.data(), &handle));
  return wrapped(handle);
}

void save(const std::string& file, const py::sequence& arrays, const py::object& names) {
  Handles handles = handles_of(arrays);
  std::vector<std::string> texts;
  std::vector<const char*> keys;
  if (!names.is_none()) texts = py::cast<std::vector<std::string>>(names);
  keys.reserve(texts.size());
  for (const std::string& text : texts) keys.push_back(text.c_str());
  check_blocking([&] {
    return MXNDArraySave(file.c_str(), static_cast<uint32_t>(handles.size()), handles.data(),
                         names.is_none() ? nullptr : keys.data());
  });
}

// Arrays and names; the names are empty for a list.
template <class Load>
py::tuple loaded(Load&& load, bool numpy) {
  uint32_t count = 0, num_names = 0;
  NDArrayHandle* handles = nullptr;
  const char** names = nullptr;
  check_blocking([&] { return load(&count, &handles, &num_names, &names); });
  // All are ours at once, so that a failure in between frees the rest.
  const std::vector<NDArrayHandle> all(handles, handles + count);
  py::list keys, arrays;
  for (uint32_t i = 0; i < num_names; ++i) keys.append(py::str(names[i]));
  for (const NDArrayHandle handle : all) arrays.append(wrapped(handle, numpy));
  return py::make_tuple(arrays, keys);
}

py::bytes to_bytes(const py::handle& array) {
  const NDArrayHandle handle = handle_of(array);
  std::size_t size = 0;
  const char* bytes = nullptr;
  check_blocking([&] { return MXNDArraySaveRawBytes(handle, &size, &bytes); });
  return py::bytes(bytes, size);
}

py::object from_bytes(const py::bytes& bytes, bool numpy) {
  const auto view = static_cast<std::string_view>(bytes);
  NDArrayHandle handle = nullptr;
  check(MXNDArrayLoadFromRawBytes(view.data(), view.size(), &handle));
  return wrapped(handle, numpy);
}

constexpr const char* kFresh = "dltensor";
constexpr const char* kUsed = "used_dltensor";

// A capsule nobody has used gives its tensor back.
void free_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kFresh) != 0)
    MXNDArrayCallDLPackDeleter(PyCapsule_GetPointer(capsule, kFresh));
}

py::object to_dlpack(const py::handle& array) {
  const NDArrayHandle handle = handle_of(array);
  DLManagedTensorHandle tensor = nullptr;
  check_blocking([&] { return MXNDArrayToDLPack(handle, &tensor); });
  return py::reinterpret_steal<py::object>(PyCapsule_New(tensor, kFresh, free_capsule));
}

py::object from_dlpack(const py::handle& capsule, bool numpy) {
  if (PyCapsule_IsValid(capsule.ptr(), kFresh) == 0)
    throw py::value_error(
        "from_dlpack: given no capsule, or one that was taken already, "
        "expected one of DLPack, which can be taken once");
  void* tensor = PyCapsule_GetPointer(capsule.ptr(), kFresh);
  NDArrayHandle handle = nullptr;
  check(MXNDArrayFromDLPack(tensor, &handle));
  PyCapsule_SetName(capsule.ptr(), kUsed);
  PyCapsule_SetDestructor(capsule.ptr(), nullptr);
  return wrapped(handle, numpy);
}

// data_to_read(array): the address of its values, and their version.
py::tuple data_to_read(const py::handle& array) {
  const NDArrayHandle handle = handle_of(array);
  const void* data = nullptr;
  uint64_t version = 0;
  check_blocking([&] { return MXNDArrayGetDataToRead(handle, &data, &version); });
  return py::make_tuple(reinterpret_cast<uintptr_t>(data), version);
}

PyMethodDef kFunctions[] = {{"plain_ints", plain_ints, METH_O, nullptr},
                            {nullptr, nullptr, 0, nullptr}};

}  // namespace

void register_array_functions(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
  module.def("create_none", [](bool numpy) {
    NDArrayHandle handle = nullptr;
    check(MXNDArrayCreateNone(&handle));
    return wrapped(handle, numpy);
  });
  module.def("create_sparse", &create_sparse);
  module.def("sync_copy", [](py::handle target, py::handle source, int part) {
    const NDArrayHandle to = handle_of(target), from = handle_of(source);
    check_blocking([&] { return MXNDArraySyncCopyFromNDArray(to, from, part); });
  });
  module.def("check_format", [](py::handle array, bool full) {
    const NDArrayHandle handle = handle_of(array);
    check_blocking([&] { return MXNDArraySyncCheckFormat(handle, full); });
  });
  module.def("sparse_data", [](py::handle array) {
    NDArrayHandle part = nullptr;
    check(MXNDArrayGetDataNDArray(handle_of(array), &part));
    return wrapped(part);
  });
  module.def("sparse_aux", [](py::handle array, int64_t i) {
    NDArrayHandle part = nullptr;
    check(MXNDArrayGetAuxNDArray64(handle_of(array), i, &part));
    return wrapped(part);
  });
  module.def("wait_all", [] { check_blocking([] { return MXNDArrayWaitAll(); }); });
  module.def("save", &save);
  module.def("load", [](const std::string& file, bool numpy) {
    return loaded([&](auto... out) { return MXNDArrayLoad(file.c_str(), out...); }, numpy);
  });
  module.def("load_buffer", [](const py::bytes& bytes, bool numpy) {
    const auto view = static_cast<std::string_view>(bytes);
    return loaded(
        [&](auto... out) { return MXNDArrayLoadFromBuffer(view.data(), view.size(), out...); },
        numpy);
  });
  module.def("to_bytes", &to_bytes);
  module.def("from_bytes", &from_bytes);
  module.def("to_dlpack", &to_dlpack);
  module.def("from_dlpack", &from_dlpack);
  module.def("data_to_read", &data_to_read);
  module.def("seed", [](int seed) { check(MXRandomSeed(seed)); });
  module.def("seed_context", [](int seed, int dev_type, int dev_id) {
    check(MXRandomSeedContext(seed, dev_type, dev_id));
  });
  module.def("is_np_shape", [] {
    int mode = 0;
    check(MXIsNumpyShape(&mode));
    return mode;
  });
  module.def("set_np_shape", [](int mode) {
    int before = 0;
    check(MXSetIsNumpyShape(mode, &before));
    return before;
  });
}

}  // namespace mxnet::python
