// SPDX-License-Identifier: Apache-2.0
// _npi_average: the mean of elements that count by weights, and the sum of the weights.
#include "op/reduce/average.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/reduce/gradients.h"
#include "op/reducing/reduce_engine.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_npi_average";

void infer_average(const AverageParams& params, Infer& infer) {
  InferArg a = infer.in(0);
  infer.one_dtype();
  if (!a.rank_known()) return;
  const Shape shape = params.choice().shape(a.shape(), kTag);
  infer.out(0).set_shape(shape);
  if (!params.weighted) {
    infer.out(1).set_shape(Shape::scalar());
    return;
  }
  InferArg weights = infer.in(1);
  if (weights.rank_known() && is_list(a.shape(), weights.shape())) {
    if (!params.axis || params.axis->ndim() != 1)
      infer.fail("given a list of weights, expected one axis that they belong to");
    weights.set_dim(0, a.dim(infer.axis((*params.axis)[0], a)));
    infer.out(1).set_shape(Shape::scalar());
  } else {
    a.same_shape(weights);
    infer.out(1).set_shape(shape);
  }
}

// Where the weight of each element of `a` is.
class WeightIndex {
 public:
  WeightIndex(const AverageParams& params, const Shape& a, const Shape& weights) {
    if (!is_list(a, weights)) return;
    const int axis = normalize_axis((*params.axis)[0], a.ndim(), kTag);
    size_ = a[axis];
    inner_ = a.size(axis + 1, a.ndim());
  }
  int64_t operator()(int64_t element) const {
    return size_ == 0 ? element : element / inner_ % size_;
  }

 private:
  int64_t size_ = 0, inner_ = 1;  // of a list
};

// In which type elements of T are weighed and summed: integers as `mean` sums them, exactly but for
// the low bits of what int64 does not hold.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

// The sum of elements along `axes`.
template <class A>
void sum_into(const Tensor& in, AxisSet axes, A* sums) {
  reduce<A>(Reduction::sum, in, ReducePlan(in.shape(), axes),
            [&](int64_t first, const A* part, int64_t n) { std::copy_n(part, n, sums + first); });
}

template <class T, class A>
[[gnu::noinline]] void multiply(const T* a, const T* weights, int64_t n, A* products) {
  for (int64_t i = 0; i < n; ++i)
    products[i] = row_math::multiply(static_cast<A>(a[i]), static_cast<A>(weights[i]));
}

// products[i] = element i of `a` times its weight; a list has one for each place along an axis.
template <class T, class A>
void weigh(const AverageParams& params, const Tensor& a, const Tensor& w, A* products) {
  const auto *values = a.as<const T>(), *const weights = w.as<const T>();
  const int64_t size = a.size();
  if (!is_list(a.shape(), w.shape())) return multiply(values, weights, size, products);
  const int axis = normalize_axis((*params.axis)[0], a.ndim(), kTag);
  const int64_t count = w.size(), inner = a.shape().size(axis + 1, a.ndim());
  for (int64_t at = 0; at < size;) {
    if (inner == 1) {  // the list itself is a row
      multiply(values + at, weights, count, products + at);
      at += count;
      continue;
    }
    for (int64_t j = 0; j < count; ++j, at += inner)
      for (int64_t i = at; i < at + inner; ++i)
        products[i] = row_math::multiply(static_cast<A>(values[i]), static_cast<A>(weights[j]));
  }
}

// Of types with loops of their own; others are converted to the wider one first.
constexpr DTypeSet kWeighed =
    DTypeSet::of(DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64);

template <class T>
void weighted_average(const AverageParams& params, AxisSet axes, const Tensor& a, const Tensor& w,
                      KernelContext& context) {
  using A = SumOf<T>;
  const Tensor &out = context.out(0), &weight_sum = context.out(1);
  const auto room = [&](int64_t n) { return context.workspace_of<A>(std::max<int64_t>(n, 1)); };
  A *products = room(a.size()), *sums = room(out.size()), *totals = room(out.size());
  if (is_list(a.shape(), w.shape())) {
    const auto* const weights = w.as<const T>();
    std::fill_n(totals, out.size(),
                std::accumulate(weights, weights + w.size(), A(0), row_math::plus<A>));
  } else {
    sum_into(w, axes, totals);
  }
  weigh<T>(params, a, w, products);
  sum_into({products, a.shape_ptr, dtype_of<A>}, axes, sums);
  for (int64_t o = 0; o < out.size(); ++o) sums[o] = row_math::quotient(sums[o], totals[o]);
  convert_tensor({sums, out.shape_ptr, dtype_of<A>}, out, context);
  if (weight_sum.size() <= out.size())
    convert_tensor({totals, weight_sum.shape_ptr, dtype_of<A>}, weight_sum, context);
}

void average_cpu(const AverageParams& params, KernelContext& context) {
  const Tensor &a = context.in(0), &out = context.out(0), &weight_sum = context.out(1);
  const AxisSet axes = params.choice().axes(a.ndim(), kTag);
  if (params.weighted) {
    const DType type = kWeighed.contains(a.dtype) ? a.dtype
                       : is_integer(a.dtype)      ? DType::kInt32
                                                  : DType::kFloat32;
    const Tensor values = as_type(a, type, context), w = as_type(context.in(1), type, context);
    return dispatch_dtype<kWeighed>(type, kTag, [&]<class T>(TypeTag<T>) {
      weighted_average<T>(params, axes, values, w, context);
    });
  }
  dispatch_dtype<kNumeric>(a.dtype, kTag, [&]<class T>(TypeTag<T>) {
    using A = SumOf<T>;
    const auto n = static_cast<A>(reduced_count(a.shape(), axes));
    reduce<A>(Reduction::sum, a, ReducePlan(a.shape(), axes),
              [&](int64_t first, const A* part, int64_t count) {
                for (int64_t i = 0; i < count; ++i)
                  out.as<T>()[first + i] = convert<T>(row_math::quotient(part[i], n));
              });
    *weight_sum.as<T>() = convert<T>(n);
  });
}

// Inputs: gradients of average and sum of weights, both outputs, a, weights. With w the weight of
// an element: da = dy w / sum, dw = dy (a - average) / sum + dsum. In doubles, whatever the type.
void average_back_cpu(const AverageParams& params, KernelContext& context) {
  const Tensor &like = context.in(3), &w = context.in(4);
  const AxisSet axes = params.choice().axes(like.ndim(), kTag);
  const bool list = is_list(like.shape(), w.shape());
  const ReducePlan plan(like.shape(), axes);
  const WeightIndex index(params, like.shape(), w.shape());
  const auto doubles_of = [&](int i) {
    return as_type(context.in(i), DType::kFloat64, context).as<const double>();
  };
  const auto doubles = [&](int64_t n) {
    return context.workspace_of<double>(std::max<int64_t>(n, 1));
  };
  const double *const dy = doubles_of(0), *const average = doubles_of(1),
                      *const sum = doubles_of(2);
  const double *const a = doubles_of(3), *const weights = doubles_of(4);
  const double* const dsum = params.returned ? doubles_of(5) : nullptr;
  double *const da = doubles(like.size()), *const dw = doubles(w.size());
  std::fill_n(dw, w.size(), 0.0);
  for (int64_t kept = 0; kept < plan.kept().positions(); ++kept) {
    for (int64_t r = 0; r < plan.reduced().positions(); ++r) {
      const int64_t base = plan.kept().offset(kept) + plan.reduced().offset(r);
      for (int64_t i = 0; i < plan.run(); ++i) {
        const int64_t at = base + i, output = plan.inner_reduced() ? kept : kept * plan.run() + i;
        const double g = dy[output] / sum[list ? 0 : output];
        const int64_t place = index(at);
        da[at] = g * weights[place];
        dw[place] += g * (a[at] - average[output]) + (list || dsum == nullptr ? 0.0 : dsum[output]);
      }
    }
  }
  const double direct = list && dsum != nullptr ? dsum[0] : 0.0;
  for (int64_t i = 0; i < w.size(); ++i) dw[i] += direct;
  convert_tensor({da, like.shape_ptr, DType::kFloat64}, context.out(0), context);
  convert_tensor({dw, w.shape_ptr, DType::kFloat64}, context.out(1), context);
}

OpBuilder<AverageParams> declare(const char* name, const char* doc) {
  OpBuilder<AverageParams> op(name);
  op.doc(doc)
      .param("axis", &AverageParams::axis, std::optional<Shape>(),
             "Axes to reduce; all, if none is given.")
      .param("returned", &AverageParams::returned, false,
             "Whether the sum of the weights is returned too.")
      .param("weighted", &AverageParams::weighted, true, "Whether there are weights.")
      .outputs([](const AverageParams&) { return 2; })
      .dtypes(kNumeric);
  return op;
}

Attrs average_attrs(const AverageParams& params) {
  Attrs attrs;
  if (params.axis) attrs.emplace_back("axis", ParamText<Shape>::print(*params.axis));
  return attrs;
}

[[maybe_unused]] const bool defined = [] {
  declare("_npi_average", "Weighted mean over axes.")
      .input("a", "The array.")
      .input("weights", "Of the shape of the array, or a list along the reduced axis.")
      .num_inputs([](const AverageParams& params) { return params.weighted ? 2 : 1; })
      .visible_outputs([](const AverageParams& params) { return params.returned ? 2 : 1; })
      .infer(infer_average)
      .cpu(average_cpu)
      .grad([](const AverageParams& params, Grad& grad) {
        if (!params.weighted) return mean_gradient(params.choice(), grad);
        std::vector<Value> inputs{grad.dout(0), grad.out(0), grad.out(1), grad.in(0), grad.in(1)};
        Attrs attrs = average_attrs(params);
        if (grad.has_dout(1)) {
          inputs.push_back(grad.dout(1));
          attrs.emplace_back("returned", "True");
        }
        const Value first = apply("_backward_np_average", inputs, std::move(attrs));
        return Gradients{first, output(first, 1)};
      });
  declare("_backward_np_average", "Gradient of _npi_average.")
      .input("head_grad", "Gradient of the average.")
      .input("average", "The average.")
      .input("sum", "The sum of weights.")
      .input("a", "The array.")
      .input("weights", "The weights.")
      .input("head_grad_sum", "Gradient of the sum of weights, with `returned`.")
      .num_inputs([](const AverageParams& params) { return params.returned ? 6 : 5; })
      .infer([](const AverageParams& params, Infer& infer) {
        AverageParams forward = params;
        forward.weighted = true;
        infer.one_dtype();
        infer.follow(infer_average, forward, {infer.in(3), infer.in(4)},
                     {infer.in(1), infer.in(2)});
        infer.in(0).same_shape(infer.in(1));
        if (params.returned) infer.in(5).same_shape(infer.in(2));
        infer.out(0).same_shape(infer.in(3));
        infer.out(1).same_shape(infer.in(4));
      })
      .cpu(average_back_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
