// SPDX-License-Identifier: Apache-2.0
// The pool of invocations, one a thread: no lock, and what one thread makes another may keep.
#include "exec/invocation.h"

#include <array>
#include <new>
#include <utility>

#include "exec/run_sparse.h"
#include "op/named_errors.h"

namespace mxnet {
namespace {

// More than a thread has in flight between two turns of a worker; the rest goes back to the heap.
constexpr std::size_t kKept = 64;

struct Pool {
  ~Pool() {
    while (size > 0) delete kept[--size];
  }
  std::array<Invocation*, kKept> kept;
  std::size_t size = 0;
};

// A pointer and not the pool itself: a library that is loaded late has very little room for
// variables of threads (tests/static_tls_test.py).
[[gnu::tls_model("initial-exec")]] constinit thread_local Pool* t_pool = nullptr;
// An operation may end on a thread whose pool is already gone (exit of the process).
constinit thread_local bool t_ending = false;

struct EndOfThread {
  ~EndOfThread() {
    t_ending = true;
    delete std::exchange(t_pool, nullptr);
  }
};

[[gnu::noinline]] Pool* first_pool() noexcept {
  if (t_ending) return nullptr;
  thread_local const EndOfThread end;
  return t_pool = new (std::nothrow) Pool;
}

// Null where there is none: memory comes from the heap then.
Pool* pool() noexcept { return t_pool != nullptr ? t_pool : first_pool(); }

}  // namespace

void Invocation::run(const RunContext& context) const {
  const ArrayRefs all(arrays.span());
  const KernelCall call{*op,
                        *kernel,
                        params.get(),
                        all.first(num_inputs),
                        all.from(num_inputs),
                        requests.span(),
                        training,
                        hidden_unread};
  told_by(*op, [&] { sparse == nullptr ? run_kernel(call, context) : run_sparse(*sparse, call); });
}

void Invocation::clear() {
  arrays.clear();
  requests.clear();
  params.reset();
  sparse = nullptr;
}

void InvocationRecycler::operator()(Invocation* invocation) const noexcept {
  if (Pool* const mine = pool(); mine != nullptr) {
    invocation->clear();
    if (mine->size < kKept) {
      mine->kept[mine->size++] = invocation;
      return;
    }
  }
  delete invocation;
}

InvocationPtr new_invocation() {
  Pool* const mine = pool();
  return InvocationPtr(mine != nullptr && mine->size > 0 ? mine->kept[--mine->size]
                                                         : new Invocation);
}

}  // namespace mxnet
