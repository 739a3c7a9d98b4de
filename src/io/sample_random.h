// SPDX-License-Identifier: Apache-2.0
// Random numbers of one sample: a function of seed, epoch and the sample's place in it, so that any
// number of threads makes the same images.
#pragma once
#include <cstdint>

namespace mxnet::io {

// SplitMix64: a counter and a mixer, so that seeding costs nothing.
class SampleRandom {
 public:
  SampleRandom(uint64_t seed, uint64_t epoch, uint64_t place)
      : state_(mixed(mixed(mixed(seed) + epoch) + place)) {}

  // [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  float uniform(float low, float high) {
    return static_cast<float>(uniform(static_cast<double>(low), static_cast<double>(high)));
  }
  // Each of low ... high, both included.
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(uniform() * static_cast<double>(high - low + 1));
  }
  bool coin(double probability) { return uniform() < probability; }
  // From the normal distribution, by the sum of twelve: the tails of colour noise do not matter.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    return mixed(state_);
  }
  uint64_t state_;
};

}  // namespace mxnet::io
