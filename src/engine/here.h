// SPDX-License-Identifier: Apache-2.0
// What the process's engine can do or say at once, on the calling thread: for callers whose small
// calls then need no record and keep nothing alive.
#pragma once
#include <exception>

#include "engine/engine.h"

namespace mxnet::engine {

// Runs `fn` as Engine::push would, if that would be here and now: `fn` may refer to the caller's
// stack. REQUIRES: no variable is listed twice. False: nothing has happened, and the operation is
// to be pushed.
bool run_if_free(SyncFn& fn, const OpSpec& spec);

// Ends a variable of the host that nobody uses, as an operation that nobody would see. False:
// nothing has happened, and Engine::delete_variable is to order its end behind its users.
bool delete_if_free(Var* var) noexcept;

// What the variable carries now, or null: for an operation that runs whatever has failed (kNoSkip)
// and uses it.
std::exception_ptr failure_of(Var* var);

}  // namespace mxnet::engine
