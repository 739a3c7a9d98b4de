// SPDX-License-Identifier: Apache-2.0
// Work of a stream that is recorded once and then put on a stream as a whole: what CUDA calls
// graphs. Not every kind of device has it, so it is an interface beside DeviceApi that an api may
// have as well.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device_api.h"

namespace mxnet {

// Foreign handle, meaningful only to the api that made it; owned through DeviceGraph.
struct NativeGraph;

// What the calls of a graph were given.
struct GraphArguments {
  uint64_t calls = 0;           // of kinds, kernels, grids, sizes: the same calls have the same
  std::vector<uint64_t> words;  // all that may be an address, in the order of the calls

  bool operator==(const GraphArguments&) const = default;
};

// Thread-safe for different streams and graphs.
class MX_PLUGIN_API GraphCapture {
 public:
  virtual ~GraphCapture();

  // From now on work put on `stream` is recorded and not done. Until end_capture, calls that wait
  // for the stream, or record an event on it, are errors.
  virtual void begin_capture(int device, NativeStream* stream) = 0;
  // The recorded work. Throws Error where something in between cannot be recorded; capturing has
  // ended then too.
  virtual NativeGraph* end_capture(int device, NativeStream* stream) = 0;
  // Makes `graph` do the work of `newer`, and leaves in `newer` what `graph` did: cheap where both
  // are the same calls with other arguments. False, and nothing done, where they are not. Launches
  // under way are not touched, and need what they were recorded with: `newer` is to live until
  // they have ended.
  virtual bool update_graph(int device, NativeGraph* graph, NativeGraph* newer) = 0;
  // False where there is a call whose arguments cannot be seen, or that reads the host's memory.
  virtual bool graph_arguments(int device, NativeGraph* graph, GraphArguments* arguments) = 0;
  // Gives the recorded calls other words: a graph that is updated from this one does them then.
  // Launches under way go on with what they had. False where the calls are others; such a graph,
  // and one of which the device has refused some, is of no more use.
  virtual bool give_arguments(int device, NativeGraph* graph, const GraphArguments& arguments) = 0;
  virtual void launch_graph(int device, NativeGraph* graph, NativeStream* stream) = 0;
  // REQUIRES: no launch is under way of the work that it has, whichever graph was launched.
  virtual void destroy_graph(int device, NativeGraph* graph) noexcept = 0;
  virtual std::size_t graph_nodes(int device, NativeGraph* graph) = 0;
  // A file in the language of graphviz. `flags` are the device's own (cudaGraphDebugDotFlags).
  virtual void print_graph(int device, NativeGraph* graph, const std::string& path,
                           unsigned flags) = 0;
};

// Null for devices that have no graphs.
GraphCapture* graph_capture(DeviceApi& api);

// Owner of a graph. Movable, not copyable.
class DeviceGraph {
 public:
  DeviceGraph() = default;
  DeviceGraph(GraphCapture& api, int device, NativeGraph* native)
      : api_(&api), device_(device), native_(native) {}
  ~DeviceGraph() { reset(); }
  DeviceGraph(DeviceGraph&& other) noexcept { take(&other); }
  DeviceGraph& operator=(DeviceGraph&& other) noexcept {
    if (this != &other) {
      reset();
      take(&other);
    }
    return *this;
  }

  explicit operator bool() const { return native_ != nullptr; }
  std::size_t nodes() const { return api_->graph_nodes(device_, native_); }
  // Both trade their work, and what is ready to be launched stays here; or false.
  bool update(DeviceGraph& newer) { return api_->update_graph(device_, native_, newer.native_); }
  bool update(DeviceGraph&& newer) { return update(newer); }
  bool arguments(GraphArguments* into) const {
    return api_->graph_arguments(device_, native_, into);
  }
  bool give(const GraphArguments& arguments) {
    return api_->give_arguments(device_, native_, arguments);
  }
  void launch(NativeStream* stream) { api_->launch_graph(device_, native_, stream); }
  void print(const std::string& path, unsigned flags) const {
    api_->print_graph(device_, native_, path, flags);
  }

 private:
  void reset() noexcept {
    if (native_ != nullptr) api_->destroy_graph(device_, native_);
    native_ = nullptr;
  }
  void take(DeviceGraph* other) noexcept {
    api_ = other->api_;
    device_ = other->device_;
    native_ = other->native_;
    other->native_ = nullptr;
  }

  GraphCapture* api_ = nullptr;
  int device_ = -1;
  NativeGraph* native_ = nullptr;
};

}  // namespace mxnet
