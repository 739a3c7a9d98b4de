// SPDX-License-Identifier: Apache-2.0
// Symbols as backends and mixed precision rewrite them and as autograd has recorded them; options
// and dictionaries are in mxnet/symbol/_backend.py.
#include <pybind11/stl.h>

#include "array.h"
#include "check.h"
#include "columns.h"
#include "registrations.h"
#include "symbol.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

using Options = std::map<std::string, std::string>;

// Parameters that a backend has added, by name.
py::dict added(int count, const NDArrayHandle* handles, char** names) {
  py::dict arrays;
  for (int i = 0; i < count; ++i) arrays[py::str(names[i])] = wrapped(handles[i]);
  return arrays;
}

std::unique_ptr<SymbolBase> backend_symbol(const SymbolBase& symbol, const std::string& backend) {
  SymbolHandle handle = nullptr;
  check(MXGenBackendSubgraph(symbol.handle(), backend.c_str(), &handle));
  return owned_symbol(handle);
}

// The new symbol, and the arguments and states that it has and the old one had not.
py::tuple optimize_for(const SymbolBase& symbol, const std::string& backend, int dev_type,
                       const py::sequence& args, const py::sequence& aux, const Options& options,
                       const NamedShapes& shapes, const NamedNumbers& dtypes,
                       const NamedNumbers& storage_types, bool skip_infer) {
  Handles arg_handles = optional_handles_of(args), aux_handles = optional_handles_of(aux);
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  ShapeColumns<int64_t> known(shapes);
  Columns<int> types = columns_of(dtypes), storage = columns_of(storage_types);
  int num_args = 0, num_aux = 0;
  NDArrayHandle *new_args = nullptr, *new_aux = nullptr;
  char **arg_names = nullptr, **aux_names = nullptr;
  SymbolHandle handle = nullptr;
  check_blocking([&] {
    return MXOptimizeForBackend(symbol.handle(), backend.c_str(), dev_type, &handle,
                                static_cast<uint32_t>(arg_handles.size()), arg_handles.data(),
                                static_cast<uint32_t>(aux_handles.size()), aux_handles.data(),
                                static_cast<uint32_t>(keys.size()), keys.data(), values.data(),
                                known.size(), known.names.data(), known.dims.data(),
                                known.starts.data(), types.size(), types.names.data(),
                                types.values.data(), storage.size(), storage.names.data(),
                                storage.values.data(), skip_infer, &num_args, &new_args, &arg_names,
                                &num_aux, &new_aux, &aux_names);
  });
  return py::make_tuple(owned_symbol(handle), added(num_args, new_args, arg_names),
                        added(num_aux, new_aux, aux_names));
}

using Names = std::vector<std::string>;

std::vector<const char*> pointers_to(const Names& names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

// The symbol with casts. `conditions`: operator, parameter, and its values that ask for float32.
std::unique_ptr<SymbolBase> reduce_precision(
    const SymbolBase& symbol, int dtype, const Names& target_ops, const Names& fp32_ops,
    const Names& widest_ops,
    const std::vector<std::tuple<std::string, std::string, Names>>& conditions,
    const Names& excluded, const Names& parameters, bool cast_parameters) {
  Names condition_ops, condition_parameters, condition_values;
  std::vector<int> bounds{0};
  for (const auto& [op, parameter, values] : conditions) {
    condition_ops.push_back(op);
    condition_parameters.push_back(parameter);
    condition_values.insert(condition_values.end(), values.begin(), values.end());
    bounds.push_back(static_cast<int>(condition_values.size()));
  }
  const auto count = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
  SymbolHandle handle = nullptr;
  check(MXReducePrecisionSymbol(
      symbol.handle(), &handle, 0, nullptr, count(bounds), bounds.data(), &dtype, cast_parameters,
      count(target_ops), count(fp32_ops), count(widest_ops), count(condition_ops), count(excluded),
      count(parameters), pointers_to(target_ops).data(), pointers_to(fp32_ops).data(),
      pointers_to(widest_ops).data(), pointers_to(condition_ops).data(),
      pointers_to(excluded).data(), pointers_to(condition_parameters).data(),
      pointers_to(condition_values).data(), pointers_to(parameters).data(), nullptr));
  return owned_symbol(handle);
}

// What was recorded to compute an array.
std::unique_ptr<SymbolBase> recorded_symbol(const py::handle& array) {
  SymbolHandle handle = nullptr;
  check(MXAutogradGetSymbol(handle_of(array), &handle));
  return owned_symbol(handle);
}

}  // namespace

void register_symbol_backend(py::module_& module) {
  module.def("backend_symbol", &backend_symbol);
  module.def("optimize_for", &optimize_for);
  module.def("recorded_symbol", &recorded_symbol);
  module.def("reduce_precision", &reduce_precision);
}

}  // namespace mxnet::python
