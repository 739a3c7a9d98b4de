// SPDX-License-Identifier: Apache-2.0
// The table of sparse operators and the decision about storage types.
#include "op/sparse_op.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "base/config.h"
#include "base/error.h"
#include "base/leaked.h"
#include "base/log.h"

namespace mxnet {
namespace {

// Filled before main, read-only afterwards.
std::unordered_map<std::string, SparseOp>& table() {
  static Leaked<std::unordered_map<std::string, SparseOp>> table;
  return *table;
}

bool all_dense(std::span<const StorageType> types) {
  return std::all_of(types.begin(), types.end(), [](StorageType type) {
    return type == StorageType::kDense || type == StorageType::kUndefined;
  });
}

void fill_with_dense(std::span<StorageType> out) {
  for (StorageType& type : out)
    if (type == StorageType::kUndefined) type = StorageType::kDense;
}

Dispatch decide(const OpDef& op, const void* params, const StorageTypes& types) {
  const SparseOp* sparse = find_sparse(op);
  if (sparse != nullptr && sparse->rule(params, types)) {
    for (StorageType type : types.out) MX_ASSERT(type != StorageType::kUndefined);
    return Dispatch::kSparse;
  }
  fill_with_dense(types.out);
  return all_dense(types.in) && all_dense(types.out) ? Dispatch::kDense : Dispatch::kFallback;
}

std::string names_of(std::span<const StorageType> types) {
  std::string text;
  for (StorageType type : types)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", storage_type_name(type));
  return text;
}

const char* name_of(Dispatch dispatch) {
  switch (dispatch) {
    case Dispatch::kDense:
      return "dense";
    case Dispatch::kSparse:
      return "sparse";
    case Dispatch::kFallback:
      break;
  }
  return "fallback";
}

}  // namespace

bool StorageTypes::all_in(StorageType type) const {
  return std::all_of(in.begin(), in.end(), [type](StorageType t) { return t == type; });
}

bool StorageTypes::give(StorageType type) const {
  if (out[0] != StorageType::kUndefined && out[0] != type) return false;
  out[0] = type;
  return true;
}

void add_sparse(std::string_view op, const SparseOp& sparse) {
  const bool added = table().emplace(op, sparse).second;
  MX_ASSERT(added);
}

const SparseOp* find_sparse(const OpDef& op) {
  const auto found = table().find(op.name());
  return found == table().end() ? nullptr : &found->second;
}

Dispatch infer_storage(const OpDef& op, const void* params, Device device,
                       const StorageTypes& types) {
  const Dispatch dispatch = decide(op, params, types);
  if (config().sparse.infer_storage_type_verbose_logging) {
    log(LogLevel::kInfo,
        fmt::format("operator = {}\ninput storage types = [{}]\noutput storage types = [{}]\n"
                    "device = {}\ndispatch = {}",
                    op.name(), names_of(types.in), names_of(types.out), to_string(device),
                    name_of(dispatch)));
  }
  return dispatch;
}

}  // namespace mxnet
