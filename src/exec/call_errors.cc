// SPDX-License-Identifier: Apache-2.0
// Each says what was given and what was expected.
#include "exec/call_errors.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

// What the type of an output follows from: inputs, and the parameter that is a shape, if there is
// one.
std::string sources_of(const OpDef& op, bool has_inputs) {
  std::vector<std::string> sources;
  if (has_inputs) sources.emplace_back("inputs");
  std::vector<std::string> shapes;
  for (const ParamField& field : op.schema().fields())
    if (field.type.starts_with("Shape")) shapes.push_back(fmt::format("'{}'", field.name));
  if (!shapes.empty()) sources.push_back(fmt::format("parameter {}", fmt::join(shapes, ", ")));
  return sources.empty() ? "parameters" : fmt::format("{}", fmt::join(sources, " and "));
}

}  // namespace

std::string input_title(const OpDef& op, const void* params, std::size_t i) {
  return fmt::format("'{}'", op.input_name(params, static_cast<int>(i)));
}
std::string output_title(std::size_t o) { return fmt::format("output {}", o); }

void throw_wrong_count(const OpDef& op, const void* params, std::size_t given) {
  // A parameter may ask for any number of them, and naming one may name all.
  constexpr int kNamed = 64;
  const int expected = op.num_inputs(params);
  std::string names = expected > 0 && expected <= kNamed ? ":" : "";
  for (int i = 0; i < expected && expected <= kNamed; ++i)
    names += (i == 0 ? " " : ", ") + op.input_name(params, i);
  throw Error(ErrorCode::kValue, op.name(),
              fmt::format("given {} inputs, expected {}{}", given, expected, names));
}

void throw_no_array(const OpDef& op, const void* params, std::size_t input) {
  throw Error(ErrorCode::kValue, op.name(),
              fmt::format("given {} without shape and data, expected an array",
                          input_title(op, params, input)));
}

void throw_wrong_device(const OpDef& op, const std::string& title, Device given, Device expected) {
  throw Error(
      ErrorCode::kValue, op.name(),
      fmt::format("given {} on {}, expected {}", title, to_string(given), to_string(expected)));
}

void throw_wrong_type(const OpDef& op, const void* params, std::size_t input, DType given) {
  throw Error(
      ErrorCode::kType, op.name(),
      fmt::format("given {} of type {}, expected one of: {}", input_title(op, params, input),
                  dtype_name(given), dtype_list(op.dtypes())));
}

void throw_incomplete(const OpDef& op, bool has_inputs, std::size_t output,
                      const ArrayType& inferred) {
  const Shape& shape = inferred.shape;
  throw Error(
      ErrorCode::kValue, op.name(),
      fmt::format("given {} from which output {} follows as {} {}, expected a type and dimensions "
                  "of 0 or more",
                  sources_of(op, has_inputs), output, dtype_name(inferred.dtype),
                  shape.rank_known() ? fmt::format("({})", fmt::join(shape.dims(), ","))
                                     : to_string(shape)));
}

void throw_wrong_output(const OpDef& op, std::size_t output, const NDArray& given,
                        const ArrayType& inferred) {
  throw Error(
      ErrorCode::kValue, op.name(),
      fmt::format("given output {} of {} {}, expected {} {}", output, dtype_name(given.dtype()),
                  to_string(given.shape()), dtype_name(inferred.dtype), to_string(inferred.shape)));
}

}  // namespace mxnet
