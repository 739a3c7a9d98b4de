// SPDX-License-Identifier: Apache-2.0
// Assignment to slices: a copy of the array whose box has other values. In place where the output
// is the input.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "op/index/slice_params.h"
#include "op/run/gpu.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/single_shape.h"

namespace mxnet {

SliceBox slice_box(const SliceParams& params, const Shape& data) {
  const std::size_t n = params.begin.size();
  if (n != params.end.size() || static_cast<int>(n) > data.ndim() ||
      (!params.step.empty() && params.step.size() != n)) {
    throw Error(
        ErrorCode::kValue,
        fmt::format("given {} begins, {} ends and {} steps for an array of shape {}, "
                    "expected equally many and at most {}",
                    n, params.end.size(), params.step.size(), to_string(data), data.ndim()));
  }
  SliceBox box(data);
  for (std::size_t i = 0; i < n; ++i) {
    const int64_t step = params.step.empty() ? 1 : params.step[i].value_or(1);
    if (step == 0) throw Error(ErrorCode::kValue, "given step 0, expected a step other than 0");
    const int axis = static_cast<int>(i);
    box.set(axis, python_range(params.begin[i], params.end[i], step, data[axis]));
  }
  return box;
}

namespace {

// Bytes that stay in the second-level cache between their copy and what is written over it.
constexpr int64_t kTogether = 128 << 10;

// Output 0 becomes input 0, and write(box, elements of the whole one before it) is called for parts
// that make up the box, each of them when what lies below it has been copied.
void copy_around(const SliceBox& box, KernelContext& context,
                 const std::function<void(const SliceBox&, int64_t)>& write) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const Shape& shape = out.shape();
  if (out.size() == 0) return;
  if (in.data == out.data || box.shape() == shape) return write(box, 0);
  const auto bytes = static_cast<int64_t>(dtype_size(out.dtype));
  if (gpu_table(context) != nullptr || !box.steps_forward()) {
    copy_memory(context, in.data, out.data, static_cast<std::size_t>(out.size() * bytes));
    return write(box, 0);
  }
  const int i = box.outermost();
  const int64_t row = shape.size(i + 1, shape.ndim()) * bytes;
  const int64_t together = std::max<int64_t>(kTogether / std::max<int64_t>(row, 1), 1);
  parallel_for(
      shape[i], cost_of_moving(2.0 * static_cast<double>(row)),
      [&](int64_t begin, int64_t end) {
        for (int64_t first = begin; first < end; first += together) {
          const int64_t last = std::min(end, first + together);
          std::memcpy(out.as<char>() + first * row, in.as<const char>() + first * row,
                      static_cast<std::size_t>((last - first) * row));
          const SliceBox::Part part = box.part(first, last);
          write(part.box, part.skipped);
        }
      },
      1);
}

void slice_assign_cpu(const SliceParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const std::size_t bytes = dtype_size(out.dtype);
  copy_around(slice_box(params, out.shape()), context, [&](const SliceBox& box, int64_t skipped) {
    const char* const values = context.in(1).as<const char>();
    box.write(out.data, values + static_cast<std::size_t>(skipped) * bytes, bytes, context);
  });
}

void slice_assign_scalar_cpu(const SliceParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const std::size_t bytes = dtype_size(out.dtype);
  const Tensor value{context.workspace(bytes), &single_shape(), out.dtype};
  fill_tensor(context, value, params.scalar);
  copy_around(slice_box(params, out.shape()), context, [&](const SliceBox& box, int64_t) {
    box.fill(out.data, value.data, bytes, context);
  });
}

void infer_assign(const SliceParams& params, Infer& infer) {
  infer.in(0).same_shape(infer.out(0));
  infer.one_dtype();
  if (infer.in(0).known() && infer.num_in() > 1)
    infer.in(1).set_shape(slice_box(params, infer.in(0).shape()).shape());
}

bool define() {
  OpBuilder<SliceParams> arrays("_slice_assign");
  arrays.alias("_crop_assign").alias("_npi_slice_assign");
  arrays.doc("The array with another in place of a slice.")
      .input("lhs", "The array.")
      .input("rhs", "What comes in place of the slice.");
  add_slice_params(arrays);
  arrays.inplace(0, 0).infer(infer_assign).cpu(slice_assign_cpu);

  OpBuilder<SliceParams> scalar("_slice_assign_scalar");
  scalar.alias("_crop_assign_scalar").alias("_npi_slice_assign_scalar");
  scalar.doc("The array with a number everywhere in a slice.")
      .input("data", "The array.")
      .param("scalar", &SliceParams::scalar, 0.0, "The number.");
  add_slice_params(scalar);
  scalar.inplace(0, 0).infer(infer_assign).cpu(slice_assign_scalar_cpu);
  return mark_portable({"_slice_assign", "_slice_assign_scalar"});
}
[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
