// SPDX-License-Identifier: Apache-2.0
// Counts down to planned failures and up for statistics, all under one lock: it is no hot path.
#include "device/sim/sim_control.h"

#include <utility>

#include "device/device_check.h"

namespace mxnet {
namespace {

// Counts down to the failing one; true on it.
bool hits_zero(int64_t& left) { return left > 0 && --left == 0; }

}  // namespace

SimControl::SimControl(int devices, std::vector<double> links)
    : devices_(devices), states_(devices), links_(std::move(links)) {}

void SimControl::fail_allocation(int device, int64_t nth) {
  check_ordinal("sim", device, devices_);
  MutexLock lock(mutex_);
  states_[device].allocations_until_failure = nth;
}

void SimControl::fail_copy(int device, int64_t nth, std::string reason) {
  check_ordinal("sim", device, devices_);
  MutexLock lock(mutex_);
  states_[device].copies_until_failure = nth;
  states_[device].reason = std::move(reason);
}

void SimControl::set_copy_delay(int device, std::chrono::microseconds delay) {
  check_ordinal("sim", device, devices_);
  MutexLock lock(mutex_);
  states_[device].delay = delay;
}

void SimControl::set_link(int a, int b, bool on) { set_link_weight(a, b, on ? 1 : 0); }

void SimControl::set_link_weight(int a, int b, double weight) {
  check_ordinal("sim", a, devices_);
  check_ordinal("sim", b, devices_);
  MutexLock lock(mutex_);
  const auto at = [&](int x, int y) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(devices_) +
           static_cast<std::size_t>(y);
  };
  links_[at(a, b)] = links_[at(b, a)] = weight;
}

SimStats SimControl::stats(int device) const {
  check_ordinal("sim", device, devices_);
  MutexLock lock(mutex_);
  return states_[device].stats;
}

bool SimControl::next_allocation_fails(int device) {
  MutexLock lock(mutex_);
  return hits_zero(states_[device].allocations_until_failure);
}

SimControl::CopyPlan SimControl::next_copy(int device) {
  MutexLock lock(mutex_);
  State& state = states_[device];
  CopyPlan plan;
  plan.delay = state.delay;
  if (hits_zero(state.copies_until_failure)) plan.failure = state.reason;
  return plan;
}

double SimControl::link_weight(int a, int b) const {
  MutexLock lock(mutex_);
  return links_[static_cast<std::size_t>(a) * static_cast<std::size_t>(devices_) +
                static_cast<std::size_t>(b)];
}

std::vector<double> SimControl::link_weights() const {
  MutexLock lock(mutex_);
  return links_;
}

void SimControl::count(int device, uint64_t SimStats::*counter, uint64_t by) {
  MutexLock lock(mutex_);
  states_[device].stats.*counter += by;
}

}  // namespace mxnet
