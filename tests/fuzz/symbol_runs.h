// SPDX-License-Identifier: Apache-2.0
// What becomes of a symbol that comes as any text: through the C ABI it is read, written, asked,
// inferred, bound, run and differentiated, as far as it goes.
#pragma once
#include <string>

namespace mxnet::c_test {

enum class Reached { kNothing, kRead, kBound, kRun, kDifferentiated };

// Errors are answers. Graphs with a value of more than 16384 elements are not bound, so that
// neither memory nor time is without bounds. `values` says what arguments are filled with: small
// numbers, zeros, negative, huge ones, or none.
Reached run_symbol(const std::string& json, unsigned values);

}  // namespace mxnet::c_test
