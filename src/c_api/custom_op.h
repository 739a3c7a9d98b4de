// SPDX-License-Identifier: Apache-2.0
// Operators of the user behind the operator "Custom": its description (a prop), which says how many
// arrays there are and of what shape, and its operator, which computes.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "c_api/callbacks.h"
#include "exec/invoke.h"

namespace mxnet::c_api {

// What computes; used by one call and its gradient at a time. Callbacks run on the caller's thread.
class CustomOperator {
 public:
  explicit CustomOperator(const MXCallbackList& list) : callbacks_(list, kCustomOpDelete) {}

  using Tagged = std::vector<std::pair<NDArray, int>>;  // array and its kind, see CustomOpFBFunc
  // Throws Error(kGeneric) if the callback fails.
  void run(const std::string& name, CustomOpCallbacks callback, const Tagged& arrays,
           const std::vector<int>& requests, bool training) const;

 private:
  const Callbacks callbacks_;
};

// Thread-safe.
class CustomProp {
 public:
  // Asks the creator registered for `op_type`. Throws Error(kValue) if there is none or it fails.
  CustomProp(const std::string& op_type, const std::map<std::string, std::string>& parameters);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<std::string>& states() const { return states_; }

  void infer(Infer& infer) const;
  std::vector<StorageType> output_storage(std::span<NDArray* const> inputs) const;
  // Of gradients of the arguments; `arrays` as a gradient gets them.
  std::vector<StorageType> gradient_storage(const CustomOperator::Tagged& arrays) const;
  // Which arrays a gradient needs: numbered output gradients, arguments, outputs.
  std::vector<bool> gradient_needs() const;
  // One for arrays of these types; kept, so that whoever uses one prop again has its state again.
  std::shared_ptr<const CustomOperator> operator_for(std::span<NDArray* const> inputs,
                                                     Device device) const;

 private:
  [[noreturn]] void fail(const char* what) const;
  // Of what there is no callback for: no earlier failure is its reason.
  [[noreturn]] void fail_without_call(const char* what) const;
  std::vector<std::string> list(CustomOpPropCallbacks callback) const;
  void infer_shapes(Infer& infer) const;
  void infer_dtypes(Infer& infer) const;

  const std::string name_;
  std::unique_ptr<const Callbacks> callbacks_;
  std::vector<std::string> arguments_, outputs_, states_;

  mutable Mutex mutex_;  // never held during a callback
  mutable std::shared_ptr<const CustomOperator> operator_ MX_GUARDED_BY(mutex_);
  mutable std::vector<ArrayType> operator_types_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::c_api
