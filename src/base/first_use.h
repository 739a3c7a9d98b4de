// SPDX-License-Identifier: Apache-2.0
// What a process has once and makes at a first call, where making takes long: the start of the
// library and its engine.
#pragma once
#include "base/lock.h"

namespace mxnet {

// Held while one of them is made, and over every fork: a child of a fork beside the thread that
// makes it would wait for that thread for ever, as it would in the guard of a static object. Taken
// before all other locks that are held over forks, and by no operation, for whose end a fork waits
// while it holds this; under it nothing registers handlers of fork, because C libraries before 2.36
// hold the lock of those while handlers run.
Mutex& first_use_mutex();

}  // namespace mxnet
