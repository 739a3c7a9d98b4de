// SPDX-License-Identifier: Apache-2.0
// A convolution's arrays, what they give when computed directly, and how far from that something
// is.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "op/nn/winograd.h"

namespace mxnet {

inline constexpr unsigned kSeed = 20261120;

// Of exactly the size asked for, so that the address sanitizer sees what is too small.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes)
      : data_(static_cast<float*>(::operator new (bytes, std::align_val_t{64}))) {
    std::fill_n(data_, bytes / sizeof(float), std::nanf(""));
  }
  ~Aligned() { ::operator delete (data_, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  float* data() const { return data_; }

 private:
  float* data_;
};

struct Sizes {
  int64_t batch, channels, height, width;
  int64_t count() const { return batch * channels * height * width; }
};

inline int64_t index(const Sizes& s, int64_t n, int64_t c, int64_t y, int64_t x) {
  return ((n * s.channels + c) * s.height + y) * s.width + x;
}

// nChw<block>c; channels that there are not are zero.
inline std::vector<float> blocked(const std::vector<float>& plain, const Sizes& s, int64_t block) {
  const int64_t groups = (s.channels + block - 1) / block, plane = s.height * s.width;
  std::vector<float> to(static_cast<std::size_t>(s.batch * groups * plane * block), 0.0F);
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t c = 0; c < s.channels; ++c) {
      for (int64_t i = 0; i < plane; ++i) {
        to[static_cast<std::size_t>(((n * groups + c / block) * plane + i) * block + c % block)] =
            plain[static_cast<std::size_t>((n * s.channels + c) * plane + i)];
      }
    }
  }
  return to;
}

inline std::vector<float> normal(std::mt19937& random, int64_t count) {
  std::normal_distribution<float> distribution;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = distribution(random);
  return values;
}

// Everything that a layer has, in plain layouts.
struct Layer {
  Layer(const WinogradDesc& d, std::mt19937& random)
      : desc(d),
        in{d.batch, d.channels, d.height, d.width},
        out{d.batch, d.filters, d.height + 2 * d.pad_y - d.kernel_y + 1,
            d.width + 2 * d.pad_x - d.kernel_x + 1},
        src(normal(random, in.count())),
        weights(normal(random, d.filters * d.channels * d.kernel_y * d.kernel_x)),
        bias(normal(random, d.filters)),
        sum(normal(random, out.count())) {}

  // The convolution alone. Along rows and by pointers: builds for sanitizers do not optimise tests,
  // and look at each access.
  std::vector<double> direct() const {
    std::vector<double> to(static_cast<std::size_t>(out.count()));
    double* map = to.data();
    for (int64_t n = 0; n < out.batch; ++n) {
      for (int64_t f = 0; f < out.channels; ++f, map += out.height * out.width) {
        const float* weight = weights.data() + f * in.channels * desc.kernel_y * desc.kernel_x;
        for (int64_t c = 0; c < in.channels; ++c) {
          const float* plane = src.data() + index(in, n, c, 0, 0);
          for (int64_t i = 0; i < desc.kernel_y; ++i) {
            for (int64_t j = 0; j < desc.kernel_x; ++j)
              add_product(map, *weight++, plane, i - desc.pad_y, j - desc.pad_x);
          }
        }
      }
    }
    return to;
  }
  // map[y][x] += weight * plane[y + down][x + right] wherever the plane has that.
  void add_product(double* map, double weight, const float* plane, int64_t down,
                   int64_t right) const {
    const int64_t first = std::max<int64_t>(-right, 0),
                  count = std::min(out.width, in.width - right) - first;
    for (int64_t y = std::max<int64_t>(-down, 0); y < std::min(out.height, in.height - down); ++y) {
      double* to = map + y * out.width + first;
      const float* from = plane + (y + down) * in.width + right + first;
      for (int64_t x = 0; x < count; ++x) to[x] += weight * static_cast<double>(from[x]);
    }
  }

  // What WinogradConv makes of it, in the layout of the description; narrow or not on both sides.
  std::vector<float> winograd(WinogradConv::Isa isa, int threads, LayerPost post = {}) const {
    const WinogradConv conv(desc, isa);
    const std::vector<float> from = desc.src_blocked ? blocked(src, in, conv.block()) : src;
    const std::vector<float> added = laid_out(sum, conv);
    const Aligned packed(conv.packed_bytes()), workspace(conv.workspace_bytes(threads));
    conv.pack(weights.data(), packed.data(), threads);
    const auto run = [&](const void* source, const void* sums, void* map) {
      if (post.sum != nullptr) post.sum = sums;
      conv.run(source, packed.data(), post, map, workspace.data(), threads);
    };
    if (desc.src_narrow) {
      const std::vector<bfloat16> source(from.begin(), from.end()),
          sums(added.begin(), added.end());
      std::vector<bfloat16> map(added.size(), bfloat16(std::nanf("")));
      run(source.data(), sums.data(), map.data());
      return {map.begin(), map.end()};
    }
    std::vector<float> map(added.size(), std::nanf(""));
    run(from.data(), added.data(), map.data());
    return map;
  }
  template <class T>
  std::vector<float> laid_out(const std::vector<T>& plain, const WinogradConv& conv) const {
    const std::vector<float> values(plain.begin(), plain.end());
    return desc.dst_blocked ? blocked(values, out, conv.block()) : values;
  }

  WinogradDesc desc;
  Sizes in, out;
  std::vector<float> src, weights, bias, sum;
};

// Largest difference over the largest value; NaN is a difference.
inline double error_of(const std::vector<float>& got, const std::vector<float>& want) {
  EXPECT_EQ(got.size(), want.size());
  double most = 0, error = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    most = std::max<double>(most, std::abs(want[i]));
    const double difference = std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
    if (!(difference <= error)) error = difference;
  }
  return error / most;
}

inline std::string text(const WinogradDesc& d) {
  return fmt::format(
      "batch {} channels {} filters {} image {} x {} pads {}, {} tile {} blocked {} {}", d.batch,
      d.channels, d.filters, d.height, d.width, d.pad_y, d.pad_x, d.tile, d.src_blocked,
      d.dst_blocked);
}

// Filters are packed with their scales as filters that were multiplied before, bit for bit.
inline void expect_scales_are_multiplied_in(const WinogradConv& conv, const Layer& layer,
                                            std::mt19937& random) {
  std::vector<double> scales(static_cast<std::size_t>(layer.desc.filters));
  for (double& scale : scales) scale = std::uniform_real_distribution<double>(0.1, 3)(random);
  std::vector<float> multiplied = layer.weights;
  const std::size_t filter = multiplied.size() / scales.size();
  for (std::size_t i = 0; i < multiplied.size(); ++i)
    multiplied[i] = static_cast<float>(double{multiplied[i]} * scales[i / filter]);
  const Aligned packed(conv.packed_bytes()), before(conv.packed_bytes());
  conv.pack(layer.weights.data(), packed.data(), 2, scales.data());
  conv.pack(multiplied.data(), before.data(), 1);
  EXPECT_EQ(std::memcmp(packed.data(), before.data(), conv.packed_bytes()), 0);
}

}  // namespace mxnet
