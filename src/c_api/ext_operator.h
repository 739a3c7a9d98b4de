// SPDX-License-Identifier: Apache-2.0
// Operators of extension libraries as operators of the registry: with inference, gradients and
// engine as any other one.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "base/thread_end.h"
#include "exec/array_op.h"
#include "mxnet/ext/abi.h"
#include "op/op_def.h"

namespace mxnet::c_api {

// A state that the extension has made; of one call, and its gradient, at a time. Several passes of
// backward may ask for that gradient at once: they take turns.
class ExtState {
 public:
  ExtState(const MXExtOp& op, void* state, std::vector<ArrayType> inputs)
      : op_(op), state_(state), inputs_(std::move(inputs)) {}
  ~ExtState() {
    or_stay([this] { op_.destroy_state(state_); });
  }
  ExtState(const ExtState&) = delete;
  ExtState& operator=(const ExtState&) = delete;

  // Runs a function of it, one at a time.
  template <class Call>
  int run(Call&& call) const {
    const MutexLock lock(mutex_);
    return call(state_);
  }
  bool fits(const std::vector<ArrayType>& inputs) const { return inputs == inputs_; }

 private:
  const MXExtOp& op_;
  void* const state_;
  const std::vector<ArrayType> inputs_;
  mutable Mutex mutex_;  // held while the extension runs, which calls nobody that comes for it
};

// States that nobody uses at the moment. Calls one after the other get the same state again; calls
// at the same time get separate ones. Thread-safe.
class ExtStates {
 public:
  // Gives it back at the end.
  using Lease = std::shared_ptr<ExtState>;
  // Of the pool `states`, which a lease keeps alive. Makes one where none is free for such inputs.
  static Lease take(const std::shared_ptr<ExtStates>& states, const MXExtOp& op,
                    const MXExtAttrs& attrs, std::span<const MXExtTensor> inputs,
                    std::vector<ArrayType> types);

 private:
  Mutex mutex_;  // not held while the extension runs
  std::vector<std::unique_ptr<ExtState>> free_ MX_GUARDED_BY(mutex_);
};

// Parameters of a call: the caller's texts, and what the extension says they mean.
struct ExtParams {
  const MXExtOp* op = nullptr;
  Attrs attrs;
  int32_t num_inputs = 0, num_outputs = 1;
  std::vector<int> mutated;
  // Of an operator on a part of a network: parameters of the operator that would run the part.
  ParamsPtr part;
  std::shared_ptr<ExtStates> states = std::make_shared<ExtStates>();
};

// Attributes as the border has them; borrows the texts.
class ExtAttrList {
 public:
  explicit ExtAttrList(const Attrs& attrs);
  MXExtAttrs get() const {
    return {keys_.data(), values_.data(), static_cast<int32_t>(keys_.size())};
  }

 private:
  std::vector<const char*> keys_, values_;
};

// The operator and, where it has one, its gradient's. Throws Error(kValue) for an incomplete table.
// `op` lives as long as the process.
std::vector<std::unique_ptr<OpDef>> make_ext_ops(const MXExtOp& op);
// "_backward_NAME"
std::string ext_gradient_name(const MXExtOp& op);

// Of operators with a state (exec/array_op.h).
void run_ext_state(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs,
                   OutputRefs outputs, Device device, NodeState* state);
// Operators on parts (graph/subgraph_op.h).
ParamsPtr bind_ext_part(const void* params, std::span<const std::shared_ptr<const ir::Graph>>);
std::vector<std::string> ext_part_output_names(const void* params);

}  // namespace mxnet::c_api
