// SPDX-License-Identifier: Apache-2.0
// A primitive as a prepared kernel: compiled once for all callers, run on memory objects that each
// has of its own.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "op/onednn/layout.h"
#include "op/onednn/runtime.h"
#include "op/onednn/width.h"

namespace mxnet::onednn {

// What executes on fixed descriptors. Primitives are compiled for the number of OpenMP threads of
// the thread that compiles them, on which the layouts depend that oneDNN would choose: what
// compiles names the layouts that were chosen when the kernel was prepared.
struct Compiled {
  dnnl::primitive primitive;
  dnnl::memory::desc scratchpad;
};
using Compile = std::function<Compiled()>;
template <class Primitive, class Desc>
Compiled compiled(const Desc& desc) {
  return {Primitive(desc), desc.scratchpad_desc()};
}

// At first by a description that this thread has found, which is kept no longer: they are large.
// `again` describes the same, for another number of threads.
using Describe = std::function<dnnl::primitive_desc_base()>;
Compile compile_found(dnnl::primitive_desc_base found, Describe again);

// A primitive for each number of threads that asks, compiled when the first one does: graphs
// prepare more kernels than they run. Thread-safe.
class SharedPrimitive {
 public:
  explicit SharedPrimitive(Compile compile) : compile_(std::move(compile)) {}
  // For the calling thread's number of threads.
  Compiled get() const;

 private:
  const Compile compile_;
  mutable Mutex mutex_;
  mutable std::vector<std::pair<int, Compiled>> compiled_ MX_GUARDED_BY(mutex_);
};

// One argument of a primitive; `tensor` counts inputs, then outputs. Less than 0: given by hand.
struct Argument {
  int id;
  dnnl::memory::desc desc;
  int tensor;
};

// Memory objects of one caller, and the primitive as its thread needs it. Used by one thread at a
// time, not always the same one.
class PrimitiveRun {
 public:
  PrimitiveRun(const SharedPrimitive& primitive, std::span<const Argument> arguments,
               Width width = Width::kAll);
  // `given`: data of the arguments without a tensor, in order.
  void run(const KernelContext& context, std::span<void* const> given = {});

 private:
  struct Bound {
    int id, tensor;
    dnnl::memory memory;
  };
  void compile();

  const SharedPrimitive& primitive_;
  const Width width_;
  std::vector<Bound> bound_;
  int threads_ = 0;
  Compiled compiled_;
  dnnl::memory scratchpad_;
  std::size_t scratchpad_bytes_ = 0;
};

// A primitive on arrays of the plan and nothing else.
PreparedKernelRef prepared_primitive(Compile compile, std::vector<Argument> arguments,
                                     std::vector<LayoutRef> in, std::vector<LayoutRef> out,
                                     Width width = Width::kAll);

// Of what takes as long as reading and writing its arrays.
Width width_of_bytes(std::span<const Argument> arguments);
// Such a primitive.
PreparedKernelRef prepared_move(Compile compile, std::vector<Argument> arguments,
                                std::vector<LayoutRef> in, std::vector<LayoutRef> out);

}  // namespace mxnet::onednn
