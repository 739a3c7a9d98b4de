// SPDX-License-Identifier: Apache-2.0
// The tape of one call.
#include "exec/own_tape.h"

#include "engine/engine.h"
#include "exec/autograd_state.h"
#include "exec/backward.h"
#include "exec/tape.h"

namespace mxnet {

OwnTape::OwnTape(std::span<NDArray* const> inputs, std::size_t num_results,
                 const std::vector<bool>& wants)
    : results_(num_results) {
  inputs_.reserve(inputs.size());
  for (const NDArray* input : inputs) {
    NDArray& mine = inputs_.emplace_back(input->detach());
    mine.wait_to_read();
    versions_.push_back(Engine::get().version(mine.var()));
    // The buffer is for show: gradients() leaves it alone.
    if (wants[inputs_.size() - 1]) mark_variable(mine, Request::kWrite, mine);
  }
}

std::vector<NDArray*> OwnTape::refs(std::vector<NDArray>& arrays) {
  std::vector<NDArray*> all;
  all.reserve(arrays.size());
  for (NDArray& array : arrays) all.push_back(&array);
  return all;
}

std::vector<NDArray> OwnTape::detached_results() const {
  std::vector<NDArray> detached;
  detached.reserve(results_.size());
  for (const NDArray& result : results_) detached.push_back(result.detach());
  return detached;
}

bool OwnTape::is_written_since(std::size_t input, const NDArray& array) const {
  array.wait_to_read();
  return versions_[input] != Engine::get().version(array.var());
}

std::vector<NDArray> OwnTape::backward(std::span<const NDArray>, std::vector<NDArray> result_grads,
                                       std::span<const NDArray>) const {
  std::vector<const NDArray*> heads, head_grads, wanted;
  std::vector<std::size_t> places;
  for (std::size_t o = 0; o < results_.size(); ++o) {
    if (!wants_gradient(results_[o])) continue;
    heads.push_back(&results_[o]);
    head_grads.push_back(&result_grads[o]);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (leaf_of(inputs_[i]) == nullptr) continue;
    wanted.push_back(&inputs_[i]);
    places.push_back(i);
  }
  std::vector<NDArray> grads(inputs_.size());
  const AutogradState& state = autograd_state();
  std::vector<NDArray> found = gradients(
      heads, head_grads, wanted,
      {.retain_graph = state.retaining, .training = state.training, .allow_unused = true});
  for (std::size_t w = 0; w < places.size(); ++w) grads[places[w]] = std::move(found[w]);
  return grads;
}

}  // namespace mxnet
