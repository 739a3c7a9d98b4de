// SPDX-License-Identifier: Apache-2.0
// Runs of neighbouring layers that work on images one by one, and into how many turns they are cut.
#include "exec/plan_turns.h"

#include <algorithm>
#include <numeric>

#include "base/omp.h"
#include "op/fused/reorder.h"

namespace mxnet {
namespace {

// What a turn reads and writes at one step fits the caches that the threads share. With fewer
// images a turn VGG-16 took 4 % longer.
constexpr double kTurnBytes = 16 << 20, kTurnBytesOfThread = 4 << 20;
constexpr int64_t kLeastImages = 4;
// Of an image's bytes at a layer: weights of more are better read once for all images.
constexpr double kMostWeights = 4.0 / 3;

std::size_t bytes_of(const ArrayType& type) {
  return static_cast<std::size_t>(type.shape.size()) * dtype_size(type.dtype);
}

class TurnChoice {
 public:
  TurnChoice(const IndexedGraph& graph, const std::vector<ArrayType>& types,
             const Schedule& schedule, PreparedKernels* kernels)
      : graph_(graph),
        types_(types),
        steps_(schedule.nodes),
        kernels_(*kernels),
        last_use_(types.size(), -1) {
    made_at_.resize(types.size(), -1);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const int step = static_cast<int>(s);
      const std::span<const int> inputs = graph.inputs(steps_[s]);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!graph.node(steps_[s]).op->type_only(static_cast<int>(i))) last_use(inputs[i]) = step;
      for (const int entry : results(steps_[s])) made_at_[static_cast<std::size_t>(entry)] = step;
    }
    for (const int entry : graph.outputs()) last_use(entry) = static_cast<int>(steps_.size());
  }

  std::vector<Turns> choose() {
    std::vector<Turns> all;
    const int end = static_cast<int>(steps_.size());
    for (int first = 0; first < end;) {
      int last = first;
      const int64_t images = images_at(first);
      while (last < end && images > 1 && images_at(last) == images && has_weights(last, first))
        ++last;
      if (const Turns turns = best(first, last, images); turns.parts > 1) {
        all.push_back(turns);
        first = turns.last + 1;
      } else {
        first = std::max(last, first + 1);
      }
    }
    return all;
  }

 private:
  int& last_use(int entry) { return last_use_[static_cast<std::size_t>(entry)]; }
  const ArrayType& type(int entry) const { return types_[static_cast<std::size_t>(entry)]; }

  std::vector<int> results(int n) const {
    std::vector<int> results(static_cast<std::size_t>(graph_.num_outputs(n)));
    std::iota(results.begin(), results.end(), graph_.first_entry(n));
    return results;
  }

  bool is_image(int n, std::size_t i) const {
    return static_cast<int>(i) < sample_inputs_of(*graph_.node(n).op);
  }

  // Of what a step reads and writes: images, and all else.
  struct Bytes {
    double images = 0, weights = 0;
  };
  Bytes bytes_at(int step) const {
    const int n = steps_[static_cast<std::size_t>(step)];
    Bytes bytes;
    const std::span<const int> inputs = graph_.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      (is_image(n, i) ? bytes.images : bytes.weights) +=
          static_cast<double>(bytes_of(type(inputs[i])));
    }
    for (const int entry : results(n)) bytes.images += static_cast<double>(bytes_of(type(entry)));
    return bytes;
  }

  // How many images a step works on one by one; 0 where it does something else, or has large
  // weights.
  int64_t images_at(int step) {
    const int n = steps_[static_cast<std::size_t>(step)];
    const ir::Node& node = graph_.node(n);
    if (kernels_[static_cast<std::size_t>(n)] == nullptr ||
        sample_inputs_of(*node.op) == kNoSamples)
      return 0;
    std::vector<int> images = results(n);
    for (const int entry : images)
      if (last_use(entry) == static_cast<int>(steps_.size())) return 0;  // the caller's array
    const std::span<const int> inputs = graph_.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_image(n, i)) images.push_back(inputs[i]);
    const auto count = [&](int entry) {
      const Shape& shape = type(entry).shape;
      return shape.ndim() == 4 ? shape[0] : 0;
    };
    const int64_t first = count(images[0]);
    const Bytes bytes = bytes_at(step);
    const bool alike = std::ranges::all_of(images, [&](int e) { return count(e) == first; });
    const double most = kMostWeights * bytes.images / static_cast<double>(first);
    return alike && bytes.weights <= most ? first : 0;
  }

  // Whether the parameters of a step are there before `first`: each turn wants them as a whole.
  bool has_weights(int step, int first) const {
    const int n = steps_[static_cast<std::size_t>(step)];
    const std::span<const int> inputs = graph_.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!is_image(n, i) && made_at_[static_cast<std::size_t>(inputs[i])] >= first) return false;
    return true;
  }

  // Turns up to where most of what is made stays within them; one where that is little.
  Turns best(int first, int end, int64_t images) {
    if (end - first < 2) return {};
    double widest = 0;
    for (int step = first; step < end; ++step) widest = std::max(widest, bytes_at(step).images);
    const double wanted = std::max(kTurnBytes, kTurnBytesOfThread * omp_threads());
    int parts = 1;
    for (int p = 2; p <= images / kLeastImages && widest > wanted * parts; ++p)
      if (images % p == 0) parts = p;
    int last = -1;
    double most = wanted;
    for (int step = first + 1; step < end; ++step) {
      double gain = 0;
      for (int s = first; s <= step; ++s)
        for (const int entry : results(steps_[static_cast<std::size_t>(s)]))
          gain += static_cast<double>(bytes_of(type(entry))) * (last_use(entry) <= step ? 1 : -1);
      if (gain > most) {
        most = gain;
        last = step;
      }
    }
    if (parts == 1 || last < 0 || !divide(first, last, parts)) return {};
    return {first, last, parts};
  }

  // Kernels for parts in the place of those for all; as they were where one will not.
  bool divide(int first, int last, int parts) {
    PreparedKernels divided;
    for (int step = first; step <= last; ++step) {
      divided.push_back(part_kernel(steps_[static_cast<std::size_t>(step)], parts));
      if (divided.back() == nullptr) return false;
    }
    for (int step = first; step <= last; ++step)
      kernels_[static_cast<std::size_t>(steps_[static_cast<std::size_t>(step)])] =
          std::move(divided[static_cast<std::size_t>(step - first)]);
    return true;
  }

  // Null where it would read or write something else than an equal part.
  PreparedKernelRef part_kernel(int n, int parts) const {
    const ir::Node& node = graph_.node(n);
    const PreparedKernel& whole = *kernels_[static_cast<std::size_t>(n)];
    const std::size_t num_in = graph_.inputs(n).size();
    std::vector<ArrayType> types;
    std::vector<LayoutRef> layouts;
    bool divides = true;
    const auto add = [&](int entry, bool images, const LayoutRef& layout) {
      types.push_back(images ? part_of(type(entry), parts) : type(entry));
      layouts.push_back(images && layout != nullptr ? layout->part(parts) : layout);
      divides = divides && (layout == nullptr) == (layouts.back() == nullptr);
    };
    for (std::size_t i = 0; i < num_in; ++i)
      add(graph_.inputs(n)[i], is_image(n, i), whole.in()[i]);
    for (int o = 0; o < graph_.num_outputs(n); ++o)
      add(graph_.first_entry(n) + o, true, whole.out()[static_cast<std::size_t>(o)]);
    if (!divides) return nullptr;
    std::vector<Tensor> tensors;
    tensors.reserve(types.size());
    for (const ArrayType& type : types) tensors.push_back({nullptr, &type.shape, type.dtype});
    const std::span<const Tensor> all(tensors);
    const std::span<const LayoutRef> in = std::span(layouts).first(num_in);
    PreparedKernelRef part =
        node.op->name() == kReorderOp
            ? prepare_reorder(tensors[0], layouts[0], layouts[1])
            : prepared_kernel_of(*node.op)(*node.op, node.params.get(),
                                           {all.first(num_in), all.subspan(num_in), false}, in);
    if (part == nullptr || !std::ranges::equal(part->in(), in, same_layout) ||
        !std::ranges::equal(part->out(), std::span(layouts).subspan(num_in), same_layout))
      return nullptr;
    return part;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const std::vector<int>& steps_;
  PreparedKernels& kernels_;
  std::vector<int> last_use_;  // per entry: step; their number = an output
  std::vector<int> made_at_;   // per entry: step; -1 = a variable
};

}  // namespace

ArrayType part_of(const ArrayType& whole, int parts) {
  ArrayType part = whole;
  part.shape[0] /= parts;
  return part;
}

std::vector<Turns> choose_turns(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                                const Schedule& schedule, const PlanOptions& options,
                                PreparedKernels* kernels) {
  // Turns are within one operation of the engine, and on one memory.
  if (kernels->empty() || !options.optimise || options.training || options.device.is_gpu() ||
      options.forward_bulk > 0 || options.branches > 1 ||
      options.forward_outputs < static_cast<int>(graph.outputs().size()))
    return {};
  return TurnChoice(graph, types, schedule, kernels).choose();
}

}  // namespace mxnet
