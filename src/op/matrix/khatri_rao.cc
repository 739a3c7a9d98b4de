// SPDX-License-Identifier: Apache-2.0
// The Khatri-Rao product: Kronecker products column by column.
#include "op/matrix/la_op.h"
#include "op/numbered_names.h"

namespace mxnet {
namespace {

struct KhatriRaoParams {
  int32_t num_args;
};

void infer_khatri_rao(const KhatriRaoParams&, Infer& infer) {
  infer.one_dtype();
  int64_t rows = 1;
  for (int i = 0; i < infer.num_in(); ++i) {
    if (!infer.in(i).known()) return;
    if (infer.in(i).ndim() != 2) infer.in(i).fail("two dimensions");
    infer.in(i).set_dim(1, infer.in(0).dim(1));
    rows *= infer.in(i).dim(0);
  }
  infer.out(0).set_shape(Shape{rows, infer.in(0).dim(1)});
}

// Row (r0, r1, ...) is the product of row r0 of the first, r1 of the second and so on: built from
// the first matrix by multiplying in one more at a time.
void khatri_rao_cpu(const KhatriRaoParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  dispatch_dtype<kNumeric>(out.dtype, "khatri_rao", [&]<class T>(TypeTag<T>) {
    const int64_t columns = out.dim(1);
    int64_t repeat = out.dim(0);  // how many rows of the result follow one row of matrix i
    for (int i = 0; i < context.num_in(); ++i) {
      const int64_t rows = context.in(i).dim(0);
      repeat /= rows;
      const T* x = context.in(i).as<T>();
      parallel_for(
          out.dim(0), static_cast<double>(columns),
          [&](int64_t first, int64_t last) {
            for (int64_t r = first; r < last; ++r) {
              const T* row = x + r / repeat % rows * columns;
              T* y = out.as<T>() + r * columns;
              for (int64_t c = 0; c < columns; ++c)
                y[c] = i == 0 ? row[c] : convert<T>(y[c] * row[c]);
            }
          },
          1);
    }
  });
}

MX_OP(khatri_rao, KhatriRaoParams)
.doc("Column-wise Kronecker product of matrices.")
    .inputs("args", "Matrices with equally many columns.", &KhatriRaoParams::num_args, "num_args")
    .input_names([](const KhatriRaoParams& p) { return numbered_names("arg", p.num_args); })
    .param("num_args", &KhatriRaoParams::num_args, "Number of matrices.")
    .unlisted()
    .dtypes(kNumeric)
    .infer(infer_khatri_rao)
    .cpu(khatri_rao_cpu);

}  // namespace
}  // namespace mxnet
