// SPDX-License-Identifier: Apache-2.0
// Inference for serving programs: a model with its parameters, bound to shapes of inputs.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/executor_bind.h"

namespace mxnet {

// A graph and its parameters by name. Immutable; shared by predictors on any number of threads.
struct PredictModel {
  ir::Graph graph;
  std::map<std::string, NDArray> parameters;  // arguments and auxiliary states
  Device device;
};

// Used by one thread at a time; runs on its caller's thread. Variables that are given a shape are
// inputs, and so are those that have no parameter (labels). They begin with the numbers of the
// parameter of that name and shape, else as zeros.
class Predictor {
 public:
  // Shapes of what the graph lacks are passed over: a part of a network may be given those of all.
  Predictor(std::shared_ptr<const PredictModel> model, std::map<std::string, Shape> shapes,
            std::map<std::string, DType> dtypes);

  const std::shared_ptr<const PredictModel>& model() const { return model_; }
  const std::map<std::string, DType>& dtypes() const { return dtypes_; }
  Executor& executor() { return *executor_; }

  // Copies the inputs of another predictor that have the same shape and type here.
  void take_inputs(const Predictor& from);
  // `count` numbers of the input's type. Throws Error(kValue) for names that are no inputs and for
  // other counts.
  void set_input(const std::string& name, const void* data, int64_t count);
  void forward() { executor_->forward(false); }
  // Output `index`; throws Error(kIndex).
  const NDArray& output(std::size_t index) const;
  // Its dimensions, good for as long as the predictor is. Throws as output().
  std::span<const uint32_t> output_dims(std::size_t index);

 private:
  const std::shared_ptr<const PredictModel> model_;
  const std::map<std::string, DType> dtypes_;
  std::map<std::string, NDArray> inputs_;  // arguments that are no parameters
  std::unique_ptr<Executor> executor_;
  std::vector<std::vector<uint32_t>> output_dims_;
};

// The part of `graph` that the given nodes or outputs ("fc1", "fc1_output") need. Throws
// Error(kValue) for names that there are none of.
ir::Graph partial_graph(const ir::Graph& graph, const std::vector<std::string>& outputs);

}  // namespace mxnet
