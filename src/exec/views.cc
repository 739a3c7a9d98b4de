// SPDX-License-Identifier: Apache-2.0
// Views, and the operators that stand for them on the tape.
#include "exec/views.h"

#include <fmt/format.h>

#include <array>

#include "exec/autograd_state.h"
#include "exec/tape.h"

namespace mxnet {
namespace {

using Text = std::pair<std::string_view, std::string_view>;

bool on_tape(const NDArray& array) {
  return autograd_state().recording && tape_entry(array) != nullptr;
}

void record_view(std::string_view op, std::span<const Text> attrs, NDArray& array, NDArray& view) {
  const std::array<NDArray*, 1> inputs{&array}, outputs{&view};
  record(parse_attrs(Registry::get().at(op), attrs), inputs, outputs, autograd_state().training);
}

}  // namespace

NDArray recorded_slice(NDArray& array, int64_t begin, int64_t end) {
  NDArray view = array.slice(begin, end);
  if (!on_tape(array)) return view;
  const std::string from = fmt::format("({},)", begin), to = fmt::format("({},)", end);
  record_view("slice", std::array<Text, 2>{{{"begin", from}, {"end", to}}}, array, view);
  return view;
}

NDArray recorded_at(NDArray& array, int64_t index) {
  if (!on_tape(array)) return array.at(index);
  const Shape shape = array.at(index).shape();
  NDArray row = recorded_slice(array, index, index + 1);
  return recorded_reshape(row, shape);
}

NDArray recorded_reshape(NDArray& array, const Shape& shape) {
  NDArray view = array.reshape(shape);
  if (!on_tape(array)) return view;
  const std::string text = ParamText<Shape>::print(shape);
  record_view("Reshape", std::array<Text, 1>{{{"shape", text}}}, array, view);
  return view;
}

}  // namespace mxnet
