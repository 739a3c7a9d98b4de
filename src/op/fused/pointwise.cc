// SPDX-License-Identifier: Apache-2.0
// Running a chain tile by tile.
#include "op/fused/pointwise.h"

#include <omp.h>

#include <algorithm>
#include <new>

#include "base/config_types.h"
#include "base/error.h"
#include "op/inline_vector.h"
#include "op/lent_resources.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"
#include "op/pointwise.h"

namespace mxnet {
namespace {

// Bytes of a tile of the widest type in a chain: ten of them are well inside a second-level cache,
// and a kernel call costs a few percent of what it computes.
constexpr std::size_t kBuffer = 32768;
constexpr std::size_t kWidest = 8;  // bytes of an element
// Half types are computed in float32: a kernel may want that much room for an element.
constexpr std::size_t kComputed = 4;
// What a row's kernel may ask for: both arguments in another type.
constexpr std::size_t kWorkspace = 4 * kBuffer;
// As the costliest row says of itself, so that no kernel wants threads where the chain does not.
constexpr double kCost = 8.0;

// Scratch of the steps, all of it given back after each.
class TileResources final : public KernelResources {
 public:
  explicit TileResources(std::byte* memory) : memory_(memory) {}
  void* workspace(std::size_t bytes) override {
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    if (used_ + rounded <= kWorkspace) {
      used_ += rounded;
      return memory_ + used_ - rounded;
    }
    more_.emplace_back(static_cast<std::byte*>(::operator new (rounded, std::align_val_t{64})));
    return more_.back().get();
  }
  Tensor make_out(int, const Shape&) override { MX_ASSERT(false); }
  void reset() {
    used_ = 0;
    more_.clear();
  }

 private:
  struct Delete {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::byte* const memory_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<std::byte, Delete>> more_;  // of kernels that ask for much
};

std::byte* at(const Tensor& tensor, int64_t element) {
  return tensor.as<std::byte>() + static_cast<std::size_t>(element) * dtype_size(tensor.dtype);
}

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.size()) * dtype_size(tensor.dtype);
}

// All steps over one tile after another; one thread's. A slot holds a tile.
class TileRunner {
 public:
  TileRunner(const PointwiseChain& chain, const KernelContext& context, KernelResources& resources,
             std::byte* slots, std::size_t slot_bytes)
      : chain_(chain),
        context_(context),
        resources_(resources),
        slots_(slots),
        slot_bytes_(slot_bytes),
        one_(chain.shape.size() == 1 ? nullptr : &kOne) {
    for (std::size_t o = 0; o < chain.outputs.size(); ++o)
      free_after_.push_back(last_read_in_place_of(context.out(static_cast<int>(o))));
  }

  // `after_step()` follows each step.
  template <class F>
  void run(int64_t first, int64_t count, const F& after_step) {
    const Shape tile{count};
    for (const PointwiseStep& step : chain_.steps) {
      tensors_.clear();
      for (const int source : step.in) tensors_.push_back(input(source, first, tile));
      tensors_.push_back(result(step, first, tile));
      const std::span<const Tensor> all = tensors_.span();
      KernelContext context(all.first(step.in.size()), all.last(1), context_.device(),
                            context_.stream(), context_.training(), resources_);
      const KernelEntry& kernel = *pointwise_kernel(*step.op);
      kernel.run(kernel.run_fn, step.params.get(), context);
      after_step();
    }
  }

 private:
  static inline const Shape kOne{1};

  Tensor input(int source, int64_t first, const Shape& tile) const {
    if (source < 0) return result(chain_.steps[static_cast<std::size_t>(-1 - source)], first, tile);
    const Tensor& whole = context_.in(source);
    if (one_ != nullptr && whole.size() == 1) return {whole.data, one_, whole.dtype};
    return {at(whole, first), &tile, whole.dtype};
  }
  // The last step that reads an input which lies where the output does: -1 where none does, and
  // beyond all steps where the output's elements do not lie upon the input's one by one.
  int last_read_in_place_of(const Tensor& out) const {
    int last = -1;
    const auto* begin = out.as<std::byte>();
    for (std::size_t i = 0; i < chain_.last_read.size(); ++i) {
      const Tensor& in = context_.in(static_cast<int>(i));
      if (in.as<std::byte>() >= begin + bytes_of(out) || begin >= in.as<std::byte>() + bytes_of(in))
        continue;
      const bool same = in.data == out.data && bytes_of(in) == bytes_of(out);
      last = std::max(last, same ? chain_.last_read[i] : static_cast<int>(chain_.steps.size()));
    }
    return last;
  }
  // One tile fewer to touch where a result lies in the place of the output that follows from it.
  Tensor result(const PointwiseStep& step, int64_t first, const Shape& tile) const {
    if (step.output >= 0) return {at(context_.out(step.output), first), &tile, step.dtype};
    if (step.lent >= 0 &&
        &step - chain_.steps.data() >= free_after_.span()[static_cast<std::size_t>(step.lent)])
      return {at(context_.out(step.lent), first), &tile, step.dtype};
    return {slots_ + static_cast<std::size_t>(step.slot) * slot_bytes_, &tile, step.dtype};
  }

  const PointwiseChain& chain_;
  const KernelContext& context_;
  KernelResources& resources_;
  std::byte* const slots_;
  const std::size_t slot_bytes_;
  const Shape* const one_;  // shape of inputs of one element; null where all have one
  InlineVector<Tensor, 8> tensors_;
  InlineVector<int, 4> free_after_;  // of each output: the last reader of what lies in its place
};

int64_t elements_of_a_tile(const PointwiseChain& chain, const KernelContext& context) {
  std::size_t widest = kComputed;
  for (const PointwiseStep& step : chain.steps) widest = std::max(widest, dtype_size(step.dtype));
  for (int i = 0; i < chain.num_inputs; ++i)
    widest = std::max(widest, dtype_size(context.in(i).dtype));
  return static_cast<int64_t>(kBuffer / widest);
}

void run_chain(const PointwiseChain& chain, KernelContext& context) {
  const int64_t size = chain.shape.size();
  const int64_t tile_size = elements_of_a_tile(chain, context);
  const int64_t tiles = (size + tile_size - 1) / tile_size;
  const double cost = kCost * static_cast<double>(std::min(size, tile_size)) *
                      static_cast<double>(chain.steps.size());
  const int threads = threads_for(tiles, cost);
  const std::size_t each = kWorkspace + static_cast<std::size_t>(chain.num_slots) * kBuffer;
  auto* memory =
      context.workspace_of<std::byte>(static_cast<int64_t>(each) * static_cast<int64_t>(threads));
  parallel_for(
      tiles, cost,
      [&](int64_t first, int64_t last) {
        const int thread = threads > 1 ? omp_get_thread_num() : 0;
        std::byte* const own = memory + static_cast<std::size_t>(thread) * each;
        TileResources resources(own);
        TileRunner runner(chain, context, resources, own + kWorkspace, kBuffer);
        for (int64_t tile = first; tile < last; ++tile)
          runner.run(tile * tile_size, std::min(tile_size, size - tile * tile_size),
                     [&] { resources.reset(); });
      },
      1);
}

// The inputs of such a node are complete where it is made.
void infer(const PointwiseChain& chain, Infer& infer) {
  for (std::size_t o = 0; o < chain.outputs.size(); ++o) {
    InferArg out = infer.out(static_cast<int>(o));
    out.set_shape(chain.shape);
    out.set_dtype(chain.steps[static_cast<std::size_t>(chain.outputs[o])].dtype);
  }
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<PointwiseChain> op(PointwiseChain::kName);
  op.doc("Pointwise operators in one, in compiled graphs.")
      .input_list("data", "What the operators read.")
      .num_inputs([](const PointwiseChain& chain) { return chain.num_inputs; })
      .outputs([](const PointwiseChain& chain) { return static_cast<int>(chain.outputs.size()); })
      .infer(infer)
      .cpu(run_chain);
  for (int i = 0; i < 16; ++i) op.inplace(i, 0);
  return true;
}();

}  // namespace

namespace {

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

void run_chain_steps(const PointwiseChain& chain, KernelContext& context) {
  const int64_t size = chain.shape.size();
  // Slots hold elements of the widest type and begin where vector loads may.
  const std::size_t slot_bytes = (static_cast<std::size_t>(size) * kWidest + 255) / 256 * 256;
  LentResources resources(context);
  auto* slots = chain.num_slots == 0
                    ? nullptr
                    : context.workspace_of<std::byte>(static_cast<int64_t>(slot_bytes) *
                                                      static_cast<int64_t>(chain.num_slots));
  TileRunner(chain, context, resources, slots, slot_bytes).run(0, size, [] {});
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

void PointwiseChain::finish() {
  std::string names;
  for (const PointwiseStep& step : steps) names += (names.empty() ? "" : "+") + step.op->name();
  title = interned(names).c_str();
  std::vector<int> last_reader(steps.size(), -1);
  last_read.assign(static_cast<std::size_t>(num_inputs), -1);
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (const int source : steps[k].in)
      (source < 0 ? last_reader[static_cast<std::size_t>(-1 - source)]
                  : last_read[static_cast<std::size_t>(source)]) = static_cast<int>(k);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    steps[static_cast<std::size_t>(outputs[o])].output = static_cast<int>(o);
  lend_outputs(last_reader);
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

}  // namespace mxnet
