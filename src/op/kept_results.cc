// SPDX-License-Identifier: Apache-2.0
// The set of these operators.
#include "op/kept_results.h"

#include "op/marked_ops.h"

namespace mxnet {
namespace {

using Kept = MarkedOps<struct KeptMark>;

}  // namespace

bool mark_kept(std::string_view op) { return Kept::add(op); }
bool keeps_results(const OpDef& op) { return Kept::contains(op); }

}  // namespace mxnet
