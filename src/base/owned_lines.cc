// SPDX-License-Identifier: Apache-2.0
// Asks the processor once.
#include "base/owned_lines.h"

#include "base/prefetch.h"
#include "base/processor_facts.h"

namespace mxnet {

bool owns_lines(int64_t bytes) noexcept {
  static const bool does = processor_facts().reads_what_it_writes;
  return does && bytes >= kOwnedFrom;
}

void own_lines_ahead(const void* at, int64_t bytes) noexcept {
  constexpr int64_t kLine = 64;
  const auto* line = static_cast<const char*>(at) + kOwnedAhead;
  for (int64_t i = 0; i < bytes; i += kLine) prefetch_for_write(line + i);
}

}  // namespace mxnet
