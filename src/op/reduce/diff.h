// SPDX-License-Identifier: Apache-2.0
// Parameters of differences of neighbours.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace mxnet {

struct DiffParams {
  int32_t n, axis;
};

struct EdiffParams {
  bool to_begin_arr_given = false, to_end_arr_given = false;
  std::optional<double> to_begin_scalar, to_end_scalar;
  int arrays() const { return 1 + int{to_begin_arr_given} + int{to_end_arr_given}; }
};

// Sizes of the three parts of the output, from the shapes of the inputs.
struct EdiffParts {
  int64_t begin, middle, end;
  EdiffParts(const EdiffParams& params, const auto& size_of) {
    middle = std::max<int64_t>(size_of(0) - 1, 0);
    begin = params.to_begin_arr_given ? size_of(1) : int64_t{params.to_begin_scalar.has_value()};
    end = params.to_end_arr_given ? size_of(params.arrays() - 1)
                                  : int64_t{params.to_end_scalar.has_value()};
  }
};

}  // namespace mxnet
