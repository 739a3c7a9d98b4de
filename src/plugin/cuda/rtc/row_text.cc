// SPDX-License-Identifier: Apache-2.0
// The preprocessor turns the rows into text.
#include "plugin/cuda/rtc/row_text.h"

#include <fmt/format.h>

#include "op/norm/activation_loops.h"
#include "op/rows/unary_rows.h"

namespace mxnet::cuda {
namespace {

RowFunction define(const std::string& name, const char* args, const char* before,
                   const std::string& expression, const char* result = "T") {
  return {name, fmt::format("template <class T>\nMX_DEVICE {0} {1}({2}) {{\n{3}"
                            "  return static_cast<{0}>({4});\n}}\n",
                            result, name, args, before, expression)};
}

UnaryText unary(const char* name, UnaryKind kind, const char* value, const char* slope) {
  const std::string id = name;
  return {name, kind, define("value_" + id, "T x", "", value),
          define("slope_" + id, "T dy, T arg", "  const T x = arg, y = arg;\n",
                 fmt::format("dy * ({})", slope))};
}

BinaryText binary(BinaryRow row, const char* name, const char* value, const char* left,
                  const char* right) {
  const std::string id = name;
  const char* result = is_comparison(row) ? "bool" : "T";
  BinaryText text{row, name, define("value_" + id, "T a, T b", "", value, result), {}, {}};
  if (left != nullptr) {
    text.left = define("lhs_" + id, "T dy, T a, T b", "", fmt::format("dy * ({})", left));
    text.right = define("rhs_" + id, "T dy, T a, T b", "", fmt::format("dy * ({})", right));
  }
  return text;
}

ActivationText activation(const char* name, const char* value, const char* slope) {
  const std::string id = name;
  return {define("activation_" + id, "T x, T s", "", value),
          define("activation_slope_" + id, "T dy, T arg, T s", "  const T x = arg, y = arg;\n",
                 fmt::format("dy * ({})", slope))};
}

}  // namespace

const std::vector<UnaryText>& unary_texts() {
#define MX_REAL(name, aliases, doc, value, slope, uses) \
  unary(#name, UnaryKind::kReal, #value, #slope),
#define MX_EXACT(name, aliases, doc, value, slope, uses) \
  unary(#name, UnaryKind::kExact, #value, #slope),
  static const auto* const texts =
      new std::vector<UnaryText>{MX_UNARY_ROWS(MX_REAL) MX_UNARY_EXACT_ROWS(MX_EXACT)};
#undef MX_REAL
#undef MX_EXACT
  return *texts;
}

const std::vector<BinaryText>& binary_texts() {
#define MX_SLOPED(name, doc, value, left, right) \
  binary(BinaryRow::name, #name, #value, #left, #right),
#define MX_FLAT(name, doc, value) binary(BinaryRow::name, #name, #value, nullptr, nullptr),
  static const auto* const texts = new std::vector<BinaryText>{
      MX_BINARY_ROWS(MX_SLOPED) MX_INTEGER_ROWS(MX_FLAT) MX_COMPARE_ROWS(MX_FLAT)};
#undef MX_SLOPED
#undef MX_FLAT
  return *texts;
}

const std::vector<ActivationText>& activation_texts() {
#define MX_TEXT(name, value, slope, uses) activation(#name, #value, #slope),
  static const auto* const texts = new std::vector<ActivationText>{MX_ACTIVATION_ROWS(MX_TEXT)};
#undef MX_TEXT
  return *texts;
}

}  // namespace mxnet::cuda
