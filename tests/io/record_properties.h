// SPDX-License-Identifier: Apache-2.0
// What must hold for any bytes taken as a RecordIO file; shared by tests and the fuzzer.
#pragma once
#include <string_view>

namespace mxnet::testing_io {

// Ends the process where something does not hold.
void check_records(std::string_view bytes);

}  // namespace mxnet::testing_io
