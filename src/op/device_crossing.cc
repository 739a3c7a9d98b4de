// SPDX-License-Identifier: Apache-2.0
// The set of these operators.
#include "op/device_crossing.h"

#include "op/marked_ops.h"

namespace mxnet {
namespace {

using Crossing = MarkedOps<struct CrossingMark>;

}  // namespace

bool mark_crossing(std::string_view op) { return Crossing::add(op); }
bool crosses_devices(const OpDef& op) { return Crossing::contains(op); }

}  // namespace mxnet
