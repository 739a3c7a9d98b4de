// SPDX-License-Identifier: Apache-2.0
// Value types of configuration rows that are not plain numbers or strings, and Live, the field of a
// row that may change while others read it.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/export.h"
#include "base/log.h"

namespace mxnet {

enum class EngineType : uint8_t { kNaive, kThreaded, kThreadedPerDevice };
enum class PoolType : uint8_t { kNaive, kRound, kUnpooled };

// The one copy of `text` that lives as long as the process. Thread-safe. For the few values that
// configuration takes on, so that a reader may hold a reference without a lock; equal texts share
// one copy, so toggling leaks nothing.
MX_PLUGIN_API const std::string& interned(std::string_view text);

// How a value lies in one machine word, so that it is read and written whole.
template <class T>
struct LiveWord {
  using Word = T;
  static T pack(T value) { return value; }
  static T unpack(Word word) { return word; }
};
template <>
struct LiveWord<std::string> {
  using Word = const std::string*;
  static Word pack(std::string_view text) { return &interned(text); }
  static const std::string& unpack(Word word) { return *word; }
};
template <>
struct LiveWord<std::optional<int>> {
  using Word = int64_t;
  static constexpr Word kNone = INT64_MIN;
  static Word pack(std::optional<int> value) { return value ? *value : kNone; }
  static std::optional<int> unpack(Word word) {
    return word == kNone ? std::nullopt : std::optional<int>(static_cast<int>(word));
  }
};

// A field that MXSetEnv or mx.config.set may change while others read it, whole values at a time.
// Release and acquire make the characters of a text visible with its address; a row is one
// independent value, so nothing else is ordered by it. Copying takes the value of the moment: where
// later changes must be seen, keep a reference to the section.
template <class T>
class Live {
  using Access = LiveWord<T>;
  using Word = typename Access::Word;
  static_assert(std::atomic<Word>::is_always_lock_free);

 public:
  Live() : Live(T()) {}
  Live(const T& value)
      : word_(Access::pack(value)) {}  // NOLINT(google-explicit-constructor): like a T
  Live(const Live& other) : word_(other.word_.load(std::memory_order_acquire)) {}
  Live& operator=(const Live& other) {
    word_.store(other.word_.load(std::memory_order_acquire), std::memory_order_release);
    return *this;
  }
  Live& operator=(const T& value) {
    word_.store(Access::pack(value), std::memory_order_release);
    return *this;
  }
  decltype(auto) get() const { return Access::unpack(word_.load(std::memory_order_acquire)); }
  operator decltype(auto)() const { return get(); }  // NOLINT(google-explicit-constructor)

 private:
  std::atomic<Word> word_;
};

}  // namespace mxnet
