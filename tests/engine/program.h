// SPDX-License-Identifier: Apache-2.0
// Random programs against the engine's interface, and two ways to run them: by a serial model that
// knows no engine, and on an engine. Both leave a trace of all that a user can observe; the traces
// must be equal.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace mxnet::engine_test {

struct Step {
  enum Kind { kCompute, kDelete, kWaitForVar, kWaitToRead, kWaitForAll, kBulkSize } kind = kCompute;
  std::vector<int> reads, writes;  // numbers of variables; kDelete and waits use writes[0]
  int priority = 0;
  bool throws = false, asynchronous = false, completes_elsewhere = false, no_skip = false;
  bool cheap = false, computes = false, prepared = false;
  FnProperty property = FnProperty::kNormal;
  int bulk_size = 0;
};

struct Program {
  int variables = 0;  // each deletion makes a new one under the next number
  std::vector<Step> steps;
};

Program random_program(uint64_t seed);

// One number per step (what a wait threw, what a deletion saw), then value and version of each
// variable.
using Trace = std::vector<uint64_t>;
Trace run_serially(const Program& program);

Trace run_on(Engine& engine, const Program& program);

}  // namespace mxnet::engine_test
