// SPDX-License-Identifier: Apache-2.0
// The operator: threads, tiles, and the memory that kernels of a tile ask for.
#include "op/fused/pointwise.h"

#include <omp.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "op/fused/pointwise_tiles.h"
#include "op/lent_resources.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Bytes of a tile of all arrays that a chain reads and writes. Together they stay in a second-level
// cache from step to step, and a kernel call costs a few percent of what it computes.
constexpr std::size_t kTile = std::size_t{256} << 10;
// Bytes of the widest type from which on elements are shared out among threads.
constexpr std::size_t kGrain = 32768;
// What a row's kernel may ask for, in results: both arguments in another type.
constexpr std::size_t kArguments = 4;
// As the costliest row says of itself, so that no kernel wants threads where the chain does not.
constexpr double kCost = 8.0;

// Scratch of the steps, all of it given back after each.
class TileResources final : public KernelResources {
 public:
  TileResources(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  void* workspace(std::size_t bytes) override {
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    if (used_ + rounded <= bytes_) {
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
  const std::size_t bytes_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<std::byte, Delete>> more_;  // of kernels that ask for much
};

void run_chain(const PointwiseChain& chain, KernelContext& context) {
  const TiledCall call(chain, context, /*streams=*/true);
  const int64_t size = call.size(), most = std::min(size, call.elements(kTile));
  const double cost = kCost * static_cast<double>(chain.steps.size());
  const int threads = threads_for(size, cost);
  const std::size_t room = call.room(most), scratch = kArguments * call.slot_bytes(most);
  auto* memory = context.workspace_of<std::byte>(static_cast<int64_t>(room + scratch) *
                                                 static_cast<int64_t>(threads));
  const auto run_part = [&](int64_t first, int64_t last) {
    const auto thread = static_cast<std::size_t>(threads > 1 ? omp_get_thread_num() : 0);
    std::byte* const own = memory + thread * (room + scratch);
    TileResources resources(own + room, scratch);
    TileRunner runner(call, most, own, resources);
    for (int64_t at = first; at < last; at += most)
      runner.run(at, std::min(most, last - at), [&] { resources.reset(); });
  };
  if (threads == 1) return run_part(0, size);
  parallel_for(size, cost, run_part, static_cast<int64_t>(kGrain / chain.widest));
}

// The inputs of such a node are complete where it is made.
void infer(const PointwiseChain& chain, Infer& infer) {
  if (chain.steps.empty()) infer.fail("given no operators, expected those of a compiled graph");
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
      .num_inputs([](const PointwiseChain& chain) { return static_cast<int>(chain.inputs.size()); })
      .outputs([](const PointwiseChain& chain) { return static_cast<int>(chain.outputs.size()); })
      .infer(infer)
      .cpu(run_chain);
  for (int i = 0; i < 16; ++i) op.inplace(i, 0);
  return true;
}();

}  // namespace

void run_chain_steps(const PointwiseChain& chain, KernelContext& context) {
  const TiledCall call(chain, context, /*streams=*/false);
  const int64_t size = call.size();
  LentResources resources(context);
  auto* room = context.workspace_of<std::byte>(static_cast<int64_t>(call.room(size)));
  TileRunner(call, size, room, resources).run(0, size, [] {});
}

}  // namespace mxnet
