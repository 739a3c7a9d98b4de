// SPDX-License-Identifier: Apache-2.0
// Where the results of a chain's steps lie, and what the chain is called.
#include <algorithm>
#include <climits>
#include <utility>

#include "base/config_types.h"
#include "op/fused/pointwise.h"
#include "op/pointwise.h"

namespace mxnet {
namespace {

// Half types are computed in float32: a kernel may want that much room for an element.
constexpr std::size_t kComputed = 4;

// Null for other operators.
const PointwiseChain* chain_of(const OpDef& op, const void* params) {
  static const OpDef* const chain = &Registry::get().at(PointwiseChain::kName);
  return &op == chain ? static_cast<const PointwiseChain*>(params) : nullptr;
}

}  // namespace

const char* operator_title(const OpDef& op, const void* params) {
  const PointwiseChain* chain = chain_of(op, params);
  return chain != nullptr ? chain->title : op.name().c_str();
}

int operator_count(const OpDef& op, const void* params) {
  const PointwiseChain* chain = chain_of(op, params);
  return chain != nullptr ? static_cast<int>(chain->steps.size()) : 1;
}

// A result may lie where an output of its width will, from when it is computed to when the output
// is: whoever computes that may read it in its place.
void PointwiseChain::lend_outputs(const std::vector<int>& last_reader) {
  std::vector<int> taken_until(outputs.size(), -1);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].output >= 0 || last_reader[k] < 0) continue;
    for (std::size_t o = 0; o < outputs.size() && steps[k].lent < 0; ++o) {
      if (dtype_size(steps[static_cast<std::size_t>(outputs[o])].dtype) !=
              dtype_size(steps[k].dtype) ||
          last_reader[k] > outputs[o] || taken_until[o] > static_cast<int>(k))
        continue;
      steps[k].lent = static_cast<int>(o);
      taken_until[o] = last_reader[k];
    }
  }
}

void PointwiseChain::give_places(std::vector<int> last_reader) {
  std::vector<int> free;
  num_slots = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    // Elements of one width may be written where they were read.
    const auto give_back = [&](bool same_width) {
      for (const int source : steps[k].in) {
        if (source >= 0) continue;
        const PointwiseStep& maker = steps[static_cast<std::size_t>(-1 - source)];
        int& last = last_reader[static_cast<std::size_t>(-1 - source)];
        if (maker.slot < 0 || last != static_cast<int>(k) ||
            (dtype_size(maker.dtype) == dtype_size(steps[k].dtype)) != same_width)
          continue;
        free.push_back(maker.slot);
        last = -1;  // once, though a step may read a result twice
      }
    };
    give_back(true);
    if (steps[k].output < 0) {
      if (free.empty()) free.push_back(num_slots++);
      steps[k].slot = free.back();
      free.pop_back();
    }
    give_back(false);
  }
}

void PointwiseChain::list_operands() {
  operands.clear();
  const auto add_result = [this](std::size_t k) {
    const PointwiseStep& step = steps[k];
    PointwiseOperand operand{.dtype = step.dtype, .output = step.output, .slot = step.slot};
    if (step.output >= 0) {
      operand.from = INT_MAX;  // whatever lies there
    } else {
      operand.output = step.lent;
      operand.from = static_cast<int>(k);
    }
    operands.push_back(operand);
  };
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (const int source : steps[k].in) {
      if (source < 0) {
        add_result(static_cast<std::size_t>(-1 - source));
      } else {
        const PointwiseInput& input = inputs[static_cast<std::size_t>(source)];
        operands.push_back({.dtype = input.dtype, .single = input.single, .input = source});
      }
    }
    add_result(k);
  }
}

void PointwiseChain::finish() {
  std::string names;
  for (PointwiseStep& step : steps) {
    names += (names.empty() ? "" : "+") + step.op->name();
    step.kernel = pointwise_kernel(*step.op);
  }
  title = interned(names).c_str();
  std::vector<int> last_reader(steps.size(), -1);
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (const int source : steps[k].in)
      (source < 0 ? last_reader[static_cast<std::size_t>(-1 - source)]
                  : inputs[static_cast<std::size_t>(source)].last_read) = static_cast<int>(k);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    steps[static_cast<std::size_t>(outputs[o])].output = static_cast<int>(o);
  lend_outputs(last_reader);
  give_places(std::move(last_reader));
  list_operands();
  widest = kComputed;
  element_bytes = 0;
  for (const PointwiseInput& input : inputs) {
    widest = std::max(widest, dtype_size(input.dtype));
    if (!input.single) element_bytes += dtype_size(input.dtype);
  }
  for (const PointwiseStep& step : steps) widest = std::max(widest, dtype_size(step.dtype));
  for (const int output : outputs)
    element_bytes += dtype_size(steps[static_cast<std::size_t>(output)].dtype);
  element_bytes += static_cast<std::size_t>(num_slots) * widest;
}

}  // namespace mxnet
