// SPDX-License-Identifier: Apache-2.0
// What holds for every text, for tests and for the fuzzer.
#pragma once
#include <string_view>

namespace mxnet::ir {

// Reading either throws Error(kValue) or gives a graph that reads the same after being written.
// Throws std::logic_error where that is not so.
void check_saved_graph(std::string_view text);

}  // namespace mxnet::ir
