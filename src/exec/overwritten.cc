// SPDX-License-Identifier: Apache-2.0
// Views that follow each other from the first byte of their memory to its last.
#include "exec/overwritten.h"

#include <algorithm>
#include <utility>

#include "engine/engine.h"

namespace mxnet {

std::vector<Var*> overwritten_variables(std::vector<const NDArray*> written,
                                        std::span<const NDArray* const> read) {
  std::ranges::sort(written, {}, [](const NDArray* array) {
    return std::pair(array->chunk().get(), array->offset());
  });
  std::vector<Var*> found, kept;
  for (auto at = written.begin(); at != written.end();) {
    const Chunk* const chunk = (*at)->chunk().get();
    std::size_t covered = 0;
    for (; at != written.end() && (*at)->chunk().get() == chunk; ++at)
      if ((*at)->offset() <= covered) covered = std::max(covered, (*at)->offset() + (*at)->bytes());
    if (covered >= chunk->bytes()) found.push_back(chunk->var());  // a sparse one has no bytes
  }
  kept.reserve(read.size());
  for (const NDArray* array : read) kept.push_back(array->var());
  dedup_variables(&found, &kept);
  return found;
}

void forget_failures(std::vector<const NDArray*> written, std::span<const NDArray* const> read) {
  const std::vector<Var*> vars = overwritten_variables(std::move(written), read);
  if (vars.empty()) return;
  Engine::get().push([](const RunContext&) {}, {.device = Device::cpu(),
                                                .reads = {},
                                                .writes = vars,
                                                .name = "ForgetFailures",
                                                .cheap = true,
                                                .fresh = static_cast<uint32_t>(vars.size())});
}

}  // namespace mxnet
