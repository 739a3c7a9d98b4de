// SPDX-License-Identifier: Apache-2.0
// A short list, searched from end to end.
#include "ndarray/made_of_values.h"

#include <algorithm>

namespace mxnet {

std::vector<std::pair<MadeOfValues::Key, MadeOfValues::Made>>::iterator MadeOfValues::place_of(
    const Key& key) {
  return std::find_if(made_.begin(), made_.end(),
                      [&](const auto& each) { return each.first == key; });
}

MadeOfValues::Made MadeOfValues::find(uint64_t version, const Key& key, bool* again) {
  std::vector<std::pair<Key, Made>> gone;  // ends without the lock
  const MutexLock lock(mutex_);
  *again = false;
  if (ended_) return nullptr;
  if (version != version_) gone.swap(made_);
  version_ = version;
  const auto place = place_of(key);
  *again = place != made_.end();
  if (*again) return place->second;
  if (made_.size() == kMost) gone.swap(made_);
  made_.emplace_back(key, nullptr);
  return nullptr;
}

void MadeOfValues::add(uint64_t version, const Key& key, Made made) {
  const MutexLock lock(mutex_);
  if (version != version_) return;
  const auto place = place_of(key);
  if (place != made_.end()) place->second.swap(made);
}

void MadeOfValues::end() {
  std::vector<std::pair<Key, Made>> gone;  // as above
  const MutexLock lock(mutex_);
  ended_ = true;
  gone.swap(made_);
}

}  // namespace mxnet
