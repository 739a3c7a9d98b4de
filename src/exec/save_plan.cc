// SPDX-License-Identifier: Apache-2.0
// Runs a rule on placeholders and sees which of them its nodes refer to.
#include "exec/save_plan.h"

#include <array>
#include <bit>

#include "base/error.h"
#include "base/of_thread.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

constexpr std::size_t kSlots = 1024;  // as the cache of attributes
constexpr int32_t kVisited = 0;

struct Key {
  ParsedAttrsRef parsed;  // held, so that its address stays its own
  int num_in = 0, num_out = 0;
  uint64_t wants = 0;
};

struct Slot {
  Key key;
  SavePlanRef plan;
};

bool wanted(uint64_t wants, int input) { return wants >> std::min(input, 63) & 1; }

// Placeholders of one call, and what was seen of them.
class Probe {
 public:
  Probe(const Key& key, SavePlan* plan) : key_(key), plan_(plan), forward_(make_ref<ir::Node>()) {
    forward_->op = &key.parsed->op();
    forward_->attrs = key.parsed->attrs();
    forward_->params = key.parsed->params();
    for (int i = 0; i < key.num_in; ++i) inputs_.push_back({make_ref<ir::Node>(), 0, 0});
    for (int o = 0; o < key.num_out; ++o)
      douts_.emplace_back(ir::Entry{make_ref<ir::Node>(), 0, 0});
  }

  // With gradients of the outputs that only gradients read as well, or without.
  void run(bool differentiable, bool of_hidden) {
    const auto visible =
        static_cast<std::size_t>(forward_->op->num_visible_outputs(forward_->params.get()));
    for (std::size_t o = visible; !of_hidden && o < douts_.size(); ++o) douts_[o] = Value();
    const auto count = static_cast<std::size_t>(key_.num_in);
    const auto wants = std::make_unique<bool[]>(count);
    for (int i = 0; i < key_.num_in; ++i)
      wants[static_cast<std::size_t>(i)] = wanted(key_.wants, i);
    Grad grad(inputs_.data(), key_.num_in, forward_, douts_, {wants.get(), count}, differentiable);
    const Gradients results = key_.parsed->op().gradient(key_.parsed->params().get(), grad);
    for (std::size_t i = 0; i < results.size() && i < count; ++i)
      if (wants[i] && results[i]) visit(results[i].entry());
  }

 private:
  void visit(const ir::Entry& root) {
    see(root, /*value=*/true);
    std::vector<ir::Node*> stack{root.node.get()};
    while (!stack.empty()) {
      ir::Node& node = *stack.back();
      stack.pop_back();
      if (&node == forward_.get() || std::exchange(node.scratch, kVisited) == kVisited) continue;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        see(node.inputs[i], !node.op->type_only(static_cast<int>(i)));
        stack.push_back(node.inputs[i].node.get());
      }
    }
  }
  void see(const ir::Entry& entry, bool value) {
    if (entry.node == forward_)
      return save(&plan_->outputs[static_cast<std::size_t>(entry.index)], value);
    if (!entry.node->is_variable()) return;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].node == entry.node) save(&plan_->inputs[i], value);
  }
  void save(int32_t* position, bool value) {
    std::vector<bool>& needs_value = plan_->needs_value;
    if (*position == SavePlan::kNotSaved) {
      *position = static_cast<int32_t>(needs_value.size());
      needs_value.push_back(value);
    } else if (value) {
      needs_value[static_cast<std::size_t>(*position)] = true;
    }
  }

  const Key& key_;
  SavePlan* const plan_;
  const Ref<ir::Node> forward_;
  std::vector<ir::Entry> inputs_;
  std::vector<Value> douts_;
};

SavePlanRef make_plan(const Key& key) {
  auto plan = make_ref<SavePlan>(key.num_in, key.num_out);
  if (!key.parsed->op().has_gradient()) return SavePlanRef(plan.get());
  for (const bool of_hidden : {true, false}) {
    try {
      for (bool differentiable : {false, true})
        Probe(key, plan.get()).run(differentiable, of_hidden);
      break;
    } catch (const Error&) {
      // The rule refuses this call, or gradients of a gradient that it keeps as an output; it will
      // say so when it is asked for them.
    }
  }
  return SavePlanRef(plan.get());
}

}  // namespace

SavePlanRef save_plan(const ParsedAttrsRef& parsed, int num_in, int num_out, uint64_t wants) {
  auto& cache = of_thread<std::array<Slot, kSlots>>();
  const uint64_t hash = (reinterpret_cast<uintptr_t>(parsed.get()) >> 4) * 0x9E3779B97F4A7C15 ^
                        std::rotl(wants, 7) ^ static_cast<uint64_t>(num_in);
  Slot& slot = cache[(hash ^ hash >> 32) % kSlots];
  if (slot.plan && slot.key.parsed == parsed && slot.key.num_in == num_in &&
      slot.key.num_out == num_out && slot.key.wants == wants)
    return slot.plan;
  Key key{parsed, num_in, num_out, wants};
  SavePlanRef plan = make_plan(key);
  slot = {std::move(key), plan};
  return plan;
}

}  // namespace mxnet
