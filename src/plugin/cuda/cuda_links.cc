// SPDX-License-Identifier: Apache-2.0
// What the driver says of the links between GPUs, as DeviceLinks wants it.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "plugin/cuda/check.h"
#include "plugin/cuda/cuda_device_api.h"

namespace mxnet::cuda {
namespace {

// 0 = the fastest kind of link, more = slower.
int performance_rank(int device, int peer) {
  int rank = 0;
  MX_CUDA_CALL_ABOUT(device,
                     cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, device, peer));
  return rank;
}

}  // namespace

std::vector<double> CudaDeviceApi::link_weights() {
  constexpr int kNoLink = -1;
  const auto count = static_cast<std::size_t>(count_);
  std::vector<int> ranks(count * count, kNoLink);
  int slowest = 0;
  for (int a = 0; a < count_; ++a) {
    for (int b = 0; b < a; ++b) {
      if (!can_access_peer(a, b) || !can_access_peer(b, a)) continue;
      const int there = performance_rank(a, b), back = performance_rank(b, a);
      const int rank = std::max(there, back);
      slowest = std::max(slowest, rank);
      const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
      ranks[x * count + y] = ranks[y * count + x] = rank;
    }
  }
  std::vector<double> weights;
  weights.reserve(ranks.size());
  for (const int rank : ranks) weights.push_back(rank == kNoLink ? 0 : 1 + slowest - rank);
  return weights;
}

}  // namespace mxnet::cuda
