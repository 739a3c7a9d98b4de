// SPDX-License-Identifier: Apache-2.0
// An argument of a primitive: a plain array of ours, in the layout (and, for half types that the
// CPU cannot compute in, the type) that the primitive wants. Where the two agree nothing is copied.
#pragma once
#include "ndarray/made_of_values.h"
#include "op/onednn/runtime.h"

namespace mxnet::onednn {

// Belongs to one thread, as the primitive it serves. REQUIRES, for each run: load() or place(),
// execute, then store() for outputs; the context is the same throughout.
class Operand {
 public:
  Operand() = default;  // an absent argument: null memory
  Operand(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, bool output);

  // An input: what the primitive reads.
  dnnl_memory_t load(const KernelContext& context, const void* data);
  // Input `input` of the call, a weight: from the second call that finds the same values on, one
  // copy in each layout that primitives want is kept beside the array and read. Call forget() when
  // the primitive has run.
  dnnl_memory_t load_lasting(const KernelContext& context, int input);
  void forget() { lasting_ = nullptr; }
  // An output: what the primitive writes.
  dnnl_memory_t place(const KernelContext& context, void* data);
  // Brings what was written to the array given to place().
  void store();

  bool is_reordered() const { return static_cast<bool>(wanted_); }
  const dnnl::memory::desc& wanted() const { return wanted_desc_; }

 private:
  // Where what the primitive wants is placed: at `place`, or in the call's scratch memory.
  dnnl_memory_t bind(const KernelContext& context, void* data, void* place = nullptr);
  dnnl_memory_t fill(const KernelContext& context, const void* data, void* place = nullptr);
  // The plain array for the reorder: itself, or as float32.
  const dnnl::memory& plain_for_reorder() const { return wide_ ? wide_ : plain_; }

  dnnl::memory::desc wanted_desc_;
  dnnl::memory plain_, wanted_;
  // Of float16 that is wanted as float32, in the order of the plain array: oneDNN's own steps
  // between the two take a hundred times as long as two of ours.
  dnnl::memory wide_;
  int64_t count_ = 0;           // of its elements
  int64_t layout_ = 0;          // a number of the layout that is wanted, where a weight is kept
  dnnl::reorder reorder_;       // null where plain, or wide, is what is wanted
  MadeOfValues::Made lasting_;  // what the primitive reads, while it runs
};

// Scratch memory of a primitive whose attributes() say so.
class Scratchpad {
 public:
  Scratchpad() = default;
  explicit Scratchpad(const dnnl::memory::desc& desc);
  dnnl_memory_t take(const KernelContext& context);

 private:
  std::size_t bytes_ = 0;
  dnnl::memory memory_;
};

}  // namespace mxnet::onednn
