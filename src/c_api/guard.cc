// SPDX-License-Identifier: Apache-2.0
// What guarded() needs from outside the template: the start of the library and the thread's texts.
#include "c_api/guard.h"

#include <atomic>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "base/config.h"
#include "base/fatal_signal.h"
#include "base/first_use.h"
#include "base/of_thread.h"
#include "base/omp.h"
#include "device/device_api.h"
#include "profiler/profiler.h"

namespace mxnet::c_api {
namespace {

// What the thread's caller may still look at.
struct Texts {
  std::string typed_error, error, kept;
};

Texts& texts() { return of_thread<Texts>(); }

// Texts::error and Texts::typed_error, or literals when there was no memory for them.
constinit thread_local const char* t_error = "";
constinit thread_local const char* t_typed_error = "";

// With the class that 1.x gives nearly all failures of its library: its programs catch that one.
std::string with_common_class(const Error& error) {
  std::string_view text = error.what();
  if (error.code() == ErrorCode::kNotImplemented) return std::string(text);
  text.remove_prefix(std::string_view(error_class_name(error.code())).size());
  return error_class_name(ErrorCode::kGeneric) + std::string(text);
}

void set_last_errors(std::string_view common, std::string_view typed) {
  Texts& all = texts();
  all.error = common;
  all.typed_error = typed;
  t_error = all.error.c_str();
  t_typed_error = all.typed_error.c_str();
}

void set_literal(const char* text) noexcept { t_error = t_typed_error = text; }

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
  const MutexLock lock(first_use_mutex());
  if (started.load(std::memory_order_relaxed)) return;  // ordered by the mutex
  const Config& c = config();
  install_fatal_signal_handler();
  if (c.profiler.autostart) profiler::Profiler::get().run();
  start_omp(c.cpu.omp_num_threads, c.cpu.omp_max_threads.value_or(0), c.cpu.kmp_affinity);
  started.store(true, std::memory_order_release);
}

void set_last_error(std::string_view text) noexcept {
  try {
    set_last_errors(text, text);
  } catch (...) {
    set_literal("MXNetError: out of memory, also for the text of the error");
  }
}

const char* last_error() noexcept { return t_error; }
const char* last_typed_error() noexcept { return t_typed_error; }

void set_last_error_from_current_exception() noexcept {
  constexpr const char* kNoMemory = "MXNetError: out of host memory";
  try {
    try {
      throw;
    } catch (const Error& error) {
      set_last_errors(with_common_class(error), error.what());
    } catch (const std::bad_alloc&) {
      set_literal(kNoMemory);
    } catch (const std::exception& error) {
      set_last_error(fmt::format("MXNetError: {}", error.what()));
    } catch (...) {
      set_literal("MXNetError: an exception of unknown type");
    }
  } catch (...) {
    set_literal(kNoMemory);
  }
}

const char* keep_for_caller(std::string text) {
  std::string& kept = texts().kept;
  kept = std::move(text);
  return kept.c_str();
}

void check_text_count(std::string_view function, int64_t count) {
  constexpr int64_t kMost = 1 << 16;
  if (count < 0 || count > kMost) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} texts, expected 0 to {}", count, kMost));
  }
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
