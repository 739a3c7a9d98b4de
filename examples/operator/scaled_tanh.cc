// SPDX-License-Identifier: Apache-2.0
// A complete operator in one block: y = amplitude * tanh(x / width). docs/adding_an_operator.md
// walks through it; tests/exec/worked_example_test.cc compiles and runs it.
#include <cmath>

#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

struct ScaledTanhParams {
  float amplitude;
  float width;
};

// About thirty elementary operations an element: what the decision about threads goes by.
constexpr double kCost = 30;

void scaled_tanh_cpu(const ScaledTanhParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  dispatch_dtype<kFloating>(in.dtype, "_example_scaled_tanh", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;  // float for the half types
    parallel_for(in.size(), kCost, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const C x = static_cast<C>(in.as<T>()[i]) / static_cast<C>(params.width);
        out.as<T>()[i] = static_cast<T>(static_cast<C>(params.amplitude) * std::tanh(x));
      }
    });
  });
}

MX_OP(_example_scaled_tanh, ScaledTanhParams)
.doc("Hyperbolic tangent between -amplitude and amplitude, stretched by width.")
    .input("data", "Any floating-point array.")
    .param("amplitude", &ScaledTanhParams::amplitude, 1.0f, "Limit for large arguments.")
    .param("width", &ScaledTanhParams::width, 1.0f, "Argument at which tanh(1) is reached.")
    .at_least<float>(1e-6f)
    .dtypes(kFloating)
    .inplace(0, 0)
    .infer([](const ScaledTanhParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); })
    .cpu(scaled_tanh_cpu)
    .grad([](const ScaledTanhParams& params, Grad& grad) {
      // dy/dx = (amplitude - y^2 / amplitude) / width, from the output alone.
      const Value y = grad.out(0);
      const Value slope =
          (static_cast<double>(params.amplitude) - y * y / params.amplitude) / params.width;
      return Gradients{grad.dout(0) * slope};
    });

}  // namespace
}  // namespace mxnet
