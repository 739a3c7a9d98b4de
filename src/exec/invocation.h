// SPDX-License-Identifier: Apache-2.0
// What a pushed operator call carries until it has run: its arrays, parameters and kernel. Recycled
// by the thread, so that a steady state allocates nothing.
#pragma once
#include <memory>

#include "exec/run_kernel.h"
#include "op/inline_vector.h"

namespace mxnet {

struct SparseOp;

// Used by one thread at a time; the engine hands it from the pusher to whoever runs it.
struct Invocation {
  void run(const RunContext& context) const;
  // Drops what it refers to, keeps its memory.
  void clear();

  const OpDef* op = nullptr;
  const KernelEntry* kernel = nullptr;
  const SparseOp* sparse = nullptr;  // runs instead of the kernel, which it may use
  ParamsPtr params;
  bool training = false, hidden_unread = false;
  std::size_t num_inputs = 0;
  InlineVector<NDArray, 6> arrays;  // inputs, then outputs; without tape
  InlineVector<Request, 4> requests;
};

// Puts an invocation back into the pool of the thread that drops it.
struct InvocationRecycler {
  void operator()(Invocation* invocation) const noexcept;
};
using InvocationPtr = std::unique_ptr<Invocation, InvocationRecycler>;

// An empty one.
InvocationPtr new_invocation();

}  // namespace mxnet
