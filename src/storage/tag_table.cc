// SPDX-License-Identifier: Apache-2.0
// See tag_table.h: the parts off the hot path.
#include "storage/tag_table.h"

#include <algorithm>
#include <map>
#include <new>

namespace mxnet {

Meter& TagMeters::meter(const char* tag) {
  MutexLock lock(mutex_);
  return meters_[tag];  // references into an unordered_map outlive rehashing
}

std::vector<TagUsage> TagMeters::largest(std::size_t limit) const {
  std::map<std::string, TagUsage> by_text;
  {
    MutexLock lock(mutex_);
    for (const auto& [tag, meter] : meters_) {
      TagUsage& usage = by_text[tag];
      usage.in_use += meter.value();
      usage.peak += meter.peak();
    }
  }
  std::vector<TagUsage> rows;
  for (auto& [text, usage] : by_text) {
    usage.tag = text;
    if (usage.in_use > 0) rows.push_back(std::move(usage));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TagUsage& a, const TagUsage& b) { return a.in_use > b.in_use; });
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

void TagMeters::reset_peaks() {
  MutexLock lock(mutex_);
  for (auto& [tag, meter] : meters_) meter.reset_peak();
}

void TagMeters::raise_peaks() {
  MutexLock lock(mutex_);
  for (auto& [tag, meter] : meters_) meter.raise_peak();
}

void TagShares::settle(bool alone) {
  for (Entry& entry : entries_) {
    if (entry.tag != nullptr) entry.share.settle(*entry.meter, alone);
  }
}

// A table of who holds what must never be the reason why memory cannot be given or taken: without
// memory for an entry the bytes go uncounted.
TagShares::Entry* TagShares::insert(const char* tag) noexcept try {
  Meter& meter = meters_.meter(tag);
  if ((used_ + 1) * 2 > entries_.size()) {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.tag != nullptr) entries_[probe(entry.tag)] = entry;
    }
  }
  Entry& entry = entries_[probe(tag)];
  entry.tag = tag;
  entry.meter = &meter;
  ++used_;
  return &entry;
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace mxnet
