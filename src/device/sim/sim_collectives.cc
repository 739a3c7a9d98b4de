// SPDX-License-Identifier: Apache-2.0
// What a team of simulated devices does together: the first one's stream waits for all, computes,
// and all go on.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "device/sim/sim_device_api.h"
#include "device/sim/sim_device_state.h"

namespace mxnet {
namespace {

// What a NativeTeam of this api points to.
struct SimTeam {
  std::vector<int> devices;

  static SimTeam& from(NativeTeam* team) { return *reinterpret_cast<SimTeam*>(team); }
  NativeTeam* native() { return reinterpret_cast<NativeTeam*>(this); }
};

// The call, with arrays of its own: the caller's are gone when the work is done.
struct Work {
  Collective kind;
  std::size_t root, count;
  DType dtype;
  std::vector<int> devices;
  std::vector<const void*> from;
  std::vector<void*> to;

  std::size_t bytes() const { return count * dtype_size(dtype); }
};

// Left to right; halves are added in float and rounded once.
template <class T>
void add_up(const std::vector<const void*>& terms, std::size_t count, void* sum) {
  using Wide = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  for (std::size_t i = 0; i < count; ++i) {
    Wide total = static_cast<const T*>(terms[0])[i];
    for (std::size_t k = 1; k < terms.size(); ++k)
      total = static_cast<Wide>(total + static_cast<Wide>(static_cast<const T*>(terms[k])[i]));
    static_cast<T*>(sum)[i] = static_cast<T>(total);
  }
}

void add_up(DType dtype, const std::vector<const void*>& terms, std::size_t count, void* sum) {
  switch (dtype) {
#define MX_CASE(name, type, tag) \
  case DType::tag:               \
    return add_up<type>(terms, count, sum);
    MX_DTYPES(MX_CASE)
#undef MX_CASE
    case DType::kUnknown:
      break;
  }
}

// `at(device, data)`: where the host finds it.
template <class At>
void do_work(const Work& work, const At& at) {
  std::unique_ptr<char[]> sum;  // `to` may be `from`
  const void* result = nullptr;
  if (work.kind == Collective::kCopyFromRoot) {
    result = at(work.devices[work.root], work.from[work.root]);
  } else {
    std::vector<const void*> terms;
    for (std::size_t i = 0; i < work.devices.size(); ++i)
      terms.push_back(at(work.devices[i], work.from[i]));
    sum.reset(new char[work.bytes()]);
    add_up(work.dtype, terms, work.count, sum.get());
    result = sum.get();
  }
  for (std::size_t i = 0; i < work.devices.size(); ++i) {
    if (work.kind == Collective::kSumToRoot && i != work.root) continue;
    std::memmove(at(work.devices[i], work.to[i]), result, work.bytes());
  }
}

}  // namespace

NativeTeam* SimDeviceApi::create_team(std::span<const int> devices) {
  for (const int ordinal : devices) device(ordinal);
  return (new SimTeam{{devices.begin(), devices.end()}})->native();
}

void SimDeviceApi::destroy_team(NativeTeam* team) noexcept { delete &SimTeam::from(team); }

void SimDeviceApi::run(NativeTeam* team, const CollectiveCall& call,
                       std::span<NativeStream* const> streams) {
  const std::vector<int>& devices = SimTeam::from(team).devices;
  MX_ASSERT(streams.size() == devices.size() && call.from.size() == devices.size() &&
            call.to.size() == devices.size());
  std::vector<SimStream*> all;
  std::vector<SimMark> before;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    all.push_back(&stream_of(devices[i], streams[i]));
    before.push_back(all.back()->mark());
  }
  const auto work = std::make_shared<const Work>(Work{call.kind,
                                                      static_cast<std::size_t>(call.root),
                                                      call.count,
                                                      call.dtype,
                                                      devices,
                                                      {call.from.begin(), call.from.end()},
                                                      {call.to.begin(), call.to.end()}});
  const SimMark done = all[0]->push([this, work, before = std::move(before)] {
    for (const SimMark& mark : before) mark.await();
    do_work(*work, [&](int ordinal, const void* data) {
      return devices_[static_cast<std::size_t>(ordinal)]->memory.translate(data, work->bytes());
    });
    for (const int ordinal : work->devices) control_.count(ordinal, &SimStats::collectives);
  });
  for (std::size_t i = 1; i < all.size(); ++i) all[i]->push([done] { done.await(); });
}

}  // namespace mxnet
