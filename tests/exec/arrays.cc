// SPDX-License-Identifier: Apache-2.0
// The helpers of arrays.h.
#include "exec/arrays.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mxnet {

NDArray array_of(std::vector<float> values, Shape shape, Device device) {
  if (!shape.rank_known()) shape = {static_cast<int64_t>(values.size())};
  NDArray array(shape, DType::kFloat32, device);
  array.sync_copy_from(values.data(), static_cast<int64_t>(values.size()));
  return array;
}

std::vector<float> values_of(const NDArray& array) {
  EXPECT_EQ(array.dtype(), DType::kFloat32);
  std::vector<float> values(static_cast<std::size_t>(array.size()));
  array.sync_copy_to(values.data(), array.size());
  return values;
}

NDArray call(std::string_view op, std::initializer_list<NDArray*> inputs, const Attrs& attrs) {
  return call_op(op, {inputs.begin(), inputs.size()}, attrs)[0];
}

void call_into(NDArray& out, std::string_view op, std::initializer_list<NDArray*> inputs,
               const Attrs& attrs) {
  std::vector<std::pair<std::string_view, std::string_view>> views(attrs.begin(), attrs.end());
  NDArray* output = &out;
  imperative_invoke(parse_attrs(Registry::get().at(op), views), {inputs.begin(), inputs.size()},
                    {&output, 1});
}

NDArray attach_grad(NDArray& array, Request request, float initial) {
  NDArray grad = array_of(Values(static_cast<std::size_t>(array.size()), initial), array.shape());
  mark_variable(array, request, grad);
  return grad;
}

NDArray times(NDArray& x, const char* factor) {
  return call("_mul_scalar", {&x}, {{"scalar", factor}});
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void backward_from(NDArray& head, const BackwardOptions& options) {
  const NDArray* heads[] = {&head};
  backward(heads, {}, options);
}

}  // namespace mxnet
