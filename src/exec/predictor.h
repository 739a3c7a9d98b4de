// SPDX-License-Identifier: Apache-2.0
// Inference for serving programs: a model with its parameters, bound to shapes of inputs.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exec/executor_bind.h"

namespace mxnet {

// A graph and its parameters by name. Immutable; shared by predictors on any number of threads.
struct PredictModel {
  ir::Graph graph;
  std::map<std::string, NDArray> parameters;  // arguments and auxiliary states
  Device device;
  // Inputs of the network that this part of it lacks (labels, before the loss): callers may give
  // their shapes.
  std::set<std::string, std::less<>> left_out{};
};

// Used by one thread at a time; runs on its caller's thread. Inputs that have neither shape nor
// parameter (labels) are zeros.
class Predictor {
 public:
  Predictor(std::shared_ptr<const PredictModel> model, std::map<std::string, Shape> shapes,
            std::map<std::string, DType> dtypes);

  const std::shared_ptr<const PredictModel>& model() const { return model_; }
  const std::map<std::string, DType>& dtypes() const { return dtypes_; }
  Executor& executor() { return *executor_; }

  // `count` numbers of the input's type. Throws Error(kValue) for names that are no inputs and for
  // other counts.
  void set_input(const std::string& name, const void* data, int64_t count);
  void forward() { executor_->forward(false); }
  // Output `index`; throws Error(kIndex).
  const NDArray& output(std::size_t index) const;

 private:
  const std::shared_ptr<const PredictModel> model_;
  const std::map<std::string, DType> dtypes_;
  std::map<std::string, NDArray> inputs_;  // arguments that are no parameters
  std::unique_ptr<Executor> executor_;
};

// The part of `graph` that the given nodes or outputs ("fc1", "fc1_output") need. Throws
// Error(kValue) for names that there are none of.
ir::Graph partial_graph(const ir::Graph& graph, const std::vector<std::string>& outputs);

}  // namespace mxnet
