// SPDX-License-Identifier: Apache-2.0
// The random numbers of a device: many streams that the elements of a large request are dealt to in
// fixed portions, so that results depend neither on threads nor on their number, and one stream for
// what has to be drawn in sequence.
#pragma once
#include <algorithm>
#include <vector>

#include "base/device.h"
#include "engine/engine.h"
#include "op/generators/mt19937.h"
#include "op/run/parallel.h"

namespace mxnet {

// One for each device; all CPU ids share one. Operators that draw write var(), so that requests are
// served in the order in which they were pushed; everything but var() is for such operations.
class RandomStreams {
 public:
  // Of MXNET_CPU_PARALLEL_RAND_COPY.
  explicit RandomStreams(int copies);

  static constexpr int64_t kStreams = 1024;
  static constexpr int64_t kLeastPortion = 64;  // elements below which no further stream is used
  static constexpr uint32_t kCopyStride = 16;   // seeds of the same stream of two copies, apart

  // Thread-safe; never destroyed.
  static RandomStreams& of(Device device);
  // Every device, those that are not used yet too. Takes effect in the order of pushes.
  static void seed_all(uint32_t seed);
  // One device. As existing programs know it, the sequential stream starts with `seed` itself here.
  static void seed_device(Device device, uint32_t seed);

  Var* var() const { return var_; }

  // The stream of sequential draws.
  Mt19937& sequential();
  // fn(stream, first, last): the elements [first, last) out of n, in order, from one stream. Called
  // on several threads.
  template <class F>
  void deal(int64_t n, double cost, const F& fn) {
    const int64_t streams = std::min((n + kLeastPortion - 1) / kLeastPortion, kStreams);
    if (streams > 0) deal_portions(n, (n + streams - 1) / streams, cost, fn);
  }
  // The same with portions of a given length.
  template <class F>
  void deal_portions(int64_t n, int64_t portion, double cost, const F& fn) {
    take_turn();
    const int64_t streams = (n + portion - 1) / portion;
    parallel_for(
        streams, cost * static_cast<double>(portion),
        [&](int64_t begin, int64_t end) {
          for (int64_t s = begin; s < end; ++s)
            fn(stream(s), s * portion, std::min(n, (s + 1) * portion));
        },
        1);
  }

  // The seeds of the sequential stream and of stream 0 of the first copy. Streams are seeded at
  // their first use.
  void reseed(uint32_t sequential, uint32_t first);

 private:
  struct Stream {
    Mt19937 engine;
    uint64_t epoch = 0;  // of the seeding that it belongs to
  };
  void push_reseed(uint32_t sequential, uint32_t first);
  // To the next copy.
  void take_turn();
  Mt19937& stream(int64_t i) {
    return current(copies_[turn_][static_cast<std::size_t>(i)],
                   first_seed_ + kCopyStride * turn_ + static_cast<uint32_t>(i));
  }
  Mt19937& current(Stream& stream, uint32_t seed);

  Var* const var_;
  uint64_t epoch_ = 1;
  uint32_t sequential_seed_ = 0, first_seed_ = 0;
  Stream sequential_;
  std::vector<std::vector<Stream>> copies_;  // each empty until its first turn
  uint32_t turn_ = 0;                        // of the last request
};

}  // namespace mxnet
