// SPDX-License-Identifier: Apache-2.0
// sort, argsort and topk: the best elements of each row go to whoever wants their values, their
// positions or both.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/order/row_order.h"
#include "op/reducing/arg_positions.h"
#include "op/run/adding.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

void visit_rows(const AxisRows& rows, const Tensor& in, const KernelContext& context,
                const VisitPositions& visit) {
  if (in.size() == 0) return;
  dispatch_dtype(in.dtype, "topk", [&]<class T>(TypeTag<T>) {
    RowOrder<T>(rows, in.as<T>(), context).positions(visit);
  });
}

// ---- parameters and shapes ---------------------------------------------------------------------

enum class Return : uint8_t { kValue, kIndices, kMask, kBoth };

struct OrderParams {
  std::optional<int32_t> axis;
  int32_t k = 0;  // 0 and below: all
  Return ret_typ = Return::kIndices;
  bool is_ascend = true;
  DType dtype = DType::kFloat32;
};

AxisRows rows_of(const OrderParams& params, const Shape& shape) {
  AxisRows rows;
  rows.ascending = params.is_ascend;
  if (params.axis) {
    const int axis = normalize_axis(*params.axis, shape.ndim(), "topk");
    rows.outer = shape.size(0, axis);
    rows.n = shape[axis];
    rows.inner = shape.size(axis + 1, shape.ndim());
  } else {
    rows.n = shape.size();
  }
  if (rows.n >= int64_t{1} << 32)
    throw Error(ErrorCode::kValue, "given an axis of 2^32 or more elements, expected fewer");
  rows.k = params.k < 1 ? rows.n : params.k;
  return rows;
}

Shape taken_shape(const OrderParams& params, Infer& infer) {
  const Shape& shape = infer.in(0).shape();
  if (!shape.rank_known()) return Shape();
  if (!params.axis) {
    if (!shape.known()) return Shape::unknown(1);
    const int64_t n = shape.size();
    if (params.k > n) infer.in(0).fail("at least k=" + std::to_string(params.k) + " elements");
    return Shape{params.k < 1 ? n : params.k};
  }
  Shape result = shape;
  int64_t& n = result[infer.axis(*params.axis, infer.in(0))];
  if (n >= 0 && params.k > n) {
    infer.in(0).fail("at least k=" + std::to_string(params.k) + " elements along axis " +
                     std::to_string(*params.axis));
  }
  if (params.k >= 1) n = params.k;
  return result;
}

// ---- kernels -----------------------------------------------------------------------------------

void clear(KernelContext& context, const Tensor& out) {
  clear_memory(context, out.data, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
}

GpuOrder on_gpu(const AxisRows& rows, const Tensor& in) {
  return {rows.outer, rows.n, rows.inner, rows.k, rows.ascending, in};
}

// fn(source, target, position) for elements [first, last) of those taken: where each is in the
// array and among those that are taken. Compiled once for all callers.
template <class F>
[[gnu::noinline]] void some_taken(const TakenPositions& taken, int64_t inner, int64_t first,
                                  int64_t last, const F& fn) {
  for (int64_t i = first; i < last; ++i) {
    for (int64_t j = 0; j < taken.width; ++j) {
      const int64_t at = taken.at[j * taken.pitch + i];
      fn(taken.from + j + at * inner, taken.to + j + i * inner, at);
    }
  }
}

// The same for all that are taken. Shared among threads where a row is alone.
template <class F>
void each_taken(const AxisRows& rows, const TakenPositions& taken, const F& fn) {
  constexpr double kCost = 4.0;   // elementary operations: memory is met in no order
  constexpr int64_t kShort = 64;  // there may be many: asking for threads would take longer
  if (rows.inner == 1 && taken.width > 1) {  // in the order in which they lie
    TakenPositions row = taken;
    row.width = 1;
    for (int64_t j = 0; j < taken.width; ++j, row.at += row.pitch) {
      some_taken(row, 1, 0, rows.k, fn);
      row.from += rows.n;
      row.to += rows.k;
    }
    return;
  }
  if (rows.k <= kShort) return some_taken(taken, rows.inner, 0, rows.k, fn);
  parallel_for(rows.k, kCost * static_cast<double>(taken.width), [&](int64_t first, int64_t last) {
    some_taken(taken, rows.inner, first, last, fn);
  });
}

// Rows of which the best element alone is wanted, which takes no order.
bool are_for_best(const AxisRows& rows, const Tensor& in) {
  return rows.k == 1 && rows.n > 1 && in.size() > 0;
}

// The places of those in the array; their positions in the rows as well, unless null. None where
// the smallest ones are wanted and one found is NaN, the last in order.
std::optional<Positions> best_places(const AxisRows& rows, const Tensor& in,
                                     const Tensor* positions, const Shape& line,
                                     KernelContext& context) {
  const Tensor best{context.workspace_of<int64_t>(line[0]), &line, DType::kInt64};
  find_positions(!rows.ascending, {rows.outer, rows.n, rows.inner}, in, best, "topk");
  if (positions != nullptr)
    convert_tensor({best.data, positions->shape_ptr, DType::kInt64}, *positions, context);
  auto* at = best.as<int64_t>();
  for (int64_t o = 0; o < rows.outer; ++o)
    for (int64_t i = 0; i < rows.inner; ++i, ++at) *at = (o * rows.n + *at) * rows.inner + i;
  const Positions places(best, in.size(), OutOfRange::kClip, "topk");
  if (rows.ascending && !is_integer(in.dtype)) {
    const auto width = static_cast<int64_t>(dtype_size(in.dtype));
    const Tensor values{context.workspace_of<char>(line[0] * width), &line, in.dtype};
    gather_rows(in.data, 1, in.size(), width, places, values.data, context);
    const Tensor numbers = as_type(values, DType::kFloat64, context);
    const auto* const first = numbers.as<double>();
    if (std::any_of(first, first + line[0], [](double x) { return std::isnan(x); })) return {};
  }
  return places;
}

// Values, positions and mask of the best elements. Whether they are found alone.
bool take_best(const AxisRows& rows, KernelContext& context, const Tensor* values,
               const Tensor* positions, const Tensor* mask) {
  const Tensor& in = context.in(0);
  const auto width = static_cast<int64_t>(dtype_size(in.dtype));
  const Shape line{rows.outer * rows.inner};
  const auto places = best_places(rows, in, positions, line, context);
  if (!places) return false;
  if (values != nullptr) gather_rows(in.data, 1, in.size(), width, *places, values->data, context);
  if (mask != nullptr) {
    const Tensor ones{context.workspace_of<char>(line[0] * width), &line, mask->dtype};
    fill_tensor(context, ones, 1.0);
    put_rows(ones.data, width, *places, mask->data, context);
  }
  return true;
}

// Values, positions and mask; null where not wanted.
void order(const AxisRows& rows, KernelContext& context, const Tensor* values,
           const Tensor* positions, const Tensor* mask) {
  const Tensor& in = context.in(0);
  if (rows.n == 1 && mask == nullptr) {  // in order as they are
    if (values != nullptr)
      copy_memory(context, in.data, values->data,
                  static_cast<std::size_t>(in.size()) * dtype_size(in.dtype));
    if (positions != nullptr) clear(context, *positions);
    return;
  }
  if (mask != nullptr) clear(context, *mask);
  if (const GpuTable* gpu = gpu_table(context)) {
    GpuOrder call = on_gpu(rows, in);
    call.from = &in;
    call.taken = values;
    call.positions = positions;
    call.mask = mask;
    return gpu->order(context.stream()->native(), call, context);
  }
  if (are_for_best(rows, in) && take_best(rows, context, values, positions, mask)) return;
  if (in.size() > 0 && positions == nullptr && mask == nullptr && rows.k == rows.n) {
    return dispatch_dtype(in.dtype, "sort", [&]<class T>(TypeTag<T>) {
      RowOrder<T>(rows, in.as<T>(), context).values(values->as<T>());
    });
  }
  visit_rows(rows, in, context, [&](const TakenPositions& taken) {
    if (values != nullptr) {
      dispatch_size(in.dtype, [&]<class T>(T) {
        each_taken(rows, taken,
                   [from = in.as<T>(), to = values->as<T>()](
                       int64_t source, int64_t target, int64_t) { to[target] = from[source]; });
      });
    }
    if (positions != nullptr) {
      dispatch_dtype(positions->dtype, "topk", [&]<class Index>(TypeTag<Index>) {
        each_taken(rows, taken, [to = positions->as<Index>()](int64_t, int64_t target, int64_t at) {
          to[target] = convert<Index>(at);
        });
      });
    }
    if (mask != nullptr) {
      dispatch_dtype(mask->dtype, "topk", [&]<class T>(TypeTag<T>) {
        each_taken(rows, taken, [&](int64_t source, int64_t, int64_t) {
          mask->as<T>()[source] = convert<T>(1);
        });
      });
    }
  });
}

void topk_cpu(const OrderParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const AxisRows rows = rows_of(params, in.shape());
  const Tensor* first = &context.out(0);
  switch (params.ret_typ) {
    case Return::kValue:
      return order(rows, context, first, nullptr, nullptr);
    case Return::kIndices:
      return order(rows, context, nullptr, first, nullptr);
    case Return::kMask:
      return order(rows, context, nullptr, nullptr, first);
    case Return::kBoth:
      return order(rows, context, first, &context.out(1), nullptr);
  }
}

// Scatter: dx is zero but where an element was taken. Gather: its reverse. Inputs: values, data.
template <bool scatter>
void move_cpu(const OrderParams& params, KernelContext& context) {
  const Tensor &values = context.in(0), &data = context.in(1), &out = context.out(0);
  const AxisRows rows = rows_of(params, data.shape());
  if (scatter) clear(context, out);
  if (const GpuTable* gpu = gpu_table(context)) {
    GpuOrder call = on_gpu(rows, data);
    (scatter ? call.given : call.from) = &values;
    (scatter ? call.scattered : call.taken) = &out;
    return gpu->order(context.stream()->native(), call, context);
  }
  if (are_for_best(rows, data)) {
    const Shape line{rows.outer * rows.inner};
    if (const auto places = best_places(rows, data, nullptr, line, context)) {
      const auto width = static_cast<int64_t>(dtype_size(data.dtype));
      return scatter ? put_rows(values.data, width, *places, out.data, context)
                     : gather_rows(values.data, 1, data.size(), width, *places, out.data, context);
    }
  }
  visit_rows(rows, data, context, [&](const TakenPositions& taken) {
    dispatch_size(data.dtype, [&]<class T>(T) {
      const T* in = values.as<T>();
      each_taken(rows, taken, [&](int64_t source, int64_t target, int64_t) {
        scatter ? out.as<T>()[source] = in[target] : out.as<T>()[target] = in[source];
      });
    });
  });
}

// dx += the values, where the elements were taken.
void adding_scatter_cpu(const OrderParams& params, KernelContext& context) {
  const Tensor &values = context.in(0), &data = context.in(1), &out = context.out(0);
  const AxisRows rows = rows_of(params, data.shape());
  visit_rows(rows, data, context, [&](const TakenPositions& taken) {
    dispatch_dtype(out.dtype, "topk", [&]<class T>(TypeTag<T>) {
      using C = ComputeType<T>;
      each_taken(rows, taken, [&](int64_t source, int64_t target, int64_t) {
        T& sum = out.as<T>()[source];
        sum = static_cast<T>(static_cast<C>(sum) + static_cast<C>(values.as<T>()[target]));
      });
    });
  });
}

// ---- operators ---------------------------------------------------------------------------------

Attrs order_attrs(const OrderParams& params) {
  return {{"axis", ParamText<std::optional<int32_t>>::print(params.axis)},
          {"k", std::to_string(params.k)},
          {"is_ascend", params.is_ascend ? "True" : "False"}};
}

Gradients value_gradient(const OrderParams& params, Grad& grad) {
  if (params.ret_typ == Return::kIndices || params.ret_typ == Return::kMask) return {Value()};
  return {apply("_backward_topk", {grad.dout(0), grad.in(0)}, order_attrs(params))};
}

void infer_taken(const OrderParams& params, Infer& infer) {
  infer.out(0).set_shape(taken_shape(params, infer));
}

template <bool scatter>
bool define_move(const char* name, const char* back) {
  static const char* other;
  other = back;
  OpBuilder<OrderParams>(name)
      .doc(scatter ? "Puts values where topk has taken elements of `data`; zero elsewhere."
                   : "Takes values from where topk takes elements of `data`.")
      .input("values", "The values.")
      .input("data", "The array that decides about the order.")
      .param("axis", &OrderParams::axis, std::optional<int32_t>(-1), "The axis, or None.")
      .param("k", &OrderParams::k, 0, "Number of elements; all, if it is below 1.")
      .param("is_ascend", &OrderParams::is_ascend, true, "Whether the smallest come first.")
      .infer([](const OrderParams& params, Infer& infer) {
        infer.one_dtype();
        InferArg taken = scatter ? infer.in(0) : infer.out(0);
        infer.follow(infer_taken, params, {infer.in(1)}, {taken});
        (scatter ? infer.out(0) : infer.in(0)).same_shape(infer.in(1));
      })
      .cpu(move_cpu<scatter>)
      .grad([](const OrderParams& params, Grad& grad) {
        return Gradients{apply(other, {grad.dout(0), grad.in(1)}, order_attrs(params)), Value()};
      });
  return true;
}
[[maybe_unused]] const bool moves = define_move<true>("_backward_topk", "_topk_take") &&
                                    define_move<false>("_topk_take", "_backward_topk");

constexpr DTypeSet kIndexTypes = DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64,
                                              DType::kUInt8, DType::kInt32, DType::kInt64);

MX_OP(topk, OrderParams)
.doc("The k largest or smallest elements along an axis, in order; of equal ones the first.")
    .alias("_npx_topk")
    .input("data", "The array.")
    .param("axis", &OrderParams::axis, std::optional<int32_t>(-1),
           "The axis; None orders the flattened array.")
    .param("k", &OrderParams::k, 1, "Number of elements; all, if it is below 1.")
    .choice<Return>("ret_typ", &OrderParams::ret_typ,
                    {{"value", Return::kValue},
                     {"indices", Return::kIndices},
                     {"mask", Return::kMask},
                     {"both", Return::kBoth}},
                    "indices",
                    "What is returned: values, positions, both, or an array of the shape of `data` "
                    "that is 1 where an element was taken.")
    .param("is_ascend", &OrderParams::is_ascend, false, "Whether the smallest are taken.")
    .dtype_param("dtype", &OrderParams::dtype, kIndexTypes, false, "float32", "Type of positions.")
    .outputs([](const OrderParams& params) { return params.ret_typ == Return::kBoth ? 2 : 1; })
    // As in 1.x, where values have their positions beside them, seen or not.
    .output_name([](const OrderParams& params, int i) -> std::string {
      const bool numbered = params.ret_typ == Return::kBoth || params.ret_typ == Return::kValue;
      return numbered ? "output" + std::to_string(i) : "output";
    })
    .dtypes(kNumeric)
    .infer([](const OrderParams& params, Infer& infer) {
      const Shape shape = taken_shape(params, infer);
      if (params.ret_typ == Return::kMask) {
        infer.out(0).same_as(infer.in(0));
        return;
      }
      infer.out(0).set_shape(shape);
      if (params.ret_typ == Return::kIndices) {
        infer.out(0).set_dtype(params.dtype);
        return;
      }
      infer.out(0).same_dtype(infer.in(0));
      if (params.ret_typ == Return::kBoth) infer.out(1).set_shape(shape).set_dtype(params.dtype);
    })
    .cpu(topk_cpu)
    .grad(value_gradient);

MX_OP(sort, OrderParams)
.doc("The elements along an axis in order.")
    .alias("_npi_sort")
    .input("data", "The array.")
    .output("output0")
    .param("axis", &OrderParams::axis, std::optional<int32_t>(-1),
           "The axis; None sorts the flattened array.")
    .param("is_ascend", &OrderParams::is_ascend, true, "Whether the smallest come first.")
    .infer([](const OrderParams& params, Infer& infer) {
      infer.one_dtype();
      infer.out(0).set_shape(taken_shape(params, infer));
    })
    .cpu([](const OrderParams& params, KernelContext& context) {
      order(rows_of(params, context.in(0).shape()), context, &context.out(0), nullptr, nullptr);
    })
    .grad([](const OrderParams& params, Grad& grad) {
      return Gradients{apply("_backward_topk", {grad.dout(0), grad.in(0)}, order_attrs(params))};
    });

MX_OP(argsort, OrderParams)
.doc("Positions of the elements along an axis in order; equal elements keep theirs.")
    .alias("_npi_argsort")
    .input("data", "The array.")
    .param("axis", &OrderParams::axis, std::optional<int32_t>(-1),
           "The axis; None sorts the flattened array.")
    .param("is_ascend", &OrderParams::is_ascend, true, "Whether the smallest come first.")
    .dtype_param("dtype", &OrderParams::dtype, kIndexTypes, false, "float32", "Type of positions.")
    .infer([](const OrderParams& params, Infer& infer) {
      infer.out(0).set_dtype(params.dtype).set_shape(taken_shape(params, infer));
    })
    .cpu([](const OrderParams& params, KernelContext& context) {
      order(rows_of(params, context.in(0).shape()), context, nullptr, &context.out(0), nullptr);
    })
    .zero_grad();

[[maybe_unused]] const bool portable = [] {
  add_adding("_backward_topk", adding_scatter_cpu);
  return mark_portable({"topk", "sort", "argsort", "_backward_topk", "_topk_take"});
}();

}  // namespace
}  // namespace mxnet
