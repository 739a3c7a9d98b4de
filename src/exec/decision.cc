// SPDX-License-Identifier: Apache-2.0
// A decision is a number on the host: whoever asks for it waits.
#include "exec/decision.h"

#include <fmt/format.h>

#include "base/error.h"
#include "exec/autograd_state.h"

namespace mxnet {

std::vector<NDArray*> pick(std::span<NDArray* const> values, const Locations& locations) {
  std::vector<NDArray*> picked;
  for (int64_t location : locations) picked.push_back(values[static_cast<std::size_t>(location)]);
  return picked;
}

bool holds(const char* op, const GraphBody& condition, std::span<NDArray* const> inputs,
           Device device) {
  // Nothing flows back through a decision.
  const AutogradScope scope({.recording = false, .training = autograd_state().training});
  std::vector<NDArray> results = condition.run(inputs, device);
  if (results[0].size() != 1) {
    throw Error(ErrorCode::kValue, op,
                fmt::format("given a condition of shape {}, expected one element",
                            to_string(results[0].shape())));
  }
  NDArray value = results[0].device().is_gpu() ? results[0].copy(Device::cpu()) : results[0];
  const NDArray number =
      call_op("Cast", std::array<NDArray*, 1>{&value}, {{"dtype", "float64"}})[0];
  double truth = 0;
  number.sync_copy_to(&truth, 1);
  return truth != 0;
}

void infer_with(const GraphBody& body, const Locations& locations, Infer& infer,
                std::vector<ArrayType>* out) {
  std::vector<ArrayType> in;
  for (int64_t location : locations) in.push_back(type_of(infer.in(static_cast<int>(location))));
  out->resize(static_cast<std::size_t>(body.num_outputs()));
  body.infer(in, *out);
  for (std::size_t i = 0; i < in.size(); ++i)
    learn(infer.in(static_cast<int>(locations[i])), in[i]);
}

std::shared_ptr<const GraphBody> body_at(const char* op, SubgraphList graphs, std::size_t i,
                                         std::size_t expected) {
  if (graphs.size() == expected) return std::make_shared<const GraphBody>(*graphs[i]);
  throw Error(ErrorCode::kValue, op,
              fmt::format("given {} graphs, expected {}", graphs.size(), expected));
}

[[noreturn]] void no_graphs(const char* op) {
  throw Error(ErrorCode::kValue, op, "given no graphs, expected symbols as the first inputs");
}

}  // namespace mxnet
