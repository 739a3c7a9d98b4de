// SPDX-License-Identifier: Apache-2.0
// Executors that run node by node: for a monitor, and where a plan cannot.
#include <utility>

#include "base/error.h"
#include "exec/autograd_state.h"
#include "exec/backward.h"
#include "exec/executor.h"
#include "exec/overwritten.h"
#include "exec/tape.h"

namespace mxnet {

void Executor::set_monitor(Monitor monitor, bool all) {
  monitor_ = std::move(monitor);
  monitor_all_ = all;
}

// Of each variable, in the places of the nodes; with history from here on, where that is recorded.
std::vector<NDArray> Executor::detached_arrays(bool records) const {
  std::vector<NDArray> handles(static_cast<std::size_t>(graph().num_nodes()));
  for (std::size_t i = 0; i < arrays_.args.size(); ++i) {
    NDArray& handle = handles[static_cast<std::size_t>(graph().arguments()[i])];
    handle = arrays_.args[i].detach();
    if (records && arrays_.requests[i] != Request::kNull)
      mark_variable(handle, arrays_.requests[i], grads_[i]);
  }
  for (std::size_t i = 0; i < arrays_.aux.size(); ++i)
    handles[static_cast<std::size_t>(graph().auxiliary()[i])] = arrays_.aux[i].detach();
  return handles;
}

EagerGraph::Observer Executor::monitoring(bool records) {
  EagerGraph::Observer observer;
  observer.output = [this, records](const ir::Node& node, int o, const NDArray& value) {
    monitor_(node.name + "_" + node.op->output_name(node.params.get(), o), value);
    if (records && o == 0) watch_backward(node, value);
  };
  if (!monitor_all_) return observer;
  observer.input = [this](const ir::Node& node, int i, const NDArray& value) {
    // A variable goes by its own name as well, as 1.x shows it.
    const ir::Node& source = *node.inputs[static_cast<std::size_t>(i)].node;
    if (source.is_variable()) monitor_(source.name, value);
    monitor_(node.name + "_" + node.op->input_name(node.params.get(), i), value);
  };
  return observer;
}

void Executor::forward_eagerly(bool training, bool records) {
  std::vector<NDArray> handles = detached_arrays(records);
  std::vector<NDArray*> variables;
  const IndexedGraph& whole = eager_.graph();
  variables.reserve(whole.variables().size());
  for (int n : whole.variables())
    variables.push_back(&handles[static_cast<std::size_t>(graph().index_of(whole.node(n)))]);
  const EagerGraph::Observer observer = monitor_ ? monitoring(records) : EagerGraph::Observer();
  node_states_.resize(static_cast<std::size_t>(whole.num_nodes()));
  const AutogradScope scope({.recording = records, .training = training});
  std::vector<NDArray> results = eager_.run(variables, device_, monitor_ ? &observer : nullptr,
                                            crosses_ ? &groups_ : nullptr, node_states_);
  const auto fits = [&](std::size_t o) {
    return !outputs_[o].is_none() && outputs_[o].shape() == results[o].shape();
  };
  std::vector<const NDArray*> written;
  for (std::size_t o = 0; o < results.size(); ++o)
    if (fits(o)) written.push_back(&outputs_[o]);
  forget_failures(std::move(written));
  for (std::size_t o = 0; o < results.size(); ++o) {
    if (fits(o)) {
      results[o].copy_to(outputs_[o]);
    } else {
      outputs_[o] = results[o].detach();
    }
  }
  if (!records) return;
  recorded_ = std::move(results);
  state_ = State::kRecorded;
}

// The monitor sees the gradients of the node's inputs, by the names that 1.x has for them.
void Executor::watch_backward(const ir::Node& node, const NDArray& output) {
  const auto states = static_cast<std::ptrdiff_t>(node.op->state_inputs(node.params.get()).size());
  const bool numbered = std::ssize(node.inputs) - states > 1;
  // A monitor of its own: the outputs, and so the gradients, may outlive the executor.
  watch_gradients(output, [monitor = monitor_, numbered, name = node.name + "_backward_output"](
                              int input, const NDArray& gradient) {
    monitor(numbered ? name + std::to_string(input) : name, gradient);
  });
}

void Executor::backward_eagerly(InputRefs head_grads, bool training) {
  // Outputs that no argument with a gradient leads to have no history, or are constants of others'.
  std::vector<const NDArray*> heads, grads;
  std::vector<NDArray> moved;
  moved.reserve(head_grads.size());  // addresses stay
  for (std::size_t o = 0; o < recorded_.size(); ++o) {
    if (!wants_gradient(recorded_[o])) continue;
    heads.push_back(&recorded_[o]);
    if (head_grads.empty()) continue;
    const NDArray& output = recorded_[o];
    check_head_grad(o, *head_grads[o], output);
    NDArray given = head_grads[o]->detach();
    NDArray& grad = moved.emplace_back(moved_to(given, output.device()));
    if (grad.dtype() != output.dtype()) {
      grad = NDArray(output.shape(), output.dtype(), output.device());
      copy_across(given, grad);
    }
    grads.push_back(&grad);
  }
  if (!heads.empty()) {
    forget_failures_of_gradients(head_grads);
    mxnet::backward(heads, grads, {.training = training});
  }
  recorded_.clear();
}

// Unless they lie in what is read for them.
void Executor::forget_failures_of_gradients(InputRefs head_grads) const {
  std::vector<const NDArray*> written, read;
  for (const NDArray* head : head_grads)  // of outputs without a history it may be none
    if (!head->is_none()) read.push_back(head);
  for (const auto* const list : {&arrays_.args, &arrays_.aux})
    for (const NDArray& array : *list) read.push_back(&array);
  for (std::size_t i = 0; i < grads_.size(); ++i)
    if (arrays_.requests[i] == Request::kWrite) written.push_back(&grads_[i]);
  forget_failures(std::move(written), read);
}

}  // namespace mxnet
