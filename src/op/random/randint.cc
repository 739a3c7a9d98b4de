// SPDX-License-Identifier: Apache-2.0
// _random_randint: integers in [low, high).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

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

// What is left of 64 bits divided by the same number: a product with its reciprocal is short of the
// quotient by one at most.
class Remainder {
 public:
  explicit Remainder(uint64_t count) : count_(count), reciprocal_(~uint64_t{0} / count) {}
  uint64_t operator()(uint64_t x) const {
    const auto quotient =
        static_cast<uint64_t>(static_cast<unsigned __int128>(x) * reciprocal_ >> 64);
    const uint64_t left = x - quotient * count_;
    return left < count_ ? left : left - count_;
  }

 private:
  const uint64_t count_, reciprocal_;
};

template <class T>
void fill_integers(Mt19937& stream, T* out, int64_t n, uint64_t low, const Remainder& remainder) {
  constexpr int64_t kBatch = 256;
  std::array<uint32_t, 2 * kBatch> words;
  for (; n > 0; n -= kBatch, out += kBatch) {
    const auto count = static_cast<std::size_t>(std::min(n, kBatch));
    stream.fill(words.data(), static_cast<int64_t>(2 * count));
    for (std::size_t i = 0; i < count; ++i) {
      const uint64_t drawn = (uint64_t{words[2 * i]} << 31) + words[2 * i + 1];
      out[i] = static_cast<T>(low + remainder(drawn));
    }
  }
}

void randint_cpu(const RandintParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const uint64_t count = static_cast<uint64_t>(params.high) - static_cast<uint64_t>(params.low);
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->draw_integers(context.stream()->native(), draw_key(context.device()), params.low,
                              count, out);
  }
  const Remainder remainder(count);
  dispatch_dtype<kDrawn>(out.dtype, "_random_randint", [&]<class T>(TypeTag<T>) {
    RandomStreams::of(context.device())
        .deal(out.size(), 8.0, [&](Mt19937& stream, int64_t first, int64_t last) {
          fill_integers(stream, out.as<T>() + first, last - first,
                        static_cast<uint64_t>(params.low), remainder);
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
