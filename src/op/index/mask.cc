// SPDX-License-Identifier: Apache-2.0
// What a mask selects: boolean_mask with its gradient, and nonzero.
#include "op/index/mask.h"

#include <fmt/format.h>

#include <numeric>

#include "base/error.h"
#include "op/moving/position_loops.h"
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/reducing/byte_sums.h"
#include "op/run/adding.h"
#include "op/run/gpu.h"
#include "op/run/moved_bytes.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {

namespace {

// Of elements [first, last).
int64_t count_between(const Tensor& mask, int64_t first, int64_t last) {
  int64_t count = 0;
  std::array<bool, Positions::kBlock> block;
  for (int64_t start = first; start < last; start += Positions::kBlock) {
    const int64_t n = std::min(Positions::kBlock, last - start);
    read_truth(mask, start, n, block.data());
    count += sum_of_bytes(reinterpret_cast<const uint8_t*>(block.data()), n);
  }
  return count;
}

}  // namespace

int64_t count_true(const Tensor& mask) { return MaskParts(mask, 1.0).count(); }

MaskParts::MaskParts(const Tensor& mask, double cost) : mask_(mask), cost_(cost) {
  const int64_t size = mask.size(), blocks = (size + Positions::kBlock - 1) / Positions::kBlock;
  const int64_t parts =
      std::clamp<int64_t>(threads_for(size, cost), 1, std::max<int64_t>(blocks, 1));
  part_ = (blocks + parts - 1) / parts * Positions::kBlock;
  ordinals_.resize(static_cast<std::size_t>(parts) + 1);
  parallel_for(
      parts, cost * static_cast<double>(part_),
      [&](int64_t first, int64_t last) {
        for (int64_t part = first; part < last; ++part) {
          const int64_t begin = std::min(part * part_, size), end = std::min(begin + part_, size);
          ordinals_[static_cast<std::size_t>(part) + 1] = count_between(mask, begin, end);
        }
      },
      1);
  std::partial_sum(ordinals_.begin(), ordinals_.end(), ordinals_.begin());
}

int64_t true_positions(const Tensor& mask, int64_t start, int64_t n, int64_t* to) {
  std::array<bool, Positions::kBlock> block;
  read_truth(mask, start, n, block.data());
  return positions_of_true(block.data(), start, n, to);
}

namespace {

struct MaskParams {
  int32_t axis;
};

// Elementary operations an element, of what asks for the positions of those that are not zero.
constexpr double kPositionCost = 4.0;

// The selected positions as an array of their own, on the device of the call. The host counts them:
// the shape of the result is in their number.
struct Selected {
  Selected(const Tensor& mask_there, KernelContext& context) {
    const HostCopy copy(context, mask_there);
    const Tensor& mask = copy.tensor();
    const MaskParts parts(mask, kPositionCost);
    const int64_t count = parts.count();
    const HostNumbers numbers(context, count);
    parts.each_block([&](const int64_t* at, int64_t n, int64_t ordinal) {
      std::copy_n(at, n, numbers.data() + ordinal);
    });
    shape = {count};
    // Read only.
    tensor = {const_cast<int64_t*>(numbers.on_device(context, count)), &shape, DType::kInt64};
  }
  // All are in range.
  Positions positions(int64_t extent) const {
    return Positions(tensor, extent, OutOfRange::kClip, "boolean_mask");
  }
  Shape shape;
  Tensor tensor;
};

// Whether the blocks of a mask of `size` are enough for threads to have about as much to do each:
// of a few long rows they are not, which are divided once their positions are known.
bool divides_into_blocks(int64_t size, double cost) {
  constexpr int64_t kBlocksOfThread = 4;
  const int64_t threads = threads_for(size, cost);
  return threads <= 1 || size >= threads * kBlocksOfThread * Positions::kBlock;
}

void boolean_mask_cpu(const MaskParams& params, KernelContext& context) {
  const Tensor& data = context.in(0);
  const int axis = normalize_axis(params.axis, data.ndim(), "boolean_mask");
  const int64_t outer = data.shape().size(0, axis), extent = data.dim(axis);
  const int64_t width =
      data.shape().size(axis + 1, data.ndim()) * static_cast<int64_t>(dtype_size(data.dtype));
  const auto out_of = [&](int64_t count) {
    Shape shape = data.shape();
    shape[axis] = count;
    return context.make_out(0, shape);
  };
  const Tensor& mask = context.in(1);
  // Positions of one array are used while they are at hand; several arrays are each moved as a
  // whole.
  const double cost = kPositionCost + cost_of_moving(static_cast<double>(width));
  if (outer > 1 || gpu_table(context) != nullptr || !divides_into_blocks(extent, cost)) {
    const Selected selected(mask, context);
    const Tensor out = out_of(selected.shape[0]);
    if (out.size() == 0) return;
    return gather_rows(data.data, outer, extent, width, selected.positions(extent), out.data,
                       context);
  }
  const MaskParts parts(mask, cost);
  const Tensor out = out_of(parts.count());
  if (out.size() == 0) return;
  const RowGatherer gatherer(data.data, 1, extent, width, out.data, parts.count());
  parts.each_block([&](const int64_t* at, int64_t n, int64_t ordinal) {
    gatherer.gather(0, 1, ordinal, at, n);
  });
}

// Inputs: gradient, data for its shape, mask.
template <bool add>
void backward_boolean_mask_cpu(const MaskParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  const Selected selected(context.in(2), context);
  const int axis = normalize_axis(params.axis, out.ndim(), "boolean_mask");
  if (context.in(0).dim(axis) != selected.shape[0]) {
    throw Error(
        ErrorCode::kValue,
        fmt::format("given 'head_grad' of shape {}, expected {} in dimension {}, as many as "
                    "'index' selects",
                    to_string(context.in(0).shape()), selected.shape[0], axis));
  }
  sum_rows(context.in(0), out.shape().size(0, axis), out.dim(axis),
           out.shape().size(axis + 1, out.ndim()), selected.positions(out.dim(axis)), out, context,
           add);
}

void infer_mask(const MaskParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  if (!infer.in(0).rank_known()) return;
  const int axis = infer.axis(params.axis, infer.in(0));
  infer.in(1).set_shape({infer.in(0).dim(axis)});
  Shape out = infer.in(0).shape();
  out[axis] = Shape::kUnknownDim;
  infer.out(0).set_shape(out);
}

void infer_backward_mask(const MaskParams& params, Infer& infer) {
  infer.follow(infer_mask, params, {infer.in(1), infer.in(2)}, {infer.in(0)});
  infer.out(0).same_as(infer.in(1));
  infer.in(0).same_dtype(infer.out(0));
}

MX_OP(_contrib_boolean_mask, MaskParams)
.alias("_npi_boolean_mask")
    .doc("The slices along an axis at which a mask is not zero.")
    .input("data", "The array.")
    .input("index", "The mask, one element per slice.")
    .param("axis", &MaskParams::axis, 0, "The axis.")
    .shape_from_values()
    .infer(infer_mask)
    .cpu(boolean_mask_cpu)
    .grad([](const MaskParams&, Grad& grad) {
      if (!grad.wants(0)) return Gradients(2);
      return Gradients{
          apply("_backward_boolean_mask", {grad.dout(0), grad.in(0), grad.in(1)}, grad.attrs()),
          Value()};
    });

MX_OP(_backward_boolean_mask, MaskParams)
.doc("Puts the slices that a mask has selected back into zeros.")
    .input("head_grad", "Gradient of the output.")
    .input("data", "Its shape is that of the result.")
    .input("index", "The mask.")
    .type_only(1)
    .param("axis", &MaskParams::axis, 0, "The axis.")
    .infer(infer_backward_mask)
    .cpu(backward_boolean_mask_cpu<false>)
    .grad([](const MaskParams&, Grad& grad) {
      Gradients result(3);
      if (grad.wants(0))
        result[0] = apply("_contrib_boolean_mask", {grad.dout(0), grad.in(2)}, grad.attrs());
      return result;
    });

[[maybe_unused]] const bool portable = [] {
  add_adding("_backward_boolean_mask", backward_boolean_mask_cpu<true>);
  return mark_portable_waiting({"_contrib_boolean_mask", "_backward_boolean_mask"});
}();

// The indices of ascending positions, a row each. kDims: as many as the shape has, or 0 for any.
template <int kDims>
void write_rows(const Shape& shape, const int64_t* at, int64_t count, int64_t* row) {
  const int dims = kDims == 0 ? shape.ndim() : kDims, last = dims - 1;
  const int64_t length = shape[last];
  std::array<int64_t, kDims == 0 ? Shape::kMaxDims : kDims> index;
  for (int64_t i = 0; i < count;) {
    // Most differ from the row before in the last index alone.
    int64_t rest = at[i] / length;
    const int64_t line = rest * length;
    for (int d = last - 1; d >= 0; --d) {
      index[static_cast<std::size_t>(d)] = rest % shape[d];
      rest /= shape[d];
    }
    for (; i < count && at[i] - line < length; ++i, row += dims) {
      for (int d = 0; d < last; ++d) row[d] = index[static_cast<std::size_t>(d)];
      row[last] = at[i] - line;
    }
  }
}

// One row of indices per element; a scalar counts as an array of one.
void nonzero_cpu(const NoParams&, KernelContext& context) {
  const Tensor& x = context.in(0);
  const Shape shape = x.ndim() == 0 ? Shape{1} : x.shape();
  const HostCopy host(context, x);
  const MaskParts parts(host.tensor(), kPositionCost);
  const Tensor out = context.make_out(0, {parts.count(), shape.ndim()});
  const auto write_index = shape.ndim() == 1   ? write_rows<1>
                           : shape.ndim() == 2 ? write_rows<2>
                           : shape.ndim() == 3 ? write_rows<3>
                                               : write_rows<0>;
  const auto write = [&](int64_t* rows) {
    parts.each_block([&](const int64_t* at, int64_t count, int64_t ordinal) {
      write_index(shape, at, count, rows + ordinal * shape.ndim());
    });
  };
  if (gpu_table(context) == nullptr) return write(out.as<int64_t>());
  const HostNumbers rows(context, out.size());
  write(rows.data());
  copy_memory(context, rows.on_device(context, out.size()), out.data,
              static_cast<std::size_t>(out.size()) * sizeof(int64_t));
}

MX_OP(_npx_nonzero, NoParams)
.alias("_npi_nonzero")
    .doc("Indices of the elements that are not zero, one row each.")
    .input("x", "The array.")
    .lenient()
    .shape_from_values()
    .infer([](const NoParams&, Infer& infer) { infer.out(0).set_dtype(DType::kInt64); })
    .cpu(nonzero_cpu)
    .zero_grad();
[[maybe_unused]] const bool portable_nonzero = mark_portable_waiting({"_npx_nonzero"});

}  // namespace
}  // namespace mxnet
