// SPDX-License-Identifier: Apache-2.0
// What operators that multiply integers of data by those of a weight take and return: the arrays,
// then the ends of their ranges.
#pragma once
#include "op/op_builder.h"
#include "op/quantize/range.h"

namespace mxnet::quantize {

// Completes a block that has its inputs data, weight and bias. P: the parameters, with no_bias and
// arrays().
template <class P>
OpBuilder<P>& declare_product(OpBuilder<P>& op) {
  return op.input("min_data", "Smallest real number of the data.")
      .input("max_data", "Largest real number of the data.")
      .input("min_weight", "Smallest real number of the weight.")
      .input("max_weight", "Largest real number of the weight.")
      .input("min_bias", "Smallest real number of the bias.")
      .input("max_bias", "Largest real number of the bias.")
      .num_inputs([](const P& params) { return 3 * params.arrays(); })
      .input_names([](const P& params) { return product_inputs(!params.no_bias); })
      .outputs([](const P&) { return 3; })
      .output("output")
      .output("min_output")
      .output("max_output")
      .zero_grad();
}

}  // namespace mxnet::quantize
