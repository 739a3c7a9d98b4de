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

// In two steps, so that the product of a total and a percentage does not overflow.
std::size_t MemoryDomain::Reading::reserve(int percent) const {
  return info.total / 100 * percent + info.total % 100 * percent / 100;
}

bool MemoryDomain::Reading::serves(std::size_t bytes, int percent) const {
  const std::size_t headroom = info.free - std::min(info.free, reserve(percent));
  return any && taken_since + bytes <= std::min(kReadingServes, headroom / 8);
}

std::size_t MemoryDomain::Reading::short_by(std::size_t bytes, int percent) const {
  const std::size_t needed = bytes + reserve(percent);
  return needed > info.free ? needed - info.free : 0;
}

void MemoryDomain::keep_reserve(std::size_t bytes, int percent) {
  if (!reading_.serves(bytes, percent)) {
    read();
    // What is given back may not show up at once or not wholly (the heap keeps pages), hence the
    // second, harder try.
    const std::size_t missing = reading_.short_by(bytes, percent);
    if (missing > 0 && release_oldest(missing) > 0) read();
    if (reading_.short_by(bytes, percent) > 0 && flush() > 0) read();
  }
  reading_.taken_since += bytes;
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
