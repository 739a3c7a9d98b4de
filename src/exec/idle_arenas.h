// SPDX-License-Identifier: Apache-2.0
// Arenas of a cached op that no call uses at the moment. Plans of all shapes take them in turn, so
// that there are as many as calls keep activations at a time, and not as many as shapes.
#pragma once
#include <cstddef>
#include <vector>

#include "exec/plan_instance.h"
#include "exec/thread_slots.h"

namespace mxnet {

// Thread-safe; each thread finds what it gave.
class IdleArenas {
 public:
  // What a thread keeps if it is not a single arena.
  static constexpr std::size_t kMostBytes = std::size_t{128} << 20;

  // `wanted` if it is there, else another one; null if there is none.
  Ref<Arena> take(const Arena* wanted);
  // False where there are enough, and it is to go. Operations that use it may still be in flight:
  // whoever takes it queues behind them.
  bool give(Ref<Arena> arena);

 private:
  struct List : RefCounted {
    std::vector<Ref<Arena>> arenas;
  };
  ThreadSlots<List> lists_;
};

}  // namespace mxnet
