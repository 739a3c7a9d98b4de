// SPDX-License-Identifier: Apache-2.0
// The table of operators and the names that an OpDef answers to.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "op/op_def.h"

namespace mxnet {

struct Registry::Impl {
  std::vector<std::unique_ptr<OpDef>> ops;
  std::map<std::string, OpDef*, std::less<>> by_name;
};

// Leaked: operators are used by threads that may outlive main.
Registry::Registry() : impl_(new Impl) {}

Registry& Registry::get() {
  static Registry* registry = new Registry();
  return *registry;
}

OpDef& Registry::add(std::string name) {
  OpDef& op = *impl_->ops.emplace_back(std::make_unique<OpDef>(std::move(name)));
  MX_ASSERT(impl_->by_name.emplace(op.name(), &op).second);
  return op;
}

void Registry::add_alias(OpDef& op, std::string alias) {
  MX_ASSERT(impl_->by_name.emplace(alias, &op).second);
  op.aliases_.push_back(std::move(alias));
}

const OpDef* Registry::find(std::string_view name) const {
  const auto it = impl_->by_name.find(name);
  return it == impl_->by_name.end() ? nullptr : it->second;
}

const OpDef& Registry::at(std::string_view name) const {
  if (const OpDef* op = find(name)) return *op;
  throw Error(ErrorCode::kValue, "operator",
              fmt::format("given '{}', expected the name of one of {} operators (MXListAllOpNames)",
                          name, impl_->ops.size()));
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  names.reserve(impl_->by_name.size());
  for (const auto& [name, op] : impl_->by_name) names.push_back(name);
  return names;
}

std::string OpDef::input_name(const void* params, int i) const {
  if (input_names_) return input_names_(params)[static_cast<std::size_t>(i)];
  if (!key_var_num_args_.empty()) return args_[0].name + std::to_string(i);
  return args_[static_cast<std::size_t>(i)].name;
}

std::string OpDef::output_name(const void* params, int i) const {
  if (static_cast<std::size_t>(i) < output_names_.size())
    return output_names_[static_cast<std::size_t>(i)];
  return num_outputs(params) == 1 ? "output" : "output" + std::to_string(i);
}

}  // namespace mxnet
