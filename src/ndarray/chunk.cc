// SPDX-License-Identifier: Apache-2.0
// Allocation and release of chunks.
#include "ndarray/chunk.h"

#include <pthread.h>

#include <array>

#include "base/fork_order.h"
#include "base/lock.h"
#include "base/spin_lock.h"
#include "engine/fences.h"
#include "engine/here.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

// Held while a chunk is told its memory. Each new result of a call is told so once: a few locks for
// all chunks keep one out of each, and threads apart.
struct alignas(64) TellingLock : SpinLock {};
constinit std::array<TellingLock, 16> g_telling;

TellingLock& telling(const Chunk* chunk) {
  return g_telling[(reinterpret_cast<uintptr_t>(chunk) >> 8) % g_telling.size()];
}

// A child would wait for ever for a thread of its parent that holds one.
void lock_all() MX_NO_THREAD_SAFETY_ANALYSIS {
  for (TellingLock& lock : g_telling) lock.lock();
}
void unlock_all() MX_NO_THREAD_SAFETY_ANALYSIS {
  for (TellingLock& lock : g_telling) lock.unlock();
}

[[gnu::constructor(kForkOrderArrays)]] void register_handlers() {
  static_cast<void>(::pthread_atfork(lock_all, unlock_all, unlock_all));
}

}  // namespace

Chunk::Chunk(Device device, std::size_t bytes, const char* tag)
    : device_(device), bytes_(bytes), tag_(tag), var_(Engine::get().new_variable()) {}

Chunk::Chunk(Device device, std::size_t bytes, void* data, SyncFn deleter)
    : device_(device),
      bytes_(bytes),
      tag_(nullptr),
      var_(Engine::get().new_variable()),
      data_(data),
      deleter_(std::move(deleter)),
      foreign_(true) {}

Chunk::Chunk(const Block& block)
    : device_(block.device),
      bytes_(block.bytes),
      tag_(block.tag),
      var_(Engine::get().new_variable()),
      data_(block.data),
      block_(block) {}

Chunk::Chunk(Device device, std::unique_ptr<SparseStore> sparse)
    : device_(device),
      bytes_(0),
      tag_(nullptr),
      var_(Engine::get().new_variable()),
      sparse_(std::move(sparse)),
      storage_type_(sparse_->type()) {}

Chunk::~Chunk() {
  delete made_.load(std::memory_order_acquire);
  if (foreign_) {
    // On the host, which waits for the device: whoever gave the memory may take it back at once.
    Engine::get().delete_variable(var_, Device::cpu(), std::move(deleter_));
  } else if (sparse_ != nullptr) {
    Engine::get().delete_variable(var_, device_,
                                  [store = std::move(sparse_)](const RunContext& context) {
                                    store->release(context.stream);
                                  });
  } else if (!device_.is_gpu() && engine::delete_if_free(var_)) {
    if (block_.data != nullptr) Storage::get().release(block_, nullptr);
  } else if (block_.data == nullptr) {
    Engine::get().delete_variable(var_, device_);
  } else {
    Engine::get().delete_variable(var_, device_, [block = block_](const RunContext& context) {
      Storage::get().release(block, context.stream);
      if (context.stream != nullptr) engine::complete_by_event();
    });
  }
}

// Sequentially consistent with made_of_values(): of a hand-out and the first question for what is
// kept, which may come at the same time, the later one ends it.
void Chunk::hand_out() {
  handed_out_.store(true, std::memory_order_seq_cst);
  if (MadeOfValues* made = made_.load(std::memory_order_seq_cst)) made->end();
}

MadeOfValues* Chunk::made_of_values() {
  if (!counts_all_writes() || device_.type != DeviceType::kCPU) return nullptr;
  MadeOfValues* made = made_.load(std::memory_order_acquire);
  if (made != nullptr) return made;
  auto mine = std::make_unique<MadeOfValues>();
  // Where two come first, the later one takes what the other has put there.
  if (made_.compare_exchange_strong(made, mine.get(), std::memory_order_seq_cst))
    made = mine.release();
  if (handed_out_.load(std::memory_order_seq_cst)) made->end();
  return made;
}

void* Chunk::allocate() {
  Storage& storage = Storage::get();
  Stream* const stream = engine::current_stream();
  const Block block = storage.allocate(bytes_, device_, tag_, stream);
  {
    SpinGuard guard(telling(this));
    // Relaxed: the lock orders us after whoever told it.
    if (data_.load(std::memory_order_relaxed) == nullptr) [[likely]] {
      block_ = block;
      data_.store(block.data, std::memory_order_release);
      return block.data;
    }
  }
  storage.release(block, stream);  // another reader came first, and what is there is for both
  return data_.load(std::memory_order_relaxed);
}

}  // namespace mxnet
