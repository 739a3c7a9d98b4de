// SPDX-License-Identifier: Apache-2.0
// Packed weights of a direction of a layer, as all ways of running it find them kept.
#pragma once
#include <cstdint>
#include <memory>

#include "op/kernel.h"
#include "op/products/packed_gemm.h"
#include "op/rnn/weight_cache.h"
#include "op/run/parallel.h"

namespace mxnet::rnn {

struct GateSizes {
  int64_t inputs, hidden, out, gates;
};

// The weights of a direction of a layer, packed gate by gate: those of the input, then those of the
// state. Kept at `home`, or scratch of the call.
template <class Products>
struct PackedGates {
  using Weight = typename Products::Weight;
  using Number = typename Products::Number;

  PackedGates(const Products& products, const Weight* of_input, const Weight* of_state,
              const GateSizes& sizes, const WeightHome& home, uintptr_t place,
              KernelContext& context)
      : input_stride(products.packed_size(sizes.inputs, sizes.hidden)),
        state_stride(products.packed_size(sizes.out, sizes.hidden)),
        input(products.in_place(of_input)) {
    const int64_t size = sizes.gates * (input_stride + state_stride);
    if (input == nullptr) {  // else those of the state follow, as in packed ones
      const WeightKey key{place,       sizes.inputs,   sizes.hidden,   sizes.out,
                          sizes.gates, sizeof(Weight), Products::kForm};
      kept = kept_weights(
          home, key, static_cast<std::size_t>(size) * sizeof(Number),
          [&](std::byte* to) { pack(of_input, of_state, sizes, reinterpret_cast<Number*>(to)); });
      input = reinterpret_cast<const Number*>(kept.get());
    }
    if (input == nullptr) {
      auto* packed = context.workspace_of<Number>(size);
      pack(of_input, of_state, sizes, packed);
      input = packed;
    }
    state = input + sizes.gates * input_stride;
  }

  int64_t input_stride, state_stride;  // from gate to gate
  std::shared_ptr<const std::byte> kept;
  const Number *input, *state;

 private:
  void pack(const Weight* of_input, const Weight* of_state, const GateSizes& sizes,
            Number* to) const {
    const auto& [inputs, hidden, out, gates] = sizes;
    Number* const states = to + gates * input_stride;
    parallel_for(
        hidden, static_cast<double>(gates * (inputs + out)),
        [&, inputs = inputs, hidden = hidden, out = out, gates = gates](int64_t first,
                                                                        int64_t last) {
          for (int64_t g = 0; g < gates; ++g) {
            Products::pack(of_input + g * hidden * inputs, inputs, hidden, first, last,
                           to + g * input_stride);
            Products::pack(of_state + g * hidden * out, out, hidden, first, last,
                           states + g * state_stride);
          }
        },
        packed_gemm::panel_columns<Number>());
  }
};

}  // namespace mxnet::rnn
