// SPDX-License-Identifier: Apache-2.0
// What must hold for any bytes taken for an array file; shared by the bounded random test and the
// fuzzer.
#pragma once
#include <string>

#include "base/numpy_shape.h"

namespace mxnet::testing_params {

enum class Outcome { kLoaded, kRefused };

// Loads `text`. What loads is written again, without growing, and loads again to the same bytes.
// What does not is an Error that names the buffer. Throws std::logic_error where that does not
// hold.
Outcome check_params(const std::string& text, NumpyShape mode);

}  // namespace mxnet::testing_params
