// SPDX-License-Identifier: Apache-2.0
// The variables, read when the first kernel is launched.
#include "host_schedule.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace mxnet::cuda {
namespace {

constexpr std::string_view kShuffle = "shuffle:";
constexpr int kMostThreads = 64;

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

[[noreturn]] void refuse(const char* name, const std::string& given, const std::string& expected) {
  throw Error(ErrorCode::kValue, "emulated GPU",
              std::string(name) + ": given '" + given + "', expected " + expected);
}

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

HostSchedule HostSchedule::from(const std::optional<std::string>& order,
                                const std::optional<std::string>& threads) {
  HostSchedule schedule;
  if (order && *order == "reverse") {
    schedule.order = Order::kReverse;
  } else if (order && order->starts_with(kShuffle)) {
    const auto seed = number<uint64_t>(std::string_view(*order).substr(kShuffle.size()));
    if (!seed) refuse("MXNET_TEST_GPU_ORDER", *order, "a whole number behind 'shuffle:'");
    schedule.order = Order::kShuffle;
    schedule.seed = *seed;
  } else if (order && *order != "forward") {
    refuse("MXNET_TEST_GPU_ORDER", *order, "forward, reverse or shuffle:SEED");
  }
  if (threads) {
    const auto count = number<int>(*threads);
    if (!count || *count < 1 || *count > kMostThreads)
      refuse("MXNET_TEST_GPU_THREADS", *threads, "1 to " + std::to_string(kMostThreads));
    schedule.threads = *count;
  }
  return schedule;
}

const HostSchedule& HostSchedule::of_process() {
  static const HostSchedule schedule =
      from(variable("MXNET_TEST_GPU_ORDER"), variable("MXNET_TEST_GPU_THREADS"));
  return schedule;
}

}  // namespace mxnet::cuda
