// SPDX-License-Identifier: Apache-2.0
// See memory_domain.h.
#include "storage/memory_domain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "storage/pool.h"

namespace mxnet {
namespace {

// Reading the host's memory costs tens of microseconds (files in /proc and the cgroup), as much as
// touching a few hundred pages; so a reading serves until that much has been taken, less where the
// reserve is near.
constexpr std::size_t kReadingServes = std::size_t{1} << 20;

}  // namespace

void MemoryDomain::join(Pool* pool) {
  MutexLock lock(mutex);
  pools_.push_back(pool);
}

void MemoryDomain::keep_reserve(std::size_t bytes, int percent) {
  const auto reserve = [&] {
    return reading_.total / 100 * percent + reading_.total % 100 * percent / 100;
  };
  const auto read = [&] {
    reading_ = info();
    taken_since_ = 0;
    has_reading_ = true;
  };
  const auto short_by = [&]() -> std::size_t {
    const std::size_t needed = bytes + reserve();
    return needed > reading_.free ? needed - reading_.free : 0;
  };
  if (has_reading_) {
    const std::size_t headroom = reading_.free - std::min(reading_.free, reserve());
    if (taken_since_ + bytes <= std::min(kReadingServes, headroom / 8)) {
      taken_since_ += bytes;
      return;
    }
  }
  read();
  // What is given back may not show up at once or not wholly (the heap keeps pages), hence the
  // second, harder try.
  if (short_by() > 0 && release_oldest(short_by()) > 0) read();
  if (short_by() > 0 && flush() > 0) read();
  taken_since_ = bytes;
}

std::size_t MemoryDomain::release_oldest(std::size_t bytes) {
  std::size_t given = 0;
  while (given < bytes) {
    Pool* oldest = nullptr;
    uint64_t stamp = 0;
    for (Pool* pool : pools_) {
      uint64_t candidate;
      if (pool->oldest_stamp(&candidate) && (oldest == nullptr || candidate < stamp)) {
        oldest = pool;
        stamp = candidate;
      }
    }
    if (oldest == nullptr) break;
    given += oldest->release_oldest();
  }
  return given;
}

std::size_t MemoryDomain::flush() {
  std::size_t given = 0;
  for (Pool* pool : pools_) given += pool->flush();
  return given;
}

std::string MemoryDomain::table() {
  std::string text = Pool::table_head();
  {
    MutexLock lock(mutex);
    for (Pool* pool : pools_) text += pool->table_rows();
  }
  try {
    const MemoryInfo now = info();
    text += fmt::format("limit: {} of {}, {} free\n", api_.name(), format_bytes(now.total),
                        format_bytes(now.free));
  } catch (
      const Error& error) {  // a table is shown when things go wrong: no reason to hide the rest
    text += fmt::format("limit: unknown, {}\n", error.message());
  }
  return text;
}

}  // namespace mxnet
