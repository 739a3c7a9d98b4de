// SPDX-License-Identifier: Apache-2.0
// What a mask selects: boolean_mask with its gradient, and nonzero.
#include "op/index/mask.h"

#include <fmt/format.h>
#include "base/error.h"
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/reducing/byte_sums.h"
#include "op/run/adding.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {

int64_t count_true(const Tensor& mask) {
  if (mask.dtype == DType::kBool) return sum_of_bytes(mask.as<const uint8_t>(), mask.size());
  int64_t count = 0;
  std::array<bool, Positions::kBlock> block;
  for (int64_t start = 0; start < mask.size(); start += Positions::kBlock) {
    const int64_t n = std::min(Positions::kBlock, mask.size() - start);
    read_truth(mask, start, n, block.data());
    count += sum_of_bytes(reinterpret_cast<const uint8_t*>(block.data()), n);
  }
  return count;
}

int64_t true_positions(const Tensor& mask, int64_t start, int64_t n, int64_t* to) {
  std::array<bool, Positions::kBlock> block;
  read_truth(mask, start, n, block.data());
  int64_t count = 0;
  // Without a branch: what is not selected is overwritten by the next one. (Not unrolled, it takes
  // a quarter longer.)
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) {
    to[count] = start + i;
    count += block[static_cast<std::size_t>(i)];
  }
  return count;
}

namespace {

struct MaskParams {
  int32_t axis;
};

// The selected positions as an array of their own, on the device of the call. The host counts them:
// the shape of the result is in their number.
struct Selected {
  Selected(const Tensor& mask_there, KernelContext& context) {
    const HostCopy copy(context, mask_there);
    const Tensor& mask = copy.tensor();
    const HostNumbers numbers(context, mask.size() + 1);
    int64_t count = 0;
    for (int64_t start = 0; start < mask.size(); start += Positions::kBlock) {
      const int64_t n = std::min(Positions::kBlock, mask.size() - start);
      count += true_positions(mask, start, n, numbers.data() + count);
    }
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

void boolean_mask_cpu(const MaskParams& params, KernelContext& context) {
  const Tensor& data = context.in(0);
  const Selected selected(context.in(1), context);
  const int axis = normalize_axis(params.axis, data.ndim(), "boolean_mask");
  Shape shape = data.shape();
  shape[axis] = selected.shape[0];
  const Tensor out = context.make_out(0, shape);
  if (out.size() == 0) return;
  const int64_t width = data.shape().size(axis + 1, data.ndim());
  gather_rows(data.data, data.shape().size(0, axis), data.dim(axis),
              width * static_cast<int64_t>(dtype_size(data.dtype)),
              selected.positions(data.dim(axis)), out.data, context);
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

// One row of indices per element; a scalar counts as an array of one.
void nonzero_cpu(const NoParams&, KernelContext& context) {
  const Tensor& x = context.in(0);
  const Shape shape = x.ndim() == 0 ? Shape{1} : x.shape();
  const HostCopy host(context, x);
  const Tensor out = context.make_out(0, {count_true(host.tensor()), shape.ndim()});
  const auto write = [&](int64_t* row) {
    const int last = shape.ndim() - 1;
    const int64_t length = shape[last];
    const int64_t* before = nullptr;  // most differ from the row before in the last index alone
    int64_t line = 0;                 // the position at which that one's line begins
    for_true(host.tensor(), [&](int64_t position) {
      if (before != nullptr && position - line < length) {
        std::copy_n(before, last, row);
      } else {
        int64_t rest = position / length;
        line = rest * length;
        for (int i = last - 1; i >= 0; --i) {
          row[i] = rest % shape[i];
          rest /= shape[i];
        }
      }
      row[last] = position - line;
      before = row;
      row += shape.ndim();
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
