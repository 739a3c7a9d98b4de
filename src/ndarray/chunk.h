// SPDX-License-Identifier: Apache-2.0
// The memory behind arrays and views: one block (or, sparse, a few), one scheduling variable, freed
// when its last operation is done.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>

#include "base/device.h"
#include "base/ref.h"
#include "engine/engine.h"
#include "ndarray/made_of_values.h"
#include "ndarray/storage_type.h"
#include "storage/storage.h"

namespace mxnet {

class SparseStore;

// Shared by an array and its views. The variable orders all access; data() is for running
// operations and for callers that have waited. Memory is taken at the first data(), so that an
// array that is only described costs none.
class Chunk : public RefCounted {
 public:
  Chunk(Device device, std::size_t bytes, const char* tag = nullptr);
  // Memory that somebody else owns (DLPack, a caller's buffer); `deleter` runs after the last
  // operation, and may be empty.
  Chunk(Device device, std::size_t bytes, void* data, SyncFn deleter);
  // A block that exists already and is released to Storage as any other (a shared segment).
  explicit Chunk(const Block& block);
  // A sparse array's parts.
  Chunk(Device device, std::unique_ptr<SparseStore> sparse);
  // Frees through the engine: operations in flight keep the memory.
  ~Chunk();

  Device device() const { return device_; }
  std::size_t bytes() const { return bytes_; }  // 0 for sparse
  Var* var() const { return var_; }
  bool allocated() const { return data_.load(std::memory_order_acquire) != nullptr; }
  const Block& block() const { return block_; }
  StorageType storage_type() const { return storage_type_; }
  SparseStore* sparse() const { return sparse_.get(); }  // null for dense

  // May throw Error(kOutOfMemory). Thread-safe: concurrent readers of a fresh array may both come
  // first.
  void* data() {
    // Acquire pairs with the release in allocate(): the memory's block is written before its
    // address is seen.
    void* data = data_.load(std::memory_order_acquire);
    return data != nullptr || bytes_ == 0 ? data : allocate();
  }

  // Whether the same version means the same values. Not so in memory of others, or whose address
  // others have: they may write there with nobody noticing. Thread-safe.
  bool counts_all_writes() const {
    return !foreign_ && device_.type != DeviceType::kCPUShared &&
           !handed_out_.load(std::memory_order_acquire);
  }
  // Somebody outside has its address, and may write there at any time. What was made of its values
  // ends.
  void hand_out();
  // For what kernels make of its values. Null where writes are not counted, and on devices.
  // Thread-safe.
  MadeOfValues* made_of_values();

 private:
  void* allocate();

  const Device device_;
  const std::size_t bytes_;
  const char* const tag_;
  Var* const var_;
  std::atomic<void*> data_{nullptr};
  Block block_;                          // written once, before data_
  std::unique_ptr<SparseStore> sparse_;  // never replaced; moved out at the end
  SyncFn deleter_;                       // foreign memory only
  const bool foreign_ = false;
  std::atomic<bool> handed_out_{false};
  const StorageType storage_type_ = StorageType::kDense;
  std::atomic<MadeOfValues*> made_{nullptr};  // owned
};

}  // namespace mxnet
