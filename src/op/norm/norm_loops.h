// SPDX-License-Identifier: Apache-2.0
// The inner loops of softmax and of the normalisations, compiled for each instruction set. Callers
// cut long rows into blocks (row_sums.h), so that sums of a loop stay short.
#pragma once
#include <cstdint>

#include "base/half.h"

namespace mxnet {

// C is float or double. Arrays may be of any alignment; outputs may be inputs.
template <class C>
struct NormLoops {
  // --- rows ---
  C (*max)(const C* x, int64_t n);  // NaN only if all are
  C (*sum)(const C* x, int64_t n);
  C (*dot)(const C* x, const C* y, int64_t n);
  C (*negative_dot)(const C* dy, const C* x, int64_t n);  // sum of dy * min(x, 0)
  // Of rows of n that follow each other: sums[r] = sum of row r; sums[2 * r] = sum of x - means[r],
  // sums[2 * r + 1] = sum of (x - means[r])^2.
  void (*sums)(const C* x, int64_t n, int64_t rows, C* sums);
  void (*deviations)(const C* x, int64_t n, int64_t rows, const C* means, C* sums);
  // y = exp((x - shift) * scale); returns the sum. With y null only that. REQUIRES here and of
  // exp_columns: no exponent above 0; results below the normal numbers are 0.
  C (*exp_sum)(const C* x, C* y, int64_t n, C shift, C scale);
  void (*scale)(C* y, int64_t n, C factor);
  // y = (x - shift) * scale + offset; with parameters for each element, and shift and scale for
  // each of `rows` rows that follow each other, in affine_each.
  void (*affine)(const C* x, C* y, int64_t n, C shift, C scale, C offset);
  // The first of halves, without a buffer of floats; null where the processor does not convert
  // them.
  void (*affine_halves)(const float16* x, float16* y, int64_t n, C shift, C scale, C offset);
  void (*affine_each)(const C* x, C* y, int64_t n, int64_t rows, const C* shift, const C* scale,
                      const C* gamma, const C* beta);
  // As affine, but not below zero; mask says where y is above.
  void (*affine_relu)(const C* x, C* y, uint8_t* mask, int64_t n, C shift, C scale, C offset);

  // dx = (dy - d) * y * scale, and dx = (dy - exp(y) * d) * scale.
  void (*softmax_grad)(const C* dy, const C* y, C* dx, int64_t n, C d, C scale);
  void (*log_softmax_grad)(const C* dy, const C* y, C* dx, int64_t n, C d, C scale);
  // sums[0] = sum of dy, sums[1] = sum of dy * (x - mean); dy times gamma in the second.
  void (*grad_sums)(const C* dy, const C* x, int64_t n, C mean, C* sums);
  void (*grad_sums_each)(const C* dy, const C* gamma, const C* x, int64_t n, C mean, C* sums);
  // dx = a * dy + b * (x - mean) + c; dy times gamma in the second.
  void (*affine_grad)(const C* dy, const C* x, C* dx, int64_t n, C mean, C a, C b, C c);
  void (*affine_grad_each)(const C* dy, const C* gamma, const C* x, C* dx, int64_t n, C mean, C a,
                           C b, C c);
  // dgamma += dy * (x - mean) * scale, dbeta += dy.
  void (*add_param_grads)(const C* dy, const C* x, int64_t n, C mean, C scale, C* dgamma, C* dbeta);
  // to += from, which becomes 0.
  void (*fold)(C* from, C* to, int64_t n);
  // dy where mask is set, else zero.
  void (*masked)(const C* dy, const uint8_t* mask, C* out, int64_t n);
  // y = v where x is above zero, else slope * v, a slope for each element.
  void (*bend)(const C* v, const C* x, const C* slope, C* y, int64_t n);
  // sum += dy * min(x, 0), element by element.
  void (*add_negatives)(const C* dy, const C* x, int64_t n, double* sum);

  // --- rows of n elements one behind another: as max, exp_sum and scale or affine do a row, and as
  // dot and softmax_grad or sum and log_softmax_grad. REQUIRES: n is kLeastRow at least. Where
  // scale is below zero, the first do as if the elements were negated ---
  static constexpr int64_t kLeastRow = 16;
  void (*softmax_rows)(const C* x, C* y, int64_t rows, int64_t n, C scale, bool log);
  void (*softmax_grad_rows)(const C* dy, const C* y, C* dx, int64_t rows, int64_t n, C scale,
                            bool log);

  // --- columns: n of them, in `rows` rows that begin `step` elements apart ---
  void (*add_columns)(const C* x, int64_t n, int64_t rows, int64_t step, C* sum);
  // sum += x - mean, square += (x - mean)^2.
  void (*add_deviation_columns)(const C* x, int64_t n, int64_t rows, int64_t step, const C* mean,
                                C* sum, C* square);
  void (*affine_columns)(const C* x, C* y, int64_t n, int64_t rows, int64_t step, const C* shift,
                         const C* scale, const C* offset);
  void (*affine_relu_columns)(const C* x, C* y, uint8_t* mask, int64_t n, int64_t rows,
                              int64_t step, const C* shift, const C* scale, const C* offset);
  void (*add_grad_columns)(const C* dy, const C* x, int64_t n, int64_t rows, int64_t step,
                           const C* mean, C* sum_dy, C* sum_dyx);
  void (*affine_grad_columns)(const C* dy, const C* x, C* dx, int64_t n, int64_t rows, int64_t step,
                              const C* mean, const C* a, const C* b, const C* c);
  // One row of each.
  void (*max_columns)(const C* x, int64_t n, C* max);
  // sum += exp((x - shift) * scale), which goes to y unless that is null.
  void (*exp_columns)(const C* x, C* y, int64_t n, const C* shift, C scale, C* sum);

  // Softmax of n columns of halves, or its logarithm, in `rows` rows: all of it, with numbers of
  // some columns at a time in registers. `held` is for kHeldColumns floats of each row. Null where
  // the processor does not convert them. REQUIRES: kHeldColumns <= n, 0 < scale; y is not x.
  static constexpr int64_t kHeldColumns = 64;
  void (*softmax_half_columns)(const float16* x, float16* y, int64_t n, int64_t rows, int64_t step,
                               C scale, bool log, C* held);

  // As the rows of these names, `d` for each column.
  void (*softmax_grad_columns)(const C* dy, const C* y, C* dx, int64_t n, const C* d, C scale);
  void (*log_softmax_grad_columns)(const C* dy, const C* y, C* dx, int64_t n, const C* d, C scale);
  void (*scale_columns)(C* y, int64_t n, const C* factor);
  // -log(x) of numbers that are 1 at least or NaN, of floats as of double. Up to the next multiple
  // of 16 what follows changes, too.
  void (*negative_logs)(C* x, int64_t n);

  // --- normalisation across channels ---
  // sum[i] is that of the squares of x[r * step + i] for all r < rows.
  void (*sum_squares)(const C* x, int64_t step, int64_t rows, int64_t n, C* sum);
  // norm = knorm + alpha * sum, y = x * norm^-beta.
  void (*response)(const C* x, const C* sum, C* norm, C* y, int64_t n, C knorm, C alpha, C beta);
  // t = dy * x * norm^(-beta - 1).
  void (*response_share)(const C* dy, const C* x, const C* norm, C* t, int64_t n, C beta);
  // dx = dy * norm^-beta - factor * x * sum.
  void (*response_grad)(const C* dy, const C* x, const C* norm, const C* sum, C* dx, int64_t n,
                        C beta, C factor);
};

template <class C>
const NormLoops<C>& norm_loops();

}  // namespace mxnet
