// SPDX-License-Identifier: Apache-2.0
// libFuzzer on array files: fuzz_params -max_total_time=60 -max_len=4096 tests/data/params. The
// first byte chooses the mode of shapes.
#include <cstddef>
#include <cstdint>

#include "params_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  mxnet::testing_params::check_params({reinterpret_cast<const char*>(data) + 1, size - 1},
                                      static_cast<mxnet::NumpyShape>(data[0] % 3));
  return 0;
}
