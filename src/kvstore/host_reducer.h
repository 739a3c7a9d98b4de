// SPDX-License-Identifier: Apache-2.0
// Sums in host memory: all cpu(i) are one memory, so values there are read where they lie.
#pragma once
#include "kvstore/host_sum.h"
#include "kvstore/reducer.h"

namespace mxnet::kvstore {

// Threads for the sum of arrays of `elements` elements: 1 up to `bigarray_bound`.
int sum_threads(int64_t elements, const KvstoreConfig& config);

// As Reducer.
class HostReducer final : public Reducer {
 public:
  HostReducer(const KvstoreConfig& config, SumOrder order) : config_(config), order_(order) {}

  Device home(std::size_t, Arrays) override { return Device::cpu(); }
  void sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) override;
  void sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                    int priority) override;
  void copy(const NDArray& from, Arrays outs, int priority) override;

 private:
  std::vector<NDArray> gather(Buffers& buffers, Arrays values, int priority);
  void sum_dense(std::vector<NDArray> values, std::vector<NDArray> outs, int priority);
  void sum_sparse(Arrays values, const NDArray& to, int priority);

  const KvstoreConfig& config_;
  const SumOrder order_;
};

}  // namespace mxnet::kvstore
