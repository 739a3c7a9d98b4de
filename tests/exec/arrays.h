// SPDX-License-Identifier: Apache-2.0
// Small arrays for tests: made from values, read back, and calls by name.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "exec/autograd_state.h"
#include "exec/backward.h"
#include "exec/imperative.h"
#include "exec/tape.h"

namespace mxnet {

// A float32 array on `device`; the shape defaults to one dimension.
NDArray array_of(std::vector<float> values, Shape shape = {}, Device device = Device::cpu());
std::vector<float> values_of(const NDArray& array);
using Values = std::vector<float>;

// The first output of an operator's call.
NDArray call(std::string_view op, std::initializer_list<NDArray*> inputs, const Attrs& attrs = {});
// The same into a given array.
void call_into(NDArray& out, std::string_view op, std::initializer_list<NDArray*> inputs,
               const Attrs& attrs = {});

// array.attach_grad(): marks and returns the buffer, which starts with `initial`.
NDArray attach_grad(NDArray& array, Request request = Request::kWrite, float initial = 0);

// x * factor.
NDArray times(NDArray& x, const char* factor);

// What the error says that `body` throws, and whether a text is part of it.
std::string error_of(const std::function<void()>& body);
bool contains(const std::string& text, std::string_view part);

// backward() from one array.
void backward_from(NDArray& head, const BackwardOptions& options = {});

// autograd.record()
struct Recording : AutogradScope {
  Recording() : AutogradScope({.recording = true, .training = true}) {}
};

}  // namespace mxnet
