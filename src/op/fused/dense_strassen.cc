// SPDX-License-Identifier: Apache-2.0
// Threads divide the rows in blocks. What follows the layer is done to a block's columns while they
// are in cache.
#include "op/fused/dense_strassen.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/simd.h"
#include "ndarray/made_of_values.h"
#include "op/fused/sum_place.h"
#include "op/norm/activation_loops.h"
#include "op/products/blas.h"
#include "op/products/magnitudes.h"
#include "op/products/packed_floats.h"
#include "op/products/packed_gemm.h"
#include "op/products/strassen_product.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

namespace fast = strassen_product;

#define MX_SIMD_FILE "op/fused/dense_strassen.inc"
#include "base/simd_targets.h"

// What follows the products and a sum: what LayerPost has, or an activation by its own loop.
struct Activation {
  LayerPost post;
  std::optional<ActivationRow> row;
  float slope = 0;  // of the row
};

std::optional<Activation> activation(std::span<const PostOp> steps) {
  Activation result;
  if (const auto post = layer_post(steps)) {
    result.post = *post;
    return result;
  }
  if (steps.front().kind == PostOp::Kind::kSum) steps = steps.subspan(1);
  if (steps.size() != 1) return std::nullopt;
  constexpr std::pair<PostOp::Kind, ActivationRow> kRows[] = {
      {PostOp::Kind::kSigmoid, ActivationRow::sigmoid},
      {PostOp::Kind::kTanh, ActivationRow::tanh},
      {PostOp::Kind::kSoftRelu, ActivationRow::softrelu},
      {PostOp::Kind::kElu, ActivationRow::elu},
      {PostOp::Kind::kGelu, ActivationRow::gelu}};
  for (const auto& [kind, row] : kRows) {
    if (kind != steps[0].kind) continue;
    result.row = row;
    result.slope = steps[0].alpha;
    return result;
  }
  return std::nullopt;
}

// How threads divide the rows: whole groups of them, a thread's in blocks. Some rows may be left.
struct Shares {
  int64_t groups, left;
  int threads;

  Shares(int64_t rows, int count)
      : groups(rows / fast::kRowsTogether), left(rows % fast::kRowsTogether), threads(count) {}
  int64_t first_group(int64_t thread) const { return groups * thread / threads; }
  // Where a thread has few rows, it waits for the sums rather than multiplies, the longer the
  // farther memory is; and one that has more rows than others loses what is saved.
  bool gain() const {
    constexpr int64_t least = 4;
    const int64_t most = (groups + threads - 1) / threads;
    return groups / threads >= least && 8 * most * threads <= 9 * groups;
  }
};

class StrassenDense final : public PreparedKernel {
 public:
  StrassenDense(const FusedDenseParams& params, const DenseSizes& sizes, Activation activation,
                PreparedKernelRef plain)
      : PreparedKernel("strassen", {plain->in().begin(), plain->in().end()}, {nullptr}),
        params_(params),
        sizes_(sizes),
        activation_(activation),
        plain_(std::move(plain)) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const StrassenDense& dense) : dense_(dense), plain_(dense.plain_->make_run()) {}

    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      if (!dense_.run(context)) plain_->run(context, origins);
    }

   private:
    const StrassenDense& dense_;
    const std::unique_ptr<PreparedRun> plain_;
  };

  double cost_of_row() const {
    return static_cast<double>(sizes_.hidden) * static_cast<double>(sizes_.depth) / 16;
  }

  // False, and nothing is done, where products must be plain.
  bool run(const KernelContext& context) const {
    const int weight = params_.weight_input();
    const int64_t rows = sizes_.rows, hidden = sizes_.hidden, depth = sizes_.depth;
    const Shares shares(rows, threads_for(rows, cost_of_row()));
    uint64_t version = 0;
    // Of a weight that is another one each time the sums would be made for this run alone.
    MadeOfValues* const made = shares.gain() ? context.made_of(weight, &version) : nullptr;
    if (made == nullptr) return false;
    const auto* a = context.in(0).as<float>();
    const auto* w = context.in(weight).as<float>();
    const auto of_w = kept(*made, version, w, Kind::kMagnitudes, 2, [&](float* to) {
      const RowMagnitudes found = magnitudes_of_rows(w, hidden, depth);
      to[0] = found.largest;
      to[1] = found.least;
    });
    if (!fast::may_multiply(rows, hidden, depth, a, w, {of_w->floats()[0], of_w->floats()[1]}))
      return false;
    const auto sums = sums_if_room(*made, version, w);
    if (sums == nullptr) return false;
    if (params_.sum) place_sum(context, static_cast<std::size_t>(rows * hidden) * sizeof(float));
    const float* bias = params_.dense.no_bias ? nullptr : context.in(weight + 1).as<float>();
    multiply(shares, a, sums->floats(), w, bias, context);
    return true;
  }

  // What is made of the weight once, for all plans that have it. At the first run already, so that
  // all runs give the same numbers.
  enum class Kind : uint8_t { kMagnitudes, kSums };
  template <class Make>
  std::shared_ptr<const PackedFloats> kept(MadeOfValues& made, uint64_t version, const float* w,
                                           Kind kind, int64_t size, const Make& make) const {
    constexpr int64_t kOfThisLayer = -1;  // no number of what other operators keep
    const MadeOfValues::Key key{static_cast<int64_t>(reinterpret_cast<uintptr_t>(w)),
                                sizes_.hidden,
                                sizes_.depth,
                                static_cast<int64_t>(kind),
                                0,
                                0,
                                0,
                                kOfThisLayer};
    bool again = false;
    if (auto found = made.find(version, key, &again))
      return std::static_pointer_cast<const PackedFloats>(found);
    auto memory =
        std::make_shared<const PackedFloats>(static_cast<std::size_t>(size) * sizeof(float));
    make(memory->floats());
    made.add(version, key, memory);
    return memory;
  }

  // They are three times the weight: null where there is no room for them.
  std::shared_ptr<const PackedFloats> sums_if_room(MadeOfValues& made, uint64_t version,
                                                   const float* w) const {
    const int64_t hidden = sizes_.hidden, depth = sizes_.depth;
    try {
      return kept(made, version, w, Kind::kSums, fast::sums_size(hidden, depth),
                  [&](float* to) { fast::sum_matrix(w, hidden, depth, to); });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory) throw;
      return nullptr;
    }
  }

  void multiply(const Shares& shares, const float* a, const float* sums, const float* w,
                const float* bias, const KernelContext& context) const {
    const int64_t rows = sizes_.rows, size = fast::scratch_size(sizes_.depth);
    auto* out = context.out(0).as<float>();
    auto* scratch = context.workspace_of<float>(shares.threads * size);
    parallel_for(
        shares.threads, cost_of_row() * static_cast<double>(rows) / shares.threads,
        [&](int64_t first, int64_t last) {
          for (int64_t t = first; t < last; ++t)
            multiply_groups(shares.first_group(t), shares.first_group(t + 1), a, sums, bias, out,
                            scratch + t * size);
        },
        1);
    if (shares.left > 0) multiply_left(rows - shares.left, shares.left, a, w, bias, out);
  }

  // Groups [first, last) of rows in blocks, as few as will do, of about the same height.
  void multiply_groups(int64_t first, int64_t last, const float* a, const float* sums,
                       const float* bias, float* out, float* scratch) const {
    constexpr int64_t kMost = fast::kMostRows / fast::kRowsTogether;
    const auto& [all, hidden, depth] = sizes_;
    for (int64_t group = first, height; group < last; group += height) {
      const int64_t blocks = (last - group + kMost - 1) / kMost;
      height = (last - group + blocks - 1) / blocks;
      const int64_t row = group * fast::kRowsTogether, rows = height * fast::kRowsTogether;
      float* c = out + row * hidden;
      const auto finished = [&](int64_t begin, int64_t end) { finish(c, rows, begin, end, bias); };
      fast::multiply(rows, hidden, depth, a + row * depth, sums, c, params_.sum, scratch,
                     {&finished, [](const void* body, int64_t begin, int64_t end) {
                        (*static_cast<const decltype(finished)*>(body))(begin, end);
                      }});
    }
  }

  // The last rows, plainly.
  void multiply_left(int64_t row, int64_t rows, const float* a, const float* w, const float* bias,
                     float* out) const {
    const int64_t hidden = sizes_.hidden, depth = sizes_.depth;
    float* c = out + row * hidden;
    parallel_for(hidden, static_cast<double>(rows * depth) / 16, [&](int64_t first, int64_t last) {
      blas::gemm(false, true, rows, last - first, depth, 1.0F, a + row * depth, depth,
                 w + first * depth, depth, params_.sum ? 1.0F : 0.0F, c + first, hidden);
      finish(c, rows, first, last, bias);
    });
  }

  // Columns [first, last) of some rows.
  void finish(float* c, int64_t rows, int64_t first, int64_t last, const float* bias) const {
    LayerPost post = activation_.post;
    if (bias != nullptr) post.bias = bias + first;
    const auto loop = activation_.row ? activation_loop<float>(*activation_.row).value : nullptr;
    for (int64_t r = 0; r < rows; ++r) {
      float* row = c + r * sizes_.hidden + first;
      MX_SIMD_CALL(finish_row)(row, last - first, post);
      if (loop != nullptr) loop(row, row, last - first, activation_.slope);
    }
  }

  const FusedDenseParams params_;
  const DenseSizes sizes_;
  const Activation activation_;
  const PreparedKernelRef plain_;
};

}  // namespace

PreparedKernelRef with_strassen(const FusedDenseParams& params, const DenseSizes& sizes,
                                PreparedKernelRef plain) {
  const Config& settings = config();
  const int chosen = settings.onednn.fc_strassen;
  // The sums of a block of rows and those of the weight do not lie in the second-level cache
  // together, and the next one is slow where tiles are tall: plain products take a sixth less
  // there. Of how many threads a layer gains for its rows decides about the last bits.
  if (chosen == 0 || (chosen == 1 && packed_gemm::has_tall_tiles()) ||
      settings.cuda.enforce_determinism || settings.onednn.disable_fc_cache ||
      settings.onednn.force_fc_ab_format || sizes.rows < 2 * fast::kRowsTogether ||
      !fast::divides(sizes.hidden, sizes.depth))
    return plain;
  const auto follows = activation(params.post_ops);
  if (!follows) return plain;
  return std::make_shared<const StrassenDense>(params, sizes, *follows, std::move(plain));
}

}  // namespace mxnet
