// SPDX-License-Identifier: Apache-2.0
// The checks on an operation's variable lists, and the operation that has passed them once and for
// all.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/operation.h"

namespace mxnet {

namespace engine {

// Fills `order` with all variables by address; throws Error(kValue) naming the operation if one
// occurs twice.
void order_accesses(const OpSpec& spec, Access* order);
// The same check without an order, for lists so short that comparing all pairs is the fastest.
void check_few(const OpSpec& spec);

}  // namespace engine

// Immutable after construction, so any thread may push it. The function is called through a const
// object: what it changes inside itself is its own affair (see Engine::prepare).
class PreparedOperation {
 public:
  PreparedOperation(engine::Body body, const OpSpec& spec);

  OpSpec spec;                        // its spans point into `vars`
  std::vector<Var*> vars;             // reads, then writes
  std::vector<engine::Access> order;  // by address
  mutable engine::Body body;
};

}  // namespace mxnet
