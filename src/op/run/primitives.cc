// SPDX-License-Identifier: Apache-2.0
// Each primitive on the CPU, by threads, or on a GPU, in the order of the call's stream.
#include "op/run/primitives.h"

#include <cstring>

#include "op/loops/convert.h"
#include "op/moving/long_copy.h"
#include "op/moving/strided_copy.h"
#include "op/run/dispatch.h"
#include "op/run/fill.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr double kCostOfByte = 0.125;

}  // namespace

void copy_strided(KernelContext& context, const StridedPlan& plan, const void* in, void* out,
                  std::size_t element_bytes) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->copy_strided(context.stream()->native(), plan, in, out, element_bytes);
  copy_strided(plan, in, out, element_bytes);
}

void copy_memory(KernelContext& context, const void* from, void* to, std::size_t bytes) {
  if (from == to || bytes == 0) return;
  if (gpu_table(context) != nullptr) {
    Stream& stream = *context.stream();
    return stream.api().copy(to, context.device(), from, context.device(), bytes, stream.native());
  }
  copy_block(from, to, bytes);
}

void clear_memory(KernelContext& context, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if (gpu_table(context) != nullptr) {
    Stream& stream = *context.stream();
    return stream.api().fill(stream.device(), to, 0, bytes, stream.native());
  }
  const auto* bytes_of = static_cast<const char*>(to);
  parallel_writes(
      bytes_of, static_cast<int64_t>(bytes), kCostOfByte, [&](int64_t first, int64_t last) {
        std::memset(static_cast<char*>(to) + first, 0, static_cast<std::size_t>(last - first));
      });
}

void fill_tensor(KernelContext& context, const Tensor& to, double value) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->fill(context.stream()->native(), to, value);
  dispatch_dtype(to.dtype, "full", [&]<class T>(TypeTag<T>) {
    const T converted = convert<T>(value);
    parallel_writes(to.as<T>(), to.size(), 0.5, [&](int64_t first, int64_t last) {
      fill_same(to.as<T>() + first, last - first, converted);
    });
  });
}

}  // namespace mxnet
