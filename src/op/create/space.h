// SPDX-License-Identifier: Apache-2.0
// Numbers in even steps between two ends.
#pragma once
#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/host_device.h"

namespace mxnet {

struct SpaceParams {
  double start, stop, base;
  int32_t num;
  bool endpoint;
  std::string ctx;
  DType dtype;

  double step() const {
    const int64_t parts = endpoint ? num - 1 : num;
    return parts > 0 ? (stop - start) / static_cast<double>(parts) : 0.0;
  }
};

// start + i * step, the last exactly `stop` where it is included.
struct EvenSteps {
  double start, step, stop;
  int64_t last;  // the number of the included end, or -1

  explicit EvenSteps(const SpaceParams& params)
      : start(params.start),
        step(params.step()),
        stop(params.stop),
        last(params.endpoint && params.num > 1 ? params.num - 1 : -1) {}
  MX_HOST_DEVICE double operator()(int64_t i) const {
    return i == last ? stop : start + static_cast<double>(i) * step;
  }
};

}  // namespace mxnet
