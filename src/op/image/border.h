// SPDX-License-Identifier: Apache-2.0
// Parameters of _cvcopyMakeBorder, and which pixel stands outside of an image, for any device.
#pragma once
#include <cstdint>
#include <vector>

#include "base/host_device.h"

namespace mxnet::image {

struct BorderParams {
  int32_t top, bottom, left, right, type;
  double value;
  std::vector<double> values;
};

enum BorderType : int32_t { kConstant, kReplicate, kReflect, kWrap, kReflect101 };

// The pixel that stands at `at`, which may lie outside; -1 for the constant. REQUIRES: n > 0.
MX_HOST_DEVICE inline int64_t pixel_at(int64_t at, int64_t n, int32_t type) {
  if (at >= 0 && at < n) return at;
  switch (type) {
    case kReplicate:
      return at < 0 ? 0 : n - 1;
    case kWrap:
      return (at % n + n) % n;
    case kReflect: {  // cb|abc|cb with its edges twice
      const int64_t place = (at % (2 * n) + 2 * n) % (2 * n);
      return place < n ? place : 2 * n - 1 - place;
    }
    case kReflect101: {  // its edges once
      if (n == 1) return 0;
      const int64_t period = 2 * n - 2, place = (at % period + period) % period;
      return place < n ? place : period - place;
    }
    default:
      return -1;
  }
}

}  // namespace mxnet::image
