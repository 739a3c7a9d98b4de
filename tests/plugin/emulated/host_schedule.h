// SPDX-License-Identifier: Apache-2.0
// In which order the threads of an emulated GPU take their turns. Between two barriers a GPU runs
// them in any order, so that a kernel whose results depend on it is wrong: scripts/test runs the
// reference's vectors in more than one. Two variables choose, for the process:
//   MXNET_TEST_GPU_ORDER=forward | reverse | shuffle:SEED   forward as long as it is not set
//   MXNET_TEST_GPU_THREADS=N   threads of the host that share each launch's blocks: 1 as long as it
//                              is not set, more for the thread sanitizer
#pragma once
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mxnet::cuda {

struct HostSchedule {
  enum class Order : uint8_t { kForward, kReverse, kShuffle };

  Order order = Order::kForward;
  uint64_t seed = 0;
  int threads = 1;

  // What the variables' texts mean; throws Error(kValue) for what none of them may be.
  static HostSchedule from(const std::optional<std::string>& order,
                           const std::optional<std::string>& threads);
  static const HostSchedule& of_process();

  // Blocks of one host thread that are between the same two barriers at a time: what one of them
  // does wrongly to another's state shows in one of the orders.
  int blocks_at_once() const { return order == Order::kForward ? 1 : 8; }
};

// Well mixed bits of both.
constexpr uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t bits = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 31)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 30);
}
constexpr uint64_t mixed(uint64_t a, const char* text) {
  for (; *text != '\0'; ++text) a = mixed(a, static_cast<uint64_t>(*text));
  return a;
}

// Who of 0 to n - 1 has which turn. A shuffled order is a walk in steps that n shares no factor
// with: it meets all of them, and the next is one sum away.
class Turns {
 public:
  // `salt` tells apart what the same seed shuffles.
  Turns(const HostSchedule& schedule, int64_t n, uint64_t salt) : n_(n), step_(1 % n), first_(0) {
    if (schedule.order == HostSchedule::Order::kReverse) {
      first_ = n - 1;
      step_ = n - 1;
    } else if (schedule.order == HostSchedule::Order::kShuffle && n > 1) {
      const uint64_t bits = mixed(schedule.seed, salt), size = static_cast<uint64_t>(n);
      first_ = static_cast<int64_t>(bits % size);
      step_ = static_cast<int64_t>(1 + mixed(bits, size) % (size - 1));
      while (std::gcd(step_, n) != 1) step_ = step_ % (n - 1) + 1;
    }
  }

  // fn(i) for those that have the turns from `begin` to before `end`, one behind the other.
  template <class F>
  void each(int64_t begin, int64_t end, const F& fn) const {
    int64_t i = (first_ + product(begin % n_)) % n_;
    for (int64_t turn = begin; turn < end; ++turn) {
      fn(i);
      i = i < n_ - step_ ? i + step_ : i - (n_ - step_);
    }
  }

  // fn(those of the next `most` turns) for the same.
  template <class F>
  void each_together(int most, int64_t begin, int64_t end, const F& fn) const {
    std::vector<int64_t> together;
    each(begin, end, [&](int64_t i) {
      together.push_back(i);
      if (static_cast<int>(together.size()) < most) return;
      fn(together);
      together.clear();
    });
    if (!together.empty()) fn(together);
  }

 private:
  int64_t product(int64_t turn) const {  // turn * step_ modulo n_, which 64 bits may not hold
    return static_cast<int64_t>(static_cast<unsigned __int128>(turn) *
                                static_cast<uint64_t>(step_) % static_cast<uint64_t>(n_));
  }

  int64_t n_, step_, first_;
};

// part(begin, end) until all turns of 0 to n - 1 are done: on as many threads as there are to be.
// What one of them throws is thrown here, when all have ended; of several the first part's.
template <class F>
void share_turns(const HostSchedule& schedule, int64_t n, const F& part) {
  const int64_t threads = schedule.threads < n ? schedule.threads : n;
  if (threads <= 1) {
    part(int64_t{0}, n);
    return;
  }
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(threads));
  const auto run = [&](int64_t t) noexcept {
    try {
      part(n * t / threads, n * (t + 1) / threads);
    } catch (...) {
      thrown[static_cast<std::size_t>(t)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int64_t t = 1; t < threads; ++t) others.emplace_back(run, t);
    run(0);
  }
  for (const std::exception_ptr& error : thrown)
    if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace mxnet::cuda
