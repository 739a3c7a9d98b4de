// SPDX-License-Identifier: Apache-2.0
// The store behind Live<std::string>.
#include "base/config_types.h"

#include <set>

#include "base/leaked.h"
#include "base/lock.h"

namespace mxnet {
namespace {
struct Interned {
  Mutex mutex;
  std::set<std::string, std::less<>> texts MX_GUARDED_BY(mutex);  // nodes never move
};
}  // namespace

const std::string& interned(std::string_view text) {
  static Leaked<Interned> store;
  MutexLock lock(store->mutex);
  auto it = store->texts.find(text);
  if (it == store->texts.end()) it = store->texts.emplace(text).first;
  return *it;
}

}  // namespace mxnet
