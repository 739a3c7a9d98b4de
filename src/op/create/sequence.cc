// SPDX-License-Identifier: Apache-2.0
// Numbers in even steps: arange, arange_like, linspace, logspace.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "op/create/create.h"
#include "op/create/space.h"
#include "op/rows/binary_loops.h"
#include "op/rows/row_math.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/single_shape.h"

namespace mxnet {
namespace {

struct ArangeParams {
  double start, step;
  std::optional<double> stop;
  int32_t repeat;
  bool infer_range;
  std::string ctx;
  DType dtype;
  std::optional<int32_t> axis;  // of arange_like
};

// Elements of a loop that counts in 32 bits, which every CPU converts to floating types in vectors.
constexpr int64_t kCounted = 1024;

// Whether counting in 32 bits gives the same numbers: all of them are whole, and none is -0.
bool counts_in_32_bits(double start, double step, int64_t end) {
  constexpr double kReach = 0x1p31 - 1;
  return start == std::trunc(start) && step == std::trunc(step) &&
         (start != 0 || !std::signbit(start)) && static_cast<double>(end) <= kReach &&
         std::abs(start) <= kReach && std::abs(start + static_cast<double>(end) * step) <= kReach;
}

// Whole numbers wrap around.
template <class Number>
Number number_at(Number start, Number i, Number step) {
  return row_math::plus(start, row_math::multiply(i, step));
}

// out[i] = start + i * step for `n` elements from the i-th on.
template <class T, class Number>
void count_up(T* out, int64_t i, int64_t n, Number start, Number step) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Number>) {
    // In the type itself, which wraps as the low bits of int64 do.
    using U = std::make_unsigned_t<T>;
    U value = static_cast<U>(static_cast<uint64_t>(start) +
                             static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
    for (int64_t k = 0; k < n; ++k, value = static_cast<U>(value + static_cast<U>(step)))
      out[k] = static_cast<T>(value);
  } else if constexpr (std::is_integral_v<Number>) {
    for (int64_t k = 0; k < n; ++k) out[k] = convert<T>(number_at(start, i + k, step));
  } else if (std::is_same_v<T, float> && counts_in_32_bits(start, step, i + n)) {
    const auto first = static_cast<int32_t>(start + static_cast<double>(i) * step);
    const auto by = static_cast<int32_t>(step), count = static_cast<int32_t>(n);
    for (int32_t k = 0; k < count; ++k) out[k] = static_cast<T>(first + k * by);
  } else {
    for (int64_t done = 0; done < n; done += kCounted) {
      const double base = static_cast<double>(i + done);
      const auto count = static_cast<int32_t>(std::min(kCounted, n - done));
      for (int32_t k = 0; k < count; ++k)
        out[done + k] = convert<T>(start + (base + static_cast<double>(k)) * step);
    }
  }
}

}  // namespace

// With start and step in the type of the result first: integer ranges take integer steps.
void count_up(const Tensor& out, double start, double step, int64_t repeat) {
  dispatch_dtype<kNumbersOnly>(out.dtype, "arange", [&]<class T>(TypeTag<T>) {
    using Number =
        std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, float16>, int64_t, double>;
    const Number first_value = convert<Number>(convert<T>(start));
    const Number by = convert<Number>(convert<T>(step));
    parallel_writes(out.as<T>(), out.size(), 2.0, [&](int64_t first, int64_t last) {
      T* to = out.as<T>();
      if (repeat == 1) return count_up(to + first, first, last - first, first_value, by);
      for (int64_t i = first; i < last; ++i) {
        const int64_t step = i / repeat;
        to[i] = convert<T>(number_at(first_value, static_cast<Number>(step), by));
      }
    });
  });
}

namespace {

void arange(KernelContext& context, double start, double step, int64_t repeat) {
  const Tensor& out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->count_up(context.stream()->native(), start, step, repeat, out);
  count_up(out, start, step, repeat);
}

void arange_cpu(const ArangeParams& params, KernelContext& context) {
  const double start = params.stop || params.infer_range ? params.start : 0.0;
  arange(context, start, params.step, params.repeat);
}

// A single number is the stop, as in Python.
template <bool kEmptyAllowed>
void infer_arange(const ArangeParams& params, Infer& infer) {
  infer.out(0).set_dtype(params.dtype);
  if (params.repeat <= 0) infer.fail(fmt::format("given repeat {}, expected > 0", params.repeat));
  if (params.step == 0) infer.fail("given step 0, expected a step other than 0");
  if (params.infer_range && !params.stop) return;  // as many as the output has
  const double start = params.stop ? params.start : 0.0;
  const double stop = params.stop.value_or(params.start);
  const double count = std::ceil((stop - start) / params.step);
  if (!(count > 0) && !kEmptyAllowed) {
    infer.fail(fmt::format("given start {}, stop {}, step {}, expected a range that is not empty",
                           start, stop, params.step));
  }
  constexpr double kMost = 0x1p62;
  if (count * params.repeat > kMost) {
    infer.fail(
        fmt::format("given start {}, stop {}, step {}, repeat {}, expected at most {} numbers",
                    start, stop, params.step, params.repeat, kMost));
  }
  infer.out(0).set_shape({count > 0 ? static_cast<int64_t>(count) * params.repeat : 0});
}

template <bool kEmptyAllowed>
void define_arange(const char* name) {
  OpBuilder<ArangeParams> op(name);
  op.doc("Numbers from start to before stop.")
      .param("start", &ArangeParams::start, "The first number, or the stop if none is given.")
      .param("stop", &ArangeParams::stop, std::nullopt, "Where to end, itself left out.")
      .param("step", &ArangeParams::step, 1.0, "Difference of neighbours.")
      .param("repeat", &ArangeParams::repeat, 1, "How often each number comes.")
      .param("infer_range", &ArangeParams::infer_range, false,
             "Whether the shape of the output says how many there are, without stop.");
  add_context(op);
  op.dtype_param("dtype", &ArangeParams::dtype, kNumbersOnly, false, "float32",
                 "Type of the result.")
      .infer(infer_arange<kEmptyAllowed>)
      .cpu(arange_cpu);
}

void define_arange_like() {
  OpBuilder<ArangeParams> op("_contrib_arange_like");
  op.alias("_npx_arange_like")
      .doc("Numbers in even steps, as many as an array or one of its axes has elements.")
      .input("data", "The array; only its shape and type matter.")
      .type_only(0)
      .param("start", &ArangeParams::start, 0.0, "The first number.")
      .param("step", &ArangeParams::step, 1.0, "Difference of neighbours.")
      .param("repeat", &ArangeParams::repeat, 1, "How often each number comes.")
      .at_least<int32_t>(1);
  add_context(op)
      .param("axis", &ArangeParams::axis, std::nullopt, "The axis; None means the whole shape.")
      .infer([](const ArangeParams& params, Infer& infer) {
        infer.in(0).same_dtype(infer.out(0));
        if (!params.axis) {
          infer.in(0).same_shape(infer.out(0));
        } else if (infer.in(0).rank_known()) {
          infer.out(0).set_shape({infer.in(0).dim(infer.axis(*params.axis, infer.in(0)))});
        }
      })
      .dtypes(kNumbersOnly)
      .cpu([](const ArangeParams& params, KernelContext& context) {
        arange(context, params.start, params.step, params.repeat);
      })
      .zero_grad();
}

// Counted as double, of which the last number is replaced: `n` from the one at `at` on.
void count_steps(const EvenSteps& steps, int64_t at, int64_t n, double* numbers) {
  count_up(numbers, at, n, steps.start, steps.step);
  const int64_t end = steps.last - at;
  if (end >= 0 && end < n) numbers[end] = steps.stop;
}

void linspace(const Tensor& out, const EvenSteps& steps) {
  dispatch_dtype<kNumbersOnly>(out.dtype, "linspace", [&]<class T>(TypeTag<T>) {
    parallel_for(out.size(), 4.0, [&](int64_t first, int64_t last) {
      std::array<double, kCounted> numbers;
      for (int64_t at = first; at < last; at += kCounted) {
        const int64_t n = std::min(kCounted, last - at);
        count_steps(steps, at, n, numbers.data());
        convert_array(numbers.data(), out.as<T>() + at, n);
      }
    });
  });
}

void linspace_on_gpu(const GpuTable& gpu, const SpaceParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  NativeStream* stream = context.stream()->native();
  const Tensor numbers{context.workspace_of<double>(out.size()), out.shape_ptr, DType::kFloat64};
  gpu.count_up(stream, params.start, params.step(), 1, numbers);
  if (params.endpoint && params.num > 1) {
    gpu.fill(stream, {numbers.as<double>() + params.num - 1, &single_shape(), DType::kFloat64},
             params.stop);
  }
  gpu.convert(stream, numbers, out);
}

void infer_space(const SpaceParams& params, Infer& infer) {
  if (params.num < 0) infer.fail(fmt::format("given num {}, expected at least 0", params.num));
  infer.out(0).set_shape({params.num}).set_dtype(params.dtype);
}

OpBuilder<SpaceParams>& add_ends(OpBuilder<SpaceParams>& op) {
  return op.param("start", &SpaceParams::start, "The first number.")
      .param("stop", &SpaceParams::stop, "The last number, or the one after it.")
      .param("num", &SpaceParams::num, "How many.")
      .param("endpoint", &SpaceParams::endpoint, true, "Whether stop is the last number.");
}

void define_linspace() {
  OpBuilder<SpaceParams> op("_linspace");
  op.alias("_npi_linspace")
      .doc("Numbers evenly spaced from start to stop.")
      .described_as("_arange");
  add_ends(op);
  add_context(op);
  op.dtype_param("dtype", &SpaceParams::dtype, kNumbersOnly, false, "float32",
                 "Type of the result.")
      .infer(infer_space)
      .cpu([](const SpaceParams& params, KernelContext& context) {
        if (const GpuTable* gpu = gpu_table(context)) return linspace_on_gpu(*gpu, params, context);
        linspace(context.out(0), EvenSteps(params));
      });
  mark_portable("_linspace");
}

// Whether a power that is off by an ulp may be one that has few bits, and so be the number itself.
bool may_be_short(double power) {
  constexpr uint64_t kEnd = (uint64_t{1} << 24) - 1;
  return ((std::bit_cast<uint64_t>(power) + 1) & kEnd) <= 2;
}

// By vectors, whose powers are within an ulp of the number; those of whole exponents, and all that
// have few bits, such as the square root of four, are the C library's, which are the number itself.
void powers(double base, const double* exponents, double* out, int64_t n) {
  binary_loop<double, double>(BinaryRow::power).left_scalar(&base, exponents, out, n);
  for (int64_t i = 0; i < n; ++i) {
    if (exponents[i] == std::trunc(exponents[i]) || may_be_short(out[i]))
      out[i] = std::pow(base, exponents[i]);
  }
}

void logspace(const Tensor& out, double base, const EvenSteps& steps) {
  dispatch_dtype(out.dtype, "logspace", [&]<class T>(TypeTag<T>) {
    constexpr double kCost = 8.0;
    if constexpr (!std::is_floating_point_v<T> && !kIsHalf<T>) {
      // What is cut shows on which side of a whole number the power is.
      fill_with(out, kCost, [=](int64_t i) { return std::pow(base, steps(i)); });
    } else {
      parallel_for(out.size(), kCost, [&](int64_t first, int64_t last) {
        std::array<double, kCounted> exponents, numbers;
        for (int64_t at = first; at < last; at += kCounted) {
          const int64_t n = std::min(kCounted, last - at);
          count_steps(steps, at, n, exponents.data());
          powers(base, exponents.data(), numbers.data(), n);
          convert_array(numbers.data(), out.as<T>() + at, n);
        }
      });
    }
  });
}

void define_logspace() {
  OpBuilder<SpaceParams> op("_npi_logspace");
  op.doc("Powers of a base whose exponents are evenly spaced from start to stop.");
  add_ends(op).param("base", &SpaceParams::base, 10.0, "The base.");
  add_context(op);
  op.dtype_param("dtype", &SpaceParams::dtype, kNumbersOnly, false, "float32",
                 "Type of the result.")
      .infer(infer_space)
      .cpu([](const SpaceParams& params, KernelContext& context) {
        logspace(context.out(0), params.base, EvenSteps(params));
      });
}

bool define() {
  define_arange<false>("_arange");
  define_arange<true>("_npi_arange");
  define_arange_like();
  define_linspace();
  define_logspace();
  return mark_portable({"_arange", "_npi_arange", "_contrib_arange_like"});
}
[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
