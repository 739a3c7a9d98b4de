// SPDX-License-Identifier: Apache-2.0
// An operator as data, with its parameter type erased. Written by the builder (op_builder.h), read
// by everybody else.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/device.h"
#include "base/dtype.h"
#include "op/grad.h"
#include "op/infer.h"
#include "op/kernel.h"
#include "op/of_params.h"
#include "op/params/param.h"

namespace mxnet {

// One way to compute an operator. The first that accepts runs.
struct KernelEntry {
  const char* name;  // "plain", "onednn": for traces and tests
  DeviceType device;
  OfParams<bool(const Signature&)> accepts = {};  // none accepts everything
  OfParams<void(KernelContext&)> run = {};
};

struct OpArg {
  std::string name;
  std::string type;  // "NDArray-or-Symbol" or "NDArray-or-Symbol[]"
  std::string doc;
};

// What an operator does backward although no gradient arrives, as behind BlockGrad or argmax: a
// loss passes on its own; what moves states there passes on zeros, and moves them.
enum class Unasked : uint8_t { kNothing, kLoss, kStates };

class OpDef {
 public:
  explicit OpDef(std::string name) : name_(std::move(name)) {}
  // Tells an operator from whatever else a C program hands over as one.
  bool is_valid() const { return mark_ == kMark; }

  const std::string& name() const { return name_; }
  const std::vector<std::string>& aliases() const { return aliases_; }
  const std::string& doc() const { return doc_; }
  const std::vector<OpArg>& args() const { return args_; }
  const ParamSchema& schema() const { return schema_; }
  // Name of the parameter that holds the number of inputs, or empty.
  const std::string& key_var_num_args() const { return key_var_num_args_; }

  ParamsPtr parse(AttrList attrs) const { return schema_.parse(name_, attrs); }
  int num_inputs(const void* params) const {
    return num_inputs_ ? num_inputs_(params) : static_cast<int>(args_.size());
  }
  int num_outputs(const void* params) const { return num_outputs_ ? num_outputs_(params) : 1; }
  // Outputs that callers see; the rest serve the gradient.
  int num_visible_outputs(const void* params) const {
    return num_visible_ ? num_visible_(params) : num_outputs(params);
  }
  std::string input_name(const void* params, int i) const;
  std::string output_name(const void* params, int i) const;
  // Inputs that the operator also writes (auxiliary states, optimizer states).
  bool mutates_inputs() const { return static_cast<bool>(mutated_); }
  // Inputs that it leaves with other values without their being states. The engine sees writes.
  std::vector<int> clobbered_inputs(const void* params) const {
    return clobbered_ ? clobbered_(params) : std::vector<int>{};
  }
  bool clobbers_inputs() const { return static_cast<bool>(clobbered_); }
  // Inputs that are states of a model, not arguments of it: auxiliary states of symbols. Those that
  // the operator writes, or others, which its gradient writes.
  std::vector<int> state_inputs(const void* params) const {
    return states_.empty() ? mutated_inputs(params) : states_;
  }
  std::vector<int> mutated_inputs(const void* params) const {
    return mutated_ ? mutated_(params) : std::vector<int>{};
  }
  // The operator looks at shape and type of input i only: its values need not exist.
  bool type_only(int i) const { return i < 64 && (type_only_ >> i & 1) != 0; }
  // (input, output) pairs that may share memory.
  const std::vector<std::pair<int, int>>& inplace() const { return inplace_; }
  bool may_share(int in, int out) const {
    return (inplace_stride_ > 0 && in == out * inplace_stride_) ||
           std::find(inplace_.begin(), inplace_.end(), std::pair(in, out)) != inplace_.end();
  }

  void infer(const void* params, Infer& infer) const { infer_(params, infer); }
  DTypeSet dtypes() const { return dtypes_; }
  const std::vector<KernelEntry>& kernels() const { return kernels_; }
  bool has_gradient() const { return static_cast<bool>(grad_); }
  Gradients gradient(const void* params, Grad& grad) const { return grad_(params, grad); }
  Unasked unasked() const {
    if (loss_) return Unasked::kLoss;
    return states_.empty() || !has_gradient() ? Unasked::kNothing : Unasked::kStates;
  }
  // Cheap on small arrays: may run on the caller's own thread.
  bool may_run_inline() const { return inline_; }
  // Whether a call draws random numbers; `training` as in KernelContext.
  bool uses_random(const void* params, bool training) const {
    return random_ && random_(params, training);
  }
  // A gradient that is of inference where the pass through it is, whatever the mode of the call
  // was.
  bool goes_by_pass() const { return by_pass_; }
  // Outputs may be sparse though all inputs are dense (cast_storage): sparse_op.h decides.
  bool makes_sparse(const void* params) const { return makes_sparse_ && makes_sparse_(params); }
  // Shapes of outputs are known only after running: the call waits for its inputs, runs at once,
  // and the kernel makes its outputs (KernelContext::make_out).
  bool shape_from_values(const void* params, int num_inputs) const {
    return shape_from_values_ && shape_from_values_(params, num_inputs);
  }

 private:
  template <class P>
  friend class OpBuilder;
  friend class Registry;

  static constexpr uint64_t kMark = 0x6d78204f70446566;  // "mx OpDef"
  const uint64_t mark_ = kMark;
  std::string name_, doc_, key_var_num_args_;
  std::vector<std::string> aliases_;
  std::vector<OpArg> args_;
  std::vector<std::string> output_names_;
  ParamSchema schema_;
  std::function<int(const void*)> num_inputs_;
  OfParams<int()> num_outputs_, num_visible_;
  OfParams<std::vector<std::string>()> input_names_;
  OfParams<std::string(int)> output_name_;  // none: output_names_ and what is usual say it
  std::function<std::vector<int>(const void*)> mutated_;
  std::vector<std::pair<int, int>> inplace_;
  OfParams<bool(int)> shape_from_values_;
  OfParams<bool()> makes_sparse_;
  int inplace_stride_ = 0;  // 0 = none
  std::function<std::vector<int>(const void*)> clobbered_;
  std::vector<int> states_;
  OfParams<void(Infer&)> infer_;
  DTypeSet dtypes_ = kAllTypes;
  std::vector<KernelEntry> kernels_;
  OfParams<Gradients(Grad&)> grad_;
  OfParams<bool(bool)> random_;
  uint64_t type_only_ = 0;  // bit per input
  bool inline_ = true, loss_ = false, by_pass_ = false;
};

// All operators, by name and alias. Filled before main by the files that define them; read-only
// afterwards but for kernels of plug-ins, which are added under the loader's lock before the device
// is first used.
class Registry {
 public:
  static Registry& get();
  OpDef& add(std::string name);  // throws on a second registration
  OpDef& add(const char* name, std::shared_ptr<void> (*make_params)());
  void add_alias(OpDef& op, std::string alias);
  const OpDef* find(std::string_view name) const;  // null if there is none
  const OpDef& at(std::string_view name) const;    // throws Error(kValue) with the nearest names
  std::vector<std::string> names() const;          // aliases too, sorted
  std::vector<const OpDef*> ops() const;           // each once, sorted by name

 private:
  struct Impl;
  Registry();
  Impl* impl_;
};

}  // namespace mxnet
