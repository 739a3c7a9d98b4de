// SPDX-License-Identifier: Apache-2.0
// What stores do with arrays on a GPU beside operators (kvstore/pack_op.cc): gradients become bits
// and bits values. A thread has a word.
#include "op/loops/gradient_bits.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

template <int kBits>
struct PackWords {
  GradientBits<kBits> bits;
  const float* gradient;
  float* rest;
  uint32_t* packed;
  int64_t count;
  MX_DEVICE void operator()(int64_t word) const {
    constexpr int64_t kPerWord = GradientBits<kBits>::kPerWord;
    const int64_t first = word * kPerWord, left = count - first;
    packed[word] = bits.pack(gradient + first, rest + first, left < kPerWord ? left : kPerWord);
  }
};
template <int kBits>
struct UnpackElements {
  GradientBits<kBits> bits;
  const uint32_t* packed;
  float* values;
  MX_DEVICE void operator()(int64_t i) const {
    constexpr int64_t kPerWord = GradientBits<kBits>::kPerWord;
    values[i] = bits.unpack(packed[i / kPerWord], i % kPerWord);
  }
};

// Reads the gradient and what is left of those before; writes the words and what is left now.
template <int kBits>
void pack_bits(float threshold, KernelContext& context) {
  const Tensor& gradient = context.in(0);
  constexpr int64_t kPerWord = GradientBits<kBits>::kPerWord;
  for_each(context.stream()->native(), "KVStorePack", (gradient.size() + kPerWord - 1) / kPerWord,
           PackWords<kBits>{{threshold},
                            gradient.as<float>(),
                            context.out(1).as<float>(),
                            context.out(0).as<uint32_t>(),
                            gradient.size()});
}
void pack(const GradientBitsParams& params, KernelContext& context) {
  params.one_bit ? pack_bits<1>(params.threshold, context)
                 : pack_bits<2>(params.threshold, context);
}

template <int kBits>
void unpack_bits(float threshold, KernelContext& context) {
  const Tensor& values = context.out(0);
  for_each(context.stream()->native(), "KVStoreUnpack", values.size(),
           UnpackElements<kBits>{{threshold}, context.in(0).as<uint32_t>(), values.as<float>()});
}
void unpack(const GradientBitsParams& params, KernelContext& context) {
  params.one_bit ? unpack_bits<1>(params.threshold, context)
                 : unpack_bits<2>(params.threshold, context);
}

void zero(const void*, KernelContext& context) {
  fill(context.stream()->native(), context.out(0), 0);
}

}  // namespace

void add_compression(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<GradientBitsParams, pack>("KVStorePack"));
  rows->push_back(kernel_row<GradientBitsParams, unpack>("KVStoreUnpack"));
  rows->push_back({"KVStoreZero", zero, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
