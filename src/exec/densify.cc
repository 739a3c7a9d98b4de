// SPDX-License-Identifier: Apache-2.0
// The storage fallback: convert, call, convert back.
#include "exec/densify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/config.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "base/log.h"
#include "ndarray/sparse_convert.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

std::string names_of(std::span<const StorageType> layouts) {
  std::string text;
  for (StorageType type : layouts)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", storage_type_name(type));
  return text;
}

// One block of lines for each combination of operator and layouts.
void log_once(const OpDef& op, InputRefs inputs, std::span<const StorageType> layouts) {
  if (!config().sparse.storage_fallback_log_verbose) return;
  std::vector<StorageType> of_inputs;
  of_inputs.reserve(inputs.size());
  for (const NDArray* input : inputs) of_inputs.push_back(input->storage_type());
  static Leaked<Mutex> mutex;
  static Leaked<std::set<std::string>> seen;
  std::string text = fmt::format(
      "\nStorage type fallback detected:\noperator = {}\ninput storage types = [{}]\noutput "
      "storage types = [{}]\nThe operator has no kernel for these storage types; temporary dense "
      "arrays are made around it. Set MXNET_STORAGE_FALLBACK_LOG_VERBOSE to 0 to suppress this "
      "message.",
      op.name(), names_of(of_inputs), names_of(layouts));
  {
    const MutexLock lock(*mutex);
    if (!seen->insert(text).second) return;
  }
  log(LogLevel::kInfo, text);
}

}  // namespace

bool any_sparse(InputRefs inputs, OutputRefs outputs) {
  for (const NDArray* array : inputs)
    if (array->is_sparse()) return true;
  for (const NDArray* array : outputs)
    if (array->is_sparse()) return true;
  return false;
}

void invoke_densified(const OpDef& op, const ParamsPtr& params, InputRefs inputs,
                      OutputRefs outputs, std::span<const StorageType> layouts,
                      const InvokeOptions& options) {
  log_once(op, inputs, layouts);
  InlineVector<NDArray, 8> dense;
  InlineVector<NDArray*, 8> refs;
  for (const NDArray* input : inputs)
    dense.push_back(cast_storage(input->detach(), StorageType::kDense));
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    // An array that is also an input stays one array.
    const auto same = std::find_if(inputs.begin(), inputs.end(), [&](const NDArray* input) {
      return !outputs[o]->is_none() && input->chunk() == outputs[o]->chunk();
    });
    if (!outputs[o]->is_sparse()) {
      dense.push_back(outputs[o]->is_none() ? NDArray() : outputs[o]->detach());
    } else if (same != inputs.end()) {
      dense.push_back(dense[static_cast<std::size_t>(same - inputs.begin())].detach());
    } else {
      dense.push_back(cast_storage(outputs[o]->detach(), StorageType::kDense));
    }
  }
  for (NDArray& array : dense) refs.push_back(&array);
  const std::span<NDArray*> all = refs.span();
  const std::span<NDArray*> in = all.first(inputs.size()), out = all.subspan(inputs.size());
  InvokeOptions dense_options = options;
  dense_options.dense = true;
  invoke(op, params, InputRefs(in), out, dense_options);

  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o]->is_sparse()) {
      out[o]->copy_to(*outputs[o], options.priority);
    } else if (outputs[o]->is_none()) {
      *outputs[o] = cast_storage(*out[o], layouts[o]);
    }
  }
  if (!op.mutates_inputs()) return;
  for (int i : op.mutated_inputs(params.get())) {
    const auto at = static_cast<std::size_t>(i);
    if (inputs[at]->is_sparse()) in[at]->copy_to(*inputs[at], options.priority);
  }
}

}  // namespace mxnet
