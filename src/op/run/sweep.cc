// SPDX-License-Identifier: Apache-2.0
// Every other walk goes backwards.
#include "op/run/sweep.h"

namespace mxnet {
namespace {

// What is less lies in the second-level cache from one walk to the next.
constexpr int64_t kFar = int64_t{1} << 20;

}  // namespace

Sweep::Sweep(int64_t bytes) noexcept {
  [[gnu::tls_model("initial-exec")]] constinit static thread_local bool backwards = false;
  if (bytes >= kFar) backwards = !backwards;
  back_ = bytes >= kFar && backwards;
}

void run_sweeps(int64_t count, double cost, int64_t bytes, int64_t align, RangeBody body) {
  const int64_t together = (Sweep::kBlockBytes / std::max<int64_t>(bytes, 1) / align + 1) * align;
  parallel_for(
      count, cost,
      [&](int64_t first, int64_t last) {
        Sweep((last - first) * bytes).blocks(last - first, together, [&](int64_t at, int64_t n) {
          body.run(body.body, first + at, first + at + n);
        });
      },
      align);
}

}  // namespace mxnet
