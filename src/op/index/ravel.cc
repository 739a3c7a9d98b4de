// SPDX-License-Identifier: Apache-2.0
// Positions and indices of places: ravel, unravel, the index of every place, the diagonal, and rows
// replaced at positions.
#include "op/index/ravel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/simd.h"
#include "ndarray/convert_elements.h"
#include "op/loops/convert.h"
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

// Positions of so many elements at a time; the buffers stay in the first-level cache.
constexpr int64_t kBlock = 512;

// The first dimension may be unknown (-1): it does not enter. What no position can hold wraps.
void ravel_cpu(const RavelParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  const int64_t n = out.size();
  dispatch_dtype<kNumeric>(data.dtype, "ravel_multi_index", [&]<class T>(TypeTag<T>) {
    parallel_for(n, 4.0 * params.shape.ndim(), [&](int64_t first, int64_t end) {
      std::array<int64_t, kBlock> positions, indices;
      for (int64_t i = first; i < end; i += kBlock) {
        const int64_t count = std::min(kBlock, end - i);
        std::fill_n(positions.data(), count, 0);
        for (int d = 0; d < params.shape.ndim(); ++d) {
          const int64_t size = params.shape[d];
          convert_array(data.as<const T>() + d * n + i, indices.data(), count);
          int64_t *const to = positions.data(), *const from = indices.data();
          for (int64_t j = 0; j < count; ++j)
            to[j] = row_math::plus(row_math::multiply(to[j], size), from[j]);
        }
        convert_array(positions.data(), out.as<T>() + i, count);
      }
    });
  });
}

// Of positions, their remainders by `size` become indices and their quotients positions. Quotients
// of numbers of 32 bits come from vectors of doubles: next to an integer they differ from it by
// more than rounding does.
void split(int32_t* positions, int32_t* indices, int64_t n, int64_t size) {
  const auto divisor = static_cast<int32_t>(size);
  const double real = divisor;
  MX_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) {
    const auto quotient = static_cast<int32_t>(static_cast<double>(positions[i]) / real);
    indices[i] = positions[i] - quotient * divisor;
    positions[i] = quotient;
  }
}
void split(int64_t* positions, int64_t* indices, int64_t n, int64_t size) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t quotient = positions[i] / size;
    indices[i] = positions[i] - quotient * size;
    positions[i] = quotient;
  }
}

// Into the rows of the result, each `row` bytes behind the one before, from `to` on.
template <class Word>
void write_indices(const Shape& shape, Word* positions, int64_t n, char* to, int64_t row,
                   DType type) {
  constexpr DType kType = sizeof(Word) == 4 ? DType::kInt32 : DType::kInt64;
  std::array<Word, kBlock> indices;
  for (int d = shape.ndim() - 1; d > 0; --d) {
    split(positions, indices.data(), n, shape[d]);
    convert_elements(to + d * row, type, indices.data(), kType, n);
  }
  convert_elements(to, type, positions, kType, n);
}

// Positions without their fractions; false where one has more than 32 bits. (Counted rather than
// searched: by vectors.)
bool narrowed(const double* real, int32_t* narrow, int64_t n) {
  int64_t others = 0;
  for (int64_t i = 0; i < n; ++i) others += std::abs(real[i]) < 0x1p31 ? 0 : 1;
  if (others > 0) return false;
  for (int64_t i = 0; i < n; ++i) narrow[i] = static_cast<int32_t>(real[i]);
  return true;
}
bool narrowed(const int64_t* wide, int32_t* narrow, int64_t n) {
  int64_t others = 0;
  for (int64_t i = 0; i < n; ++i) {
    narrow[i] = static_cast<int32_t>(wide[i]);
    others += narrow[i] == wide[i] ? 0 : 1;
  }
  return others == 0;
}

void unravel_cpu(const RavelParams& params, KernelContext& context) {
  const Tensor& data = context.in(0);
  const Shape& shape = params.shape;
  const DType type = data.dtype;
  const auto width = static_cast<int64_t>(dtype_size(type));
  const int64_t row = data.size() * width;
  const bool small = std::all_of(shape.begin(), shape.end(), [](int64_t size) {
    return size <= std::numeric_limits<int32_t>::max();
  });
  parallel_for(data.size(), 8.0 * shape.ndim(), [&](int64_t first, int64_t end) {
    std::array<double, kBlock> real;
    std::array<int64_t, kBlock> wide;
    std::array<int32_t, kBlock> narrow;
    for (int64_t i = first; i < end; i += kBlock) {
      const int64_t n = std::min(kBlock, end - i);
      const char* const from = data.as<const char>() + i * width;
      char* const to = context.out(0).as<char>() + i * width;
      if (is_floating(type)) {
        convert_elements(real.data(), DType::kFloat64, from, type, n);
        if (small && narrowed(real.data(), narrow.data(), n)) {
          write_indices(shape, narrow.data(), n, to, row, type);
          continue;
        }
      }
      convert_elements(wide.data(), DType::kInt64, from, type, n);
      if (small && narrowed(wide.data(), narrow.data(), n)) {
        write_indices(shape, narrow.data(), n, to, row, type);
      } else {
        write_indices(shape, wide.data(), n, to, row, type);
      }
    }
  });
}

void check_shape(const RavelParams& params, Infer& infer) {
  bool fits = params.shape.ndim() > 0;
  for (int i = 1; fits && i < params.shape.ndim(); ++i) fits = params.shape[i] > 0;
  if (!fits)
    infer.fail(fmt::format("given '{}' for parameter shape, expected positive dimensions",
                           ParamText<Shape>::print(params.shape)));
}

MX_OP(_ravel_multi_index, RavelParams)
.alias("ravel_multi_index")
    .doc("Positions in an array of the given shape out of columns of indices.")
    .input("data", "A row per dimension.")
    .param("shape", &RavelParams::shape, Shape(), "The shape; its first dimension may be -1.")
    .infer([](const RavelParams& params, Infer& infer) {
      infer.one_dtype();
      check_shape(params, infer);
      if (!infer.in(0).rank_known()) return;
      if (infer.in(0).ndim() < 1 || infer.in(0).dim(0) != params.shape.ndim())
        infer.in(0).fail(fmt::format("{} rows", params.shape.ndim()));
      infer.out(0).set_shape(Shape(infer.in(0).shape().dims().subspan(1)));
    })
    .cpu(ravel_cpu)
    .zero_grad();

MX_OP(_unravel_index, RavelParams)
.alias("unravel_index")
    .doc("Indices, a row per dimension, out of positions in an array of the given shape.")
    .input("data", "The positions.")
    .param("shape", &RavelParams::shape, Shape(), "The shape; its first dimension may be -1.")
    .infer([](const RavelParams& params, Infer& infer) {
      infer.one_dtype();
      check_shape(params, infer);
      if (!infer.in(0).rank_known()) return;
      Shape shape{params.shape.ndim()};
      for (const int64_t dim : infer.in(0).shape().dims()) shape.push_back(dim);
      infer.out(0).set_shape(shape);
    })
    .dtypes(kNumeric)
    .cpu(unravel_cpu)
    .zero_grad();

// Counts along one axis: each index for `step` places, again from 0 after `size`.
struct AxisCounter {
  int64_t size, step, index, places;  // places: of this index so far

  void set(int64_t place) {
    index = place / step % size;
    places = place % step;
  }
  void advance() {
    if (++places < step) return;
    places = 0;
    index = index + 1 == size ? 0 : index + 1;
  }
};

void index_array_cpu(const IndexArrayParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  if (shape.size() == 0) return;
  const Tensor& out = context.out(0);
  std::vector<AxisCounter> axes;
  for (int p = 0; p < static_cast<int>(out.shape().back()); ++p) {
    const int axis = params.axis(p, shape.ndim());
    axes.push_back({shape[axis], shape.size(axis + 1, shape.ndim()), 0, 0});
  }
  parallel_for(shape.size(), 4.0 * static_cast<double>(axes.size()),
               [&](int64_t first, int64_t last) {
                 std::vector<AxisCounter> counters = axes;
                 for (AxisCounter& counter : counters) counter.set(first);
                 auto* to = out.as<int64_t>() + first * static_cast<int64_t>(axes.size());
                 for (int64_t i = first; i < last; ++i) {
                   for (AxisCounter& counter : counters) {
                     *to++ = counter.index;
                     counter.advance();
                   }
                 }
               });
}

MX_OP(_contrib_index_array, IndexArrayParams)
.doc("The index of every place of an array, or its parts along some axes.")
    .input("data", "The array; only its shape matters.")
    .type_only(0)
    .param("axes", &IndexArrayParams::axes, std::nullopt,
           "The axes; None means all. Numbers out of range wrap around.")
    .infer([](const IndexArrayParams& params, Infer& infer) {
      infer.out(0).set_dtype(DType::kInt64);
      if (!infer.in(0).rank_known()) return;
      Shape shape = infer.in(0).shape();
      if (params.axes && shape.ndim() == 0)
        for (const int64_t axis : params.axes->dims()) infer.axis(axis, infer.in(0));
      shape.push_back(params.axes ? params.axes->ndim() : infer.in(0).ndim());
      infer.out(0).set_shape(shape);
    })
    .cpu(index_array_cpu)
    .zero_grad();

MX_OP(_npi_diag_indices_from, NoParams)
.doc("Indices of the main diagonal of an array with equal dimensions.")
    .input("data", "The array; only its shape matters.")
    .type_only(0)
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.out(0).set_dtype(DType::kInt64);
      const InferArg data = infer.in(0);
      if (!data.known()) return;
      if (data.ndim() < 2) data.fail("at least two dimensions");
      for (int i = 1; i < data.ndim(); ++i)
        if (data.dim(i) != data.dim(0)) data.fail("equal dimensions");
      infer.out(0).set_shape({data.ndim(), data.dim(0)});
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor& out = context.out(0);
      for (int64_t i = 0; i < out.size(); ++i) out.as<int64_t>()[i] = i % out.dim(1);
    })
    .zero_grad();

// Replaces the rows of `whole` at the positions by those of `part`, by zeros where it is null.
void set_rows(const Tensor& index, const Tensor& whole, const Tensor* part,
              KernelContext& context) {
  if (whole.size() == 0) return;
  const int64_t rows = whole.dim(0);
  const auto bytes = static_cast<std::size_t>(whole.size() / rows) * dtype_size(whole.dtype);
  put_rows(part == nullptr ? nullptr : part->data, static_cast<int64_t>(bytes),
           Positions(index, rows, OutOfRange::kRaise, "index_copy"), whole.data, context);
}

void copy_all(KernelContext& context) {
  const Tensor& out = context.out(0);
  copy_memory(context, context.in(0).data, out.data,
              static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
}

MX_OP(_contrib_index_copy, NoParams)
.doc("The first array with other rows at some positions.")
    .input("old_tensor", "The array.")
    .input("index_vector", "The positions.")
    .input("new_tensor", "A row per position.")
    .lenient()
    .inplace(0, 0)
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_as(infer.out(0));
      infer.in(2).same_dtype(infer.in(0));
      if (!infer.in(0).rank_known()) return;
      if (infer.in(0).ndim() < 1) infer.in(0).fail("at least one dimension");
      infer.in(1).set_shape(Shape::unknown(1));
      Shape rows = infer.in(0).shape();
      rows[0] = infer.in(1).dim(0);
      infer.in(2).set_shape(rows);
      infer.in(1).set_shape({infer.in(2).dim(0)});
    })
    .cpu([](const NoParams&, KernelContext& context) {
      copy_all(context);
      set_rows(context.in(1), context.out(0), &context.in(2), context);
    })
    .grad([](const NoParams&, Grad& grad) {
      Gradients result(3);
      if (grad.wants(0)) result[0] = apply("_backward_index_copy", {grad.dout(0), grad.in(1)});
      if (grad.wants(2)) result[2] = apply("take", {grad.dout(0), grad.in(1)}, {{"mode", "raise"}});
      return result;
    });

MX_OP(_backward_index_copy, NoParams)
.doc("A gradient with zeros in the rows that were replaced.")
    .input("head_grad", "Gradient of the output.")
    .input("index_vector", "The positions.")
    .inplace(0, 0)
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_as(infer.out(0));
      if (infer.in(0).rank_known() && infer.in(0).ndim() < 1)
        infer.in(0).fail("at least one dimension");
    })
    .cpu([](const NoParams&, KernelContext& context) {
      copy_all(context);
      set_rows(context.in(1), context.out(0), nullptr, context);
    })
    .grad([](const NoParams&, Grad& grad) {
      Gradients result(2);
      if (grad.wants(0)) result[0] = apply("_backward_index_copy", {grad.dout(0), grad.in(1)});
      return result;
    });

[[maybe_unused]] const bool portable =
    mark_portable_waiting({"_contrib_index_copy", "_backward_index_copy"});

}  // namespace
}  // namespace mxnet
