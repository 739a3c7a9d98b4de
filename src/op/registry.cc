// SPDX-License-Identifier: Apache-2.0
// The table of operators and the names that an OpDef answers to.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/error.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "op/late_ops.h"
#include "op/op_def.h"

namespace mxnet {

namespace {

// Finds std::string keys by string_view without a copy.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// Edits that turn `a` into `b`: insertions, deletions, substitutions.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Beside the others, so that those are found without a lock.
struct LateOps {
  Mutex mutex;
  std::map<std::string, std::unique_ptr<OpDef>, std::less<>> by_name MX_GUARDED_BY(mutex);
  // Release and acquire are not needed: who sees a count then takes the lock.
  std::atomic<std::size_t> count{0};

  const OpDef* find(std::string_view name) {
    if (count.load(std::memory_order_relaxed) == 0) return nullptr;
    const MutexLock lock(mutex);
    const auto at = by_name.find(name);
    return at == by_name.end() ? nullptr : at->second.get();
  }
  template <class Use>
  void each(Use use) {
    const MutexLock lock(mutex);
    for (const auto& [name, op] : by_name) use(*op);
  }
};

LateOps& late_ops() {
  static Leaked<LateOps> late;
  return *late;
}

}  // namespace

void add_late_ops(std::vector<std::unique_ptr<OpDef>> ops) {
  const auto taken = [](const std::string& name) {
    throw Error(ErrorCode::kValue, "operator",
                fmt::format("given a new operator '{}', expected a name that is free", name));
  };
  for (const std::unique_ptr<OpDef>& op : ops)
    if (Registry::get().find(op->name()) != nullptr) taken(op->name());
  const MutexLock lock(late_ops().mutex);
  std::map<std::string, std::unique_ptr<OpDef>, std::less<>> added;
  for (std::unique_ptr<OpDef>& op : ops) {
    const std::string name = op->name();
    if (late_ops().by_name.count(name) > 0 || !added.emplace(name, std::move(op)).second)
      taken(name);
  }
  late_ops().by_name.merge(added);
  late_ops().count.store(late_ops().by_name.size(), std::memory_order_relaxed);
}

std::size_t late_op_count() { return late_ops().count.load(std::memory_order_relaxed); }

struct Registry::Impl {
  std::vector<std::unique_ptr<OpDef>> ops;
  // Hashed, since gradient rules name their nodes.
  std::unordered_map<std::string, OpDef*, TextHash, std::equal_to<>> by_name;

  void add_name(const std::string& name, OpDef& op) {
    if (!by_name.emplace(name, &op).second)
      throw Error(ErrorCode::kInternal, "operator", "'" + name + "' is defined twice");
  }

  // The registered name with the fewest edits, empty where all are far off.
  std::string nearest(std::string_view name) const {
    std::pair<std::size_t, std::string> best{name.size() / 2 + 1, ""};
    for (const auto& [known, op] : by_name)
      best = std::min(best, {edit_distance(name, known), known});
    return best.second;
  }
};

// Leaked: operators are used by threads that may outlive main.
Registry::Registry() : impl_(new Impl) {}

Registry& Registry::get() {
  static Registry* registry = new Registry();
  return *registry;
}

OpDef& Registry::add(std::string name) {
  OpDef& op = *impl_->ops.emplace_back(std::make_unique<OpDef>(std::move(name)));
  impl_->add_name(op.name(), op);
  return op;
}

OpDef& Registry::add(const char* name, std::shared_ptr<void> (*make_params)()) {
  OpDef& op = add(name);
  op.schema_.set_factory(make_params);
  return op;
}

void Registry::add_alias(OpDef& op, std::string alias) {
  impl_->add_name(alias, op);
  op.aliases_.push_back(std::move(alias));
}

const OpDef* Registry::find(std::string_view name) const {
  const auto it = impl_->by_name.find(name);
  return it == impl_->by_name.end() ? late_ops().find(name) : it->second;
}

const OpDef& Registry::at(std::string_view name) const {
  if (const OpDef* op = find(name)) return *op;
  const std::string nearest = impl_->nearest(name);
  throw Error(ErrorCode::kValue, "operator",
              fmt::format("no such operator: given '{}', expected one of the {} that "
                          "MXListAllOpNames lists{}",
                          name, impl_->ops.size(),
                          nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  names.reserve(impl_->by_name.size());
  for (const auto& [name, op] : impl_->by_name) names.push_back(name);
  late_ops().each([&](const OpDef& op) { names.push_back(op.name()); });
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<const OpDef*> Registry::ops() const {
  std::vector<const OpDef*> ops;
  ops.reserve(impl_->ops.size());
  for (const auto& op : impl_->ops) ops.push_back(op.get());
  late_ops().each([&](const OpDef& op) { ops.push_back(&op); });
  std::sort(ops.begin(), ops.end(),
            [](const OpDef* a, const OpDef* b) { return a->name() < b->name(); });
  return ops;
}

std::string OpDef::input_name(const void* params, int i) const {
  if (input_names_) {
    // Parameters that lack what names come from (a graph) name none; errors ask for them all the
    // same.
    const std::vector<std::string> names = input_names_(params);
    if (static_cast<std::size_t>(i) < names.size()) return names[static_cast<std::size_t>(i)];
  }
  if (!key_var_num_args_.empty() && !args_.empty()) return args_[0].name + std::to_string(i);
  // Operators whose inputs depend on parameters may have more of them than they declare.
  if (static_cast<std::size_t>(i) >= args_.size()) return "input" + std::to_string(i);
  return args_[static_cast<std::size_t>(i)].name;
}

std::string OpDef::output_name(const void* params, int i) const {
  if (output_name_) return output_name_(params, i);
  if (static_cast<std::size_t>(i) < output_names_.size())
    return output_names_[static_cast<std::size_t>(i)];
  return num_outputs(params) == 1 ? "output" : "output" + std::to_string(i);
}

}  // namespace mxnet
