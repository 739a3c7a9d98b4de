// SPDX-License-Identifier: Apache-2.0
// Steps on a result as attributes of a primitive. Included by files called *_onednn.cc only.
#pragma once
#include <span>

#include "op/fused/post_op.h"
#include "op/onednn/key.h"
#include "op/onednn/runtime.h"

namespace mxnet::onednn {

struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha, beta;
};
// Of any kind but kSum.
Eltwise eltwise_of(const PostOp& op);
dnnl::post_ops post_ops(std::span<const PostOp> ops);
// All of them, as they tell one primitive from another.
void add_to(Key& key, std::span<const PostOp> ops);

}  // namespace mxnet::onednn
