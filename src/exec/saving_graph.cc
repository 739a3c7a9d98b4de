// SPDX-License-Identifier: Apache-2.0
// Candidates by what the configuration asks for, and the choice among them.
#include "exec/saving_graph.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/config.h"
#include "exec/pointwise_graph.h"
#include "graph/mirror.h"

namespace mxnet {
namespace {

// Plans that compute values of the forward part again. Values in two layouts take a little memory,
// which is worth the time that they save unless somebody asks for the smallest plan, or they do not
// fit.
class Saving {
 public:
  Saving(const TypedGraph& plain, const std::map<const ir::Node*, ArrayType>& known,
         const PlanOptions& options, const PassOptions& passes)
      : plain_(plain), known_(known), options_(options), passes_(passes) {}

  // The smallest of what the rows that are set ask for: none can make the plan of another larger.
  TypedGraph least() const {
    const auto& wish = config().memory_plan;
    const auto budget = static_cast<std::size_t>(int64_t{wish.backward_mirror_budget});
    const bool smallest = wish.memory_opt > 0;
    std::optional<TypedGraph> least;
    std::size_t needed = std::numeric_limits<std::size_t>::max();
    const auto offer = [&](TypedGraph candidate) {
      const std::size_t its = bytes(candidate);
      if (its >= needed) return;
      needed = its;
      least.emplace(std::move(candidate));
    };
    offer(lay(plain_));
    const bool fits = needed <= budget;
    if (wish.backward_do_mirror || smallest) offer(lay(recomputed(Recompute::kCheap)));
    if (smallest) {
      TypedGraph any = recomputed(Recompute::kAny);
      if (options_.optimise) offer(lay(any));
      offer(std::move(any));
    }
    if (budget > 0 && !fits) offer(within(budget));
    return *std::move(least);
  }

 private:
  enum class Recompute { kCheap, kAny };

  // What reordered weights and their gradients, and values in two layouts, may take of a plan:
  // the less it is, the less is computed again.
  static constexpr double kReorderedParts[] = {0.04, 0.1, 0.2};
  // Values of up to which part of the widest lie in layouts, where not all may.
  static constexpr std::size_t kMostParts = 4;

  TypedGraph within(std::size_t budget) const {
    if (!options_.optimise) return recomputed(Recompute::kAny, budget);
    std::vector<TypedGraph> tight;
    for (const double part : kReorderedParts) {
      const auto room = static_cast<std::size_t>(part * static_cast<double>(budget));
      TypedGraph candidate = recomputed(Recompute::kAny, budget - room);
      const std::size_t needed = bytes(candidate);
      if (needed > budget) return smaller(std::move(candidate));
      if (needed > budget - room) break;
      if (TypedGraph laid = lay(candidate); bytes(laid) <= budget) return laid;
      tight.push_back(std::move(candidate));
    }
    for (std::size_t part = 2; part <= kMostParts; part *= 2) {
      for (const TypedGraph& candidate : tight)
        if (TypedGraph laid = lay(candidate, widest_value(candidate) / part); bytes(laid) <= budget)
          return laid;
    }
    return smaller(recomputed(Recompute::kAny, budget));
  }
  // What does not fit lies where it takes less: laid out, normalisations may have taken over relus.
  TypedGraph smaller(TypedGraph in_rows) const {
    TypedGraph laid = lay(in_rows);
    if (bytes(laid) < bytes(in_rows)) return laid;
    return in_rows;
  }

  // In plain rows. Without a budget, as small as it gets.
  TypedGraph recomputed(Recompute what, std::size_t budget = 0) const {
    MirrorOptions mirror_options;
    mirror_options.cheap = true;
    mirror_options.segments = what == Recompute::kAny;
    mirror_options.split = !options_.device.is_gpu();  // kernels of the parts are for CPUs
    mirror_options.budget = budget;
    mirror_options.bytes = [&](const IndexedGraph& candidate, const std::vector<ArrayType>& types) {
      return fused_bytes(candidate, types, options_);
    };
    return infer_all(run_pass("mirror", plain_.graph.graph(), passes_,
                              [&](const ir::Graph&) {
                                return mirror(plain_.graph, plain_.types, options_.forward_outputs,
                                              mirror_options);
                              }),
                     known_);
  }
  // With normalisations and their relus in one, where that takes no more.
  TypedGraph lay(const TypedGraph& typed,
                 std::size_t widest = std::numeric_limits<std::size_t>::max()) const {
    if (!options_.optimise) return typed;
    TypedGraph laid =
        laid_out(typed, known_, passes_,
                 {.training = options_.training, .differentiated = true, .widest = widest});
    if (!options_.training) return laid;
    TypedGraph fused = norms_fused(laid, known_, passes_);
    return bytes(fused) <= bytes(laid) ? fused : laid;
  }
  // Of what lies in the plan's own memory.
  static std::size_t widest_value(const TypedGraph& typed) {
    const IndexedGraph& graph = typed.graph;
    std::vector<bool> given(typed.types.size());
    for (int n : graph.variables()) given[static_cast<std::size_t>(graph.first_entry(n))] = true;
    for (int entry : graph.outputs()) given[static_cast<std::size_t>(entry)] = true;
    std::size_t widest = 0;
    for (std::size_t e = 0; e < given.size(); ++e) {
      const ArrayType& type = typed.types[e];
      const auto elements = static_cast<std::size_t>(type.shape.size());
      if (!given[e]) widest = std::max(widest, elements * dtype_size(type.dtype));
    }
    return widest;
  }
  std::size_t bytes(const TypedGraph& typed) const {
    return fused_bytes(typed.graph, typed.types, options_, typed.kernels);
  }

  const TypedGraph& plain_;
  const std::map<const ir::Node*, ArrayType>& known_;
  const PlanOptions& options_;
  const PassOptions& passes_;
};

}  // namespace

bool saves_memory() {
  const auto& wish = config().memory_plan;
  return wish.backward_do_mirror || wish.memory_opt > 0 || wish.backward_mirror_budget > 0;
}

TypedGraph saving_graph(const TypedGraph& plain, const std::map<const ir::Node*, ArrayType>& known,
                        const PlanOptions& options, const PassOptions& passes) {
  return Saving(plain, known, options, passes).least();
}

}  // namespace mxnet
