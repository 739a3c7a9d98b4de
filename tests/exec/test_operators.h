// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mxnet {

void complete_test_operators();

}  // namespace mxnet
