// SPDX-License-Identifier: Apache-2.0
// See view_operators.cc.
#pragma once

namespace mxnet {

void complete_view_operators();

}  // namespace mxnet
