// SPDX-License-Identifier: Apache-2.0
// The layers that the measurements of Winograd convolutions are about, and how they take times.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace mxnet::winograd_bench {

struct Layer {
  const char* name;
  int64_t channels, filters, size, pad;
};
// All 3x3 convolutions with step 1 of ResNet-50, VGG-16 and Inception-v3.
inline constexpr Layer kLayers[] = {
    {"resnet50 conv2", 64, 64, 56, 1},     {"resnet50 conv3", 128, 128, 28, 1},
    {"resnet50 conv4", 256, 256, 14, 1},   {"resnet50 conv5", 512, 512, 7, 1},
    {"vgg16 conv1_1", 3, 64, 224, 1},      {"vgg16 conv1_2", 64, 64, 224, 1},
    {"vgg16 conv2_1", 64, 128, 112, 1},    {"vgg16 conv2_2", 128, 128, 112, 1},
    {"vgg16 conv3_1", 128, 256, 56, 1},    {"vgg16 conv3_2", 256, 256, 56, 1},
    {"vgg16 conv4_1", 256, 512, 28, 1},    {"vgg16 conv4_2", 512, 512, 28, 1},
    {"vgg16 conv5", 512, 512, 14, 1},      {"inception conv2", 32, 32, 149, 0},
    {"inception conv3", 32, 64, 147, 1},   {"inception conv5", 80, 192, 73, 0},
    {"inception mixed a1", 64, 96, 35, 1}, {"inception mixed a2", 96, 96, 35, 1},
    {"inception mixed c", 448, 384, 8, 1},
};

struct Free {
  void operator()(float* p) const { ::operator delete (p, std::align_val_t{64}); }
};
using Array = std::unique_ptr<float[], Free>;
// Numbers between -1 and 1: neither zeros nor numbers so small that they are slow.
inline Array array(std::size_t bytes) {
  const std::size_t count = bytes / sizeof(float);
  Array a(static_cast<float*>(::operator new (bytes + 64, std::align_val_t{64})));
  for (std::size_t i = 0; i < count; ++i)
    a[i] = static_cast<float>(static_cast<int>(i * 2654435761U >> 20 & 255) - 128) / 128;
  return a;
}
inline Array floats(int64_t count) {
  return array(static_cast<std::size_t>(count) * sizeof(float));
}

// Seconds of the fastest of several calls: what others do to the machine only adds.
template <class F>
double seconds(const F& call) {
  using Clock = std::chrono::steady_clock;
  call();
  double best = 1e9, all = 0;
  for (int i = 0; i < 200 && (i < 3 || all < 0.15); ++i) {
    const auto start = Clock::now();
    call();
    const double time = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, time);
    all += time;
  }
  return best;
}

// Where the time of one thread goes: each step alone on data that its cache holds.
void print_limits();

}  // namespace mxnet::winograd_bench
