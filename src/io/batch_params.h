// SPDX-License-Identifier: Apache-2.0
// The parameters that most iterators share: how batches are made, kept ready and placed.
#pragma once
#include "io/iter_builder.h"

namespace mxnet::io {

enum class BatchPlace : uint8_t { kCPU, kGPU };

struct PrefetchParams {
  uint64_t prefetch_buffer;
  BatchPlace ctx;
  DType dtype = DType::kUnknown;  // kUnknown: the iterator's own
};

struct BatchParams {
  uint32_t batch_size;
  bool round_batch;
};

template <class P>
IterBuilder<P>& with_batch_params(IterBuilder<P>& iter) {
  return iter.param("batch_size", &BatchParams::batch_size, "Samples in a batch.")
      .template at_least<uint32_t>(1)
      .param("round_batch", &BatchParams::round_batch, true,
             "Whether the last batch is filled up from the start of the data.");
}

template <class P>
IterBuilder<P>& with_prefetch_params(IterBuilder<P>& iter) {
  return iter
      .param("prefetch_buffer", &PrefetchParams::prefetch_buffer, 4, "Batches that are read ahead.")
      .choice("ctx", &PrefetchParams::ctx,
              Choices<BatchPlace>{{"gpu", BatchPlace::kGPU}, {"cpu", BatchPlace::kCPU}},
              "Where batches are used: for a GPU they lie in pinned memory.")
      .choice("dtype", &PrefetchParams::dtype,
              Choices<DType>{{"None", DType::kUnknown},
                             {"bfloat16", DType::kBFloat16},
                             {"float16", DType::kFloat16},
                             {"float32", DType::kFloat32},
                             {"float64", DType::kFloat64},
                             {"int32", DType::kInt32},
                             {"int64", DType::kInt64},
                             {"int8", DType::kInt8},
                             {"uint8", DType::kUInt8}},
              "Type of the batches; None is the iterator's own.");
}

// Where the arrays of batches are made: pinned memory where there is a GPU to copy to.
Device batch_device(BatchPlace place, int32_t device_id = 0);
// (batch_size, dimensions of a sample...).
Shape batched(uint32_t batch_size, const Shape& sample);
// Throws Error(kValue, tag) unless 0 <= part_index < num_parts.
void expect_part(const char* tag, int32_t part_index, int32_t num_parts);

}  // namespace mxnet::io
