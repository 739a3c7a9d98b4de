// SPDX-License-Identifier: Apache-2.0
// _shuffle: the slices along the first axis in random order (Fisher and Yates, from the front).
#include <numeric>

#include "op/generators/random_draws.h"
#include "op/generators/random_streams.h"
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

// In [0, count).
int64_t below(Draws& draws, int64_t count) {
  if (count <= 0xffffffff) return draws.below(static_cast<uint32_t>(count));
  // An array longer than a word counts: the excess of small values, below 2^-31, is accepted.
  const uint64_t high = draws.word();
  return static_cast<int64_t>(((high << 32) + draws.word()) % static_cast<uint64_t>(count));
}

// order[i]: the slice that comes to place i. Vectors are walked from the front and arrays of slices
// from the back, which seeded programs rely on.
void random_order(int64_t count, bool vector, Mt19937& stream, int64_t* order) {
  std::iota(order, order + count, int64_t{0});
  Draws draws(stream);
  for (int64_t step = 1; step < count; ++step) {
    const int64_t i = vector ? step : count - step;
    std::swap(order[i], order[below(draws, i + 1)]);
  }
}

// The order is drawn on the host wherever the slices are.
void shuffle_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  const int64_t slices = in.ndim() == 0 ? 1 : in.dim(0);
  const HostNumbers order(context, slices);
  random_order(slices, in.ndim() <= 1, RandomStreams::of(context.device()).sequential(),
               order.data());
  const Shape count{slices};
  // Read only.
  const Tensor there{const_cast<int64_t*>(order.on_device(context, slices)), &count, DType::kInt64};
  gather_rows(in.data, 1, slices, in.size() / slices * static_cast<int64_t>(dtype_size(in.dtype)),
              Positions(there, slices, OutOfRange::kClip, "shuffle"), context.out(0).data, context);
}

MX_OP(_shuffle, NoParams)
.doc("The slices along the first axis in random order.")
    .alias("_npi_shuffle")
    .alias("shuffle")
    .input("data", "The array.")
    .lenient()
    .uses_random()
    .infer([](const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); })
    .cpu(shuffle_cpu);
[[maybe_unused]] const bool portable = mark_portable_waiting({"_shuffle"});

}  // namespace
}  // namespace mxnet
