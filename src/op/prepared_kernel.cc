// SPDX-License-Identifier: Apache-2.0
// The table of operators with prepared kernels.
#include "op/prepared_kernel.h"

#include <map>
#include <string>

#include "base/leaked.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

struct Entry {
  PrepareFn prepare = nullptr;
  SampleInputs samples = kNoSamples;
};

// Filled before main, read-only afterwards.
std::map<std::string, Entry, std::less<>>& table() {
  static Leaked<std::map<std::string, Entry, std::less<>>> table;
  return *table;
}

Entry entry_of(const OpDef& op) {
  const auto at = table().find(op.name());
  return at == table().end() ? Entry{} : at->second;
}

}  // namespace

bool same_layout(const LayoutRef& a, const LayoutRef& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || a->equals(*b);
}

bool add_prepared_kernel(const char* op, PrepareFn prepare, SampleInputs samples) {
  return table().emplace(op, Entry{prepare, samples}).second;
}

PrepareFn prepared_kernel_of(const OpDef& op) { return entry_of(op).prepare; }
SampleInputs sample_inputs_of(const OpDef& op) { return entry_of(op).samples; }

}  // namespace mxnet
