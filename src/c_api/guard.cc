// SPDX-License-Identifier: Apache-2.0
// What guarded() needs from outside the template: the start of the library and the thread's texts.
#include "c_api/guard.h"

#include <atomic>
#include <exception>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "base/config.h"
#include "base/fatal_signal.h"
#include "base/lock.h"
#include "base/omp.h"
#include "device/device_api.h"
#include "profiler/profiler.h"

namespace mxnet::c_api {
namespace {

// What the thread's caller may still look at. Behind a pointer: see tests/static_tls_test.py.
struct Texts {
  std::string error, kept;
};

Texts& texts() {
  thread_local const auto texts = std::make_unique<Texts>();
  return *texts;
}

// Texts::error, or a literal when there was no memory for it.
constinit thread_local const char* t_shown = "";

// ": the reason", where one is known: a variable that cannot be read, a plug-in that is missing.
std::string why_no_gpu() {
  try {
    device_api(DeviceType::kGPU);
    return {};
  } catch (const Error& error) {
    return ": " + error.message();
  }
}

}  // namespace

void start_library() {
  static std::atomic<bool> started{false};
  // Acquire pairs with the release below: what the start set up is seen by whoever skips it.
  if (started.load(std::memory_order_acquire)) return;
  static Mutex mutex;
  const MutexLock lock(mutex);
  if (started.load(std::memory_order_relaxed)) return;  // ordered by the mutex
  const Config& c = config();
  install_fatal_signal_handler();
  if (c.profiler.autostart) profiler::Profiler::get().run();
  start_omp(c.cpu.omp_num_threads, c.cpu.omp_max_threads.value_or(0), c.cpu.kmp_affinity);
  started.store(true, std::memory_order_release);
}

void set_last_error(std::string_view text) noexcept {
  try {
    std::string& error = texts().error;
    error = text;
    t_shown = error.c_str();
  } catch (...) {
    t_shown = "MXNetError: out of memory, also for the text of the error";
  }
}

const char* last_error() noexcept { return t_shown; }

void set_last_error_from_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_last_error(error.what());
  } catch (const std::bad_alloc&) {
    set_last_error("MXNetError: out of host memory");
  } catch (const std::exception& error) {
    try {
      set_last_error(fmt::format("MXNetError: {}", error.what()));
    } catch (...) {
      set_last_error("MXNetError: out of host memory");
    }
  } catch (...) {
    set_last_error("MXNetError: an exception of unknown type");
  }
}

const char* keep_for_caller(std::string text) {
  std::string& kept = texts().kept;
  kept = std::move(text);
  return kept.c_str();
}

Device checked_device(std::string_view function, int type, int id) {
  switch (static_cast<DeviceType>(type)) {
    case DeviceType::kGPU: {
      const int count = gpu_count();
      if (id < 0 || id >= count) {
        throw Error(
            ErrorCode::kValue, function,
            fmt::format("given gpu({}), expected a number below {}, the number of usable GPUs{}",
                        id, count, why_no_gpu()));
      }
      break;
    }
    case DeviceType::kCPU:
    case DeviceType::kCPUPinned:
    case DeviceType::kCPUShared:
      break;
    default:
      throw Error(
          ErrorCode::kValue, function,
          fmt::format(
              "given device type {}, expected 1 (cpu), 2 (gpu), 3 (cpu_pinned) or 5 (cpu_shared)",
              type));
  }
  return {static_cast<DeviceType>(type), id};
}

}  // namespace mxnet::c_api
