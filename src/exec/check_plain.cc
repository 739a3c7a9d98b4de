// SPDX-License-Identifier: Apache-2.0
// Comparison of two kernels on one call.
#include "exec/check_plain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/config.h"
#include "base/error.h"
#include "op/inline_vector.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

// Of the largest number of an output: sums in another order, and the last bit of half types.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 1e-2;
    case DType::kBFloat16:
      return 4e-2;
    default:
      return 1e-4;
  }
}

const KernelEntry* plain_kernel(const KernelCall& call, std::span<const Tensor> in,
                                std::span<const Tensor> out) {
  for (const KernelEntry& kernel : call.op.kernels()) {
    if (kernel.device != DeviceType::kCPU || std::string_view(kernel.name) == "onednn") continue;
    if (!kernel.accepts || kernel.accepts(call.params, Signature{in, out, call.training}))
      return &kernel;
  }
  return nullptr;
}

template <class T>
void compare(const KernelCall& call, int output, const Tensor& got, const Tensor& want) {
  double largest = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    const double value = std::abs(convert<double>(want.as<T>()[i]));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  const double bound = tolerance(got.dtype) * largest + 1e-6;
  for (int64_t i = 0; i < got.size(); ++i) {
    const auto a = convert<double>(got.as<T>()[i]), b = convert<double>(want.as<T>()[i]);
    if (a == b || std::abs(a - b) <= bound || (std::isnan(a) && std::isnan(b))) continue;
    throw Error(ErrorCode::kInternal, call.op.name(),
                fmt::format("MXNET_ONEDNN_DEBUG: element {} of output {} is {} from oneDNN and {} "
                            "from the plain kernel",
                            i, output, a, b));
  }
}

// Apart, so that a call that is not to be checked pays one load.
[[gnu::noinline]] bool can_be_checked(const KernelCall& call, std::span<const Tensor> in,
                                      std::span<const Tensor> out) {
  if (std::string_view(call.kernel.name) != "onednn") return false;
  if (call.op.mutates_inputs() || call.op.uses_random(call.params, call.training)) return false;
  for (const Tensor& from : in) {
    for (const Tensor& to : out)
      if (from.data != nullptr && from.data == to.data) return false;
  }
  return plain_kernel(call, in, out) != nullptr;
}

}  // namespace

bool checks_plain(const KernelCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  return config().onednn.debug && can_be_checked(call, in, out);
}

void check_plain(const KernelCall& call, std::span<const Tensor> in, std::span<const Tensor> out,
                 const RunContext& context, KernelResources& resources) {
  InlineVector<Tensor, 8> again;
  for (const Tensor& t : out) {
    const auto bytes = static_cast<std::size_t>(t.size()) * dtype_size(t.dtype);
    again.push_back({resources.workspace(std::max<std::size_t>(bytes, 1)), t.shape_ptr, t.dtype});
  }
  const KernelEntry& plain = *plain_kernel(call, in, out);
  KernelContext kernel_context(in, again.span(), context.device, context.stream, call.training,
                               resources);
  plain.run(call.params, kernel_context);
  for (std::size_t o = 0; o < out.size(); ++o) {
    if (!kFloating.contains(out[o].dtype)) continue;
    dispatch_dtype<kFloating>(out[o].dtype, "MXNET_ONEDNN_DEBUG", [&]<class T>(TypeTag<T>) {
      compare<T>(call, static_cast<int>(o), out[o], again[o]);
    });
  }
}

}  // namespace mxnet
