// SPDX-License-Identifier: Apache-2.0
// Additions of gradients, by the operator, so that they run on any device and may be recorded.
#include "exec/grad_sum.h"

#include <array>

#include "base/leaked.h"
#include "exec/autograd_state.h"
#include "exec/imperative.h"

namespace mxnet {
namespace {

ParsedAttrsRef without_attrs(std::string_view op) {
  return parse_attrs(Registry::get().at(op), {});
}

// to = a + b; recorded while the thread records.
void add_arrays(const NDArray& a, const NDArray& b, NDArray* to) {
  static Leaked<ParsedAttrsRef> add(without_attrs("elemwise_add"));
  if (!autograd_state().recording) {
    const std::array<const NDArray*, 2> inputs{&a, &b};
    return invoke((*add)->op(), (*add)->params(), inputs, {&to, 1});
  }
  std::array<NDArray, 2> operands{a, b};
  const std::array<NDArray*, 2> inputs{&operands[0], &operands[1]};
  imperative_invoke(*add, inputs, {&to, 1});
}

}  // namespace

void GradSum::add(InputGrad grad) {
  if (sum_.is_none()) {
    sum_ = std::move(grad.array);
    owned_ = grad.fresh;
  } else if (autograd_state().recording || !(owned_ || grad.fresh) ||
             sum_.storage_type() != grad.array.storage_type()) {  // of two layouts neither may do
    NDArray sum;
    add_arrays(sum_, grad.array, &sum);
    sum_ = std::move(sum);
    owned_ = true;
  } else {
    if (!owned_) std::swap(sum_, grad.array);
    add_arrays(sum_, grad.array, &sum_);
    owned_ = true;
  }
}

void LeafBuffer::accept(const InputGrad& grad) {
  if (!grad.in_target) {
    NDArray buffer = *target_.buffer;
    if (target_.request == Request::kAdd) {
      add_arrays(buffer, grad.array, &buffer);
    } else {
      grad.array.copy_to(buffer);
    }
  }
  target_.request = Request::kAdd;
  written_ = true;
}

void LeafBuffer::finish() {
  if (written_ || target_.request == Request::kAdd) return;
  const NDArray* input = target_.buffer;
  NDArray buffer = *target_.buffer;
  NDArray* output = &buffer;
  const ParsedAttrsRef zeros = without_attrs("zeros_like");
  invoke(zeros->op(), zeros->params(), {&input, 1}, {&output, 1});
}

}  // namespace mxnet
