// SPDX-License-Identifier: Apache-2.0
// Value types of configuration rows that are not plain numbers or strings.
#pragma once
#include <atomic>
#include <cstdint>

namespace mxnet {

enum class EngineType : uint8_t { kNaive, kThreaded, kThreadedPerDevice };
enum class PoolType : uint8_t { kNaive, kRound, kUnpooled };

// A field that MXSetEnv or mx.config.set may change while others read it. Relaxed: a row is one independent value,
// and whoever sets it synchronises with its reader by other means (the call order on one thread) or does not care.
template <class T>
class Live {
 public:
  Live() = default;
  Live(T value) : value_(value) {}  // NOLINT(google-explicit-constructor): reads and writes like a T
  Live(const Live& other) : value_(other.get()) {}
  Live& operator=(const Live& other) { return *this = other.get(); }
  Live& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  T get() const { return value_.load(std::memory_order_relaxed); }
  operator T() const { return get(); }  // NOLINT(google-explicit-constructor)

 private:
  std::atomic<T> value_{};
};

}  // namespace mxnet
