// SPDX-License-Identifier: Apache-2.0
// Reads the lines that make_trace.py writes.
#include "trace.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace mxnet::bench {

Trace read_trace(const std::string& path, std::size_t shrink) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Trace trace;
  std::vector<std::size_t> sizes;
  std::size_t live = 0;
  for (char sign; file >> sign;) {
    uint32_t tensor;
    std::size_t bytes = 0;
    file >> tensor;
    if (sign == '+') {
      file >> bytes;
      bytes = std::max<std::size_t>(bytes / shrink, 1);
      sizes.resize(std::max<std::size_t>(sizes.size(), tensor + 1));
      sizes[tensor] = bytes;
      live += bytes;
      trace.peak_bytes = std::max(trace.peak_bytes, live);
    } else {
      live -= sizes.at(tensor);
    }
    if (!file) throw std::runtime_error(path + " is not a trace");
    trace.events.push_back({tensor, bytes});
  }
  trace.tensors = static_cast<uint32_t>(sizes.size());
  return trace;
}

}  // namespace mxnet::bench
