// SPDX-License-Identifier: Apache-2.0
// _shuffle: the slices along the first axis in random order (Fisher and Yates, from the front).
#include <cstring>
#include <numeric>
#include <vector>

#include "op/op_builder.h"
#include "op/parallel.h"
#include "op/random_draws.h"
#include "op/random_streams.h"

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
std::vector<int64_t> random_order(int64_t count, bool vector, Mt19937& stream) {
  std::vector<int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  Draws draws(stream);
  for (int64_t step = 1; step < count; ++step) {
    const int64_t i = vector ? step : count - step;
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(below(draws, i + 1))]);
  }
  return order;
}

void shuffle_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  if (in.size() == 0) return;
  const int64_t slices = in.ndim() == 0 ? 1 : in.dim(0);
  const std::vector<int64_t> order =
      random_order(slices, in.ndim() <= 1, RandomStreams::of(context.device()).sequential());
  const std::size_t bytes = static_cast<std::size_t>(in.size() / slices) * dtype_size(in.dtype);
  parallel_for(slices, static_cast<double>(bytes) / 8, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      std::memcpy(
          out.as<char>() + static_cast<std::size_t>(i) * bytes,
          in.as<char>() + static_cast<std::size_t>(order[static_cast<std::size_t>(i)]) * bytes,
          bytes);
  });
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

}  // namespace
}  // namespace mxnet
