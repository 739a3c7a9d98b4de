// SPDX-License-Identifier: Apache-2.0
// Checks arguments and puts work on streams; the work itself is in sim_access.cc.
#include "device/sim/sim_device_api.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "device/device_check.h"
#include "device/sim/sim_device_state.h"
#include "device/sim/sim_fork.h"
#include "device/sim/sim_graph.h"
#include "device/sim/sim_links.h"

namespace mxnet {
namespace {

// What a NativeEvent of this api points to. `mark` is guarded by its device's mutex, not by one of
// its own: those are known to the fork handler.
struct SimEvent {
  const int device;
  SimMark mark;

  static SimEvent* from(NativeEvent* event) { return reinterpret_cast<SimEvent*>(event); }
  NativeEvent* native() { return reinterpret_cast<NativeEvent*>(this); }
};

int32_t end_of(Device device) { return device.is_gpu() ? device.id : SimTransfer::kHost; }

NativeStream* native(SimStream* stream) { return reinterpret_cast<NativeStream*>(stream); }

SimEvent& event_of(int device, NativeEvent* event) {
  if (event != nullptr && SimEvent::from(event)->device == device) return *SimEvent::from(event);
  throw Error(ErrorCode::kValue, "sim", fmt::format("given no event of gpu({})", device));
}

// Hardware refuses calls to its api from a host_call too, or deadlocks.
void refuse_inside_host_call() {
  if (SimStream::running() == nullptr) return;
  throw Error(ErrorCode::kInternal, "sim",
              "a function run by host_call must not call the device api");
}

}  // namespace

SimDeviceApi::SimDeviceApi(const DeviceConfig& config)
    : control_(config.sim_gpus, parse_sim_links(config.sim_links, config.sim_gpus)) {
  for (int i = 0; i < config.sim_gpus; ++i) {
    devices_.push_back(std::make_unique<SimDeviceState>(
        i, config.sim_gpus, static_cast<std::size_t>(config.sim_memory_bytes)));
  }
  watch_forks(*this);
}

SimDeviceApi::~SimDeviceApi() { unwatch_forks(*this); }

SimDeviceState& SimDeviceApi::device(int ordinal) {
  check_ordinal(name(), ordinal, device_count());
  return *devices_[ordinal];
}

SimStream& SimDeviceApi::stream_of(int ordinal, NativeStream* stream) {
  check_ordinal(name(), ordinal, device_count());
  refuse_inside_host_call();
  auto* mine = reinterpret_cast<SimStream*>(stream);
  if (mine != nullptr && mine->device() == ordinal) return *mine;
  throw Error(ErrorCode::kValue, name(), fmt::format("given no stream of gpu({})", ordinal));
}

DeviceProperties SimDeviceApi::properties(int ordinal) {
  DeviceProperties result;
  result.name = "Simulated GPU";
  result.total_memory = device(ordinal).memory.capacity();
  result.multiprocessors = 1;
  return result;
}

MemoryInfo SimDeviceApi::memory_info(int ordinal) {
  const SimMemory& memory = device(ordinal).memory;
  return {memory.capacity() - memory.used(), memory.capacity()};
}

void* SimDeviceApi::allocate(int ordinal, std::size_t bytes) {
  SimDeviceState& state = device(ordinal);
  refuse_inside_host_call();
  void* data = control_.next_allocation_fails(ordinal) ? nullptr : state.memory.allocate(bytes);
  control_.count(ordinal, data == nullptr ? &SimStats::failed_allocations : &SimStats::allocations);
  return data;
}

void SimDeviceApi::release(int ordinal, void* data, std::size_t) noexcept {
  if (data == nullptr) return;
  SimDeviceState& state = *devices_[ordinal];
  if (SimStream::running() == nullptr) state.drain();
  if (state.memory.release(data)) {
    control_.count(ordinal, &SimStats::releases);
  } else {
    log(LogLevel::kError, "sim: released memory that was not allocated, or twice");
  }
}

void* SimDeviceApi::allocate_pinned(std::size_t bytes) {
  refuse_inside_host_call();
  return pinned_.allocate(bytes);
}

void SimDeviceApi::release_pinned(void* data, std::size_t bytes) noexcept {
  if (data == nullptr) return;
  // Not waited for: a kernel of ours runs on the host, and may want the very pool that asks for
  // this.
  std::vector<SimMark> marks;
  for (const auto& state : devices_) state->add_marks(&marks);
  pinned_.release_after(std::move(marks), data, bytes);
}

NativeStream* SimDeviceApi::create_stream(int ordinal, StreamPriority) {
  SimDeviceState& state = device(ordinal);
  refuse_inside_host_call();
  auto stream = std::make_unique<SimStream>(*this, ordinal);
  MutexLock lock(state.mutex);
  state.streams.insert(stream.get());
  return native(stream.release());
}

void SimDeviceApi::destroy_stream(int ordinal, NativeStream* stream) noexcept {
  SimDeviceState& state = *devices_[ordinal];
  auto* mine = reinterpret_cast<SimStream*>(stream);
  {
    MutexLock lock(state.mutex);
    state.streams.erase(mine);
  }
  delete mine;
}

void SimDeviceApi::synchronize(int ordinal, NativeStream* stream) {
  stream_of(ordinal, stream).synchronize();
}

NativeEvent* SimDeviceApi::create_event(int ordinal) {
  check_ordinal(name(), ordinal, device_count());
  return (new SimEvent{ordinal, {}})->native();
}

void SimDeviceApi::destroy_event(int, NativeEvent* event) noexcept { delete SimEvent::from(event); }

void SimDeviceApi::record(int ordinal, NativeEvent* event, NativeStream* stream) {
  SimEvent& mine = event_of(ordinal, event);
  SimMark mark = stream_of(ordinal, stream).mark();
  MutexLock lock(devices_[ordinal]->mutex);
  mine.mark = std::move(mark);
}

SimMark SimDeviceApi::mark_of(NativeEvent* event) {
  SimEvent& it = *SimEvent::from(event);
  MutexLock lock(devices_[it.device]->mutex);
  return it.mark;
}

void SimDeviceApi::wait(int ordinal, NativeStream* stream, NativeEvent* event) {
  SimStream& waiting = stream_of(ordinal, stream);
  if (event == nullptr) throw Error(ErrorCode::kValue, name(), "given no event");
  SimMark mark = mark_of(event);
  if (!mark.reached()) waiting.push([mark = std::move(mark)] { mark.await(); });
}

bool SimDeviceApi::done(int ordinal, NativeEvent* event) {
  event_of(ordinal, event);
  return mark_of(event).reached();
}

void SimDeviceApi::synchronize(int ordinal, NativeEvent* event) {
  refuse_inside_host_call();
  event_of(ordinal, event);
  mark_of(event).synchronize();
}

void SimDeviceApi::copy(void* to_data, Device to, const void* from_data, Device from,
                        std::size_t bytes, NativeStream* stream) {
  check_gpu_end(name(), to, from);
  SimStream& on = stream_of(to.is_gpu() ? to.id : from.id, stream);
  if (bytes == 0) return;
  const SimTransfer work{this, to_data, from_data, bytes, end_of(to), end_of(from)};
  translate(work.to, to_data, bytes);  // what is wrong already is an error at once
  translate(work.from, from_data, bytes);
  const SimMark done = on.push(work);
  const bool pageable = (!to.is_gpu() && !pinned_.contains(to_data, bytes)) ||
                        (!from.is_gpu() && !pinned_.contains(from_data, bytes));
  if (pageable) done.await();
}

void SimDeviceApi::fill(int ordinal, void* data, unsigned char value, std::size_t bytes,
                        NativeStream* stream) {
  SimStream& on = stream_of(ordinal, stream);
  if (bytes == 0) return;
  translate(ordinal, data, bytes);
  on.push(SimTransfer{this, data, data, bytes, ordinal, ordinal, value});
}

void SimDeviceApi::host_call(int ordinal, NativeStream* stream, InlineFunction<void()> fn) {
  stream_of(ordinal, stream).push(std::move(fn));
  control_.count(ordinal, &SimStats::host_calls);
}

bool SimDeviceApi::can_access_peer(int ordinal, int peer) {
  check_ordinal(name(), ordinal, device_count());
  check_ordinal(name(), peer, device_count());
  return control_.linked(ordinal, peer);
}

void SimDeviceApi::enable_peer_access(int ordinal, int peer) {
  if (!can_access_peer(ordinal, peer)) {
    throw Error(ErrorCode::kValue, name(),
                fmt::format("gpu({}) has no link to gpu({})", ordinal, peer));
  }
  devices_[ordinal]->peers[peer].store(true, std::memory_order_relaxed);
}

void SimDeviceApi::begin_capture(int ordinal, NativeStream* stream) {
  stream_of(ordinal, stream).begin_capture();
}

NativeGraph* SimDeviceApi::end_capture(int ordinal, NativeStream* stream) {
  auto tasks = std::make_shared<SimGraph::Tasks>(stream_of(ordinal, stream).end_capture());
  return (new SimGraph(std::move(tasks)))->native();
}

bool SimDeviceApi::update_graph(int, NativeGraph* graph, NativeGraph* newer) {
  return SimGraph::from(graph)->update(SimGraph::from(newer));
}

bool SimDeviceApi::graph_arguments(int, NativeGraph* graph, GraphArguments* arguments) {
  return SimGraph::from(graph)->arguments(arguments);
}

bool SimDeviceApi::give_arguments(int, NativeGraph* graph, const GraphArguments& arguments) {
  return SimGraph::from(graph)->give(arguments);
}

void SimDeviceApi::launch_graph(int ordinal, NativeGraph* graph, NativeStream* stream) {
  SimGraph::from(graph)->launch(stream_of(ordinal, stream));
  control_.count(ordinal, &SimStats::graph_launches);
}

void SimDeviceApi::destroy_graph(int, NativeGraph* graph) noexcept { delete SimGraph::from(graph); }

std::size_t SimDeviceApi::graph_nodes(int, NativeGraph* graph) {
  return SimGraph::from(graph)->nodes();
}

void SimDeviceApi::print_graph(int, NativeGraph* graph, const std::string& path, unsigned flags) {
  SimGraph::from(graph)->print(path, flags);
}

}  // namespace mxnet
