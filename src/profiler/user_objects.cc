// SPDX-License-Identifier: Apache-2.0
// From users' objects to events. Names are interned, since events outlive what they name.
#include "profiler/user_objects.h"

#include <algorithm>

#include "base/config_types.h"

namespace mxnet::profiler {

Domain::Domain(std::string_view name) : name_(interned(name).c_str()) {}

Duration::Duration(Profiler& profiler, EventKind kind, const Domain* domain, std::string_view name)
    : profiler_(profiler),
      kind_(kind),
      domain_(domain != nullptr ? domain->name() : nullptr),
      name_(interned(name).c_str()) {}

// Relaxed, here and below: a number on its own.
void Duration::start() { started_.store(profiler_.recorder().stamp(), std::memory_order_relaxed); }

void Duration::stop() {
  const uint64_t start = started_.exchange(0, std::memory_order_relaxed);
  if (start == 0 || !profiler_.recording()) return;
  // Threads' clocks may be some ticks ahead of each other.
  const uint64_t now = std::max(profiler_.recorder().stamp(), start);
  profiler_.recorder().add(
      {.start = start, .value = now - start, .name = name_, .domain = domain_, .kind = kind_});
}

Counter::Counter(Profiler& profiler, const Domain& domain, std::string_view name)
    : profiler_(profiler), domain_(domain.name()), name_(interned(name).c_str()) {}

void Counter::set(int64_t value) {
  value_.store(value, std::memory_order_relaxed);
  record(value);
}

void Counter::adjust(int64_t by) {
  // Atomic integers wrap; the sum on this side must not be undefined either.
  const int64_t before = value_.fetch_add(by, std::memory_order_relaxed);
  record(static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(by)));
}

void Counter::record(int64_t value) {
  if (!profiler_.recording()) return;
  profiler_.recorder().add({.value = static_cast<uint64_t>(value),
                            .name = name_,
                            .domain = domain_,
                            .kind = EventKind::kCounter});
}

void set_marker(Profiler& profiler, const Domain& domain, std::string_view name, char scope) {
  if (!profiler.recording()) return;
  profiler.recorder().add({.value = static_cast<uint64_t>(scope),
                           .name = interned(name).c_str(),
                           .domain = domain.name(),
                           .kind = EventKind::kMarker});
}

}  // namespace mxnet::profiler
