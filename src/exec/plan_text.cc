// SPDX-License-Identifier: Apache-2.0
// Plans as text.
#include <fmt/format.h>

#include "exec/plan.h"

namespace mxnet {

std::string Plan::debug_str() const {
  std::string text;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    text += fmt::format("segment {} ({}):\n", s,
                        static_cast<int>(s) < num_forward_segments_ ? "forward" : "backward");
    for (int i = segments_[s].first_step; i < segments_[s].last_step; ++i) {
      const Step& step = steps_[static_cast<std::size_t>(i)];
      text += fmt::format("  {} [{}]{}", step_name(step), kernel_name(step),
                          step.accumulate ? " +=" : "");
      for (const TurnedSteps& turned : turned_)
        if (i >= turned.first_step && i < turned.last_step)
          text += fmt::format(" in {} turns", turned.times);
      for (uint32_t t = 0; t < step.num_in + step.num_out; ++t) {
        const TensorPlace& place = tensors_[step.first_tensor + t];
        text += t == step.num_in ? " -> " : " ";
        text += to_string(place.type->shape);
        if (place.arena >= 0) text += fmt::format("@{}", place.offset);
        if (place.arena > 0) text += fmt::format("/{}", place.arena);
        if (place.constant != nullptr) text += "=constant";
        if (place.kept >= 0) text += fmt::format("=kept{}", place.kept);
        if (place.external >= num_variables())
          text += fmt::format("=output{}", place.external - num_variables());
      }
      text += "\n";
    }
  }
  return text + memory_str();
}

std::string Plan::memory_str() const {
  const std::size_t kept = memory_.kept_bytes;
  return fmt::format(
      "Total {} MB allocated\nplanned bytes: {} in the arena, {} in outputs ({} without "
      "sharing){}\n",
      (memory_.arena_bytes + memory_.output_bytes + kept) >> 20, memory_.arena_bytes,
      memory_.output_bytes, memory_.unshared_bytes,
      kept == 0 ? "" : fmt::format(", {} kept from run to run", kept));
}

}  // namespace mxnet
