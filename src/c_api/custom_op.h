// SPDX-License-Identifier: Apache-2.0
// Operators of the user: a description (a prop), which says how many arrays there are and of what
// shape, and an operator, which computes. "Custom" finds descriptions by name, the operators of
// native_op.cc by address.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "c_api/callbacks.h"
#include "exec/array_op.h"
#include "op/params/parsed_attrs.h"

namespace mxnet::c_api {

// What computes: of one call and its gradient, as it may keep in the one what the other needs, or
// of a node of a bound graph. Callbacks run on the caller's thread.
class CustomOperator {
 public:
  explicit CustomOperator(const MXCallbackList& list) : callbacks_(list, kCustomOpDelete) {}

  using Tagged = std::vector<std::pair<NDArray, int>>;  // array and its kind, see CustomOpFBFunc
  // Throws Error(kGeneric) if the callback fails.
  void run(const std::string& label, CustomOpCallbacks callback, const Tagged& arrays,
           const std::vector<int>& requests, bool training) const;

 private:
  const Callbacks callbacks_;
};

// Immutable.
class CustomProp {
 public:
  // Owns what `list` (CustomOpPropCallbacks) stands for; errors begin with `label`. Throws
  // Error(kGeneric) if a callback fails.
  CustomProp(std::string label, const MXCallbackList& list);

  const std::string& label() const { return label_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<std::string>& states() const { return states_; }

  void infer(Infer& infer) const;
  std::vector<StorageType> output_storage(std::span<NDArray* const> inputs) const;
  // Of gradients of the arguments; `arrays` as a gradient gets them.
  std::vector<StorageType> gradient_storage(const CustomOperator::Tagged& arrays) const;
  // Which arrays a gradient needs: numbered output gradients, arguments, outputs.
  std::vector<bool> gradient_needs() const;
  std::shared_ptr<const CustomOperator> new_operator(const std::vector<ArrayType>& inputs,
                                                     Device device) const;

 private:
  [[noreturn]] void fail(const char* what) const;
  // Of what there is no callback for: no earlier failure is its reason.
  [[noreturn]] void fail_without_call(const char* what) const;
  std::vector<std::string> list(CustomOpPropCallbacks callback) const;
  void infer_shapes(Infer& infer) const;
  void infer_dtypes(Infer& infer) const;

  const std::string label_;
  const Callbacks callbacks_;
  std::vector<std::string> arguments_, outputs_, states_;
};

// The description that an operator's parameters lead to: made for the first who asks. Thread-safe:
// all get the same one.
class MadeOnce {
 public:
  template <class Make>
  const std::shared_ptr<const CustomProp>& get(Make&& make) const {
    {
      const MutexLock lock(mutex_);
      if (prop_) return prop_;
    }
    std::shared_ptr<const CustomProp> made = make();  // without the lock: it calls the program
    const MutexLock lock(mutex_);
    if (!prop_) prop_ = std::move(made);
    return prop_;
  }

 private:
  mutable Mutex mutex_;
  mutable std::shared_ptr<const CustomProp> prop_;  // written once, under the mutex
};

// What the creator registered for `op_type` gives. Throws Error(kValue) if there is none,
// Error(kGeneric) if it fails.
std::shared_ptr<const CustomProp> registered_prop(
    const std::string& op_type, const std::map<std::string, std::string>& parameters);

// What blocks of operators say by a description: names of inputs, states behind the arguments, and
// which of the inputs are states.
std::vector<std::string> input_names(const CustomProp& prop);
std::vector<int> state_inputs(const CustomProp& prop);
// Their run (exec/array_op.h).
void run_custom(const std::shared_ptr<const CustomProp>& prop, const ParsedAttrsRef& parsed,
                std::span<NDArray* const> inputs, OutputRefs outputs, Device device,
                NodeState* state);

}  // namespace mxnet::c_api
