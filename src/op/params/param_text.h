// SPDX-License-Identifier: Apache-2.0
// Texts of parameter values: for each C++ type its name in the C ABI, how it is read and how it is
// printed. The grammar is that of existing scripts and models ("(2, 2)", "True", "None", "0.5f").
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "base/text.h"

namespace mxnet {

// Thrown by parse; the schema adds operator, parameter, value and expected type.
struct ParamError {
  std::string detail;
};

// name: "int"; quoted: whether the default is shown in quotes.
template <class T>
struct ParamText;

#define MX_PARAM_TEXT(T, kName, kQuotes)             \
  template <>                                        \
  struct ParamText<T> {                              \
    static constexpr std::string_view kType = kName; \
    static constexpr bool kQuoted = kQuotes;         \
    static T parse(std::string_view text);           \
    static std::string print(const T& value);        \
  };
MX_PARAM_TEXT(int32_t, "int", true)
MX_PARAM_TEXT(int64_t, "long", false)
MX_PARAM_TEXT(uint32_t, "int (non-negative)", false)
MX_PARAM_TEXT(uint64_t, "long (non-negative)", false)
MX_PARAM_TEXT(float, "float", false)
MX_PARAM_TEXT(double, "double", false)
MX_PARAM_TEXT(bool, "boolean", false)
MX_PARAM_TEXT(std::string, "string", true)
MX_PARAM_TEXT(Shape, "Shape(tuple)", false)  // "None" is the unknown shape
MX_PARAM_TEXT(std::optional<int32_t>, "int or None", true)
MX_PARAM_TEXT(std::optional<int64_t>, "long or None", false)
MX_PARAM_TEXT(std::optional<float>, "float or None", false)
MX_PARAM_TEXT(std::optional<double>, "double or None", false)
MX_PARAM_TEXT(std::optional<bool>, "boolean or None", false)
MX_PARAM_TEXT(std::optional<Shape>, "Shape or None", false)
// Positions of slices: each may be None.
MX_PARAM_TEXT(std::vector<std::optional<int64_t>>, "Shape(tuple)", false)
MX_PARAM_TEXT(std::vector<int64_t>, "tuple of <long>", false)
MX_PARAM_TEXT(std::vector<float>, "tuple of <float>", false)
MX_PARAM_TEXT(std::vector<double>, "tuple of <double>", false)
MX_PARAM_TEXT(std::vector<Shape>, "tuple of <Shape(tuple)>", false)
#undef MX_PARAM_TEXT

}  // namespace mxnet
