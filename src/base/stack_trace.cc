// SPDX-License-Identifier: Apache-2.0
// backtrace() for the addresses, the file's own symbols for the names (see symbolize.h), the C++
// run time to read them.
#include "base/stack_trace.h"

#include <cxxabi.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "base/config.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "base/symbolize.h"

namespace mxnet {
namespace {

constexpr int kMaxDepth = 128;
constexpr int kOwnFrames = 8;  // room for the frames between the throw and here, which are left out
// Errors are thrown from few places; beyond this many the cache starts anew instead of growing.
constexpr std::size_t kCacheLimit = 4096;

struct Described {
  std::string text;
  bool own = false;  // constructs the error
};

// Thread-safe. An address means the same function until its library is unloaded, which ours never
// is.
struct Cache {
  Mutex mutex;
  std::unordered_map<void*, Described> entries MX_GUARDED_BY(mutex);
};

Cache& cache() {
  static Leaked<Cache> instance;
  return *instance;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

Described describe(void* address) {
  FrameInfo frame;
  // A return address is one past its call, perhaps already in the next function.
  symbolize(reinterpret_cast<uintptr_t>(address) - 1, frame);
  const std::string function = demangled(frame.function);
  const bool own = function.starts_with("mxnet::Error::Error(") ||
                   function.starts_with("mxnet::assertion_failed(") ||
                   function.starts_with("mxnet::stack_trace");
  const char* module = frame.module[0] != 0 ? frame.module : "?";
  return {fmt::format("{}({}+{:#x}) [{}]", module, function, frame.offset + 1, address), own};
}

Described describe_cached(void* address) {
  {
    const MutexLock lock(cache().mutex);
    const auto found = cache().entries.find(address);
    if (found != cache().entries.end()) return found->second;
  }
  Described made = describe(address);  // slow, hence without the lock
  const MutexLock lock(cache().mutex);
  if (cache().entries.size() >= kCacheLimit) cache().entries.clear();
  cache().entries.emplace(address, made);
  return made;
}

}  // namespace

std::string stack_trace(int max_frames) {
  void* addresses[kMaxDepth + kOwnFrames];
  max_frames = std::min(max_frames, kMaxDepth);
  const int captured = ::backtrace(addresses, max_frames + kOwnFrames);
  int first = 0;
  for (int i = 0; i < std::min(captured, kOwnFrames); ++i) {
    if (describe_cached(addresses[i]).own) first = i + 1;
  }
  std::string text;
  for (int i = first; i < captured && i - first < max_frames; ++i) {
    text += fmt::format("\n  [bt] ({}) {}", i - first, describe_cached(addresses[i]).text);
  }
  return text;
}

int error_stack_depth() noexcept {
  const Config* config = config_if_resolved();
  return config != nullptr ? config->log.stack_trace_depth.get() : 0;
}

}  // namespace mxnet
