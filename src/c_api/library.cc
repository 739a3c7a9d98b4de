// SPDX-License-Identifier: Apache-2.0
// The library as a whole: its version, variables, thread count and end.
#include <optional>

#include "base/config_table.h"
#include "base/omp.h"
#include "c_api/callbacks.h"
#include "c_api/guard.h"
#include "engine/engine.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"

using namespace mxnet;
using c_api::guarded;
using c_api::keep_for_caller;
using c_api::require;

namespace {

constexpr int kAbiVersion = 10901;  // the level of the ABI and the file formats, not of the package

std::optional<std::string_view> optional_text(const char* text) {
  return text != nullptr ? std::optional<std::string_view>(text) : std::nullopt;
}

}  // namespace

int MXGetVersion(int* out) {
  return guarded([&] {
    require(out, "MXGetVersion", "out");
    *out = kAbiVersion;
  });
}

int MXSetEnv(const char* name, const char* value) {
  return guarded([&] {
    require(name, "MXSetEnv", "name");
    config_set(name, optional_text(value));
  });
}

int MXGetEnv(const char* name, const char** value) {
  return guarded([&] {
    require(name, "MXGetEnv", "name");
    require(value, "MXGetEnv", "value");
    std::optional<std::string> text = config_variable(name);
    *value = text.has_value() ? keep_for_caller(*std::move(text)) : nullptr;
  });
}

int MXSetNumOMPThreads(int thread_num) {
  return guarded([&] { set_omp_threads(thread_num); });
}

int MXNotifyShutdown(void) {
  return guarded([] {
    try {
      Engine::get().shutdown();
    } catch (...) {
      c_api::end_callbacks();
      throw;
    }
    c_api::end_callbacks();
  });
}

int MXConfigToJSON(const char** out) {
  return guarded([&] {
    require(out, "MXConfigToJSON", "out");
    *out = keep_for_caller(config_to_json());
  });
}

int MXConfigGet(const char* name, const char** out) {
  return guarded([&] {
    require(name, "MXConfigGet", "name");
    require(out, "MXConfigGet", "out");
    *out = keep_for_caller(config_get(name));
  });
}

int MXConfigSet(const char* name, const char* value) {
  return guarded([&] {
    require(name, "MXConfigSet", "name");
    config_get(name);  // an unknown name is an error here; MXSetEnv takes any
    config_set(name, optional_text(value));
  });
}
