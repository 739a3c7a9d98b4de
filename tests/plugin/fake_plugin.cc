// SPDX-License-Identifier: Apache-2.0
// A plug-in as small as can be, built several times: MX_FAKE_BEHAVIOUR says what it does right or
// wrong. Its device is host memory without streams; what is tested is the border between the two
// libraries.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "device/plugin_abi.h"
#include "op/run/gpu_table.h"
#include "plugin_tree.h"

namespace {

using namespace mxnet;
constexpr std::string_view kBehaviour = MX_FAKE_BEHAVIOUR;

class FakeDeviceApi final : public DeviceApi {
 public:
  const char* name() const noexcept override { return "fake"; }
  int device_count() override { return 3; }
  DeviceProperties properties(int) override { return {.name = "Fake GPU", .total_memory = 4096}; }
  MemoryInfo memory_info(int) override { return {1024, 4096}; }
  void* allocate(int, std::size_t bytes) override { return std::malloc(bytes); }
  void release(int, void* data, std::size_t) noexcept override { std::free(data); }
  void* allocate_pinned(std::size_t bytes) override { return std::malloc(bytes); }
  void release_pinned(void* data, std::size_t) noexcept override { std::free(data); }
  NativeStream* create_stream(int, StreamPriority) override { return nullptr; }
  void destroy_stream(int, NativeStream*) noexcept override {}
  void synchronize(int, NativeStream*) override {
    throw Error(ErrorCode::kIndex, "fake", "thrown behind the border");
  }
  NativeEvent* create_event(int) override { return nullptr; }
  void destroy_event(int, NativeEvent*) noexcept override {}
  void record(int, NativeEvent*, NativeStream*) override {}
  void wait(int, NativeStream*, NativeEvent*) override {}
  bool done(int, NativeEvent*) override { return true; }
  void synchronize(int, NativeEvent*) override { MX_ASSERT(1 + 1 == 3); }
  void copy(void* to, Device, const void* from, Device, std::size_t bytes, NativeStream*) override {
    std::memcpy(to, from, bytes);
  }
  void fill(int, void* data, unsigned char value, std::size_t bytes, NativeStream*) override {
    std::memset(data, value, bytes);
  }
  void host_call(int, NativeStream*, InlineFunction<void()> fn) override { fn(); }
  bool can_access_peer(int, int) override { return false; }
  void enable_peer_access(int, int) override {}
};

DeviceApi* create() {
  if (kBehaviour == "no_driver") throw Error(ErrorCode::kGeneric, "fake", "no driver was found");
  if (kBehaviour == "throws_other") throw std::runtime_error("a library's own exception");
  return new FakeDeviceApi;
}

// Kernels of a plug-in that has one.
const GpuTable& kernels() {
  static constexpr GpuKernelRow kRows[] = {{"negative",
                                            [](const void*, KernelContext& context) {
                                              const float* x = context.in(0).as<float>();
                                              float* y = context.out(0).as<float>();
                                              for (int64_t i = 0; i < context.out(0).size(); ++i)
                                                y[i] = -x[i];
                                            },
                                            nullptr}};
  static const GpuTable table = [] {
    GpuTable made{};
    made.kernels = kRows;
    return made;
  }();
  return table;
}

}  // namespace

extern "C" MX_PLUGIN_API const PluginTable* mxnet_plugin_table() {
  if (kBehaviour == "no_table") return nullptr;
  if (kBehaviour == "wrong_abi") {
    // Only the first field may be read: the rest would crash.
    static const uint32_t kOnlyTheVersion = kPluginAbiVersion + 1;
    return reinterpret_cast<const PluginTable*>(&kOnlyTheVersion);
  }
  const uint64_t tree = kBehaviour == "wrong_tree" ? kPluginTree + 1 : kPluginTree;
  static const PluginTable table{kPluginAbiVersion, tree, "fake", create, &kernels()};
  return &table;
}
