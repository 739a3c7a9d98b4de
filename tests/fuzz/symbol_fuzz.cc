// SPDX-License-Identifier: Apache-2.0
// Symbol files out of arbitrary bytes.
#include <cstddef>
#include <cstdint>

#include "saved_graph_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  mxnet::ir::check_saved_graph({reinterpret_cast<const char*>(data), size});
  return 0;
}
