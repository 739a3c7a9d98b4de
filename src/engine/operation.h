// SPDX-License-Identifier: Apache-2.0
// The record of one pushed operation that could not run at once: what it runs, what it waits for,
// where it goes next.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "engine/engine.h"
#include "engine/slab_pool.h"

namespace mxnet::engine {

struct BulkBody;
class DependencyEngine;
class WorkerPool;
class OneShot;
struct Operation;

// One access of an operation in the queue of its variable.
struct Link {
  Link* next;
  Operation* operation;
  bool write;
};

// A variable and whether it is written (low bit), so that sorting by address is sorting words.
using Access = uintptr_t;
inline Access make_access(Var* var, bool write) {
  return reinterpret_cast<Access>(var) | Access{write};
}
inline Var* access_var(Access access) { return reinterpret_cast<Var*>(access & ~Access{1}); }
inline bool access_writes(Access access) { return (access & 1) != 0; }

inline constexpr uint32_t kInlineVars = 8;  // most operators have fewer inputs and outputs together
// The accesses of such an operation; only its push reads them, so they lie on the pusher's stack.
using FewAccesses = std::array<Access, kInlineVars>;

// The lists of an operation with many variables.
template <uint32_t kVars>
struct ListBlock : Pooled<ListBlock<kVars>> {
  Var* vars[kVars];
  Access order[kVars];
  Link links[kVars];
};

// What the engine itself wants from an operation, beyond the caller's OpSpec.
enum class Role : uint8_t {
  kUser,
  kPrepared,  // as kUser, but its lists and function belong to `prepared`
  kErase,     // ends the life of its one variable
  kNotify,    // rings `waiter`, at once, on whichever thread makes it ready
  kHandOver,  // rings `waiter`, whose thread then runs the operation itself
  kBulk,      // runs the merged operations of `bulk`, which care for their own failures
};

// What an operation calls; empty while the record lies in its pool or uses a prepared one.
using Body = std::variant<std::monostate, SyncFn, AsyncFn>;

// Laid out so that an operation of one variable with a small function takes five cache lines, and
// becoming ready touches the first one only: pusher and worker wait for those that the other one
// wrote last.
struct alignas(64) Operation : Pooled<Operation> {
  // Accesses not granted yet; the operation is ready when it falls to 0.
  std::atomic<uint32_t> missing{0};
  FnProperty property = FnProperty::kNormal;
  int priority = 0;
  Role role = Role::kUser;
  bool cheap = false;
  bool computes = false;  // a waiting thread may run it
  bool observed = false;  // an observer saw it begin
  bool era = false;       // see Tally

 private:
  uint16_t block_size_ = 0;  // of block_
  Link inline_links_[kInlineVars];

 public:
  WorkerPool* pool = nullptr;     // where it runs; null = on the thread that makes it ready
  Var* const* vars = nullptr;     // in the caller's order
  uint32_t reads = 0, count = 0;  // vars[0, reads) are read, vars[reads, count) written

  OneShot* waiter = nullptr;  // rung according to the role, or when the operation is done
  Link* links = nullptr;
  Device device;
  const char* name = nullptr;
  std::size_t temp_bytes = 0;
  uint32_t fresh = 0;  // of the written ones, see OpSpec
  BulkBody* bulk = nullptr;
  PreparedRef prepared;  // owns the lists and the function, if set
  Body body;

 private:
  Var* inline_vars_[kInlineVars];
  void* block_ = nullptr;  // a ListBlock of `block_size_`, when the lists do not fit inside

 public:
  uint64_t sequence = 0;       // ready queues number arrivals with it, then observers executions
  Operation* child = nullptr;  // of the heap in ReadyQueue

  // Asynchronous ones only: the starter and the completion each hold a reference; `completed`
  // catches a second one.
  DependencyEngine* engine = nullptr;
  std::atomic<uint32_t> references{0};
  std::atomic<bool> completed{false};

  std::span<Var* const> read_vars() const { return {vars, reads}; }
  std::span<Var* const> write_vars() const { return {vars + reads, count - reads}; }
  std::span<Var* const> fresh_vars() const { return write_vars().first(fresh); }
  Body& function();
  bool asynchronous() { return std::holds_alternative<AsyncFn>(function()); }
  // Copies the lists. Returns the accesses in the order of locking, in `few` if that has room for
  // them. Throws Error(kValue) on duplicates; the record can be recycled then.
  const Access* copy_lists(const OpSpec& spec, FewAccesses& few);
  // Shares the lists of a prepared operation.
  void share_lists(const PreparedRef& from);
  // Gives back whatever it holds, then itself.
  void recycle() noexcept;

  // Fetches what becoming ready and running need, if it is short.
  void prefetch() const;

  static Operation* make() { return OperationPool::take(); }
  static void lock_pools();
  static void unlock_pools();

 private:
  using OperationPool = SlabPool<Operation, 64>;

  // Room for the lists; returns that for the order, null if the record has none.
  Access* reserve(uint32_t vars, Var**& list);
};

// Operations in order of arrival, linked through pool_next.
class OperationList {
 public:
  bool empty() const { return head_ == nullptr; }
  void push(Operation* operation) {
    operation->pool_next = nullptr;
    (head_ == nullptr ? head_ : tail_->pool_next) = operation;
    tail_ = operation;
  }
  Operation* pop() {
    Operation* first = head_;
    if (first != nullptr) head_ = first->pool_next;
    return first;
  }

 private:
  Operation* head_ = nullptr;
  Operation* tail_ = nullptr;
};

}  // namespace mxnet::engine
