// SPDX-License-Identifier: Apache-2.0
// Symbols: SymbolBase owns a handle; what is decided about names and attributes is in
// mxnet/symbol.
#include "symbol.h"

#include <pybind11/stl.h>

#include <map>

#include "check.h"
#include "pointers.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

Texts texts_of(uint32_t count, const char** texts) { return Texts(texts, texts + count); }

template <int (*kList)(SymbolHandle, uint32_t*, const char***)>
Texts listed(const SymbolBase& symbol) {
  uint32_t count = 0;
  const char** texts = nullptr;
  check(kList(symbol.handle(), &count, &texts));
  return texts_of(count, texts);
}

Texts list_inputs(const SymbolBase& symbol) {
  uint32_t count = 0;
  const char** texts = nullptr;
  check(NNSymbolListInputNames(symbol.handle(), 0, &count, &texts));
  return texts_of(count, texts);
}

template <int (*kMake)(SymbolHandle, SymbolHandle*)>
std::unique_ptr<SymbolBase> derived(const SymbolBase& symbol) {
  SymbolHandle handle = nullptr;
  check(kMake(symbol.handle(), &handle));
  return handle == nullptr ? nullptr : owned_symbol(handle);
}

// What a function of the ABI makes.
template <class Make>
std::unique_ptr<SymbolBase> made(const Make& make) {
  SymbolHandle handle = nullptr;
  check(make(&handle));
  return owned_symbol(handle);
}

std::unique_ptr<SymbolBase> atomic(const std::string& op, const Texts& keys, const Texts& values) {
  OpHandle operator_handle = nullptr;
  check(NNGetOpHandle(op.c_str(), &operator_handle));
  return made([&](SymbolHandle* handle) {
    return MXSymbolCreateAtomicSymbol(operator_handle, static_cast<uint32_t>(keys.size()),
                                      pointers(keys).data(), pointers(values).data(), handle);
  });
}

void compose(const SymbolBase& symbol, const std::string& name, const Texts& keys,
             const std::vector<const SymbolBase*>& inputs) {
  std::vector<SymbolHandle> handles;
  handles.reserve(inputs.size());
  for (const SymbolBase* input : inputs) handles.push_back(input->handle());
  std::vector<const char*> names = pointers(keys);
  check(NNSymbolCompose(symbol.handle(), name.c_str(), static_cast<uint32_t>(handles.size()),
                        keys.empty() ? nullptr : names.data(), handles.data()));
}

std::unique_ptr<SymbolBase> group(const std::vector<const SymbolBase*>& symbols) {
  std::vector<SymbolHandle> handles;
  handles.reserve(symbols.size());
  for (const SymbolBase* symbol : symbols) handles.push_back(symbol->handle());
  return made([&](SymbolHandle* handle) {
    return MXSymbolCreateGroup(static_cast<uint32_t>(handles.size()), handles.data(), handle);
  });
}

std::map<std::string, std::string> attributes(const SymbolBase& symbol, bool all) {
  uint32_t count = 0;
  const char** texts = nullptr;
  check((all ? MXSymbolListAttr : MXSymbolListAttrShallow)(symbol.handle(), &count, &texts));
  std::map<std::string, std::string> result;
  for (uint32_t i = 0; i < count; ++i) result.emplace(texts[2 * i], texts[2 * i + 1]);
  return result;
}

// A text that may be missing.
template <class Get>
py::object optional_text(Get&& get) {
  const char* text = nullptr;
  int found = 0;
  check(get(&text, &found));
  if (found == 0) return py::none();
  return py::str(text);
}

py::list shapes_of(std::size_t count, const int* ndims, const int64_t** shapes) {
  py::list all;
  for (std::size_t i = 0; i < count; ++i) {
    if (ndims[i] < 0) {
      all.append(py::none());
      continue;
    }
    py::tuple shape(static_cast<std::size_t>(ndims[i]));
    for (int d = 0; d < ndims[i]; ++d) shape[static_cast<std::size_t>(d)] = py::int_(shapes[i][d]);
    all.append(shape);
  }
  return all;
}

// Shapes of arguments, outputs and states, and whether all are known. No keys: by position.
py::tuple infer_shape(const SymbolBase& symbol, const Texts& keys,
                      const std::vector<std::vector<int64_t>>& shapes, bool partial) {
  std::vector<int64_t> starts{0}, dims;
  for (const std::vector<int64_t>& shape : shapes) {
    dims.insert(dims.end(), shape.begin(), shape.end());
    starts.push_back(static_cast<int64_t>(dims.size()));
  }
  std::vector<const char*> names = pointers(keys);
  std::size_t counts[3] = {};
  const int* ndims[3] = {};
  const int64_t** data[3] = {};
  int complete = 0;
  check((partial ? MXSymbolInferShapePartialEx64 : MXSymbolInferShapeEx64)(
      symbol.handle(), static_cast<uint32_t>(shapes.size()), keys.empty() ? nullptr : names.data(),
      starts.data(), dims.data(), &counts[0], &ndims[0], &data[0], &counts[1], &ndims[1], &data[1],
      &counts[2], &ndims[2], &data[2], &complete));
  return py::make_tuple(shapes_of(counts[0], ndims[0], data[0]),
                        shapes_of(counts[1], ndims[1], data[1]),
                        shapes_of(counts[2], ndims[2], data[2]), complete != 0);
}

py::tuple infer_type(const SymbolBase& symbol, const Texts& keys, const std::vector<int>& types,
                     bool partial) {
  std::vector<const char*> names = pointers(keys);
  uint32_t counts[3] = {};
  const int* data[3] = {};
  int complete = 0;
  check((partial ? MXSymbolInferTypePartial : MXSymbolInferType)(
      symbol.handle(), static_cast<uint32_t>(types.size()), keys.empty() ? nullptr : names.data(),
      types.data(), &counts[0], &data[0], &counts[1], &data[1], &counts[2], &data[2], &complete));
  std::vector<int> all[3];
  for (int i = 0; i < 3; ++i) all[i].assign(data[i], data[i] + counts[i]);
  return py::make_tuple(all[0], all[1], all[2], complete != 0);
}

// What the body of a loop reads of the network around it; the body reads variables in its place.
py::list cut_subgraph(const SymbolBase& symbol) {
  SymbolHandle* handles = nullptr;
  int count = 0;
  check(MXSymbolCutSubgraph(symbol.handle(), &handles, &count));
  py::list cut;
  for (int i = 0; i < count; ++i) cut.append(owned_symbol(handles[i]));
  return cut;
}

std::unique_ptr<SymbolBase> gradient(const SymbolBase& symbol, const Texts& wrt) {
  return made([&](SymbolHandle* handle) {
    return MXSymbolGrad(symbol.handle(), static_cast<uint32_t>(wrt.size()), pointers(wrt).data(),
                        handle);
  });
}

std::unique_ptr<SymbolBase> output(const SymbolBase& symbol, uint32_t index) {
  return made(
      [&](SymbolHandle* handle) { return MXSymbolGetOutput(symbol.handle(), index, handle); });
}

uint32_t num_outputs(const SymbolBase& symbol) {
  uint32_t count = 0;
  check(MXSymbolGetNumOutputs(symbol.handle(), &count));
  return count;
}

py::object name_of(const SymbolBase& symbol) {
  return optional_text(
      [&](const char** text, int* found) { return MXSymbolGetName(symbol.handle(), text, found); });
}

py::object attribute(const SymbolBase& symbol, const std::string& key) {
  return optional_text([&](const char** text, int* found) {
    return MXSymbolGetAttr(symbol.handle(), key.c_str(), text, found);
  });
}

void set_attribute(const SymbolBase& symbol, const std::string& key, const std::string& value) {
  check(MXSymbolSetAttr(symbol.handle(), key.c_str(), value.c_str()));
}

template <int (*kWrite)(SymbolHandle, const char**)>
py::str written(const SymbolBase& symbol) {
  const char* text = nullptr;
  check(kWrite(symbol.handle(), &text));
  return text;
}

void register_class(py::module_& module) {
  py::class_<SymbolBase>(module, "SymbolBase", "Owns a symbol of the library.")
      .def(py::init<>())
      .def_property_readonly(
          "handle",
          [](const SymbolBase& symbol) {
            return py::reinterpret_steal<py::object>(pointer_object(symbol.handle()));
          },
          "The handle of the C ABI, a ctypes.c_void_p.")
      .def("_take", &SymbolBase::take_from)
      .def("_take_handle", [](SymbolBase& symbol,
                              const py::handle& handle) { symbol.take(pointer_of(handle.ptr())); })
      .def("_compose", &compose)
      .def("_copy", &derived<MXSymbolCopy>)
      .def("_shared", &derived<MXShallowCopySymbol>)
      .def("_without_amp_cast", &derived<MXSymbolRemoveAmpCast>)
      .def("_internals", &derived<MXSymbolGetInternals>)
      .def("_children", &derived<MXSymbolGetChildren>)
      .def("_cut_subgraph", &cut_subgraph)
      .def("_gradient", &gradient)
      .def("list_inputs", &list_inputs, "Names of all variables in order.")
      .def("_output", &output)
      .def("_num_outputs", &num_outputs)
      .def("list_arguments", &listed<MXSymbolListArguments>, "Names of all arguments in order.")
      .def("list_outputs", &listed<MXSymbolListOutputs>, "Names of all outputs.")
      .def("list_auxiliary_states", &listed<MXSymbolListAuxiliaryStates>,
           "Names of all states that operators keep.")
      .def("_name", &name_of)
      .def("attr", &attribute)
      .def("_set_attr", &set_attribute)
      .def("_attributes", &attributes)
      .def("_infer_shape", &infer_shape)
      .def("_infer_type", &infer_type)
      .def("_json", &written<MXSymbolSaveToJSON>)
      .def("debug_str", &written<MXSymbolPrint>);
}

}  // namespace

void register_symbol(py::module_& module) {
  register_class(module);
  module.def("symbol_atomic", &atomic);
  module.def("symbol_group", &group);
  module.def("symbol_variable", [](const std::string& name) {
    return made([&](SymbolHandle* handle) { return MXSymbolCreateVariable(name.c_str(), handle); });
  });
  module.def("symbol_from_json", [](const std::string& json) {
    return made([&](SymbolHandle* handle) { return MXSymbolCreateFromJSON(json.c_str(), handle); });
  });
}

}  // namespace mxnet::python
