// SPDX-License-Identifier: Apache-2.0
// The simulated accelerator: everything that a real one does to the code above the kernels (memory
// of its own that the host cannot touch, asynchronous streams, events, errors that show up late,
// limited capacity, links between some devices), on any machine. Kernels are CPU functions put on a
// stream with host_call; they reach device memory through sim_translate.
#pragma once
#include <memory>
#include <vector>

#include "base/config_sections.h"
#include "device/collectives.h"
#include "device/device_api.h"
#include "device/device_links.h"
#include "device/graph_capture.h"
#include "device/sim/sim_control.h"
#include "device/sim/sim_memory.h"
#include "device/sim/sim_pinned.h"
#include "device/sim/sim_stream.h"

namespace mxnet {

struct SimDeviceState;

// Thread-safe.
// Differences from hardware: stream priorities have no effect, and a stream goes on after an error.
class SimDeviceApi : public DeviceApi, public DeviceLinks, public GraphCapture, public Collectives {
 public:
  explicit SimDeviceApi(const DeviceConfig& config);
  ~SimDeviceApi() override;

  SimControl& control() { return control_; }
  // Where a kernel on `device` finds the `bytes` bytes at `data`; see sim_translate.
  void* translate_for_kernel(int device, const void* data, std::size_t bytes);

  void run(const SimTransfer& transfer);

  // Called by sim_fork.cc on the forking thread.
  void before_fork() MX_NO_THREAD_SAFETY_ANALYSIS;
  void after_fork(bool in_child) MX_NO_THREAD_SAFETY_ANALYSIS;

  const char* name() const noexcept override { return "sim"; }
  int device_count() override { return static_cast<int>(devices_.size()); }
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
  std::vector<double> link_weights() override { return control_.link_weights(); }

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

  // In sim_collectives.cc.
  void require_collectives() override {}
  NativeTeam* create_team(std::span<const int> devices) override;
  void destroy_team(NativeTeam* team) noexcept override;
  void run(NativeTeam* team, const CollectiveCall& call,
           std::span<NativeStream* const> streams) override;

 private:
  SimDeviceState& device(int ordinal);
  SimStream& stream_of(int ordinal, NativeStream* stream);
  SimMark mark_of(NativeEvent* event);
  char* translate(int32_t end, const void* data, std::size_t bytes);

  SimControl control_;
  SimPinned pinned_;
  std::vector<std::unique_ptr<SimDeviceState>> devices_;
};

}  // namespace mxnet
