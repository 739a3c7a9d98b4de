// SPDX-License-Identifier: Apache-2.0
// The pool of invocations, one a thread: no lock, and what one thread makes another may keep.
#include "exec/invocation.h"

#include "exec/run_sparse.h"

namespace mxnet {
namespace {

// More than a thread has in flight between two turns of a worker; the rest goes back to the heap.
constexpr std::size_t kKept = 64;

// Trivially destructible flag beside the pool: an operation may end on a thread whose pool is
// already gone (exit of the process).
thread_local bool t_pool_gone = false;

// A chain, not an array: a library that is opened late gets little room for variables of threads.
struct Pool {
  ~Pool() {
    t_pool_gone = true;
    while (first != nullptr) delete take();
  }
  Invocation* take() {
    Invocation* const taken = first;
    first = taken->next_free;
    --size;
    return taken;
  }
  void put(Invocation* invocation) {
    invocation->next_free = first;
    first = invocation;
    ++size;
  }
  Invocation* first = nullptr;
  std::size_t size = 0;
};

Pool& pool() {
  thread_local Pool pool;
  return pool;
}

}  // namespace

void Invocation::run(const RunContext& context) const {
  const std::span<const NDArray> all = arrays.span();
  const KernelCall call{*op,
                        *kernel,
                        params.get(),
                        all.first(num_inputs),
                        all.subspan(num_inputs),
                        requests.span(),
                        training};
  sparse == nullptr ? run_kernel(call, context) : run_sparse(*sparse, call);
}

void Invocation::clear() {
  arrays.clear();
  requests.clear();
  params.reset();
  sparse = nullptr;
}

void InvocationRecycler::operator()(Invocation* invocation) const noexcept {
  if (!t_pool_gone) {
    invocation->clear();
    Pool& mine = pool();
    if (mine.size < kKept) return mine.put(invocation);
  }
  delete invocation;
}

InvocationPtr new_invocation() {
  if (!t_pool_gone) {
    Pool& mine = pool();
    if (mine.first != nullptr) return InvocationPtr(mine.take());
  }
  return InvocationPtr(new Invocation);
}

}  // namespace mxnet
