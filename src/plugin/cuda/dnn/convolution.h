// SPDX-License-Identifier: Apache-2.0
// Convolutions as cuDNN sees them: forward, gradient of the data, gradient of the weight. From a
// description to an operation, the engine configurations that cuDNN offers, and a plan that runs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/config_sections.h"
#include "base/dtype.h"
#include "op/fused/post_op.h"
#include "plugin/cuda/cudnn_engines.h"
#include "plugin/cuda/dnn/cudnn.h"
#include "plugin/cuda/dnn/engine_plan.h"

namespace mxnet::cuda {

struct Convolution {
  ConvPass pass = ConvPass::kForward;
  DType dtype = DType::kFloat32;
  bool channels_last = false;                 // of all three arrays
  std::vector<int64_t> data, weight, output;  // NC..., OI..., NC... whatever the layout
  std::vector<int64_t> pad, stride, dilate;   // per spatial dimension
  int64_t groups = 1;
  // Forward: what is done to sums before they are rounded, in this order. With the bias first cuDNN
  // has no engine for channels second, and for channels last none that is compiled already.
  bool sum = false;   // another array like the output is added
  bool bias = false;  // a number for each channel is added
  std::optional<PostOp> activation;

  bool has_steps() const { return bias || sum || activation; }
  // Without steps.
  Convolution alone() const;
  // All of it as text: the report's title, and part of the choice's key.
  std::string to_string() const;
};

// Strides of a packed array of `dims` (N, C, spatial ...), in elements.
std::vector<int64_t> packed_strides(const std::vector<int64_t>& dims, bool channels_last);

// Half types are summed in float.
cudnnDataType_t cudnn_dtype(DType dtype);  // throws Error(kType) for types without convolutions
cudnnDataType_t cudnn_sum_dtype(DType dtype);

// What is asked for configurations, in this order: MXNET_CUDNN_HEUR_MODE, then what always works.
std::vector<cudnnBackendHeurMode_t> heuristics(const CudaConfig& config);

// Of arrays, in bytes: engines load so much at once. What memory pools give, but not every view.
inline constexpr int64_t kConvolutionAlignment = 16;

// Names of arrays in a plan.
inline constexpr int64_t kDataId = 'x', kWeightId = 'w', kOutputId = 'y', kBiasId = 'b',
                         kOtherId = 'z';

// The finalized operations, the convolution first, then each step; needs no GPU.
std::vector<Descriptor> convolution_operations(const Convolution& convolution, double beta = 0.0);

// A configuration with what it says of itself.
struct OfferedEngine {
  EngineConfig config;
  Descriptor descriptor;
};
// What a target offers for a graph of operations. Configurations refer to the graph, which refers
// to the operations: all of them live until plans are made.
struct EngineOffers {
  std::vector<Descriptor> operations;
  Descriptor graph;
  std::vector<OfferedEngine> engines;
};
EngineOffers offered_engines(const PlanTarget& target, std::vector<Descriptor> operations,
                             const CudaConfig& config);

// Arrays of device memory; the one that the pass computes is written.
struct ConvolutionArrays {
  void *data, *weight, *output;
  void *bias = nullptr, *other = nullptr;  // of the steps; null where there are none
};

// What one convolution runs by. Immutable.
class ConvolutionPlan : public EnginePlan {
 public:
  using EnginePlan::EnginePlan;
  // On the handle's stream.
  void run(cudnnHandle_t handle, const ConvolutionArrays& arrays, void* workspace) const;
};

}  // namespace mxnet::cuda
