// SPDX-License-Identifier: Apache-2.0
// libFuzzer on the parsers of configuration values: fuzz_config -max_total_time=60.
#include <cstddef>
#include <cstdint>

#include "config_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mxnet::testing::check_config_parsers(
      {reinterpret_cast<const char*>(data), size});  // a throw is a finding
  return 0;
}
