// SPDX-License-Identifier: Apache-2.0
// libFuzzer on RecordIO files: fuzz_record -max_total_time=60 -max_len=512.
#include <cstddef>
#include <cstdint>

#include "record_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mxnet::testing_io::check_records({reinterpret_cast<const char*>(data), size});
  return 0;
}
