// SPDX-License-Identifier: Apache-2.0
// Matrices with zeros above a diagonal.
#include <algorithm>
#include <array>
#include <cstring>

#include "op/op_builder.h"
#include "op/params/triangular.h"
#include "op/rows/binary_loops.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Bytes of a mask, which stays in the first-level cache.
constexpr int64_t kMostMasked = 4096;

// What is kept of row `r` of a matrix, in bytes.
int64_t kept_bytes(int64_t r, int32_t k, int64_t row_bytes, int64_t element) {
  return std::clamp<int64_t>((r + k + 1) * element, 0, row_bytes);
}

// Many small matrices: their bits and those of a mask of as many as it holds.
void mask_matrices(const Tensor& in, const Tensor& out, int64_t rows, int64_t row_bytes, int32_t k,
                   int64_t element) {
  const int64_t matrix = rows * row_bytes, count = in.size() * element / matrix;
  const int64_t together = std::min(kMostMasked / matrix, count);
  std::array<uint8_t, kMostMasked> mask{};
  for (int64_t r = 0; r < together * rows; ++r)
    std::fill_n(mask.data() + r * row_bytes, kept_bytes(r % rows, k, row_bytes, element), 0xff);
  const auto both = binary_loop<uint8_t, uint8_t>(BinaryRow::bitwise_and).arrays;
  parallel_for(
      count, cost_of_moving(2.0 * static_cast<double>(matrix)),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; i += together) {
          const int64_t n = std::min(together, last - i);
          both(in.as<uint8_t>() + i * matrix, mask.data(), out.as<uint8_t>() + i * matrix,
               n * matrix);
        }
      },
      1);
}

// A row alone stands for each row of a square matrix, as in NumPy.
void tril_cpu(const TrilParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  const int64_t rows = out.dim(out.ndim() - 2), columns = out.dim(out.ndim() - 1);
  const auto element = static_cast<int64_t>(dtype_size(in.dtype));
  const bool one_row = in.ndim() == 1;
  if (!one_row && rows * columns * element <= kMostMasked / 2 && out.size() > rows * columns)
    return mask_matrices(in, out, rows, columns * element, params.k, element);
  parallel_for(
      out.size() / columns, static_cast<double>(columns),
      [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; ++r) {
          const int64_t kept = kept_bytes(r % rows, params.k, columns * element, element);
          const char* from = in.as<char>() + (one_row ? 0 : r * columns * element);
          char* to = out.as<char>() + r * columns * element;
          if (from != to) std::memcpy(to, from, static_cast<std::size_t>(kept));
          std::memset(to + kept, 0, static_cast<std::size_t>(columns * element - kept));
        }
      },
      1);
}

MX_OP(_npi_tril, TrilParams)
.doc("The matrices of an array with zeros above a diagonal.")
    .input("data", "The array; its last two dimensions are matrices.")
    .param("k", &TrilParams::k, 0, "The diagonal: 0 the main one, above it positive.")
    .inplace(0, 0)
    .infer([](const TrilParams&, Infer& infer) {
      InferArg in = infer.in(0), out = infer.out(0);
      in.same_dtype(out);
      if (!in.rank_known()) return;
      if (in.ndim() == 0) in.fail("at least one dimension");
      if (in.ndim() == 1) {
        out.set_shape({in.dim(0), in.dim(0)});
      } else {
        in.same_shape(out);
      }
    })
    .cpu(tril_cpu)
    .grad([](const TrilParams&, Grad& grad) {
      const Value lower = apply("_npi_tril", {grad.dout(0)}, grad.attrs());
      return Gradients{apply("_sum_to_like", {lower, grad.in(0)})};
    });

}  // namespace
}  // namespace mxnet
