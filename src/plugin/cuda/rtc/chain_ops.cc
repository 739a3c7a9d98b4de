// SPDX-License-Identifier: Apache-2.0
// A table from operator names to how their expression is made; it is filled from the rows and from
// their names, so that a new row is known here at once.
#include "plugin/cuda/rtc/chain_ops.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "op/elemwise/binary_names.h"
#include "op/index/where_params.h"
#include "op/loops/convert.h"
#include "op/norm/activation_params.h"
#include "op/params/dense_and_sparse.h"
#include "op/run/dispatch.h"
#include "plugin/cuda/rtc/row_text.h"

namespace mxnet::cuda {
namespace {

using Values = std::vector<ChainValue>;

struct Call {
  const PointwiseStep& step;
  const Values& in;
  SourceFunctions& functions;

  DType out() const { return step.dtype; }
  template <class P>
  const P& params() const {
    return *static_cast<const P*>(step.params.get());
  }
};
using Maker = std::function<std::string(const Call&)>;
using Makers = std::map<std::string, Maker, std::less<>>;

const char* name_of(DType dtype, bool computed) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return computed ? "float" : "float16";
    case DType::kBFloat16:
      return computed ? "float" : "bfloat16";
    case DType::kUInt8:
      return "uint8_t";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kBool:
      return computed ? "uint8_t" : "bool";
    case DType::kUnknown:
      break;
  }
  return "void";
}

// `expression`, of any type, as a value of `dtype`.
std::string rounded(DType dtype, const std::string& expression) {
  return fmt::format("as<{}>({})", stored_name(dtype), expression);
}
// A value as the argument of arithmetic in `dtype`.
std::string converted(const ChainValue& value, DType dtype) {
  return value.dtype == dtype ? value.variable : rounded(dtype, value.variable);
}

// fn<T>(args...), T the computed type of `dtype`.
std::string call_in(const Call& call, const RowFunction& function, DType dtype,
                    const std::string& args) {
  return fmt::format("{}<{}>({})", call.functions.use(function.name, function.source),
                     computed_name(dtype), args);
}

// A number as a literal of the computed type of `dtype`, after conversion to `dtype` itself.
std::string literal(double scalar, DType dtype) {
  return dispatch_dtype(dtype, "scalar", [&]<class T>(TypeTag<T>) -> std::string {
    const T stored = convert<T>(scalar);
    if constexpr (std::is_integral_v<T>) {
      // The smallest int64 has no literal of its own.
      return std::is_same_v<T, int64_t>
                 ? fmt::format("int64_t({}ull)", static_cast<uint64_t>(stored))
                 : fmt::format("{}({})", computed_name(dtype), static_cast<int>(stored));
    } else {
      const auto value = static_cast<double>(stored);
      const bool wide = dtype == DType::kFloat64;
      if (value != value) return wide ? "(0.0 / 0.0)" : "(0.0f / 0.0f)";
      if (value - value != 0.0)
        return fmt::format("({}1e{} * 10)", value < 0 ? "-" : "", wide ? "308" : "38f");
      return fmt::format("{:a}{}", value, wide ? "" : "f");
    }
  });
}

std::string unary_value(const Call& call, const UnaryText& row) {
  const DType in = call.in[0].dtype;
  const DType type = row.kind == UnaryKind::kReal && is_integer(in) ? DType::kFloat64 : in;
  return rounded(call.out(), call_in(call, row.value, type, converted(call.in[0], type)));
}

std::string unary_slope(const Call& call, const UnaryText& row) {
  const DType type = is_integer(call.out()) ? DType::kFloat32 : call.out();
  return rounded(call.out(), call_in(call, row.slope, type,
                                     fmt::format("{}, {}", converted(call.in[0], type),
                                                 converted(call.in[1], type))));
}

std::string binary_in(const Call& call, BinaryRow row, DType type, const std::string& a,
                      const std::string& b) {
  const BinaryText& text = binary_texts()[static_cast<std::size_t>(row)];
  return rounded(call.out(), call_in(call, text.value, type, a + ", " + b));
}

// Arguments of one type, which is the result's.
std::string binary_value(const Call& call, BinaryRow row) {
  return binary_in(call, row, call.in[0].dtype, call.in[0].variable, call.in[1].variable);
}

// Arguments of any types; see op/elemwise/numpy_binary.cc.
std::string numpy_value(const Call& call, BinaryRow row) {
  const ChainValue &a = call.in[0], &b = call.in[1];
  if (is_comparison(row)) return binary_value(call, row);
  if (call.out() == DType::kBool) {
    const bool sum = row == BinaryRow::add;  // only a sum can leave 0 and 1
    return binary_in(call, sum ? BinaryRow::logical_or : row, DType::kUInt8, a.variable,
                     b.variable);
  }
  return binary_in(call, row, call.out(), converted(a, call.out()), converted(b, call.out()));
}

// Of integers the slope is cut before it is multiplied; that of a remainder is 0 (as on the CPU:
// op/rows/binary_kernel.cc).
std::string binary_slope(const Call& call, BinaryRow row, const RowFunction& function) {
  const bool cut = is_integer(call.out());
  if (cut && row == BinaryRow::mod) return rounded(call.out(), "0");
  const DType type = cut ? DType::kFloat64 : call.out();
  const std::string dy = converted(call.in[0], call.out());
  const std::string slope = rounded(
      call.out(), call_in(call, function, type,
                          fmt::format("{}, {}, {}", cut ? "1.0" : dy, converted(call.in[1], type),
                                      converted(call.in[2], type))));
  return cut ? binary_in(call, BinaryRow::multiply, call.out(), dy, slope) : slope;
}

// The type in which NumPy compares with a number; see op/elemwise/scalar.cc.
DType compared(DType in, const ScalarParams& params) {
  if (in == DType::kFloat16 || in == DType::kBFloat16) return DType::kFloat32;
  if (in == DType::kBool || is_floating(in)) return in;
  if (!params.is_int) return DType::kFloat64;
  const bool fits = dispatch_dtype(in, "scalar", [&]<class T>(TypeTag<T>) {
    return static_cast<double>(convert<T>(params.scalar)) == params.scalar;
  });
  return fits ? in : DType::kFloat64;
}

std::string scalar_value(const Call& call, BinaryRow row, bool scalar_left, bool numpy) {
  const auto& params = call.params<ScalarParams>();
  const ChainValue& in = call.in[0];
  double scalar = params.scalar;
  DType type = call.out();
  if (numpy && is_comparison(row)) {
    type = compared(in.dtype, params);
    if (in.dtype == DType::kFloat16) scalar = static_cast<double>(convert<float16>(scalar));
    if (in.dtype == DType::kBFloat16) scalar = static_cast<double>(convert<bfloat16>(scalar));
  } else if (type == DType::kBool) {
    type = DType::kUInt8;
    scalar = scalar != 0.0 ? 1.0 : 0.0;
  }
  const std::string array = converted(in, type), number = literal(scalar, type);
  return scalar_left ? binary_in(call, row, type, number, array)
                     : binary_in(call, row, type, array, number);
}

std::string sum(const Call& call) {
  std::string text = call.in[0].variable;
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    text.append(", ").append(call.in[i].variable);
    text = call_in(call, binary_texts()[static_cast<std::size_t>(BinaryRow::add)].value, call.out(),
                   text);
  }
  return rounded(call.out(), text);
}

// NaN passes through; limits are the nearest values that the type has.
template <bool backward>
std::string clip(const Call& call) {
  const auto& params = call.params<ClipParams>();
  const auto limit = [&](float value) {
    return dispatch_dtype(call.out(), "clip", [&]<class T>(TypeTag<T>) {
      double nearest = double{value};
      if constexpr (std::is_integral_v<T>) {
        using Range = std::numeric_limits<T>;
        if (value <= static_cast<float>(Range::min())) nearest = static_cast<double>(Range::min());
        if (value >= static_cast<float>(Range::max()))
          return fmt::format("{}({}ull)", stored_name(call.out()),
                             static_cast<uint64_t>(Range::max()));
      }
      // Half types keep a limit with the precision of float.
      return literal(nearest, kIsHalf<T> ? DType::kFloat32 : call.out());
    });
  };
  const std::string low = limit(params.a_min), high = limit(params.a_max);
  const std::string x = call.in.back().variable;
  if (backward)
    return rounded(call.out(), fmt::format("(({0} < {1}) | ({0} > {2})) ? {3}(0) : {4}", x, low,
                                           high, computed_name(call.out()), call.in[0].variable));
  return rounded(call.out(), fmt::format("{0} > {2} ? {2} : {0} < {1} ? {1} : {0}", x, low, high));
}

template <bool backward>
std::string activation(const Call& call) {
  const auto row = static_cast<std::size_t>(call.params<ActivationParams>().act_type);
  const ActivationText& text = activation_texts()[row];
  const std::string zero = literal(0.0, call.out());
  if (backward)
    return rounded(call.out(), call_in(call, text.slope, call.out(),
                                       fmt::format("{}, {}, {}", call.in[0].variable,
                                                   call.in[1].variable, zero)));
  return rounded(call.out(), call_in(call, text.value, call.out(),
                                     fmt::format("{}, {}", call.in[0].variable, zero)));
}

// The condition is the input `by`; both sides are of the result's type.
std::string chosen(const Call& call, std::size_t by, const std::string& x, const std::string& y) {
  return rounded(call.out(), fmt::format("{} != 0 ? {} : {}", call.in[by].variable, x, y));
}

std::string where(const Call& call) {
  return chosen(call, 0, call.in[1].variable, call.in[2].variable);
}

template <bool array_left>
std::string where_scalar(const Call& call) {
  const std::string number = literal(call.params<WhereParams>().scalar, call.out());
  const std::string& array = call.in[1].variable;
  return array_left ? chosen(call, 0, array, number) : chosen(call, 0, number, array);
}

std::string where_scalars(const Call& call) {
  const auto& params = call.params<WhereParams>();
  return chosen(call, 0, literal(params.x, call.out()), literal(params.y, call.out()));
}

std::string where_slope(const Call& call) {
  const std::string zero = literal(0.0, call.out());
  const std::string& dy = call.in[0].variable;
  return call.params<WhereParams>().left ? chosen(call, 1, dy, zero) : chosen(call, 1, zero, dy);
}

void add_unary(Makers* makers) {
  for (const UnaryText& row : unary_texts()) {
    const Maker value = [&row](const Call& call) { return unary_value(call, row); };
    const std::string name(row.name);
    makers->emplace(name, value);
    makers->emplace("_npi_" + (name == "abs" ? "absolute" : name), value);
    if (name == "relu" || name == "sigmoid") makers->emplace("_npx_" + name, value);
    makers->emplace("_backward_" + name,
                    [&row](const Call& call) { return unary_slope(call, row); });
  }
}

void add_binary(Makers* makers) {
  for (const BinaryNames& names : binary_names()) {
    const BinaryRow row = names.row;
    const auto add = [&](const char* name, Maker maker) {
      if (name != nullptr) makers->emplace(name, std::move(maker));
    };
    const auto first = [](const NameList& list) { return list.empty() ? nullptr : list[0]; };
    const Maker value = [row](const Call& call) { return binary_value(call, row); };
    const auto scalar = [row](bool left, bool numpy) -> Maker {
      return [=](const Call& call) { return scalar_value(call, row, left, numpy); };
    };
    add(first(names.elementwise), value);
    add(first(names.broadcast), value);
    add(first(names.scalar), scalar(false, false));
    add(first(names.scalar_left), scalar(true, false));
    add(names.numpy_scalar, scalar(false, true));
    add(names.numpy_scalar_left, scalar(true, true));
    add(names.numpy, [row](const Call& call) { return numpy_value(call, row); });
    if (row == BinaryRow::add) {
      add("_grad_add", value);
      add("_scatter_plus_scalar", scalar(false, false));
    }
    if (row == BinaryRow::subtract) add("_scatter_minus_scalar", scalar(false, false));
    if (row == BinaryRow::divide) add("_scatter_elemwise_div", value);
    const BinaryText& text = binary_texts()[static_cast<std::size_t>(row)];
    if (!has_slope(row)) continue;
    const std::string backward = "_backward_" + std::string(text.name);
    makers->emplace(backward + "_lhs",
                    [row, &text](const Call& call) { return binary_slope(call, row, text.left); });
    makers->emplace(backward + "_rhs",
                    [row, &text](const Call& call) { return binary_slope(call, row, text.right); });
  }
}

const Makers& makers() {
  static const Makers* const all = [] {
    auto* table = new Makers;
    add_unary(table);
    add_binary(table);
    const Maker cast = [](const Call& call) { return converted(call.in[0], call.out()); };
    table->emplace("Cast", cast);
    table->emplace("amp_cast", cast);
    table->emplace("add_n", sum);
    table->emplace("clip", clip<false>);
    table->emplace("_backward_clip", clip<true>);
    table->emplace("where", where);
    table->emplace("_npi_where", where);
    table->emplace("_npi_where_lscalar", where_scalar<false>);
    table->emplace("_npi_where_rscalar", where_scalar<true>);
    table->emplace("_npi_where_scalar2", where_scalars);
    table->emplace("_backward_where", where_slope);
    table->emplace("_backward_numpy_where", where_slope);
    table->emplace("Activation", activation<false>);
    table->emplace("_backward_Activation", activation<true>);
    return table;
  }();
  return *all;
}

}  // namespace

const char* stored_name(DType dtype) { return name_of(dtype, false); }
const char* computed_name(DType dtype) { return name_of(dtype, true); }

const std::string& SourceFunctions::use(const std::string& name, const std::string& source) {
  const auto [at, is_new] = names_.insert(name);
  if (is_new) text_ += source;
  return *at;
}

std::optional<std::string> step_expression(const PointwiseStep& step,
                                           const std::vector<ChainValue>& in,
                                           SourceFunctions* functions) {
  const auto found = makers().find(step.op->name());
  if (found == makers().end()) return std::nullopt;
  return found->second({step, in, *functions});
}

std::vector<std::string> known_operators() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers()) names.push_back(name);
  return names;
}

}  // namespace mxnet::cuda
