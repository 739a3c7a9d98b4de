// SPDX-License-Identifier: Apache-2.0
// The copy, the gradient and the checks of operators that only change the shape.
#include "op/shape/same_elements.h"

#include "op/run/primitives.h"

namespace mxnet {

void copy_elements(const Tensor& in, const Tensor& out, KernelContext& context) {
  copy_memory(context, in.data, out.data,
              static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
}

Gradients reshape_back(Grad& grad) {
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  result[0] = apply("reshape_like", {grad.dout(0), grad.in(0)});
  return result;
}

void set_reshaped(Infer& infer, const Shape& result) {
  InferArg in = infer.in(0);
  if (result.size() != in.shape().size())
    in.fail("as many elements as shape " + to_string(result) + " has");
  infer.out(0).set_shape(result);
}

void infer_missing_dim(Infer& infer) {
  InferArg in = infer.in(0);
  if (!in.rank_known() || !infer.out(0).known()) return;
  int missing = -1;
  int64_t rest = 1;
  for (int i = 0; i < in.ndim(); ++i) {
    if (in.dim(i) >= 0) {
      rest *= in.dim(i);
    } else if (missing >= 0) {
      return;
    } else {
      missing = i;
    }
  }
  const int64_t size = infer.out(0).shape().size();
  if (missing < 0 || rest == 0) return;
  if (size % rest != 0) in.fail("a shape that divides " + std::to_string(size) + " elements");
  in.set_dim(missing, size / rest);
}

}  // namespace mxnet
