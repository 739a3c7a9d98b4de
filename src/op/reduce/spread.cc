// SPDX-License-Identifier: Apache-2.0
// Kernels and operators that spread.
#include "op/reduce/spread.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/reducing/evaluate.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_backward_reduce";

// Elements of a run that one thread takes at a time.
constexpr int64_t kPiece = 16384;

// Pieces of runs, `lines` of them in equal steps, and what they get. Rows that look at g alone take
// null for y and x.
struct Pieces {
  const void *dy, *y, *x;
  void* dx;
  int64_t count, divisor;
  bool one;  // dy and y have one element for all of a line, not one for each
  int64_t lines = 1, dy_step = 0, dx_step = 0;  // from line to line in dy and y, in x and dx
};
using Loop = void (*)(const Pieces& pieces);

constexpr bool uses_values(Spread row) { return row != Spread::sum && row != Spread::mean; }
constexpr bool uses_y(Spread row) {
  return row == Spread::equal || row == Spread::ratio || row == Spread::nanratio ||
         row == Spread::direction;
}

template <Spread row, class T>
T received([[maybe_unused]] T g, [[maybe_unused]] T y, [[maybe_unused]] T x,
           [[maybe_unused]] int64_t n) {
  using C = T;
  if constexpr (row == Spread::twice && std::is_integral_v<T>)  // which wrap around
    return row_math::multiply(row_math::multiply(C(2), g), x);
#define MX_SPREAD_CASE(name, expression) \
  if constexpr (row == Spread::name) return static_cast<T>(expression);
  MX_SPREAD_ROWS(MX_SPREAD_CASE)
#undef MX_SPREAD_CASE
}

template <Spread row, class T>
void run(const Pieces& pieces) {
  const auto *dy = static_cast<const T*>(pieces.dy), *y = static_cast<const T*>(pieces.y),
             *x = static_cast<const T*>(pieces.x);
  auto* to = static_cast<T*>(pieces.dx);
  const int64_t count = pieces.count, n = pieces.divisor;
  for (int64_t line = 0; line < pieces.lines; ++line) {
    if (pieces.one) {
      const T g = *dy, value = uses_y(row) ? *y : T(0);
      for (int64_t i = 0; i < count; ++i)
        to[i] = received<row>(g, value, uses_values(row) ? x[i] : T(0), n);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        to[i] = received<row>(dy[i], uses_y(row) ? y[i] : T(0), uses_values(row) ? x[i] : T(0), n);
      }
    }
    dy += pieces.dy_step;
    to += pieces.dx_step;
    if (uses_y(row)) y += pieces.dy_step;
    if (uses_values(row)) x += pieces.dx_step;
  }
}

// The halves through floats, a block at a time: of one line, or several lines behind one another.
template <class T>
void run_half(Loop loop, const Pieces& pieces) {
  constexpr int64_t kBlock = 512;
  const auto* const dy = static_cast<const T*>(pieces.dy);
  const auto* const y = static_cast<const T*>(pieces.y);
  const auto* const x = static_cast<const T*>(pieces.x);
  auto* const dx = static_cast<T*>(pieces.dx);
  std::array<float, kBlock> dys, ys, xs, dxs;
  const auto block = [&](int64_t from, int64_t to, int64_t lines, int64_t count) {
    Pieces part = pieces;
    const int64_t given = pieces.one ? lines : lines * count;
    convert_array(dy + from, dys.data(), given);
    if (y != nullptr) convert_array(y + from, ys.data(), given);
    if (x != nullptr) convert_array(x + to, xs.data(), lines * count);
    part.dy = dys.data();
    part.y = ys.data();
    part.x = xs.data();
    part.dx = dxs.data();
    part.count = part.dx_step = count;
    part.lines = lines;
    part.dy_step = pieces.one ? 1 : count;
    loop(part);
    convert_array(dxs.data(), dx + to, lines * count);
  };
  const int64_t count = pieces.count;
  const bool dense = pieces.dx_step == count && pieces.dy_step == (pieces.one ? 1 : count);
  const int64_t most = dense ? std::max<int64_t>(kBlock / count, 1) : 1;
  for (int64_t line = 0; line < pieces.lines; line += most) {
    const int64_t lines = std::min(most, pieces.lines - line);
    for (int64_t i = 0; i < count; i += kBlock) {
      block(line * pieces.dy_step + (pieces.one ? 0 : i), line * pieces.dx_step + i, lines,
            std::min(kBlock, count - i));
    }
  }
}

// How a row runs over elements of a type. A sum's elements are copies, whatever their type means.
template <Spread row>
Loop loop_of(DType dtype) {
  if constexpr (row == Spread::sum) {
    Loop loop = nullptr;
    dispatch_size(dtype, [&]<class U>(U /*bits*/) { loop = run<row, U>; });
    return loop;
  } else {
    return dispatch_dtype(dtype, "spread", []<class T>(TypeTag<T>) -> Loop {
      if constexpr (kIsHalf<T>) {
        return [](const Pieces& pieces) { run_half<T>(run<row, float>, pieces); };
      } else {
        return run<row, T>;
      }
    });
  }
}

Loop loop_of(Spread row, DType dtype) {
  switch (row) {
#define MX_SPREAD_LOOP(name, ...) \
  case Spread::name:              \
    return loop_of<Spread::name>(dtype);
    MX_SPREAD_ROWS(MX_SPREAD_LOOP)
#undef MX_SPREAD_LOOP
  }
  MX_ASSERT(!"a row that spreads");
  return nullptr;
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
  const Loop loop = loop_of(row, dx.dtype);
  const auto bytes = static_cast<int64_t>(dtype_size(dx.dtype));
  const int64_t length = plan.run(), pieces = (length + kPiece - 1) / kPiece;
  const int64_t rows = plan.reduced().positions(), divisor = plan.extent() - ddof;
  // Of integers never 0, which floating numbers make infinite.
  const int64_t n = kFloating.contains(dx.dtype) ? divisor : std::max<int64_t>(divisor, 1);
  // Runs that follow one another along the innermost dimension around them go together.
  const ReduceWalk& around = rows > 1 ? plan.reduced() : plan.kept();
  const ReduceDim line =
      pieces == 1 && around.count() > 0 ? around.dim(around.count() - 1) : ReduceDim{1, 0};
  const auto at = [bytes](const Tensor* tensor, int64_t element) {
    return tensor == nullptr ? nullptr : tensor->as<char>() + element * bytes;
  };
  parallel_for(
      plan.kept().positions() * rows * pieces, static_cast<double>(std::min(length, kPiece)),
      [&](int64_t first, int64_t last) {
        const bool one = plan.inner_reduced();
        for (int64_t unit = first; unit < last;) {
          const int64_t start = unit % pieces * kPiece, count = std::min(kPiece, length - start);
          const int64_t kept = unit / pieces / rows, reduced = unit / pieces % rows;
          const int64_t to = plan.kept().offset(kept) + plan.reduced().offset(reduced) + start;
          const int64_t from = one ? kept : kept * length + start;
          const int64_t lines = std::min(line.size - unit % line.size, last - unit);
          loop({at(&dy, from), at(y, from), at(x, to), at(&dx, to), count, n, one, lines,
                rows > 1 ? 0
                : one    ? 1
                         : length,
                line.stride});
          unit += lines;
        }
      },
      1);
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
