// SPDX-License-Identifier: Apache-2.0
// Symbols made of other symbols by passes: gradients, parts for backends, casts, control flow.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "c_api/ext_passes.h"
#include "c_api/ndarray_handle.h"
#include "c_api/symbol_calls.h"
#include "exec/tape_symbol.h"
#include "graph/backends.h"
#include "graph/casts.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "graph/symbol_cut.h"
#include "op/grad.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

Symbol gradient_symbol(const Symbol& symbol, std::span<const std::string_view> names) {
  const std::vector<Symbol> variables = symbol.input_symbols();
  std::vector<ir::Entry> wrt;
  for (const std::string_view name : names) {
    const auto at = std::find_if(variables.begin(), variables.end(), [&](const Symbol& variable) {
      return variable.node()->name == name;
    });
    if (at == variables.end()) {
      throw Error(ErrorCode::kValue, "MXSymbolGrad",
                  fmt::format("given {}, expected one of: {}", name,
                              fmt::join(symbol.list_inputs(Symbol::Inputs::kAll), ", ")));
    }
    wrt.push_back(at->outputs()[0]);
  }
  ir::Graph graph;
  graph.outputs = gradient(symbol.graph(), std::vector<ir::Entry>(symbol.outputs().size()), wrt,
                           configured_gradient());
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (graph.outputs[i]) continue;  // otherwise nothing depends on the variable
    graph.outputs[i] = zeros_like(Value(wrt[i])).entry();
    graph.outputs[i].node->name = wrt[i].node->name + "_grad";
  }
  return Symbol(std::move(graph));
}

std::vector<std::string> operator_names(const char* function, uint32_t count, const char** names) {
  const std::vector<std::string_view> checked = checked_names(function, count, names);
  return {checked.begin(), checked.end()};
}

int set_operators(const char* function, const char* backend, uint32_t count, const char** names) {
  return guarded(function, [&] {
    require(backend, function, "prop_name");
    register_backend(backend, select_operators(operator_names(function, count, names)));
  });
}

int remove_operators(const char* function, const char* backend) {
  return guarded(function, [&] {
    require(backend, function, "prop_name");
    if (!remove_backend(backend)) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {}, expected a backend that has been set", backend));
    }
  });
}

ExtResult for_backend(const Symbol& symbol, const char* name, const KnownTypes& known,
                      const GraphFacts& facts = {}, const Attrs& options = {}) {
  std::optional<ExtResult> by_extension = optimize_by_extension(name, symbol, facts, options);
  if (by_extension.has_value()) return *std::move(by_extension);
  check_backend(name, ext_pass_names());
  return {Symbol(optimize_for_backend(symbol.graph(), name, options, known)), {}, {}};
}

// What a caller of MXOptimizeForBackend says of a network's inputs.
struct Knowledge {
  const char* function;
  KnownTypes types;
  GraphFacts facts;

  void add(std::string_view name, ArrayType type) {
    types.names.push_back(name);
    types.types.push_back(std::move(type));
  }
  // Null handles stand for arrays that the caller does not have. `names` outlive this.
  void add_arrays(std::span<const std::string> names, uint32_t count, NDArrayHandle* handles) {
    if (count > 0) require(handles, function, "arrays");
    for (uint32_t i = 0; i < count && i < names.size(); ++i) {
      if (handles[i] == nullptr) continue;
      const NDArray& array = array_of(handles[i], function);
      add(names[i], {array.shape(), array.dtype()});
      if (array.is_none() || array.is_sparse() || array.device().type == DeviceType::kGPU) continue;
      array.wait_to_read();
      facts.parameters[names[i]] = array.detach();
    }
  }
  void add_shapes(uint32_t count, const char** names, const int64_t* data, const uint32_t* begins) {
    const auto checked = checked_names(function, count, names);
    for (std::size_t i = 0; i < checked.size(); ++i) {
      require(data, function, "input_shape_data");
      require(begins, function, "input_shape_idx");
      add(checked[i],
          {checked_shape(function, data + begins[i], int64_t{begins[i + 1]} - begins[i])});
    }
  }
  void add_dtypes(uint32_t count, const char** names, const int* numbers) {
    const auto checked = checked_names(function, count, names);
    if (!checked.empty()) require(numbers, function, "input_dtypes");
    for (std::size_t i = 0; i < checked.size(); ++i)
      add(checked[i], {Shape(), checked_dtype(function, numbers[i])});
  }
};

// Parameters that a backend has added.
struct AddedParameters {
  std::vector<NDArrayHandle> handles;
  std::vector<std::string> names;
  std::vector<char*> pointers;

  explicit AddedParameters(std::vector<std::pair<std::string, NDArray>>&& parameters) {
    for (auto& [name, array] : parameters) {
      names.push_back(std::move(name));
      handles.push_back(new_handle(std::move(array)));
    }
    for (std::string& name : names) pointers.push_back(name.data());
  }
  void give(int* count, NDArrayHandle** arrays, char*** texts) {
    if (count != nullptr) *count = static_cast<int>(handles.size());
    if (arrays != nullptr) *arrays = handles.empty() ? nullptr : handles.data();
    if (texts != nullptr) *texts = pointers.empty() ? nullptr : pointers.data();
  }
};

}  // namespace

int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char** wrt, SymbolHandle* out) {
  return guarded([&] {
    require(out, "MXSymbolGrad", "out");
    const auto names = checked_names("MXSymbolGrad", num_wrt, wrt);
    *out = new_handle(gradient_symbol(symbol_of(sym, "MXSymbolGrad"), names));
  });
}

int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle** inputs, int* input_size) {
  return guarded([&] {
    require(inputs, "MXSymbolCutSubgraph", "inputs");
    require(input_size, "MXSymbolCutSubgraph", "input_size");
    std::vector<SymbolHandle>& handles = symbol_returns().handles;
    handles = new_handles(cut_subgraph(&symbol_of(sym, "MXSymbolCutSubgraph")));
    *inputs = handles.data();
    *input_size = static_cast<int>(handles.size());
  });
}

int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle) {
  // On nodes of its own: what is done to the result must not show in what it was made of.
  return derive("MXSymbolRemoveAmpCast", sym_handle, ret_sym_handle,
                [](const Symbol& s) { return Symbol(remove_amp_casts(s.graph())).copy(); });
}

int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle* out) {
  return guarded([&] {
    require(out, "MXAutogradGetSymbol", "out");
    *out = new_handle(tape_symbol(array_of(handle, "MXAutogradGetSymbol")));
  });
}

int MXBuildSubgraphByOpNames(SymbolHandle sym_handle, const char* prop_name, const uint32_t num_ops,
                             const char** op_names, SymbolHandle* ret_sym_handle) {
  return guarded([&] {
    const char* const function = "MXBuildSubgraphByOpNames";
    require(prop_name, function, "prop_name");
    require(ret_sym_handle, function, "ret_sym_handle");
    const Symbol& symbol = symbol_of(sym_handle, function);
    const auto partitioner = select_operators(operator_names(function, num_ops, op_names));
    *ret_sym_handle = new_handle(Symbol(partition(symbol.graph(), *partitioner)));
  });
}

int MXSetSubgraphPropertyOpNames(const char* prop_name, const uint32_t num_ops,
                                 const char** op_names) {
  return set_operators("MXSetSubgraphPropertyOpNames", prop_name, num_ops, op_names);
}

int MXSetSubgraphPropertyOpNamesV2(const char* prop_name, const uint32_t num_ops,
                                   const char** op_names) {
  return set_operators("MXSetSubgraphPropertyOpNamesV2", prop_name, num_ops, op_names);
}

int MXRemoveSubgraphPropertyOpNames(const char* prop_name) {
  return remove_operators("MXRemoveSubgraphPropertyOpNames", prop_name);
}

int MXRemoveSubgraphPropertyOpNamesV2(const char* prop_name) {
  return remove_operators("MXRemoveSubgraphPropertyOpNamesV2", prop_name);
}

int MXGenBackendSubgraph(SymbolHandle sym_handle, const char* backend,
                         SymbolHandle* ret_sym_handle) {
  return guarded([&] {
    require(backend, "MXGenBackendSubgraph", "backend");
    require(ret_sym_handle, "MXGenBackendSubgraph", "ret_sym_handle");
    *ret_sym_handle =
        new_handle(for_backend(symbol_of(sym_handle, "MXGenBackendSubgraph"), backend, {}).symbol);
  });
}

// Shapes and types that the caller knows serve to find mistakes before the network is taken apart;
// extensions may look at them and at parameters, and may add parameters.
int MXOptimizeForBackend(SymbolHandle sym_handle, const char* backend_name, const int dev_type,
                         SymbolHandle* ret_sym_handle, const uint32_t args_len,
                         NDArrayHandle* in_args_handle, const uint32_t aux_len,
                         NDArrayHandle* in_aux_handle, const uint32_t num_options,
                         const char** keys, const char** vals, const uint32_t num_input_shapes,
                         const char** input_shape_names, const int64_t* input_shape_data,
                         const uint32_t* input_shape_idx, const uint32_t num_input_dtypes,
                         const char** input_dtype_names, const int* input_dtypes,
                         const uint32_t num_input_stypes, const char** input_stype_names,
                         const int* input_stypes, bool skip_infer, int* new_args_cnt,
                         NDArrayHandle** new_args_handle, char*** new_arg_names_handle,
                         int* new_aux_cnt, NDArrayHandle** new_aux_handle,
                         char*** new_aux_names_handle) {
  return guarded([&] {
    const char* const function = "MXOptimizeForBackend";
    require(backend_name, function, "backend_name");
    require(ret_sym_handle, function, "ret_sym_handle");
    checked_device(function, dev_type, 0);
    const Symbol& symbol = symbol_of(sym_handle, function);
    const Attrs options = checked_attrs(function, num_options, keys, vals);
    Knowledge given{function, {}, {}};
    const auto arguments = symbol.list_inputs(Symbol::Inputs::kArguments);
    const auto states = symbol.list_inputs(Symbol::Inputs::kAuxiliary);
    given.add_arrays(arguments, args_len, in_args_handle);
    given.add_arrays(states, aux_len, in_aux_handle);
    given.add_shapes(num_input_shapes, input_shape_names, input_shape_data, input_shape_idx);
    given.add_dtypes(num_input_dtypes, input_dtype_names, input_dtypes);
    checked_names(function, num_input_stypes, input_stype_names);
    if (num_input_stypes > 0) require(input_stypes, function, "input_stypes");
    if (!skip_infer && !given.types.names.empty())
      given.facts.types = infer_entries(IndexedGraph(symbol.graph()), given.types, true);
    ExtResult result = for_backend(symbol, backend_name, given.types, given.facts, options);
    // Until the next call on this thread.
    thread_local std::unique_ptr<std::pair<AddedParameters, AddedParameters>> added;
    added = std::make_unique<std::pair<AddedParameters, AddedParameters>>(
        std::move(result.arguments), std::move(result.states));
    *ret_sym_handle = new_handle(std::move(result.symbol));
    added->first.give(new_args_cnt, new_args_handle, new_arg_names_handle);
    added->second.give(new_aux_cnt, new_aux_handle, new_aux_names_handle);
  });
}
