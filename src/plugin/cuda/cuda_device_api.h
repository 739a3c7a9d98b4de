// SPDX-License-Identifier: Apache-2.0
// DeviceApi for NVIDIA GPUs, on the CUDA runtime.
#pragma once
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "device/collectives.h"
#include "device/device_api.h"
#include "device/device_links.h"
#include "device/graph_capture.h"

namespace mxnet::cuda {

class CudaStream;
class CudaEvent;

// Thread-safe. An error inside a kernel (an illegal address, say) is final for the process's
// context: CUDA reports it at every later call, not once.
class CudaDeviceApi final : public DeviceApi,
                            public DeviceLinks,
                            public GraphCapture,
                            public Collectives {
 public:
  // Throws Error that tells a missing driver from an old one and from a machine without a visible
  // GPU.
  static std::unique_ptr<CudaDeviceApi> create();

  const char* name() const noexcept override { return "cuda"; }
  int device_count() override { return count_; }
  DeviceProperties properties(int device) override;
  MemoryInfo memory_info(int device) override;

  void* allocate(int device, std::size_t bytes) override;
  void release(int device, void* data, std::size_t bytes) noexcept override;
  void* allocate_pinned(std::size_t bytes) override;
  void release_pinned(void* data, std::size_t bytes) noexcept override;

  NativeStream* create_stream(int device, StreamPriority priority) override;
  void destroy_stream(int device, NativeStream* stream) noexcept override;
  void synchronize(int device, NativeStream* stream) override;

  NativeEvent* create_event(int device) override;
  void destroy_event(int device, NativeEvent* event) noexcept override;
  void record(int device, NativeEvent* event, NativeStream* stream) override;
  void wait(int device, NativeStream* stream, NativeEvent* event) override;
  bool done(int device, NativeEvent* event) override;
  void synchronize(int device, NativeEvent* event) override;

  void copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
            NativeStream* stream) override;
  void fill(int device, void* data, unsigned char value, std::size_t bytes,
            NativeStream* stream) override;
  void host_call(int device, NativeStream* stream, InlineFunction<void()> fn) override;

  bool can_access_peer(int device, int peer) override;
  void enable_peer_access(int device, int peer) override;

  // In cuda_links.cc. By the performance rank that the driver gives each link.
  std::vector<double> link_weights() override;

  // In cuda_graphs.cc.
  void begin_capture(int device, NativeStream* stream) override;
  NativeGraph* end_capture(int device, NativeStream* stream) override;
  bool update_graph(int device, NativeGraph* graph, NativeGraph* newer) override;
  bool graph_arguments(int device, NativeGraph* graph, GraphArguments* arguments) override;
  bool give_arguments(int device, NativeGraph* graph, const GraphArguments& arguments) override;
  void launch_graph(int device, NativeGraph* graph, NativeStream* stream) override;
  void destroy_graph(int device, NativeGraph* graph) noexcept override;
  std::size_t graph_nodes(int device, NativeGraph* graph) override;
  void print_graph(int device, NativeGraph* graph, const std::string& path,
                   unsigned flags) override;

  // In nccl/.
  void require_collectives() override;
  NativeTeam* create_team(std::span<const int> devices) override;
  void destroy_team(NativeTeam* team) noexcept override;
  void run(NativeTeam* team, const CollectiveCall& call,
           std::span<NativeStream* const> streams) override;

 private:
  explicit CudaDeviceApi(int count) : count_(count) {}
  void check_device(int device) const;
  CudaStream& stream_of(int device, NativeStream* stream) const;
  CudaEvent& event_of(int device, NativeEvent* event) const;
  // Lets `device` reach the memory of `peer` over a link, once; nothing happens where it cannot.
  void connect(int device, int peer);

  const int count_;
  // Held by what waits for all work of a GPU, and by whoever starts work that waits for another
  // GPU: between the starts on the two, such a wait would never end.
  Mutex waits_for_all_;
  Mutex connecting_;
  std::set<std::pair<int, int>> connected_ MX_GUARDED_BY(connecting_);  // or found unable to be
};

}  // namespace mxnet::cuda
