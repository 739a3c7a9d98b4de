// SPDX-License-Identifier: Apache-2.0
// The recorded sizes of one training step; make_trace.py says how they were recorded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mxnet::bench {

struct TraceEvent {
  uint32_t tensor;
  std::size_t bytes;  // 0 = the tensor is freed
};

struct Trace {
  std::vector<TraceEvent> events;
  uint32_t tensors = 0;
  std::size_t peak_bytes = 0;
};

// Every size divided by `shrink` (at least 1 byte). Throws std::runtime_error when the file is not
// a trace.
Trace read_trace(const std::string& path, std::size_t shrink);

}  // namespace mxnet::bench
