// SPDX-License-Identifier: Apache-2.0
// Filling, closing and pushing bulks.
#include "engine/bulk.h"

#include <algorithm>
#include <set>

#include "base/leaked.h"
#include "base/lock.h"
#include "engine/dependency_engine.h"
#include "engine/prepared.h"

namespace mxnet::engine {
namespace {

using BulkPool = SlabPool<BulkBody, 4>;

struct LiveEngines {
  Mutex mutex;
  std::set<uint64_t> ids MX_GUARDED_BY(mutex);
};
LiveEngines& live_engines() {
  static Leaked<LiveEngines> instance;
  return *instance;
}
bool engine_lives(uint64_t id) {
  LiveEngines& live = live_engines();
  MutexLock lock(live.mutex);
  return live.ids.contains(id);
}

// A thread's end pushes what it has merged.
struct FlushAtThreadEnd {
  ~FlushAtThreadEnd() {
    while (BulkState* state = t_thread.bulks) {
      // From inside of an operation, which ends the process, nothing is pushed.
      if (engine_lives(state->engine_id) && !state->engine->inside()) {
        state->engine->set_bulk_size(0);  // flushes, unlinks and deletes
      } else {
        t_thread.bulks = state->next;
        delete state;
      }
    }
  }
};

}  // namespace

void register_engine(uint64_t id) {
  LiveEngines& live = live_engines();
  MutexLock lock(live.mutex);
  live.ids.insert(id);
}
void unregister_engine(uint64_t id) {
  LiveEngines& live = live_engines();
  MutexLock lock(live.mutex);
  live.ids.erase(id);
}
void lock_engines() MX_NO_THREAD_SAFETY_ANALYSIS { live_engines().mutex.lock(); }
void unlock_engines() MX_NO_THREAD_SAFETY_ANALYSIS { live_engines().mutex.unlock(); }

BulkBody* BulkBody::make() { return BulkPool::take(); }
void BulkBody::lock_pool() { BulkPool::lock_depot(); }
void BulkBody::unlock_pool() { BulkPool::unlock_depot(); }

void BulkBody::recycle() noexcept {
  items.clear();
  vars.clear();
  temp_bytes = 0;
  cheap = true;
  BulkPool::give(this);
}

void BulkBody::add(SyncFn fn, const OpSpec& spec, bool erase) {
  const auto first = static_cast<uint32_t>(vars.size());
  vars.insert(vars.end(), spec.reads.begin(), spec.reads.end());
  vars.insert(vars.end(), spec.writes.begin(), spec.writes.end());
  const auto reads = static_cast<uint32_t>(spec.reads.size());
  const auto count = static_cast<uint32_t>(spec.reads.size() + spec.writes.size());
  items.push_back({std::move(fn), spec.name, spec.device, spec.property, erase, first, reads, count,
                   spec.fresh});
  temp_bytes += spec.temp_bytes;
  cheap = cheap && spec.cheap;
}

void BulkBody::close() {
  order.clear();
  for (const BulkItem& item : items) {
    for (Var* var : reads_of(item)) order.push_back(make_access(var, false));
    for (Var* var : writes_of(item)) order.push_back(make_access(var, true));
  }
  std::sort(order.begin(), order.end());
  reads.clear();
  writes.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    Var* var = access_var(order[i]);
    if (i + 1 < order.size() && access_var(order[i + 1]) == var)
      continue;                                                 // its last entry decides:
    (access_writes(order[i]) ? writes : reads).push_back(var);  // a write sorts behind reads
  }
}

BulkState* DependencyEngine::bulk_state(const ThreadState& thread) const {
  BulkState* state = thread.bulks;
  while (state != nullptr && state->engine_id != id_) state = state->next;
  return state;
}

// Merges the push, or returns false after pushing what was merged before, so that order is kept.
bool DependencyEngine::add_to_bulk(ThreadState& thread, SyncFn& fn, const OpSpec& spec,
                                   bool erase) {
  BulkState* state = bulk_state(thread);
  if (state == nullptr || inside_frame(thread) != nullptr) return false;
  const bool begun = state->body != nullptr && !state->body->items.empty();
  // A deletion alone is no reason to begin a bulk.
  const bool mergeable = erase ? begun
                               : spec.priority == 0 && (spec.property == FnProperty::kNormal ||
                                                        spec.property == FnProperty::kNoSkip);
  if (begun && (!mergeable || state->body->device != spec.device)) {
    flush(thread);
    if (erase) return false;
  }
  if (!mergeable) return false;
  reserve_memory(thread, spec.temp_bytes);  // may flush
  if (state->body == nullptr) state->body = BulkBody::make();
  BulkBody& body = *state->body;
  try {
    body.order.resize(spec.reads.size() + spec.writes.size());
    order_accesses(spec, body.order.data());  // for its check
    body.add(std::move(fn), spec, erase);
  } catch (...) {
    if (spec.temp_bytes != 0) run_ahead_.give(spec.temp_bytes);
    throw;
  }
  body.device = spec.device;
  if (static_cast<int>(body.items.size()) >= state->size) flush(thread);
  return true;
}

void DependencyEngine::flush(ThreadState& thread) {
  if (thread.bulks == nullptr) [[likely]]
    return;
  BulkState* state = bulk_state(thread);
  if (state == nullptr || state->body == nullptr || state->body->items.empty()) return;
  if (inside_frame(thread) != nullptr) return;
  BulkBody* body = std::exchange(state->body, nullptr);
  body->close();
  const OpSpec spec{.device = body->device,
                    .reads = body->reads,
                    .writes = body->writes,
                    .name = "bulk",
                    .cheap = body->cheap,
                    .temp_bytes = body->temp_bytes};
  SyncFn none;
  push_sync(thread, none, spec, Role::kBulk, body);
}

int DependencyEngine::bulk_size() const {
  const BulkState* state = bulk_state(this_thread());
  return state != nullptr ? state->size : 0;
}

void DependencyEngine::flush_bulk() { flush(this_thread()); }

int DependencyEngine::set_bulk_size(int size) {
  ThreadState& thread = this_thread();
  const int old = bulk_size();
  if (inside_frame(thread) != nullptr) return old;  // operations are never merged from inside one
  flush(thread);
  BulkState* state = bulk_state(thread);
  if (size <= 1) {
    if (state != nullptr) {
      BulkState** link = &thread.bulks;
      while (*link != state) link = &(*link)->next;
      *link = state->next;
      if (state->body != nullptr) state->body->recycle();  // empty: a refused push began it
      delete state;
    }
    return old;
  }
  static thread_local FlushAtThreadEnd flush_at_thread_end;
  static_cast<void>(flush_at_thread_end);
  if (state == nullptr) {
    state = new BulkState{thread.bulks, this, id_, size, nullptr};
    thread.bulks = state;
  }
  state->size = size;
  return old;
}

}  // namespace mxnet::engine
