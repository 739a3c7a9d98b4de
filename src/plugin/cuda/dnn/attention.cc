// SPDX-License-Identifier: Apache-2.0
// The operation's tensors: (batch, heads, steps, size), in whatever order they lie.
#include "plugin/cuda/dnn/attention.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plugin/cuda/dnn/convolution.h"

namespace mxnet::cuda {
namespace {

// Names of arrays in a plan.
constexpr int64_t kQueryId = 'q', kKeyId = 'k', kValueId = 'v', kResultId = 'o', kScaleId = 's';

Descriptor tensor(int64_t id, cudnnDataType_t dtype, const std::vector<int64_t>& dims,
                  const std::vector<int64_t>& strides) {
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, dtype)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kConvolutionAlignment);
  return result;
}

// `parts` vectors of each head lie side by side, then the heads, the samples, the steps.
[[maybe_unused]] Descriptor vectors(const Attention& attention, int64_t id, int64_t steps,
                                    int64_t parts) {
  const int64_t head = parts * attention.size, sample = attention.heads * head;
  Descriptor result = tensor(id, cudnn_dtype(attention.dtype),
                             {attention.batch, attention.heads, steps, attention.size},
                             {sample, head, attention.batch * sample, 1});
  result.finalize();
  return result;
}

// A number of the host's.
[[maybe_unused]] Descriptor number(int64_t id) {
  Descriptor result = tensor(id, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1});
  result.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true).finalize();
  return result;
}

}  // namespace

std::string Attention::to_string() const {
  return fmt::format("attention {} batch:{} heads:{} size:{} queries:{} keys:{} parts:{},{}",
                     dtype_name(dtype), batch, heads, size, queries, keys, query_parts,
                     memory_parts);
}

void Attention::set_key(PlanKey* key) const {
  *key = {
      static_cast<int64_t>(dtype), batch, heads, size, queries, keys, query_parts, memory_parts};
}

std::vector<Descriptor> attention_operations(const Attention& attention) {
#if CUDNN_VERSION >= 91300  // earlier headers have no words for it
  const Descriptor queries = vectors(attention, kQueryId, attention.queries, attention.query_parts);
  const Descriptor keys = vectors(attention, kKeyId, attention.keys, attention.memory_parts);
  const Descriptor values = vectors(attention, kValueId, attention.keys, attention.memory_parts);
  const Descriptor result = vectors(attention, kResultId, attention.queries, 1);
  const Descriptor scale = number(kScaleId);
  std::vector<Descriptor> operations;
  operations.emplace_back(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, queries)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, keys)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, values)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, result)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, scale)
      .finalize();
  return operations;
#else
  throw Error(ErrorCode::kNotImplemented, "attention",
              fmt::format("{} was built with cuDNN {}, expected 9.13 or later",
                          attention.to_string(), CUDNN_VERSION));
#endif
}

void AttentionPlan::run(cudnnHandle_t handle, const AttentionArrays& arrays, float scale,
                        void* workspace) const {
  EnginePlan::run(handle, {kQueryId, kKeyId, kValueId, kResultId, kScaleId},
                  {arrays.queries, arrays.keys, arrays.values, arrays.output, &scale}, workspace);
}

}  // namespace mxnet::cuda
