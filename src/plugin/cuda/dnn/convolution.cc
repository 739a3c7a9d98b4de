// SPDX-License-Identifier: Apache-2.0
// The order in which cuDNN wants its descriptors.
#include "plugin/cuda/dnn/convolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/config.h"
#include "base/error.h"

namespace mxnet::cuda {
namespace {

constexpr int64_t kMostConfigs = 128;  // of one heuristic
constexpr int64_t kMostKnobs = 64, kMostNotes = CUDNN_NUMERICAL_NOTE_TYPE_COUNT;

Descriptor tensor(int64_t id, const std::vector<int64_t>& dims, const Convolution& convolution) {
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, cudnn_dtype(convolution.dtype))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, packed_strides(dims, convolution.channels_last))
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kConvolutionAlignment)
      .finalize();
  return result;
}

// What lies between two operations: in no memory, in the type that is computed in.
Descriptor between(int64_t id, const Convolution& convolution) {
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, cudnn_sum_dtype(convolution.dtype))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, convolution.output)
      .set(CUDNN_ATTR_TENSOR_STRIDES, packed_strides(convolution.output, convolution.channels_last))
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kConvolutionAlignment)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true)
      .finalize();
  return result;
}

cudnnPointwiseMode_t mode_of(const PostOp& activation) {
  switch (activation.kind) {
    case PostOp::Kind::kRelu:
    case PostOp::Kind::kClip:
      return CUDNN_POINTWISE_RELU_FWD;
    case PostOp::Kind::kSigmoid:
      return CUDNN_POINTWISE_SIGMOID_FWD;
    case PostOp::Kind::kTanh:
      return CUDNN_POINTWISE_TANH_FWD;
    default:
      throw Error(ErrorCode::kNotImplemented, "Convolution",
                  fmt::format("given activation {}, which cuDNN's operations lack",
                              static_cast<int>(activation.kind)));
  }
}

// One step on the sums: from an array, or what lies between, to the next.
class Step {
 public:
  Step(cudnnPointwiseMode_t mode, const Convolution& convolution)
      : step_(CUDNN_BACKEND_POINTWISE_DESCRIPTOR),
        operation_(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
    step_.set(CUDNN_ATTR_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, cudnn_sum_dtype(convolution.dtype));
  }
  // What it does below zero and above a limit; of rectifiers only.
  Step& with_limits(const PostOp& activation) {
    if (activation.kind == PostOp::Kind::kClip)
      step_.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, double{activation.beta});
    else if (activation.kind == PostOp::Kind::kRelu && activation.alpha != 0)
      step_.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, double{activation.alpha});
    return *this;
  }
  Step& with(const Descriptor& addend) {
    operation_.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, addend);
    return *this;
  }
  Descriptor operation(const Descriptor& from, const Descriptor& to) && {
    step_.finalize();
    operation_.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, step_)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to)
        .finalize();
    return std::move(operation_);
  }

 private:
  Descriptor step_, operation_;
};

// The steps behind a convolution whose result is `sums`.
void add_steps(const Convolution& convolution, Descriptor sums,
               std::vector<Descriptor>* operations) {
  int left = int{convolution.bias} + int{convolution.sum} + int{convolution.activation.has_value()};
  const auto add = [&](Step&& step) {
    // Names of what lies between: the convolution's result is 's'.
    Descriptor to = --left == 0 ? tensor(kOutputId, convolution.output, convolution)
                                : between('0' + left, convolution);
    operations->push_back(std::move(step).operation(sums, to));
    sums = std::move(to);
  };
  if (convolution.sum) {
    const Descriptor other = tensor(kOtherId, convolution.output, convolution);
    add(std::move(Step(CUDNN_POINTWISE_ADD, convolution).with(other)));
  }
  if (convolution.bias) {
    std::vector<int64_t> dims(convolution.output.size(), 1);
    dims[1] = convolution.output[1];
    add(std::move(Step(CUDNN_POINTWISE_ADD, convolution).with(tensor(kBiasId, dims, convolution))));
  }
  if (convolution.activation) {
    const PostOp& activation = *convolution.activation;
    add(std::move(Step(mode_of(activation), convolution).with_limits(activation)));
  }
}

Descriptor window(const Convolution& convolution) {
  Descriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  result.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<int64_t>(convolution.pad.size()))
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, cudnn_sum_dtype(convolution.dtype))
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, convolution.pad)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, convolution.pad)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, convolution.dilate)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, convolution.stride)
      .finalize();
  return result;
}

// What the three passes call their operation and its attributes.
struct PassNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t data, weight, output, window, alpha, beta;
};

const PassNames& names_of(ConvPass pass) {
  static constexpr PassNames kForward = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  static constexpr PassNames kData = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  static constexpr PassNames kWeight = {
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  return pass == ConvPass::kForward ? kForward : pass == ConvPass::kDataGradient ? kData : kWeight;
}

// What a configuration says of itself. Workspace: of plans only, so it is filled there.
EngineConfig read_config(const Descriptor& descriptor) {
  EngineConfig config;
  const auto engines =
      descriptor.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  const Descriptor& engine = engines.at(0);
  config.engine = engine.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 1).at(0);
  for (const auto note :
       engine.get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, kMostNotes)) {
    // A newer library may know more of them; no variable is about those.
    if (note < CUDNN_NUMERICAL_NOTE_TYPE_COUNT)
      config.notes.push_back(static_cast<NumericalNote>(note));
  }
  for (const Descriptor& knob : descriptor.get(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                               CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, kMostKnobs)) {
    config.knobs.push_back(
        {static_cast<int64_t>(
             knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, 1).at(0)),
         knob.get<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 1).at(0)});
  }
  return config;
}

// What one heuristic lists, behind what is known already.
void add_offers(const PlanTarget& target, cudnnBackendHeurMode_t mode, EngineOffers* offers) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  target.tell_heuristic(&heuristic);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, offers->graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode)
      .finalize();
  for (Descriptor& found : heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                         CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, kMostConfigs)) {
    EngineConfig described = read_config(found);
    const bool known =
        std::any_of(offers->engines.begin(), offers->engines.end(), [&](const OfferedEngine& e) {
          return e.config.engine == described.engine && e.config.knobs == described.knobs;
        });
    if (!known) offers->engines.push_back({std::move(described), std::move(found)});
  }
}

std::string name_of(const PostOp& activation) {
  return fmt::format(" activation {}({}, {})", static_cast<int>(activation.kind), activation.alpha,
                     activation.beta);
}

}  // namespace

Convolution Convolution::alone() const {
  Convolution result = *this;
  result.bias = result.sum = false;
  result.activation.reset();
  return result;
}

std::string Convolution::to_string() const {
  static constexpr const char* kPasses[] = {"forward", "data gradient", "weight gradient"};
  return fmt::format(
      "convolution {} {} {} data:{} weight:{} output:{} pad:{} stride:{} dilate:{} "
      "groups:{}{}{}{}",
      kPasses[static_cast<int>(pass)], dtype_name(dtype), channels_last ? "NHWC" : "NCHW",
      fmt::join(data, "x"), fmt::join(weight, "x"), fmt::join(output, "x"), fmt::join(pad, "x"),
      fmt::join(stride, "x"), fmt::join(dilate, "x"), groups, bias ? " bias" : "",
      sum ? " sum" : "", activation ? name_of(*activation) : "");
}

std::vector<int64_t> packed_strides(const std::vector<int64_t>& dims, bool channels_last) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  if (channels_last) {
    strides[1] = 1;
    step = dims[1];
  }
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (channels_last && d == 1) continue;
    strides[d] = step;
    step *= dims[d];
  }
  return strides;
}

cudnnDataType_t cudnn_dtype(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return CUDNN_DATA_FLOAT;
    case DType::kFloat64:
      return CUDNN_DATA_DOUBLE;
    case DType::kFloat16:
      return CUDNN_DATA_HALF;
    case DType::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      throw Error(ErrorCode::kType, "Convolution",
                  fmt::format("given type {}, expected a floating one", dtype_name(dtype)));
  }
}

cudnnDataType_t cudnn_sum_dtype(DType dtype) {
  return dtype == DType::kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

std::vector<cudnnBackendHeurMode_t> heuristics(const CudaConfig& config) {
  // 0 is the decision tree, 1 the neural network, and the default of every cuDNN that is supported.
  const std::optional<int> mode = config.cudnn_heur_mode;
  return {mode.value_or(1) == 0 ? CUDNN_HEUR_MODE_INSTANT : CUDNN_HEUR_MODE_B,
          CUDNN_HEUR_MODE_FALLBACK};
}

std::vector<Descriptor> convolution_operations(const Convolution& convolution, double beta) {
  const PassNames& names = names_of(convolution.pass);
  const Descriptor data = tensor(kDataId, convolution.data, convolution);
  const Descriptor weight = tensor(kWeightId, convolution.weight, convolution);
  Descriptor output = convolution.has_steps() ? between('s', convolution)
                                              : tensor(kOutputId, convolution.output, convolution);
  const Descriptor geometry = window(convolution);
  Descriptor operation(names.operation);
  operation.set(names.data, data)
      .set(names.weight, weight)
      .set(names.output, output)
      .set(names.window, geometry);
  if (convolution.dtype == DType::kFloat64) {
    operation.set(names.alpha, 1.0).set(names.beta, beta);
  } else {
    operation.set(names.alpha, 1.0f).set(names.beta, static_cast<float>(beta));
  }
  operation.finalize();
  std::vector<Descriptor> operations;
  operations.push_back(std::move(operation));
  if (convolution.has_steps()) add_steps(convolution, std::move(output), &operations);
  return operations;
}

EngineOffers offered_engines(const PlanTarget& target, std::vector<Descriptor> operations,
                             const CudaConfig& config) {
  EngineOffers offers{
      std::move(operations), Descriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), {}};
  std::vector<cudnnBackendDescriptor_t> raw;
  raw.reserve(offers.operations.size());
  for (const Descriptor& operation : offers.operations) raw.push_back(operation.raw());
  target.tell_graph(&offers.graph);
  offers.graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, raw).finalize();
  for (const cudnnBackendHeurMode_t mode : heuristics(config)) {
    try {
      add_offers(target, mode, &offers);
    } catch (const Error&) {  // a heuristic may not know the operation; the next one is asked
    }
  }
  return offers;
}

void ConvolutionPlan::run(cudnnHandle_t handle, const ConvolutionArrays& arrays,
                          void* workspace) const {
  std::vector<int64_t> ids{kDataId, kWeightId, kOutputId};
  std::vector<void*> addresses{arrays.data, arrays.weight, arrays.output};
  const auto add = [&](int64_t id, void* array) {
    if (array == nullptr) return;
    ids.push_back(id);
    addresses.push_back(array);
  };
  add(kBiasId, arrays.bias);
  add(kOtherId, arrays.other);
  EnginePlan::run(handle, ids, addresses, workspace);
}

}  // namespace mxnet::cuda
