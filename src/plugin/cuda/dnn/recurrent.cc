// SPDX-License-Identifier: Apache-2.0
// The order in which cuDNN wants to be told about recurrent layers.
#include "plugin/cuda/dnn/recurrent.h"

#include <fmt/format.h>

#include <limits>

#include "base/config.h"
#include "base/error.h"
#include "plugin/cuda/dnn/convolution.h"
#include "plugin/cuda/toolkit/library.h"

namespace mxnet::cuda {
namespace {

void check(cudnnStatus_t status, const char* call) { Cudnn::get().check(status, call); }

cudnnRNNMode_t cell_of(rnn::Mode mode) {
  switch (mode) {
    case rnn::Mode::kRelu:
      return CUDNN_RNN_RELU;
    case rnn::Mode::kTanh:
      return CUDNN_RNN_TANH;
    case rnn::Mode::kLstm:
      return CUDNN_LSTM;
    case rnn::Mode::kGru:
      return CUDNN_GRU;
  }
  throw Error(ErrorCode::kValue, "RNN", "given a mode that is none, expected a kind of cell");
}

cudnnRNNAlgo_t algorithm_of(RecurrentWay way) {
  switch (way) {
    case RecurrentWay::kStandard:
      break;
    case RecurrentWay::kPersistent:
      return CUDNN_RNN_ALGO_PERSIST_STATIC;
    case RecurrentWay::kPersistentSmall:
      return CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H;
  }
  return CUDNN_RNN_ALGO_STANDARD;
}

int narrow(int64_t size) { return static_cast<int>(size); }  // not_for_cudnn() has looked

}  // namespace

cudnnMathType_t recurrent_math(const CudaConfig& config, DType dtype) {
  if (!config.allow_tensor_core) return CUDNN_FMA_MATH;
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) return CUDNN_TENSOR_OP_MATH;
  return config.tensor_op_math_allow_conversion ? CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION
                                                : CUDNN_DEFAULT_MATH;
}

const CudnnRecurrent& CudnnRecurrent::get() {
  static const CudnnRecurrent* const loaded = new CudnnRecurrent();  // never closed, see Library
  return *loaded;
}

CudnnRecurrent::CudnnRecurrent() {
  Cudnn::get();  // has compared the versions
  const Library library("recurrent layers on GPUs", cudnn_names());
  library.find("cudnnCreateRNNDescriptor", &create_rnn);
  library.find("cudnnDestroyRNNDescriptor", &destroy_rnn);
  library.find("cudnnSetRNNDescriptor_v8", &set_rnn);
  library.find("cudnnRNNSetClip_v9", &set_clip);
  library.find("cudnnCreateRNNDataDescriptor", &create_data);
  library.find("cudnnDestroyRNNDataDescriptor", &destroy_data);
  library.find("cudnnSetRNNDataDescriptor", &set_data);
  library.find("cudnnCreateTensorDescriptor", &create_tensor);
  library.find("cudnnDestroyTensorDescriptor", &destroy_tensor);
  library.find("cudnnSetTensorNdDescriptor", &set_tensor);
  library.find("cudnnGetTensorNdDescriptor", &get_tensor);
  library.find("cudnnCreateDropoutDescriptor", &create_dropout);
  library.find("cudnnDestroyDropoutDescriptor", &destroy_dropout);
  library.find("cudnnSetDropoutDescriptor", &set_dropout);
  library.find("cudnnGetRNNTempSpaceSizes", &temp_sizes);
  library.find("cudnnGetRNNWeightSpaceSize", &weight_size);
  library.find("cudnnGetRNNWeightParams", &weight_params);
  library.find("cudnnRNNForward", &forward);
  library.find("cudnnRNNBackwardData_v8", &backward_data);
  library.find("cudnnRNNBackwardWeights_v8", &backward_weights);
}

RecurrentTensor::RecurrentTensor()
    : RecurrentHandle(CudnnRecurrent::get().create_tensor, CudnnRecurrent::get().destroy_tensor,
                      "cudnnCreateTensorDescriptor") {}

void RecurrentTensor::set(DType dtype, const std::vector<int>& dims) {
  std::vector<int> strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  check(CudnnRecurrent::get().set_tensor(get(), cudnn_dtype(dtype), narrow(std::ssize(dims)),
                                         dims.data(), strides.data()),
        "cudnnSetTensorNdDescriptor");
}

int64_t RecurrentTensor::size() const {
  constexpr int kMost = CUDNN_DIM_MAX;
  cudnnDataType_t dtype{};
  int ndim = 0, dims[kMost] = {}, strides[kMost] = {};
  check(CudnnRecurrent::get().get_tensor(get(), kMost, &dtype, &ndim, dims, strides),
        "cudnnGetTensorNdDescriptor");
  int64_t size = 1;
  for (int i = 0; i < ndim; ++i) size *= dims[i];
  return size;
}

RecurrentNetwork::RecurrentNetwork(const RecurrentShape& shape, RecurrentWay way,
                                   cudnnHandle_t handle)
    : RecurrentHandle(CudnnRecurrent::get().create_rnn, CudnnRecurrent::get().destroy_rnn,
                      "cudnnCreateRNNDescriptor"),
      dropout_(CudnnRecurrent::get().create_dropout, CudnnRecurrent::get().destroy_dropout,
               "cudnnCreateDropoutDescriptor") {
  const CudnnRecurrent& cudnn = CudnnRecurrent::get();
  if (handle != nullptr)
    check(cudnn.set_dropout(dropout_.get(), handle, 0.0f, nullptr, 0, 0),
          "cudnnSetDropoutDescriptor");
  check(cudnn.set_rnn(get(), algorithm_of(way), cell_of(shape.mode), CUDNN_RNN_DOUBLE_BIAS,
                      shape.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                      CUDNN_LINEAR_INPUT, cudnn_dtype(shape.dtype), cudnn_sum_dtype(shape.dtype),
                      recurrent_math(config().cuda, shape.dtype), narrow(shape.input),
                      narrow(shape.hidden), narrow(shape.out), narrow(shape.layers),
                      handle != nullptr ? dropout_.get() : nullptr, CUDNN_RNN_PADDED_IO_ENABLED),
        "cudnnSetRNNDescriptor_v8");
  if (!shape.clip_low && !shape.clip_high) return;
  constexpr double kFar = std::numeric_limits<double>::max();
  check(cudnn.set_clip(get(), CUDNN_RNN_CLIP_MINMAX, shape.clip_low.value_or(-kFar),
                       shape.clip_high.value_or(kFar)),
        "cudnnRNNSetClip_v9");
}

RecurrentSequences::RecurrentSequences(const RecurrentShape& shape, int64_t width,
                                       const std::vector<int32_t>& lengths)
    : RecurrentHandle(CudnnRecurrent::get().create_data, CudnnRecurrent::get().destroy_data,
                      "cudnnCreateRNNDataDescriptor") {
  std::vector<int> steps(lengths.begin(), lengths.end());
  if (steps.empty()) steps.assign(static_cast<std::size_t>(shape.batch), narrow(shape.steps));
  double zero = 0;  // in every type
  check(CudnnRecurrent::get().set_data(
            get(), cudnn_dtype(shape.dtype), CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED,
            narrow(shape.steps), narrow(shape.batch), narrow(width), steps.data(), &zero),
        "cudnnSetRNNDataDescriptor");
}

RecurrentPlan::RecurrentPlan(cudnnHandle_t handle, const RecurrentShape& shape, RecurrentWay way,
                             const std::vector<WeightPart>& parts)
    : shape_(shape), network_(shape, way, handle) {
  const CudnnRecurrent& cudnn = CudnnRecurrent::get();
  hidden_.set(shape.dtype, {narrow(shape.places()), narrow(shape.batch), narrow(shape.out)});
  cells_.set(shape.dtype, {narrow(shape.places()), narrow(shape.batch), narrow(shape.hidden)});
  const RecurrentSequences x(shape, shape.input, {});
  check(cudnn.temp_sizes(handle, network_.get(), CUDNN_FWD_MODE_TRAINING, x.get(),
                         &sizes_.workspace, &sizes_.kept),
        "cudnnGetRNNTempSpaceSizes");
  std::size_t kept_in_inference = 0;  // none
  check(cudnn.temp_sizes(handle, network_.get(), CUDNN_FWD_MODE_INFERENCE, x.get(),
                         &sizes_.inference_workspace, &kept_in_inference),
        "cudnnGetRNNTempSpaceSizes");
  check(cudnn.weight_size(handle, network_.get(), &sizes_.weights), "cudnnGetRNNWeightSpaceSize");
  for (const WeightPart& part : parts) sizes_.places.push_back(place_of(handle, part));
}

// cuDNN names addresses in a vector, of which it reads nothing.
int64_t RecurrentPlan::place_of(cudnnHandle_t handle, const WeightPart& part) const {
  constexpr uintptr_t kBase = uintptr_t{1} << 32;
  const RecurrentTensor matrix, bias;
  void *matrix_at = nullptr, *bias_at = nullptr;
  check(
      CudnnRecurrent::get().weight_params(handle, network_.get(), part.pseudo_layer, sizes_.weights,
                                          reinterpret_cast<const void*>(kBase), part.id,
                                          matrix.get(), &matrix_at, bias.get(), &bias_at),
      "cudnnGetRNNWeightParams");
  const int64_t offset =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(part.bias ? bias_at : matrix_at) - kBase);
  const int64_t size = (part.bias ? bias : matrix).size();
  const auto bytes = static_cast<int64_t>(dtype_size(shape_.dtype));
  const auto end = static_cast<int64_t>(sizes_.weights);
  if (size == part.size && offset >= 0 && offset % bytes == 0 && offset + size * bytes <= end)
    return offset / bytes;
  throw Error(
      ErrorCode::kGeneric, "cudnn",
      fmt::format("cudnnGetRNNWeightParams: given {}, expected {} elements of part {} of "
                  "layer {} within {} bytes, got {} at {}",
                  shape_.to_string(), part.size, part.id, part.pseudo_layer, end, size, offset));
}

void RecurrentPlan::forward(cudnnHandle_t handle, const std::vector<int32_t>& lengths,
                            const RecurrentForward& a) const {
  const RecurrentSequences x(shape_, shape_.input, lengths), y(shape_, shape_.width(), lengths);
  const bool keeps = a.kept != nullptr;
  check(CudnnRecurrent::get().forward(
            handle, network_.get(), keeps ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE,
            nullptr, x.get(), a.x, y.get(), a.y, hidden_.get(), a.hx, a.hy, cells_.get(), a.cx,
            a.cy, sizes_.weights, a.weights, keeps ? sizes_.workspace : sizes_.inference_workspace,
            a.workspace, keeps ? sizes_.kept : 0, a.kept),
        "cudnnRNNForward");
}

void RecurrentPlan::backward(cudnnHandle_t handle, const std::vector<int32_t>& lengths,
                             const RecurrentBackward& a) const {
  const CudnnRecurrent& cudnn = CudnnRecurrent::get();
  const RecurrentSequences x(shape_, shape_.input, lengths), y(shape_, shape_.width(), lengths);
  check(cudnn.backward_data(handle, network_.get(), nullptr, y.get(), a.y, a.dy, x.get(), a.dx,
                            hidden_.get(), a.hx, a.dhy, a.dhx, cells_.get(), a.cx, a.dcy, a.dcx,
                            sizes_.weights, a.weights, sizes_.workspace, a.workspace, sizes_.kept,
                            a.kept),
        "cudnnRNNBackwardData_v8");
  if (a.dweights == nullptr) return;
  check(cudnn.backward_weights(handle, network_.get(), CUDNN_WGRAD_MODE_ADD, nullptr, x.get(), a.x,
                               hidden_.get(), a.hx, y.get(), a.y, sizes_.weights, a.dweights,
                               sizes_.workspace, a.workspace, sizes_.kept, a.kept),
        "cudnnRNNBackwardWeights_v8");
}

}  // namespace mxnet::cuda
