// SPDX-License-Identifier: Apache-2.0
// Runs one behind the other.
#include "op/fused/steps_onednn.h"

#include <algorithm>

namespace mxnet::onednn {

namespace {

// Lends one room to step after step; what does not fit comes from where the room comes from.
class StepMemory final : public KernelResources {
 public:
  StepMemory(const KernelContext& context, std::size_t bytes)
      : context_(context), room_(static_cast<char*>(context.workspace(bytes))), bytes_(bytes) {}
  void begin_step() { used_ = 0; }
  void* workspace(std::size_t bytes) override {
    const std::size_t rounded = whole_lines(bytes);
    if (rounded > bytes_ - used_) return context_.workspace(bytes);
    used_ += rounded;
    return room_ + used_ - rounded;
  }
  Tensor make_out(int i, const Shape& shape) override { return context_.make_out(i, shape); }
  MadeOfValues* made_of(int i, uint64_t* version) override { return context_.made_of(i, version); }
  bool is_read(int i) const override { return context_.is_read(i); }

 private:
  const KernelContext& context_;
  char* const room_;
  const std::size_t bytes_;
  std::size_t used_ = 0;
};

std::size_t bytes_of(const PreparedRun& step) {
  const auto* sized = dynamic_cast<const SizedStep*>(&step);
  return sized != nullptr ? sized->workspace_bytes() : 0;
}

}  // namespace

std::unique_ptr<PreparedRun> StepsKernel::make_run() const {
  struct Run final : PreparedRun {
    std::vector<std::unique_ptr<PreparedRun>> steps;
    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      std::size_t most = 0;
      for (auto& step : steps) most = std::max(most, bytes_of(*step));
      StepMemory memory(context, most);
      const auto count = [](int n) { return static_cast<std::size_t>(n); };
      const KernelContext each({&context.in(0), count(context.num_in())},
                               {&context.out(0), count(context.num_out())}, context.device(),
                               context.stream(), context.training(), memory);
      for (auto& step : steps) {
        memory.begin_step();
        step->run(each, origins);
      }
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
