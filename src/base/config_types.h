// SPDX-License-Identifier: Apache-2.0
// Value types of configuration rows that are not plain numbers or strings, and Live, the field of a
// row that may change while others read it.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/export.h"
#include "base/log.h"

namespace mxnet {

enum class EngineType : uint8_t { kNaive, kThreaded, kThreadedPerDevice };
enum class PoolType : uint8_t { kNaive, kRound, kUnpooled };

// A field that MXSetEnv or mx.config.set may change while others read it. Relaxed: a row is one
// independent value, and whoever sets it synchronises with its reader by other means (the call
// order on one thread) or does not care. Copying takes the value of the moment: keep a reference to
// the section where later changes must be seen.
template <class T>
class Live {
 public:
  Live() = default;
  Live(T value)
      : value_(value) {}  // NOLINT(google-explicit-constructor): reads and writes like a T
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

// The one copy of `text` that lives as long as the process. Thread-safe. For the few values that
// configuration takes on, so that a reader may hold a reference without a lock; equal texts share
// one copy, so toggling leaks nothing.
MX_PLUGIN_API const std::string& interned(std::string_view text);

// Text: a pointer to an interned string, so that reading is one load and the reference stays valid
// for ever.
template <>
class Live<std::string> {
 public:
  Live() : value_(&interned("")) {}
  Live(std::string_view value) : value_(&interned(value)) {}  // NOLINT(google-explicit-constructor)
  Live(const Live& other) : value_(&other.get()) {}
  Live& operator=(const Live& other) {
    value_.store(&other.get(), std::memory_order_release);
    return *this;
  }
  Live& operator=(std::string_view value) {
    // Release pairs with the acquire in get: the characters are written before the pointer is seen.
    value_.store(&interned(value), std::memory_order_release);
    return *this;
  }
  const std::string& get() const { return *value_.load(std::memory_order_acquire); }
  operator const std::string&() const { return get(); }  // NOLINT(google-explicit-constructor)

 private:
  std::atomic<const std::string*> value_;
};

}  // namespace mxnet
