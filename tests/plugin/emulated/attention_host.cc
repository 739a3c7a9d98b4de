// SPDX-License-Identifier: Apache-2.0
// Attention for the emulated plug-in, in place of cuDNN's: at once, in double, for vectors of more
// than eight elements, apart for shorter ones, so that both ways are seen.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plugin/cuda/dnn/attender.h"
#include "plugin/cuda/elements.cuh"

namespace mxnet::cuda {
namespace {

template <class T>
void attend_as(const Attention& a, const AttentionArrays& arrays) {
  // As the descriptors say it: vectors of a head side by side, then heads, samples, steps.
  const auto at = [&](void* first, int64_t parts, int64_t sample, int64_t head, int64_t step) {
    return static_cast<T*>(first) + ((step * a.batch + sample) * a.heads + head) * parts * a.size;
  };
  std::vector<double> weights(static_cast<std::size_t>(a.keys));
  for (int64_t b = 0; b < a.batch; ++b) {
    for (int64_t h = 0; h < a.heads; ++h) {
      for (int64_t q = 0; q < a.queries; ++q) {
        const T* const query = at(arrays.queries, a.query_parts, b, h, q);
        double top = -INFINITY, sum = 0;
        for (int64_t k = 0; k < a.keys; ++k) {
          const T* const key = at(arrays.keys, a.memory_parts, b, h, k);
          double product = 0;
          for (int64_t i = 0; i < a.size; ++i)
            product += double(widen(query[i])) * double(widen(key[i]));
          weights[static_cast<std::size_t>(k)] = product * double{a.scale};
          top = std::max(top, product * double{a.scale});
        }
        for (double& weight : weights) sum += weight = std::exp(weight - top);
        T* const result = at(arrays.output, 1, b, h, q);
        for (int64_t i = 0; i < a.size; ++i) {
          double value = 0;
          for (int64_t k = 0; k < a.keys; ++k)
            value += weights[static_cast<std::size_t>(k)] / sum *
                     double(widen(at(arrays.values, a.memory_parts, b, h, k)[i]));
          result[i] = narrow<T>(static_cast<float>(value));
        }
      }
    }
  }
}

}  // namespace

void attend(NativeStream*, const Attention& attention, const AttentionArrays& arrays,
            const std::function<void()>& apart, KernelContext&) {
  if (attention.size <= 8) {
    apart();
    return apart();  // as for its time
  }
  if (attention.dtype == DType::kFloat16) return attend_as<float16>(attention, arrays);
  if (attention.dtype == DType::kBFloat16) return attend_as<bfloat16>(attention, arrays);
  throw Error(ErrorCode::kNotImplemented, "cudnn", "given a type that it has no attention for");
}

}  // namespace mxnet::cuda
