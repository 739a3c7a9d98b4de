// SPDX-License-Identifier: Apache-2.0
// Three operations a value: pack, copy, unpack.
#include "kvstore/compressed_reducer.h"

#include <algorithm>
#include <utility>

#include "kvstore/pack_op.h"

namespace mxnet::kvstore {
namespace {

// What was left of earlier pushes of this device; that of the n-th value where several lie there.
// Those of values before `position` are taken.
Residual& residual_of(std::vector<Residual>& residuals, std::size_t position, Device device) {
  std::size_t found = position;
  while (found < residuals.size() &&
         (residuals[found].rest.is_none() || residuals[found].rest.device() != device))
    ++found;
  if (found == residuals.size()) residuals.emplace_back();
  std::swap(residuals[position], residuals[found]);
  return residuals[position];
}

}  // namespace

std::vector<NDArray> CompressedReducer::through_bits(Buffers& buffers, Arrays values, Device home,
                                                     int priority) {
  std::vector<Residual>& residuals = buffers.residuals;
  std::vector<NDArray> unpacked;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const NDArray& value = values[i];
    check_packable(value);
    const Shape words{compression_.words(value.size())};
    Residual& kept = residual_of(residuals, i, value.device());
    if (kept.rest.is_none()) kept.rest = zeros_like(value);
    const bool fresh = kept.packed.is_none() || kept.packed.shape() != words;
    if (fresh) kept.packed = NDArray(words, DType::kInt32, value.device(), "kvstore");
    if (fresh || kept.arrived.device() != home) {
      kept.arrived =
          home == value.device() ? kept.packed : NDArray(words, DType::kInt32, home, "kvstore");
      kept.unpacked = empty_like(value, home);
    }
    push_pack(compression_, value, kept.rest, kept.packed, priority);
    kept.packed.copy_to(kept.arrived, priority);
    push_unpack(compression_, kept.arrived, kept.unpacked, priority);
    unpacked.push_back(kept.unpacked);
  }
  return unpacked;
}

void CompressedReducer::sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) {
  const bool rows =
      std::any_of(values.begin(), values.end(), [](const NDArray& v) { return v.is_sparse(); });
  if (rows) return inner_->sum(buffers, values, to, priority);
  inner_->sum(buffers, through_bits(buffers, values, to.device(), priority), to, priority);
}

void CompressedReducer::sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to,
                                     Arrays outs, int priority) {
  sum(buffers, values, to, priority);
  copy(to, outs, priority);
}

}  // namespace mxnet::kvstore
