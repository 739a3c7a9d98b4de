// SPDX-License-Identifier: Apache-2.0
// Prepared kernels of several steps. Included by files called *_onednn.cc only.
#pragma once
#include "device/cpu/host_memory.h"
#include "op/onednn/prepared.h"

namespace mxnet::onednn {

// What workspace() makes of a request.
constexpr std::size_t whole_lines(std::size_t bytes) {
  return (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
}

// A step that knows how much scratch memory it takes: it uses what the step before has left.
struct SizedStep : PreparedRun {
  // Of all that it asks for in one run, as whole lines.
  virtual std::size_t workspace_bytes() const = 0;
};

// Runs that follow each other on the same tensors.
class StepsKernel final : public PreparedKernel {
 public:
  using MakeStep = std::function<std::unique_ptr<PreparedRun>()>;
  StepsKernel(const char* name, std::vector<MakeStep> steps, std::vector<LayoutRef> in,
              std::vector<LayoutRef> out)
      : PreparedKernel(name, std::move(in), std::move(out)), steps_(std::move(steps)) {}

  std::unique_ptr<PreparedRun> make_run() const override;

 private:
  const std::vector<MakeStep> steps_;
};

StepsKernel::MakeStep primitive_step(Compile compile, std::vector<Argument> arguments);

// Whether kernels on float32 are for this call.
bool takes_floats(const Signature& signature);

}  // namespace mxnet::onednn
