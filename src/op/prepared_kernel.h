// SPDX-License-Identifier: Apache-2.0
// Kernels that a plan prepares when it is built: for known shapes, in layouts of their choice, with
// weights packed once. What cannot be prepared runs as every kernel does, on plain rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "op/kernel.h"

namespace mxnet {

class OpDef;

// How the elements of an array lie in memory, where that is not row by row. Immutable.
class MemoryLayout {
 public:
  virtual ~MemoryLayout() = default;
  virtual std::size_t bytes() const = 0;
  virtual bool equals(const MemoryLayout& other) const = 0;
  // That of an equal part along the first dimension; null where the parts do not lie one behind the
  // other.
  virtual std::shared_ptr<const MemoryLayout> part(int parts) const = 0;
};
// Null: plain rows.
using LayoutRef = std::shared_ptr<const MemoryLayout>;
bool same_layout(const LayoutRef& a, const LayoutRef& b);

// Where the values of an input come from, for kernels that keep something made of them. Two runs
// that see the same array with the same version see the same values.
struct InputOrigin {
  const void* array = nullptr;  // null: values that another run may not see again
  uint64_t version = 0;
  // Makes sure that no other array gets this address before the result is dropped.
  std::shared_ptr<const void> (*keep)(const void* array) = nullptr;
};

// What one caller of a prepared kernel has of its own. Used by one thread at a time.
class PreparedRun {
 public:
  virtual ~PreparedRun() = default;
  // The context's tensors have the layouts of the kernel; one origin per input.
  virtual void run(const KernelContext& context, std::span<const InputOrigin> origins) = 0;
};

// Immutable but for what it keeps of its weights; shared by threads.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  const char* name() const { return name_; }
  // Layouts that it reads inputs in, and those that it gives its outputs.
  std::span<const LayoutRef> in() const { return in_; }
  std::span<const LayoutRef> out() const { return out_; }
  virtual std::unique_ptr<PreparedRun> make_run() const = 0;
  // Whether its one output is its inputs one behind the other, byte by byte, and it copies none if
  // all of them lie there already.
  virtual bool is_join() const { return false; }

 protected:
  PreparedKernel(const char* name, std::vector<LayoutRef> in, std::vector<LayoutRef> out)
      : name_(name), in_(std::move(in)), out_(std::move(out)) {}

 private:
  const char* const name_;
  const std::vector<LayoutRef> in_, out_;
};
using PreparedKernelRef = std::shared_ptr<const PreparedKernel>;

// Null where the call is not for this kernel. `layouts` are those that the inputs come in; a kernel
// that has no wishes of its own takes them.
using PrepareFn = PreparedKernelRef (*)(const OpDef& op, const void* params,
                                        const Signature& signature,
                                        std::span<const LayoutRef> layouts);

// How many inputs, counted from the first, hold samples one behind the other along the first
// dimension, of each of which the same sample of every result is computed. The others, parameters,
// are read as a whole.
using SampleInputs = int;
inline constexpr SampleInputs kNoSamples = 0, kAllSamples = std::numeric_limits<int>::max();

// A graph looks for each of its kernels several times while it is compiled, so this thread
// remembers what it has found, and forgets here what it has not looked for since the last call.
// When a plan is made; descriptions are large.
void forget_unasked_kernels();

// Of an operator by its name. Call before main, as MX_OP is. Samples are a promise for arrays of as
// many of them as the results have; where an input has another number the call is not by samples.
bool add_prepared_kernel(const char* op, PrepareFn prepare, SampleInputs samples = kNoSamples);
// Null where the operator has none.
PrepareFn prepared_kernel_of(const OpDef& op);
SampleInputs sample_inputs_of(const OpDef& op);

}  // namespace mxnet
