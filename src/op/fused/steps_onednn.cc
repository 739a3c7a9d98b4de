// SPDX-License-Identifier: Apache-2.0
// Runs one behind the other.
#include "op/fused/steps_onednn.h"

#include <algorithm>

namespace mxnet::onednn {

std::unique_ptr<PreparedRun> StepsKernel::make_run() const {
  struct Run final : PreparedRun {
    std::vector<std::unique_ptr<PreparedRun>> steps;
    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      for (auto& step : steps) step->run(context, origins);
    }
  };
  auto run = std::make_unique<Run>();
  for (const MakeStep& make : steps_) run->steps.push_back(make());
  return run;
}

StepsKernel::MakeStep primitive_step(Compile compile, std::vector<Argument> arguments) {
  class Step final : public PreparedRun {
   public:
    Step(std::shared_ptr<const SharedPrimitive> primitive, std::span<const Argument> arguments)
        : primitive_(std::move(primitive)), run_(*primitive_, arguments) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      run_.run(context);
    }

   private:
    const std::shared_ptr<const SharedPrimitive> primitive_;
    PrimitiveRun run_;
  };
  auto primitive = std::make_shared<const SharedPrimitive>(std::move(compile));
  return [primitive, arguments = std::move(arguments)] {
    return std::make_unique<Step>(primitive, arguments);
  };
}

bool takes_floats(const Signature& signature) {
  const auto is_float = [](const Tensor& t) { return t.dtype == DType::kFloat32; };
  return takes(signature) && std::ranges::all_of(signature.in, is_float);
}

}  // namespace mxnet::onednn
