// SPDX-License-Identifier: Apache-2.0
// The part of the simulator that touches bytes: which addresses copies and kernels may use, and
// where they lie.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"
#include "device/sim/sim_device_api.h"
#include "device/sim/sim_device_state.h"
#include "device/sim/sim_translate.h"

namespace mxnet {

SimControl* sim_control(DeviceApi& api) {
  auto* sim = dynamic_cast<SimDeviceApi*>(&api);
  return sim == nullptr ? nullptr : &sim->control();
}

void* sim_translate(const void* data, std::size_t bytes) {
  const SimStream* stream = SimStream::running();
  MX_ASSERT(stream != nullptr);  // called outside of a host_call
  return stream->api().translate_for_kernel(stream->device(), data, bytes);
}

void* SimDeviceApi::translate_for_kernel(int ordinal, const void* data, std::size_t bytes) {
  for (int owner = 0; owner < device_count(); ++owner) {
    if (!devices_[owner]->memory.contains(data)) continue;
    if (owner != ordinal && !devices_[ordinal]->peers[owner].load(std::memory_order_relaxed)) {
      throw Error(ErrorCode::kValue, name(),
                  fmt::format("a kernel on gpu({}) was given memory of gpu({}), to which it has no "
                              "access",
                              ordinal, owner));
    }
    return devices_[owner]->memory.translate(data, bytes);
  }
  if (pinned_.contains(data, bytes)) return const_cast<void*>(data);
  throw Error(ErrorCode::kValue, name(),
              fmt::format("a kernel on gpu({}) was given {}, which is pageable host memory",
                          ordinal, data));
}

char* SimDeviceApi::translate(int32_t end, const void* data, std::size_t bytes) {
  if (end != SimTransfer::kHost) return device(end).memory.translate(data, bytes);
  return static_cast<char*>(const_cast<void*>(data));
}

void SimTransfer::operator()() const { api->run(*this); }

void SimDeviceApi::run(const SimTransfer& copy) {
  if (copy.value != SimTransfer::kCopied) {
    std::memset(translate(copy.to, copy.to_data, copy.bytes), copy.value, copy.bytes);
    return;
  }
  const int ordinal = copy.to != SimTransfer::kHost ? copy.to : copy.from;
  const auto [failure, delay] = control_.next_copy(ordinal);
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  if (failure) throw Error(ErrorCode::kGeneric, name(), *failure);

  char* to = translate(copy.to, copy.to_data, copy.bytes);
  const char* from = translate(copy.from, copy.from_data, copy.bytes);
  uint64_t SimStats::*kind = &SimStats::peer;
  if (copy.from == SimTransfer::kHost) {
    kind = &SimStats::host_to_device;
  } else if (copy.to == SimTransfer::kHost) {
    kind = &SimStats::device_to_host;
  } else if (copy.to == copy.from) {
    kind = &SimStats::within_device;
  } else if (!control_.linked(copy.to, copy.from)) {
    kind = &SimStats::staged;
  }
  if (kind == &SimStats::staged) {
    const std::unique_ptr<char[]> through(new char[copy.bytes]);
    std::memcpy(through.get(), from, copy.bytes);
    std::memcpy(to, through.get(), copy.bytes);
  } else {
    std::memcpy(to, from, copy.bytes);
  }
  control_.count(ordinal, kind);
  control_.count(ordinal, &SimStats::copied_bytes, copy.bytes);
}

}  // namespace mxnet
