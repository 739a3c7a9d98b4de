// SPDX-License-Identifier: Apache-2.0
// libFuzzer on array files: fuzz_params -max_total_time=60 -max_len=4096 tests/data/params. Each is
// read in every mode of shapes, so that the files of the tests are seeds as they are.
#include <cstddef>
#include <cstdint>
#include <string>

#include "params_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mxnet::NumpyShape;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const NumpyShape mode : {NumpyShape::kOff, NumpyShape::kThread, NumpyShape::kGlobal})
    mxnet::testing_params::check_params(text, mode);
  return 0;
}
