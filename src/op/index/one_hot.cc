// SPDX-License-Identifier: Apache-2.0
// Rows with one marked place: one_hot, and the older _onehot_encode.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/owned_lines.h"
#include "op/loops/convert.h"
#include "op/moving/positions.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/run/fill.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

struct OneHotParams {
  int32_t depth;
  double on_value, off_value;
  DType dtype;
};

// How many bytes are filled before their places are marked. Few are still in the first-level cache
// then. Long rows leave so few places that it does not matter, and many bytes memset writes as a
// string, whose lines are not read before (a third of the time on a Zen 5): but not where strings
// leave lines further away than stores do, as on processors that read what they write.
int64_t bytes_marked(int64_t row) {
  constexpr int64_t kLongRow = 512, kString = 64 << 10;
  return row >= kLongRow && !owns_lines(kOwnedFrom) ? kString : kOwnedBlock;
}

// Rows of `off` with one `on`, elements by their bits. Indices out of range mark nothing.
template <class Bits>
void mark_rows(const Tensor& indices, int64_t depth, Bits on, Bits off, Bits* out) {
  constexpr int64_t kElement = sizeof(Bits);
  const int64_t marked = bytes_marked(depth * kElement);
  const int64_t together = marked / std::clamp<int64_t>(depth * kElement, 1, marked);
  const int64_t bytes = indices.size() * depth * kElement;
  parallel_for(
      indices.size(), static_cast<double>(depth),
      [&](int64_t first, int64_t last) {
        const bool near = last - first != indices.size() && bytes < kOwnedByManyFrom;
        const bool owns = owns_lines(bytes) && !near;
        const int64_t most = owns ? kOwnedBlock / kElement : INT64_MAX;
        std::array<int64_t, Positions::kBlock> block;
        for (int64_t start = first; start < last; start += Positions::kBlock) {
          const int64_t n = std::min(Positions::kBlock, last - start);
          read_int64(indices, start, n, block.data());
          Bits* rows = out + start * depth;
          for (int64_t row = 0; row < n; row += together) {
            const int64_t end = std::min(row + together, n);
            for (int64_t left = (end - row) * depth; left > 0; left -= most) {
              Bits* to = rows + end * depth - left;
              const int64_t part = std::min(left, most);
              if (owns) own_lines_ahead(to, part * kElement);
              fill_same(to, part, off);
            }
            for (int64_t i = row; i < end; ++i) {
              const int64_t at = block[static_cast<std::size_t>(i)];
              if (at >= 0 && at < depth) rows[i * depth + at] = on;
            }
          }
        }
      },
      1);
}

void one_hot(const Tensor& indices, int64_t depth, double on_value, double off_value,
             const Tensor& out, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->one_hot(context.stream()->native(), indices, on_value, off_value, out);
  dispatch_dtype<kNumeric>(out.dtype, "one_hot", [&]<class T>(TypeTag<T>) {
    using Bits = UnsignedOf<sizeof(T)>;
    mark_rows(indices, depth, std::bit_cast<Bits>(convert<T>(on_value)),
              std::bit_cast<Bits>(convert<T>(off_value)), static_cast<Bits*>(out.data));
  });
}

MX_OP(one_hot, OneHotParams)
.alias("_npx_one_hot")
    .doc("For each index a row with one value at its position and another elsewhere.")
    .input("indices", "The positions, of any type.")
    .param("depth", &OneHotParams::depth, "Length of a row.")
    .at_least<int32_t>(0)
    .param("on_value", &OneHotParams::on_value, 1.0, "The value at the position.")
    .param("off_value", &OneHotParams::off_value, 0.0, "The value elsewhere.")
    .dtype_param("dtype", &OneHotParams::dtype, kNumeric, false, "float32", "Type of the result.")
    .infer([](const OneHotParams& params, Infer& infer) {
      infer.out(0).set_dtype(params.dtype);
      if (!infer.in(0).rank_known()) return;
      Shape shape = infer.in(0).shape();
      shape.push_back(params.depth);
      infer.out(0).set_shape(shape);
    })
    .cpu([](const OneHotParams& params, KernelContext& context) {
      one_hot(context.in(0), params.depth, params.on_value, params.off_value, context.out(0),
              context);
    })
    .zero_grad();

MX_OP(_onehot_encode, NoParams)
.doc("Rows of zeros with a one at the index; the second array gives their length.")
    .array_input("lhs", "The positions.")
    .array_input("rhs", "Its shape is that of the result.")
    .type_only(1)
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.one_dtype();
      infer.in(1).set_shape(Shape::unknown(2)).same_shape(infer.out(0));
      infer.in(0).set_shape({infer.in(1).dim(0)});
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor& out = context.out(0);
      one_hot(context.in(0), out.dim(1), 1.0, 0.0, out, context);
    });

[[maybe_unused]] const bool portable = mark_portable({"one_hot", "_onehot_encode"});

}  // namespace
}  // namespace mxnet
