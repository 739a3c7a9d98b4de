// SPDX-License-Identifier: Apache-2.0
// Numbers in even steps (op/create/sequence.cc).
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

template <class T, class Number>
struct CountUp {
  T* out;
  Number start, step;
  int64_t repeat;
  MX_DEVICE void operator()(int64_t i) const {
    const auto steps = static_cast<Number>(repeat == 1 ? i : i / repeat);
    out[i] = narrow<T>(row_words::plus(start, row_words::multiply(steps, step)));
  }
};

}  // namespace

void count_up(NativeStream* stream, double start, double step, int64_t repeat, const Tensor& out) {
  for_dtype<kNumeric.bits_>(out.dtype, "arange", [&](auto type) {
    using T = decltype(type);
    // As on the CPU: start and step have the type of the result first, and halves count in
    // integers.
    using Number =
        std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, float16>, int64_t, double>;
    const auto of_type = [](double x) { return static_cast<Number>(widen(narrow<T>(x))); };
    for_each(stream, "arange", out.size(),
             CountUp<T, Number>{out.as<T>(), of_type(start), of_type(step), repeat});
  });
}

}  // namespace cuda
}  // namespace mxnet
