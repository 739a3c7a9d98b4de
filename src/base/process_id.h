// SPDX-License-Identifier: Apache-2.0
// Which process this is, for objects that belong to the one that made them.
#pragma once
#include <pthread.h>

namespace mxnet {

// As getpid(), which asks the kernel each time: that costs more than writing a small record. A
// child that was made by clone() itself, past fork() and what it calls, is taken for its parent.
int process_id();

// The one thread of its parent that the child of a fork() has; 0 in what is no such child.
pthread_t thread_of_fork();

}  // namespace mxnet
