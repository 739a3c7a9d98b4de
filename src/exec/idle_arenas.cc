// SPDX-License-Identifier: Apache-2.0
// A thread's list is its own between taking it and giving it back.
#include "exec/idle_arenas.h"

#include <algorithm>

namespace mxnet {

Ref<Arena> IdleArenas::take(const Arena* wanted) {
  Ref<List> list = lists_.take();
  if (!list) return {};
  std::vector<Ref<Arena>>& arenas = list->arenas;
  Ref<Arena> taken;
  if (!arenas.empty()) {
    auto at = std::ranges::find(arenas, wanted, [](const Ref<Arena>& each) { return each.get(); });
    if (at == arenas.end()) --at;
    taken = std::move(*at);
    arenas.erase(at);
  }
  lists_.give(std::move(list));
  return taken;
}

bool IdleArenas::give(Ref<Arena> arena) {
  Ref<List> list = lists_.take();
  if (!list) list = make_ref<List>();
  std::size_t bytes = arena->bytes();
  for (const Ref<Arena>& each : list->arenas) bytes += each->bytes();
  const bool keeps = list->arenas.empty() || bytes <= kMostBytes;
  if (keeps) list->arenas.push_back(std::move(arena));
  lists_.give(std::move(list));
  return keeps;
}

}  // namespace mxnet
