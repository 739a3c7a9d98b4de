// SPDX-License-Identifier: Apache-2.0
// Whether two arrays are close (op/reduce/finite.h).
#include "op/reduce/finite.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/reals.cuh"

namespace mxnet {
namespace cuda {
namespace {

// Whoever meets a difference writes the same zero.
struct ClearUnlessClose {
  CloseParams params;
  Reals a, b;
  uint8_t* flag;
  MX_DEVICE void operator()(int64_t i) const {
    if (!params.are_close(a(i), b(i))) *flag = 0;
  }
};
void all_close(const CloseParams& params, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1), &flag = context.out(0);
  NativeStream* const stream = context.stream()->native();
  fill(stream, flag, 1);
  for_each(stream, "_contrib_allclose", a.size(),
           ClearUnlessClose{params, reals(a), reals(b), flag.as<uint8_t>()});
}

}  // namespace

void add_all_close(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<CloseParams, cuda::all_close>("_contrib_allclose"));
}

}  // namespace cuda
}  // namespace mxnet
