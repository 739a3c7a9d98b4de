// SPDX-License-Identifier: Apache-2.0
// Kernels and operators that spread.
#include "op/reduce/spread.h"

#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/reducing/evaluate.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_backward_reduce";

// Elements of a run that one thread takes at a time.
constexpr int64_t kPiece = 16384;

template <Spread row, class T>
T received(T dy, T value, T element, int64_t n) {
  using C = ComputeType<T>;
  [[maybe_unused]] const C g = static_cast<C>(dy), y = static_cast<C>(value),
                           x = static_cast<C>(element);
#define MX_SPREAD_CASE(name, expression) \
  if constexpr (row == Spread::name) return convert<T>(static_cast<C>(expression));
  MX_SPREAD_ROWS(MX_SPREAD_CASE)
#undef MX_SPREAD_CASE
}

// Rows that look at g alone take null for y and x.
constexpr bool uses_values(Spread row) { return row != Spread::sum && row != Spread::mean; }
constexpr bool uses_y(Spread row) {
  return row == Spread::equal || row == Spread::ratio || row == Spread::nanratio ||
         row == Spread::direction;
}

// What a mean divides by. Of integers never 0, which floating numbers make infinite.
template <class T>
int64_t divisor(int64_t count) {
  return std::max<int64_t>(count, std::is_integral_v<T> ? 1 : 0);
}

template <Spread row, class T>
void run(const T* dy, const T* y, const T* x, const ReducePlan& plan, T* dx, int64_t ddof) {
  const int64_t length = plan.run(), pieces = (length + kPiece - 1) / kPiece;
  const int64_t rows = plan.reduced().positions(), n = divisor<T>(plan.extent() - ddof);
  const int64_t piece = std::min(length, kPiece);
  parallel_for(
      plan.kept().positions() * rows * pieces, static_cast<double>(piece),
      [&](int64_t first, int64_t last) {
        for (int64_t unit = first; unit < last; ++unit) {
          const int64_t start = unit % pieces * kPiece, count = std::min(kPiece, length - start);
          const int64_t kept = unit / pieces / rows, reduced = unit / pieces % rows;
          const int64_t at = plan.kept().offset(kept) + plan.reduced().offset(reduced) + start;
          const T* xs = uses_values(row) ? x + at : nullptr;
          T* to = dx + at;
          if (plan.inner_reduced()) {
            const T g = dy[kept], value = uses_y(row) ? y[kept] : T(0);
            for (int64_t i = 0; i < count; ++i)
              to[i] = received<row>(g, value, uses_values(row) ? xs[i] : T(0), n);
          } else {
            const T* g = dy + kept * length + start;
            const T* value = uses_y(row) ? y + kept * length + start : nullptr;
            for (int64_t i = 0; i < count; ++i) {
              to[i] = received<row>(g[i], uses_y(row) ? value[i] : T(0),
                                    uses_values(row) ? xs[i] : T(0), n);
            }
          }
        }
      },
      1);
}

}  // namespace

void check_reduced(const AxisChoice& choice, InferArg small, InferArg large) {
  if (!small.known() || !large.known()) return;
  const Shape &left = small.shape(), &shape = large.shape();
  const AxisSet axes = choice.axes(shape.ndim(), kTag);
  const auto refuse = [&] {
    small.fail("what the reduced axes leave of shape " + to_string(shape));
  };
  int at = 0;
  const auto skip_ones = [&] {
    while (at < left.ndim() && left[at] == 1) ++at;
  };
  for (int i = 0; i < shape.ndim(); ++i) {
    if ((axes >> i & 1) != 0 || shape[i] == 1) continue;
    skip_ones();
    if (at == left.ndim() || left[at] != shape[i]) refuse();
    ++at;
  }
  skip_ones();
  if (at < left.ndim()) refuse();
}

void spread(Spread row, const Tensor& dy, const Tensor* y, const Tensor* x, AxisSet axes,
            const Tensor& dx, KernelContext& context, int64_t ddof) {
  if (dx.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->spread(context.stream()->native(), static_cast<int>(row), dy, y, x, axes, dx, ddof);
  }
  const ReducePlan plan(dx.shape(), axes);
  dispatch_dtype(dx.dtype, "spread", [&]<class T>(TypeTag<T>) {
    const T* py = y == nullptr ? nullptr : y->as<T>();
    const T* px = x == nullptr ? nullptr : x->as<T>();
    switch (row) {
#define MX_SPREAD_RUN(name, ...) \
  case Spread::name:             \
    return run<Spread::name>(dy.as<T>(), py, px, plan, dx.as<T>(), ddof);
      MX_SPREAD_ROWS(MX_SPREAD_RUN)
#undef MX_SPREAD_RUN
    }
  });
}

namespace {

// Inputs: gradient of the output, the reduced array (its shape and type alone).
template <Spread row>
void plain_cpu(const SpreadParams& params, KernelContext& context) {
  const Tensor& dx = context.out(0);
  spread(row, as_type(context.in(0), dx.dtype, context), nullptr, nullptr,
         params.axes(dx.ndim(), kTag), dx, context, params.ddof);
}

// Inputs: gradient of the output, output, input.
template <Spread row>
void fused_cpu(const SpreadParams& params, KernelContext& context) {
  const Tensor& dx = context.out(0);
  const Tensor y = as_type(context.in(1), dx.dtype, context);
  spread(row, as_type(context.in(0), dx.dtype, context), &y, &context.in(2),
         params.axes(dx.ndim(), kTag), dx, context);
}

// The last input is the reduced array, of the type and shape of the result; others are of what it
// was reduced to.
void infer_spread(const SpreadParams& params, Infer& infer) {
  const int last = infer.num_in() - 1;
  infer.out(0).same_as(infer.in(last));
  for (int i = 0; i < last; ++i) check_reduced(params.choice(), infer.in(i), infer.in(last));
}
void infer_back(const SpreadParams& params, Infer& infer) {
  infer.out(0).same_as(infer.in(1));
  check_reduced(params.choice(), infer.in(1), infer.in(0));
}

OpBuilder<SpreadParams> declare(const char* name, const char* doc) {
  OpBuilder<SpreadParams> op(name);
  op.doc(doc)
      .param("axis", &SpreadParams::axis, std::optional<Shape>(), "Axes that were reduced.")
      .param("exclude", &SpreadParams::exclude, false, "Whether `axis` names the kept axes.")
      .param("numpy", &SpreadParams::numpy, false, "Whether an empty tuple means no axis.")
      .param("ddof", &SpreadParams::ddof, 0, "A mean divides by the number of elements less this.");
  return op;
}

Attrs attrs_of(const SpreadParams& params) {
  Attrs attrs = spread_attrs(
      {params.axis, false, params.exclude, params.numpy ? AxisStyle::kNumpy : AxisStyle::kArray});
  if (params.ddof != 0) attrs.emplace_back("ddof", std::to_string(params.ddof));
  return attrs;
}

template <Spread row>
void back_cpu(const SpreadParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Finish finish = row == Spread::mean ? Finish::kMean : Finish::kValue;
  reduce_to({Reduction::sum, finish, {}, params.ddof}, in, params.axes(in.ndim(), kTag),
            context.out(0), context);
}

// A linear pair: `name` spreads, `back` reduces to the shape that `name` took; each is the gradient
// of the other.
template <Spread row>
void define_plain() {
  static constexpr const char* kName = row == Spread::mean ? "_backward_mean" : "_backward_sum";
  static constexpr const char* kBack = row == Spread::mean ? "_reduce_mean_as" : "_reduce_sum_as";
  declare(kName, "Gives each element the value of the output that it was reduced to.")
      .input("value", "One element an output.")
      .input("like", "The array that was reduced.")
      .type_only(1)
      .infer(infer_spread)
      .cpu(plain_cpu<row>)
      .grad([](const SpreadParams& params, Grad& grad) {
        return Gradients{apply(kBack, {grad.dout(0), grad.in(0)}, attrs_of(params)), Value()};
      });
  declare(kBack, "Reduces `data` to the shape of `like`.")
      .input("data", "The array.")
      .input("like", "Of the shape of the result.")
      .type_only(1)
      .infer(infer_back)
      .cpu(back_cpu<row>)
      .grad([](const SpreadParams& params, Grad& grad) {
        return Gradients{apply(kName, {grad.dout(0), grad.in(0)}, attrs_of(params)), Value()};
      });
  mark_portable({kName, kBack});
}

template <Spread row>
void define_fused(const char* name) {
  declare(name, "Gradient of a reduction.")
      .input("head_grad", "Gradient of the output.")
      .input("output", "Output of the forward call.")
      .input("data", "Input of the forward call.")
      .inplace(2, 0)
      .infer(infer_spread)
      .cpu(fused_cpu<row>);
  mark_portable(name);
}

[[maybe_unused]] const bool defined = [] {
  define_plain<Spread::sum>();
  define_plain<Spread::mean>();
  define_fused<Spread::equal>("_backward_max");
  define_fused<Spread::nansum>("_backward_nansum");
  define_fused<Spread::nanratio>("_backward_nanprod");
  define_fused<Spread::sign>("_backward_norm_abs");
  define_fused<Spread::direction>("_backward_norm");
  define_fused<Spread::twice>("_backward_square_sum");
  return true;
}();

}  // namespace

Attrs spread_attrs(const AxisChoice& choice) {
  Attrs attrs;
  if (choice.axis) attrs.emplace_back("axis", ParamText<Shape>::print(*choice.axis));
  if (choice.exclude) attrs.emplace_back("exclude", "True");
  if (choice.style == AxisStyle::kNumpy) attrs.emplace_back("numpy", "True");
  return attrs;
}

Value spread_value(const AxisChoice& choice, const Value& value, const Value& data) {
  return apply("_backward_sum", {value, data}, spread_attrs(choice));
}
Value spread_mean(const AxisChoice& choice, const Value& value, const Value& data) {
  return apply("_backward_mean", {value, data}, spread_attrs(choice));
}
Value spread_fused(const char* op, const AxisChoice& choice, const Value& dy, const Value& y,
                   const Value& x) {
  return apply(op, {dy, y, x}, spread_attrs(choice));
}

}  // namespace mxnet
