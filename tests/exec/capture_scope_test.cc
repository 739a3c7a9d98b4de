// SPDX-License-Identifier: Apache-2.0
// Scratch memory of kernels whose calls are recorded: it is the graph's, and nobody else's, as long
// as the graph lives.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "exec/capture_scope.h"
#include "exec/pooled_resources.h"

namespace mxnet {
namespace {

constexpr std::size_t kBytes = 100'000;

// The addresses of as many blocks of this size as there could be in the pool.
std::vector<void*> blocks_of(Device device) {
  constexpr int kMany = 16;
  std::vector<Block> blocks;
  std::vector<void*> addresses;
  for (int i = 0; i < kMany; ++i) blocks.push_back(Storage::get().allocate(kBytes, device));
  for (const Block& block : blocks) {
    addresses.push_back(block.data);
    Storage::get().release(block);
  }
  return addresses;
}
bool is_handed_out(void* memory, Device device) {
  const std::vector<void*> addresses = blocks_of(device);
  return std::find(addresses.begin(), addresses.end(), memory) != addresses.end();
}

TEST(CaptureScope, ScratchOfARecordingIsTheGraphsUntilItGoes) {
  auto graph = std::make_unique<CapturedMemory>();
  void *first = nullptr, *second = nullptr;
  {
    const CaptureScope scope(*graph);
    PooledResources resources(Device::gpu(0), nullptr);
    first = resources.workspace(kBytes);
    second = resources.workspace(kBytes);
  }
  EXPECT_NE(first, second);
  EXPECT_GE(graph->bytes(), 2 * kBytes);
  EXPECT_FALSE(is_handed_out(first, Device::gpu(0)));
  EXPECT_FALSE(is_handed_out(second, Device::gpu(0)));
  graph.reset();
  EXPECT_TRUE(is_handed_out(first, Device::gpu(0)));
  EXPECT_TRUE(is_handed_out(second, Device::gpu(0)));
}

TEST(CaptureScope, OutsideOfARecordingAndOnTheHostMemoryIsTheCalls) {
  CapturedMemory graph;
  void* memory = nullptr;
  {
    PooledResources resources(Device::gpu(0), nullptr);
    memory = resources.workspace(kBytes);
  }
  EXPECT_TRUE(is_handed_out(memory, Device::gpu(0)));
  const CaptureScope scope(graph);
  {
    PooledResources resources(Device::cpu(), nullptr);
    resources.workspace(kBytes);
  }
  EXPECT_EQ(graph.bytes(), 0u);
}

}  // namespace
}  // namespace mxnet
