// SPDX-License-Identifier: Apache-2.0
// Recurrent layers as cuDNN's descriptors, and a plan that runs them.
#pragma once
#include <memory>
#include <vector>

#include "base/config_sections.h"
#include "plugin/cuda/dnn/cudnn.h"
#include "plugin/cuda/dnn/recurrent_layout.h"

namespace mxnet::cuda {

// The functions of cuDNN that recurrent layers need beside those of Cudnn. Immutable once loaded.
class CudnnRecurrent {
 public:
  // Throws Error(kNotImplemented) where there is no library.
  static const CudnnRecurrent& get();

  decltype(&cudnnCreateRNNDescriptor) create_rnn;
  decltype(&cudnnDestroyRNNDescriptor) destroy_rnn;
  decltype(&cudnnSetRNNDescriptor_v8) set_rnn;
  decltype(&cudnnRNNSetClip_v9) set_clip;
  decltype(&cudnnCreateRNNDataDescriptor) create_data;
  decltype(&cudnnDestroyRNNDataDescriptor) destroy_data;
  decltype(&cudnnSetRNNDataDescriptor) set_data;
  decltype(&cudnnCreateTensorDescriptor) create_tensor;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor;
  decltype(&cudnnSetTensorNdDescriptor) set_tensor;
  decltype(&cudnnGetTensorNdDescriptor) get_tensor;
  decltype(&cudnnCreateDropoutDescriptor) create_dropout;
  decltype(&cudnnDestroyDropoutDescriptor) destroy_dropout;
  decltype(&cudnnSetDropoutDescriptor) set_dropout;
  decltype(&cudnnGetRNNTempSpaceSizes) temp_sizes;
  decltype(&cudnnGetRNNWeightSpaceSize) weight_size;
  decltype(&cudnnGetRNNWeightParams) weight_params;
  decltype(&cudnnRNNForward) forward;
  decltype(&cudnnRNNBackwardData_v8) backward_data;
  decltype(&cudnnRNNBackwardWeights_v8) backward_weights;

 private:
  CudnnRecurrent();
};

// Owner of one of cuDNN's descriptors. Neither copied nor moved.
template <class Raw>
class RecurrentHandle {
 public:
  using Create = cudnnStatus_t (*)(Raw*);
  using Destroy = cudnnStatus_t (*)(Raw);
  RecurrentHandle(Create create, Destroy destroy, const char* call) : destroy_(destroy) {
    Cudnn::get().check(create(&raw_), call);
  }
  ~RecurrentHandle() { destroy_(raw_); }
  RecurrentHandle(const RecurrentHandle&) = delete;
  RecurrentHandle& operator=(const RecurrentHandle&) = delete;
  Raw get() const { return raw_; }

 private:
  const Destroy destroy_;
  Raw raw_ = nullptr;
};

// A tensor without gaps.
class RecurrentTensor : public RecurrentHandle<cudnnTensorDescriptor_t> {
 public:
  RecurrentTensor();
  void set(DType dtype, const std::vector<int>& dims);
  int64_t size() const;  // as the library has filled it
};

// The network itself. With a handle it is told that nothing is dropped; without one, which needs
// no GPU, it has nothing to drop with.
class RecurrentNetwork : public RecurrentHandle<cudnnRNNDescriptor_t> {
 public:
  RecurrentNetwork(const RecurrentShape& shape, RecurrentWay way, cudnnHandle_t handle);

 private:
  RecurrentHandle<cudnnDropoutDescriptor_t> dropout_;
};

// Sequences of rows of `width` numbers. `lengths`: steps of each sample, or none where all have
// all; behind its end a sample of an output is zero.
class RecurrentSequences : public RecurrentHandle<cudnnRNNDataDescriptor_t> {
 public:
  RecurrentSequences(const RecurrentShape& shape, int64_t width,
                     const std::vector<int32_t>& lengths);
};

// How products may be computed, as those of convolutions: on tensor cores where they are allowed
// (float32 as TF32), and float32 through half types only where that is.
cudnnMathType_t recurrent_math(const CudaConfig& config, DType dtype);

// Bytes that a network needs, and where it has the parts of its weights, in elements.
struct RecurrentSizes {
  std::size_t workspace, kept, weights;
  std::size_t inference_workspace;  // of a forward pass that keeps nothing
  std::vector<int64_t> places;
};

// Arrays of device memory; states that are null are not asked for.
struct RecurrentForward {
  const void *x, *hx, *cx, *weights;
  void *y, *hy, *cy;
  void* workspace;
  void* kept;  // null: no backward pass follows, and the library computes as for inference
};
struct RecurrentBackward {
  const void *x, *hx, *cx, *weights, *y, *dy, *dhy, *dcy;
  void *dx, *dhx, *dcx;
  void* dweights;          // null: not asked for; else zeros
  void *workspace, *kept;  // what forward has kept; backward writes it
};

// What networks of one shape run by. Immutable.
class RecurrentPlan {
 public:
  // Throws Error(kGeneric) where cuDNN does not support the network.
  RecurrentPlan(cudnnHandle_t handle, const RecurrentShape& shape, RecurrentWay way,
                const std::vector<WeightPart>& parts);

  const RecurrentSizes& sizes() const { return sizes_; }
  // On the handle's stream.
  void forward(cudnnHandle_t handle, const std::vector<int32_t>& lengths,
               const RecurrentForward& arrays) const;
  void backward(cudnnHandle_t handle, const std::vector<int32_t>& lengths,
                const RecurrentBackward& arrays) const;

 private:
  int64_t place_of(cudnnHandle_t handle, const WeightPart& part) const;

  const RecurrentShape shape_;
  const RecurrentNetwork network_;
  RecurrentTensor hidden_, cells_;
  RecurrentSizes sizes_{};
};

}  // namespace mxnet::cuda
