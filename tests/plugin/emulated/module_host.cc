// SPDX-License-Identifier: Apache-2.0
// Source of programs for the emulated plug-in, in place of NVRTC. It knows one kernel,
// scale(const float* x, float* y, float factor, int n), and runs it as a loop.
#include "base/error.h"
#include "plugin/cuda/rtc/module.h"

namespace mxnet::cuda {
namespace {

class HostModule final : public GpuModule {
 public:
  void launch(NativeStream*, const std::string& kernel, const GpuGrid&, void** arguments) override {
    if (kernel != "scale") throw Error(ErrorCode::kValue, "rtc", "given " + kernel);
    const float* x = *static_cast<const float**>(arguments[0]);
    float* y = *static_cast<float**>(arguments[1]);
    const float factor = *static_cast<float*>(arguments[2]);
    for (int i = 0; i < *static_cast<int*>(arguments[3]); ++i) y[i] = x[i] * factor;
  }
};

}  // namespace

GpuModule* compile_module(const GpuSource& source) {
  if (source.text.find("scale") == std::string::npos)
    throw Error(ErrorCode::kValue, "rtc", "given source that does not compile");
  return new HostModule;
}

}  // namespace mxnet::cuda
