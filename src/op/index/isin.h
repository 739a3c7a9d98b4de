// SPDX-License-Identifier: Apache-2.0
// Parameters of _npi_isin, for kernels on any device.
#pragma once

namespace mxnet {

struct IsinParams {
  bool invert;
};

}  // namespace mxnet
