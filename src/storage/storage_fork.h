// SPDX-License-Identifier: Apache-2.0
// Keeps every Storage of the process consistent across fork().
#pragma once
#include "storage/storage.h"

namespace mxnet {

// Thread-safe. A fork between the two leaves the storage usable in the parent and in the child.
void join_forks(Storage::Impl* storage);
void leave_forks(Storage::Impl* storage);

}  // namespace mxnet
