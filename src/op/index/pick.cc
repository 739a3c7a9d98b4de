// SPDX-License-Identifier: Apache-2.0
// One element of each line along an axis: pick, its gradient, and the older batch_take and
// fill_element_0index.
#include <fmt/format.h>

#include "base/error.h"
#include "op/moving/positions.h"
#include "op/op_builder.h"
#include "op/run/adding.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

struct PickParams {
  std::optional<int32_t> axis;
  bool keepdims;
  OutOfRange mode;
};

// fn(element of data, element of the picked) over all lines of `extent` elements, `inner` apart.
template <class F>
void for_picked(const Shape& data, int axis, const Positions& positions, const F& fn) {
  const int64_t extent = data[axis], inner = data.size(axis + 1, data.ndim());
  parallel_for(positions.count(), 4.0, [&](int64_t first, int64_t last) {
    for_blocks(positions, first, last, [&](int64_t start, const int64_t* at, int64_t n) {
      int64_t outer = start / inner, column = start % inner;
      for (int64_t i = 0; i < n; ++i) {
        fn((outer * extent + at[i]) * inner + column, start + i);
        if (++column == inner) {
          column = 0;
          ++outer;
        }
      }
    });
  });
}

void pick_from(const Tensor& data, const Positions& positions, int axis, const Tensor& out,
               const KernelContext& context) {
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->pick(context.stream()->native(), data, data.dim(axis),
                     data.shape().size(axis + 1, data.ndim()), positions.indices(),
                     positions.rule(), out);
  }
  dispatch_size(data.dtype, [&]<class W>(W) {
    for_picked(
        data.shape(), axis, positions,
        [from = data.as<const W>(), to = out.as<W>()](int64_t at, int64_t i) { to[i] = from[at]; });
  });
}

// Writes one element per line, once.
void put_into(const Tensor& values, const Positions& positions, int axis, const Tensor& out) {
  dispatch_size(out.dtype, [&]<class W>(W) {
    for_picked(out.shape(), axis, positions,
               [from = values.as<const W>(), to = out.as<W>()](int64_t at, int64_t i) {
                 to[at] = from[i];
               });
  });
}

// Adds to one element per line.
void add_into(const Tensor& values, const Positions& positions, int axis, const Tensor& out) {
  dispatch_dtype(out.dtype, "pick", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    for_picked(out.shape(), axis, positions,
               [from = values.as<const T>(), to = out.as<T>()](int64_t at, int64_t i) {
                 to[at] = static_cast<T>(static_cast<C>(to[at]) + static_cast<C>(from[i]));
               });
  });
}

int pick_axis(const PickParams& params, int ndim) {
  return normalize_axis(params.axis.value_or(-1), ndim, "pick");
}
// Those of `index` along that axis of `whole`.
Positions pick_positions(const PickParams& params, const Tensor& whole, const Tensor& index) {
  return {index, whole.dim(pick_axis(params, whole.ndim())), params.mode, "pick"};
}

void pick_cpu(const PickParams& params, KernelContext& context) {
  const Tensor& data = context.in(0);
  pick_from(data, pick_positions(params, data, context.in(1)), pick_axis(params, data.ndim()),
            context.out(0), context);
}

// Inputs: gradient, data for its shape, index.
void backward_pick_cpu(const PickParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  clear_memory(context, out.data, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  if (const GpuTable* gpu = gpu_table(context)) {
    const int axis = pick_axis(params, out.ndim());
    return gpu->put(context.stream()->native(), context.in(0), out.dim(axis),
                    out.shape().size(axis + 1, out.ndim()), context.in(2), params.mode, out);
  }
  put_into(context.in(0), pick_positions(params, out, context.in(2)), pick_axis(params, out.ndim()),
           out);
}

void adding_pick_cpu(const PickParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  add_into(context.in(0), pick_positions(params, out, context.in(2)), pick_axis(params, out.ndim()),
           out);
}

void infer_pick(const PickParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  if (!params.axis) infer.fail("given axis None, expected an axis");
  const InferArg data = infer.in(0), index = infer.in(1);
  if (!data.rank_known()) return;
  const int axis = infer.axis(*params.axis, data);
  Shape kept = data.shape(), dropped = Shape::scalar();
  kept[axis] = 1;
  for (int i = 0; i < data.ndim(); ++i)
    if (i != axis) dropped.push_back(data.dim(i));
  // Without NumPy's shapes none would be an unknown one. The position may be a scalar, though.
  if (dropped.ndim() == 0 && index.ndim() != 0) dropped = kept;
  infer.in(1).set_shape(index.rank_known() && index.ndim() == data.ndim() ? kept : dropped);
  infer.out(0).set_shape(params.keepdims ? kept : dropped);
}

void infer_backward(const PickParams& params, Infer& infer) {
  infer.follow(infer_pick, params, {infer.in(1), infer.in(2)}, {infer.in(0)});
  infer.out(0).same_as(infer.in(1));
  infer.in(0).same_dtype(infer.out(0));
}

void add_params(OpBuilder<PickParams>& op) {
  op.param("axis", &PickParams::axis, -1, "The axis; negative ones count from the last.")
      .param("keepdims", &PickParams::keepdims, false, "Whether the axis stays, with length 1.")
      .choice("mode", &PickParams::mode, {{"clip", OutOfRange::kClip}, {"wrap", OutOfRange::kWrap}},
              "clip", "What to do with positions out of range: take the nearest, or count around.");
}

bool define_pick() {
  OpBuilder<PickParams> op("pick");
  op.alias("_npx_pick").alias("choose_element_0index");
  op.doc("The element at a position of each line along an axis.")
      .input("data", "The array.")
      .input("index", "One position per line, of any type.");
  add_params(op);
  op.infer(infer_pick).cpu(pick_cpu).grad([](const PickParams&, Grad& grad) {
    if (!grad.wants(0)) return Gradients(2);
    return Gradients{apply("_backward_pick", {grad.dout(0), grad.in(0), grad.in(1)}, grad.attrs()),
                     Value()};
  });
  OpBuilder<PickParams> backward("_backward_pick");
  backward.doc("Puts elements to where pick has found them, into zeros.")
      .input("head_grad", "Gradient of the output.")
      .input("data", "Its shape is that of the result.")
      .input("index", "The positions.")
      .type_only(1);
  add_params(backward);
  backward.infer(infer_backward).cpu(backward_pick_cpu).grad([](const PickParams&, Grad& grad) {
    Gradients result(3);
    if (grad.wants(0)) result[0] = apply("pick", {grad.dout(0), grad.in(2)}, grad.attrs());
    return result;
  });
  add_adding("_backward_pick", adding_pick_cpu);
  return mark_portable({"pick", "_backward_pick"});
}
[[maybe_unused]] const bool defined_pick = define_pick();

MX_OP(batch_take, NoParams)
.doc("The element at a position of each row; pick is the newer form.")
    .input("a", "Rows.")
    .input("indices", "A position per row, int32.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_dtype(infer.out(0));
      infer.in(1).set_dtype(DType::kInt32);
      infer.in(0).set_shape(Shape::unknown(2));
      infer.in(1).same_shape(infer.out(0));
      if (infer.in(1).known() && infer.in(0).dim(0) >= 0 &&
          infer.in(1).shape().size() != infer.in(0).dim(0))
        infer.in(1).fail(fmt::format("{} elements", infer.in(0).dim(0)));
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor& rows = context.in(0);
      const Positions positions(context.in(1), rows.dim(1), OutOfRange::kClip, "batch_take");
      pick_from(rows, positions, 1, context.out(0), context);
    });
[[maybe_unused]] const bool portable_take = mark_portable({"batch_take"});

MX_OP(fill_element_0index, NoParams)
.doc("Rows with the value of `mhs` at the position in `rhs`.")
    .array_input("lhs", "Rows.")
    .array_input("mhs", "A value per row.")
    .array_input("rhs", "A position per row.")
    .lenient()
    .inplace(0, 0)
    .infer([](const NoParams&, Infer& infer) {
      infer.one_dtype();
      infer.in(0).set_shape(Shape::unknown(2)).same_shape(infer.out(0));
      for (int i = 1; i < 3; ++i) infer.in(i).set_shape({infer.in(0).dim(0)});
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor& in = context.in(0);
      const Tensor& out = context.out(0);
      copy_memory(context, in.data, out.data,
                  static_cast<std::size_t>(in.size()) * dtype_size(in.dtype));
      const Tensor& values = context.in(1);
      const Positions positions(context.in(2), out.dim(1), OutOfRange::kRaise,
                                "fill_element_0index");
      if (const GpuTable* gpu = gpu_table(context)) {
        // The host looks whether all are in range.
        const HostCopy host(context, positions.indices());
        for_blocks(positions.of(host.tensor()), 0, positions.count(),
                   [](int64_t, const int64_t*, int64_t) {});
        return gpu->put(context.stream()->native(), values, out.dim(1), 1, positions.indices(),
                        OutOfRange::kClip, out);
      }
      put_into(values, positions, 1, out);
    });
[[maybe_unused]] const bool portable_fill = mark_portable_waiting({"fill_element_0index"});

}  // namespace
}  // namespace mxnet
