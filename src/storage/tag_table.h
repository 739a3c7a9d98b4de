// SPDX-License-Identifier: Apache-2.0
// Who holds how much: bytes in use and their peak by the tag of the request. A pool has one
// TagMeters; each lane counts in its own TagShares, so that a tagged hit costs a probe and an
// addition.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/lock.h"
#include "storage/meter.h"

namespace mxnet {

struct TagUsage {
  std::string tag;
  int64_t in_use = 0;
  int64_t peak = 0;
};

// Thread-safe. Meters live as long as the table.
class TagMeters {
 public:
  // The meter of `tag`, which is compared as a pointer: the same text elsewhere is another meter
  // until it is read.
  Meter& meter(const char* tag);
  // The largest first, at most `limit`; one entry a text.
  std::vector<TagUsage> largest(std::size_t limit) const;
  void reset_peaks();
  void raise_peaks();

  // So that a forked child does not inherit it half changed.
  void lock_for_fork() MX_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock_for_fork() MX_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  mutable Mutex mutex_;
  std::unordered_map<const char*, Meter> meters_ MX_GUARDED_BY(mutex_);
};

// Not thread-safe: part of a lane and guarded by its lock.
class TagShares {
 public:
  explicit TagShares(TagMeters& meters) : meters_(meters), entries_(kFirstEntries) {}

  // As Meter::Share.
  bool add(const char* tag, int64_t bytes, int64_t grain) {
    if (tag == nullptr) return false;
    Entry* entry = &entries_[probe(tag)];
    if (entry->tag == nullptr) [[unlikely]]
      entry = insert(tag);
    return entry != nullptr && entry->share.add(*entry->meter, bytes, grain);
  }
  void settle(bool alone);

 private:
  static constexpr std::size_t kFirstEntries = 32;
  struct Entry {
    const char* tag = nullptr;
    Meter* meter = nullptr;
    Meter::Share share;
  };

  std::size_t probe(const char* tag) const {
    const auto bits = reinterpret_cast<uintptr_t>(tag);
    std::size_t place = (bits ^ (bits >> 7)) & (entries_.size() - 1);
    while (entries_[place].tag != tag && entries_[place].tag != nullptr) {
      place = (place + 1) & (entries_.size() - 1);
    }
    return place;
  }
  Entry* insert(const char* tag) noexcept;  // null when there is no memory for it

  TagMeters& meters_;
  std::vector<Entry> entries_;  // open addressing; a power of two, at most half used
  std::size_t used_ = 0;
};

}  // namespace mxnet
