// SPDX-License-Identifier: Apache-2.0
// Assignment to what a mask selects: a number, or values in the order of the selection. In place
// where the output is the input.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "op/index/mask.h"
#include "op/loops/convert.h"
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

struct MaskAssignParams {
  float value;
  int32_t start_axis;
};

// The mask covers some axes; `outer` before them, `width` elements after.
struct MaskedView {
  MaskedView(const MaskAssignParams& params, const Shape& data, const Shape& mask)
      : axis(params.start_axis),
        outer(data.size(0, axis)),
        extent(mask.size()),
        width(data.size(axis + mask.ndim(), data.ndim())) {}
  int axis;
  int64_t outer, extent, width;
};

// Elementary operations that an element of the mask counts for.
double part_cost(const MaskedView& view, const Tensor& out) {
  const auto bytes = static_cast<double>(view.width) * static_cast<double>(dtype_size(out.dtype));
  return static_cast<double>(view.outer) * (4.0 + cost_of_moving(2.0 * bytes));
}

void assign_scalar_cpu(const MaskAssignParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  copy_memory(context, context.in(0).data, out.data,
              static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  const Tensor& mask = context.in(1);
  const MaskedView view(params, out.shape(), mask.shape());
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context)) {
    const Shape whole{view.outer, view.extent, view.width}, over{view.extent, 1}, one{1};
    const Tensor value{context.workspace(dtype_size(out.dtype)), &one, out.dtype};
    const Tensor seen{out.data, &whole, out.dtype};
    fill_tensor(context, value, params.value);
    return gpu->choose(context.stream()->native(), {mask.data, &over, mask.dtype}, value, seen,
                       seen);
  }
  dispatch_dtype(out.dtype, "boolean_mask_assign", [&]<class T>(TypeTag<T>) {
    const T value = convert<T>(params.value);
    T* const to = out.as<T>();
    const MaskParts parts(mask, part_cost(view, out));
    if (view.outer == 1 && view.width == 1) {
      return parts.each_block([to, value](const int64_t* at, int64_t count, int64_t) {
        for (int64_t i = 0; i < count; ++i) to[at[i]] = value;
      });
    }
    parts.each([&](int64_t position, int64_t) {
      for (int64_t o = 0; o < view.outer; ++o)
        std::fill_n(to + (o * view.extent + position) * view.width, view.width, value);
    });
  });
}

// The values as if broadcast to (before the mask..., selected, after the mask...): element steps of
// each dimension, 0 where one value serves all. The dimensions inside of a part are walked
// together.
struct Spread {
  Spread(const Shape& value, const Shape& full) : shape(full) {
    int64_t step = 1;
    for (int i = 1; i <= full.ndim(); ++i) {
      const int64_t dim = i <= value.ndim() ? value[value.ndim() - i] : 1;
      if (dim != 1 && dim != full[full.ndim() - i]) {
        throw Error(ErrorCode::kValue, "boolean_mask_assign",
                    fmt::format("given values of shape {}, expected one that broadcasts to {}",
                                to_string(value), to_string(full)));
      }
      steps[static_cast<std::size_t>(full.ndim() - i)] = dim == 1 ? 0 : step;
      step *= dim;
    }
    if (value.ndim() > full.ndim() && value.size(0, value.ndim() - full.ndim()) != 1) {
      throw Error(ErrorCode::kValue, "boolean_mask_assign",
                  fmt::format("given values of shape {}, expected at most {} dimensions",
                              to_string(value), full.ndim()));
    }
  }
  int64_t offset(int64_t position) const {
    int64_t at = 0;
    for (int i = shape.ndim() - 1; i >= 0; --i) {
      at += position % shape[i] * steps[static_cast<std::size_t>(i)];
      position /= shape[i];
    }
    return at;
  }
  const Shape shape;
  std::array<int64_t, Shape::kMaxDims> steps{};
};

// On a GPU: the values as rows, into the rows that are selected.
void put_selected(const MaskParts& parts, const MaskedView& view, const Tensor& value,
                  const Spread& spread, const Tensor& out, KernelContext& context) {
  const int64_t size = spread.shape.size();
  if (size == 0) return;
  const std::size_t bytes = dtype_size(out.dtype);
  const void* from = value.data;
  if (value.shape() != spread.shape) {
    void* const all = context.workspace(static_cast<std::size_t>(size) * bytes);
    const RowMajorSteps steps(spread.shape);
    StridedPlan plan;
    for (int d = 0; d < spread.shape.ndim(); ++d)
      plan.add(spread.shape[d], spread.steps[static_cast<std::size_t>(d)], steps[d]);
    copy_strided(context, plan, value.data, all, bytes);
    from = all;
  }
  const Shape count{size / view.width};
  const int64_t selected = count[0] / view.outer;
  const HostNumbers rows(context, count[0]);
  parts.each([&](int64_t position, int64_t ordinal) {
    for (int64_t o = 0; o < view.outer; ++o)
      rows.data()[o * selected + ordinal] = o * view.extent + position;
  });
  // Read only.
  const Tensor places{const_cast<int64_t*>(rows.on_device(context, count[0])), &count,
                      DType::kInt64};
  put_rows(from, view.width * static_cast<int64_t>(bytes),
           Positions(places, view.outer * view.extent, OutOfRange::kClip, "boolean_mask_assign"),
           out.data, context);
}

void assign_tensor_cpu(const MaskAssignParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  copy_memory(context, context.in(0).data, out.data,
              static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  const Tensor& mask = context.in(1);
  const Tensor& value = context.in(2);
  const MaskedView view(params, out.shape(), mask.shape());
  const HostCopy host(context, mask);
  const MaskParts parts(host.tensor(), part_cost(view, out));
  const int64_t selected = parts.count();
  Shape full = Shape::scalar();
  for (int i = 0; i < view.axis; ++i) full.push_back(out.dim(i));
  full.push_back(selected);
  for (int i = view.axis + mask.ndim(); i < out.ndim(); ++i) full.push_back(out.dim(i));
  const Spread spread(value.shape(), full);
  const std::size_t bytes = dtype_size(out.dtype);
  if (gpu_table(context) != nullptr) return put_selected(parts, view, value, spread, out, context);
  if (out.size() == 0 || selected == 0) return;
  // Where the values of a part lie, from its first one on: the same for all parts.
  std::vector<int64_t> places(static_cast<std::size_t>(view.width));
  bool whole = true;  // they lie as they are wanted
  for (int64_t k = 0; k < view.width; ++k) {
    places[static_cast<std::size_t>(k)] = spread.offset(k);
    whole = whole && spread.offset(k) == k;
  }
  parts.each([&](int64_t position, int64_t ordinal) {
    for (int64_t o = 0; o < view.outer; ++o) {
      char* to = out.as<char>() +
                 static_cast<std::size_t>((o * view.extent + position) * view.width) * bytes;
      const char* const from =
          value.as<const char>() +
          static_cast<std::size_t>(spread.offset((o * selected + ordinal) * view.width)) * bytes;
      if (whole) {
        std::memcpy(to, from, places.size() * bytes);
        continue;
      }
      for (const int64_t place : places) {
        std::memcpy(to, from + static_cast<std::size_t>(place) * bytes, bytes);
        to += bytes;
      }
    }
  });
}

void infer_assign(const MaskAssignParams& params, Infer& infer) {
  const InferArg data = infer.in(0), mask = infer.in(1);
  infer.in(0).same_as(infer.out(0));
  if (infer.num_in() > 2) infer.in(2).same_dtype(infer.in(0));
  if (!data.rank_known() || !mask.rank_known()) return;
  if (params.start_axis < 0 || params.start_axis > data.ndim() - mask.ndim())
    mask.fail(fmt::format("one that covers axes of {} from {} on", to_string(data.shape()),
                          params.start_axis));
  Shape covered = Shape::scalar();
  for (int i = 0; i < mask.ndim(); ++i) covered.push_back(data.dim(params.start_axis + i));
  infer.in(1).set_shape(covered);
}

bool define() {
  OpBuilder<MaskAssignParams> scalar("_npi_boolean_mask_assign_scalar");
  scalar.doc("The array with a number everywhere where a mask is not zero.")
      .input("data", "The array.")
      .input("mask", "The mask, over some axes of data.")
      .param("value", &MaskAssignParams::value, 0.0f, "The number.")
      .type_text("float")
      .param("start_axis", &MaskAssignParams::start_axis, 0, "The first axis of the mask.")
      .type_text("int")
      .lenient()
      .inplace(0, 0)
      .infer(infer_assign)
      .cpu(assign_scalar_cpu)
      .zero_grad();
  OpBuilder<MaskAssignParams> tensor("_npi_boolean_mask_assign_tensor");
  tensor.doc("The array with other values where a mask is not zero.")
      .input("data", "The array.")
      .input("mask", "The mask, over some axes of data.")
      .input("value", "The values, in the order of the selection; they may broadcast.")
      .param("start_axis", &MaskAssignParams::start_axis, 0, "The first axis of the mask.")
      .type_text("int")
      .lenient()
      .inplace(0, 0)
      .infer(infer_assign)
      .cpu(assign_tensor_cpu)
      .zero_grad();
  return mark_portable({"_npi_boolean_mask_assign_scalar"}) &&
         mark_portable_waiting({"_npi_boolean_mask_assign_tensor"});
}
[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
