// SPDX-License-Identifier: Apache-2.0
// Consecutive small pushes of one thread, merged into one operation that reads and writes the union
// of their variables.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/engine.h"
#include "engine/operation.h"
#include "engine/slab_pool.h"

namespace mxnet::engine {

struct BulkItem {
  SyncFn fn;
  const char* name;
  Device device;
  FnProperty property;
  bool erase;  // ends its one variable
  uint32_t first, reads,
      count;       // its variables: vars[first, first + reads) read, up to first + count written
  uint32_t fresh;  // of the written ones, see OpSpec
};

// The merged operations; owned by the thread that fills it, then by the operation that runs it.
struct BulkBody : Pooled<BulkBody> {
  std::vector<BulkItem> items;
  std::vector<Var*> vars;
  std::vector<Access> order;        // scratch of close()
  std::vector<Var*> reads, writes;  // the union, after close()
  std::size_t temp_bytes = 0;
  bool cheap = true;
  Device device;

  std::span<Var* const> reads_of(const BulkItem& item) const {
    return {vars.data() + item.first, item.reads};
  }
  std::span<Var* const> writes_of(const BulkItem& item) const {
    return {vars.data() + item.first + item.reads, item.count - item.reads};
  }

  template <class Function>
  void for_each_erased(Function function) const {
    for (const BulkItem& item : items) {
      if (item.erase) function(vars[item.first]);
    }
  }

  void add(SyncFn fn, const OpSpec& spec, bool erase);
  void close();  // computes the union
  void recycle() noexcept;
  static BulkBody* make();
  static void lock_pool();
  static void unlock_pool();
};

// One thread's bulks for one engine. Touched by that thread only.
struct BulkState {
  BulkState* next;
  DependencyEngine* engine;
  uint64_t engine_id;
  int size;
  BulkBody* body;  // null when empty
};

// The engines that live, by id: the end of a thread pushes what it has merged, if its engine is
// still there.
void register_engine(uint64_t id);
void unregister_engine(uint64_t id);
void lock_engines();  // around fork
void unlock_engines();

}  // namespace mxnet::engine
