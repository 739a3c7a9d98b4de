// SPDX-License-Identifier: Apache-2.0
// Types and shapes of a look-up in a table of vectors, whatever the gradient of the table is.
#pragma once
#include "op/infer.h"

namespace mxnet {

// Inputs: positions and the table. P has input_dim, output_dim and dtype, the table's type where
// nothing else says it.
template <class P>
void infer_embedding(const P& params, Infer& infer) {
  infer.in(1).set_shape({params.input_dim, params.output_dim});
  infer.in(1).same_dtype(infer.out(0));
  if (infer.in(1).dtype() == DType::kUnknown) {
    infer.in(1).set_dtype(params.dtype);
    infer.out(0).set_dtype(params.dtype);
  }
  if (!infer.in(0).rank_known()) return;
  Shape out = infer.in(0).shape();
  out.push_back(params.output_dim);
  infer.out(0).set_shape(out);
}

}  // namespace mxnet
