// SPDX-License-Identifier: Apache-2.0
// One thread's part of the aggregate tables: count, sum, least and greatest per name. Kept while
// events happen and not made from the ring, so that the tables are complete even when the ring has
// lost events.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/event.h"

namespace mxnet::profiler {

// Of one name in one category.
struct Stat {
  const char* name = nullptr;
  const char* domain = nullptr;
  EventKind kind = EventKind::kOperator;
  Device device{};  // of kMemory; else cpu(0)
  uint64_t count = 0;
  int64_t sum = 0, least = 0, greatest = 0;  // ticks, bytes or a counter's value
};

// add: one thread at a time. read: any one thread at the same time; it sees each number whole, and
// all numbers of one name in step once the writer is quiet.
class ThreadStats {
 public:
  // Counts `event` under `generation`; the first one of a new generation clears what was before.
  // Without memory it is left out.
  void add(const Event& event, uint32_t generation);
  // Appends what was added under `generation`.
  void read(uint32_t generation, std::vector<Stat>& out) const;

 private:
  // All written by the owner alone, hence with relaxed loads and stores; name is published last.
  struct Entry {
    std::atomic<const char*> name{nullptr};
    std::atomic<const char*> domain{nullptr};
    std::atomic<uint64_t> what{0};  // kind and, of kMemory, device
    std::atomic<uint64_t> count{0};
    std::atomic<int64_t> sum{0}, least{0}, greatest{0};
  };
  struct Table {
    explicit Table(std::size_t size) : mask(size - 1), entries(new Entry[size]) {}
    const std::size_t mask;
    const std::unique_ptr<Entry[]> entries;
    std::size_t used = 0;  // the owner's
  };

  static Entry& find(Table& table, const char* name, const char* domain, uint64_t what);
  Table* grown(Table* table);

  std::atomic<Table*> table_{nullptr};
  std::atomic<uint32_t> generation_{0};
  // Replaced ones stay: a reader may be in them. Together they are as large as the current one.
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace mxnet::profiler
