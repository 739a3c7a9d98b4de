// SPDX-License-Identifier: Apache-2.0
// An open-addressed table of names, by address: the same text at two addresses is merged when
// tables are printed.
#include "profiler/thread_stats.h"

#include <algorithm>
#include <new>

namespace mxnet::profiler {
namespace {

constexpr std::size_t kFirstSize = 256;  // a power of two; most programs use fewer operators

uint64_t what_of(const Event& event) {
  const auto kind = static_cast<uint64_t>(event.kind);
  if (event.kind != EventKind::kMemory) return kind;
  return kind | static_cast<uint64_t>(event.device.type) << 8 |
         static_cast<uint64_t>(static_cast<uint32_t>(event.device.id)) << 32;
}

std::size_t hash(const char* name, const char* domain, uint64_t what) {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
  const uint64_t key =
      (reinterpret_cast<uintptr_t>(name) ^ what) * kGolden + reinterpret_cast<uintptr_t>(domain);
  return static_cast<std::size_t>((key * kGolden) >> 32);
}

}  // namespace

ThreadStats::Entry& ThreadStats::find(Table& table, const char* name, const char* domain,
                                      uint64_t what) {
  for (std::size_t i = hash(name, domain, what);; ++i) {
    Entry& entry = table.entries[i & table.mask];
    const char* const here = entry.name.load(std::memory_order_relaxed);
    if (here == nullptr ||
        (here == name && entry.domain.load(std::memory_order_relaxed) == domain &&
         entry.what.load(std::memory_order_relaxed) == what))
      return entry;
  }
}

ThreadStats::Table* ThreadStats::grown(Table* table) {
  const std::size_t size = table != nullptr ? (table->mask + 1) * 2 : kFirstSize;
  auto next = std::make_unique<Table>(size);
  for (std::size_t i = 0; table != nullptr && i <= table->mask; ++i) {
    const Entry& from = table->entries[i];
    const auto copy = [](const auto& source, auto& target) {
      target.store(source.load(std::memory_order_relaxed), std::memory_order_relaxed);
    };
    const char* const name = from.name.load(std::memory_order_relaxed);
    if (name == nullptr) continue;
    Entry& to = find(*next, name, from.domain.load(std::memory_order_relaxed),
                     from.what.load(std::memory_order_relaxed));
    copy(from.domain, to.domain);
    copy(from.what, to.what);
    copy(from.count, to.count);
    copy(from.sum, to.sum);
    copy(from.least, to.least);
    copy(from.greatest, to.greatest);
    copy(from.name, to.name);
  }
  if (table != nullptr) next->used = table->used;
  tables_.push_back(std::move(next));
  // Release: a reader that finds the table finds it filled.
  table_.store(tables_.back().get(), std::memory_order_release);
  return tables_.back().get();
}

void ThreadStats::add(const Event& event, uint32_t generation) {
  Table* table = table_.load(std::memory_order_relaxed);  // ours
  if (generation_.load(std::memory_order_relaxed) != generation) {
    for (std::size_t i = 0; table != nullptr && i <= table->mask; ++i)
      table->entries[i].count.store(0, std::memory_order_relaxed);
    // Release: who sees the new generation sees the counts cleared.
    generation_.store(generation, std::memory_order_release);
  }
  if (table == nullptr || table->used * 4 >= (table->mask + 1) * 3) {
    try {
      table = grown(table);
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  const uint64_t what = what_of(event);
  Entry& entry = find(*table, event.name, event.domain, what);
  const bool is_new = entry.name.load(std::memory_order_relaxed) == nullptr;
  const uint64_t count = entry.count.load(std::memory_order_relaxed);
  const auto value = static_cast<int64_t>(event.value);
  const int64_t before = count == 0 ? 0 : entry.sum.load(std::memory_order_relaxed);
  // Unsigned: the sum of absurd counter values may wrap, but not be undefined.
  entry.sum.store(static_cast<int64_t>(static_cast<uint64_t>(before) + event.value),
                  std::memory_order_relaxed);
  if (count == 0 || value < entry.least.load(std::memory_order_relaxed))
    entry.least.store(value, std::memory_order_relaxed);
  if (count == 0 || value > entry.greatest.load(std::memory_order_relaxed))
    entry.greatest.store(value, std::memory_order_relaxed);
  if (is_new) {
    ++table->used;
    entry.domain.store(event.domain, std::memory_order_relaxed);
    entry.what.store(what, std::memory_order_relaxed);
    // Release: who sees the name sees what it names.
    entry.name.store(event.name, std::memory_order_release);
  }
  // Release: who sees the count sees sum, least and greatest at least as new.
  entry.count.store(count + 1, std::memory_order_release);
}

void ThreadStats::read(uint32_t generation, std::vector<Stat>& out) const {
  // Acquire, here and below, pairs with the releases in add and grown.
  if (generation_.load(std::memory_order_acquire) != generation) return;
  const Table* table = table_.load(std::memory_order_acquire);
  for (std::size_t i = 0; table != nullptr && i <= table->mask; ++i) {
    const Entry& entry = table->entries[i];
    Stat stat;
    stat.name = entry.name.load(std::memory_order_acquire);
    if (stat.name == nullptr) continue;
    stat.count = entry.count.load(std::memory_order_acquire);
    if (stat.count == 0) continue;
    stat.domain = entry.domain.load(std::memory_order_relaxed);
    const uint64_t what = entry.what.load(std::memory_order_relaxed);
    stat.kind = static_cast<EventKind>(what & 0xff);
    if (stat.kind == EventKind::kMemory) {
      stat.device = {static_cast<DeviceType>(what >> 8 & 0xff), static_cast<int32_t>(what >> 32)};
    }
    stat.sum = entry.sum.load(std::memory_order_relaxed);
    stat.least = entry.least.load(std::memory_order_relaxed);
    stat.greatest = entry.greatest.load(std::memory_order_relaxed);
    out.push_back(stat);
  }
}

}  // namespace mxnet::profiler
