// SPDX-License-Identifier: Apache-2.0
// _random_randint: integers in [low, high).
#include <fmt/format.h>

#include <string>

#include "op/generators/random_draws.h"
#include "op/generators/random_key.h"
#include "op/generators/random_streams.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

struct RandintParams {
  int64_t low, high;
  Shape shape;
  std::string ctx;
  DType dtype;
};

constexpr DTypeSet kDrawn = DTypeSet::of(DType::kInt32, DType::kInt64);

void randint_cpu(const RandintParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const uint64_t count = static_cast<uint64_t>(params.high) - static_cast<uint64_t>(params.low);
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->draw_integers(context.stream()->native(), draw_key(context.device()), params.low,
                              count, out);
  }
  dispatch_dtype<kDrawn>(out.dtype, "_random_randint", [&]<class T>(TypeTag<T>) {
    RandomStreams::of(context.device())
        .deal(out.size(), 8.0, [&](Mt19937& stream, int64_t first, int64_t last) {
          Draws draws(stream);
          for (int64_t i = first; i < last; ++i) {
            const uint64_t high = draws.word();
            const uint64_t drawn = (high << 31) + draws.word();
            out.as<T>()[i] = static_cast<T>(static_cast<uint64_t>(params.low) + drawn % count);
          }
        });
  });
}

void infer_randint(const RandintParams& params, Infer& infer) {
  if (params.high <= params.low)
    infer.fail(
        fmt::format("given low {} and high {}, expected low < high", params.low, params.high));
  InferArg out = infer.out(0);
  out.set_shape(params.shape);
  if (params.dtype != DType::kUnknown) {
    out.set_dtype(params.dtype);
  } else if (out.dtype() == DType::kUnknown) {
    out.set_dtype(DType::kInt32);
  }
}

MX_OP(_random_randint, RandintParams)
.doc("Random integers in [low, high).")
    .alias("_npi_random_randint")
    .alias("random_randint")
    .param("low", &RandintParams::low, "Least integer.")
    .param("high", &RandintParams::high, "Integer above the greatest.")
    .param("shape", &RandintParams::shape, Shape(), "Shape of the result.")
    .param("ctx", &RandintParams::ctx, std::string(), "Device of the result.")
    .dtype_param("dtype", &RandintParams::dtype, kDrawn, true, "None", "Type of the result.")
    .type_text("{'None', 'int32', 'int64'},optional, default='None'")
    .uses_random()
    .infer(infer_randint)
    .cpu(randint_cpu);
[[maybe_unused]] const bool portable = mark_portable({"_random_randint"});

}  // namespace
}  // namespace mxnet
