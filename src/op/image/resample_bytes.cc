// SPDX-License-Identifier: Apache-2.0
// Linear interpolation and averages of bytes in whole numbers. It is what OpenCV computes, bit for
// bit, so that networks see the pixels they were trained with; and it is faster than numbers with
// fractions.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "op/image/resample.h"
#include "op/image/resample_row.h"
#include "op/loops/convert.h"
#include "op/run/parallel.h"

namespace mxnet::image {

WholeTaps linear_taps(int64_t from, int64_t to, bool whole_at_edges) {
  WholeTaps all;
  all.old.reserve(static_cast<std::size_t>(2 * to));
  all.weight.reserve(static_cast<std::size_t>(2 * to));
  const double scale = 1.0 / (static_cast<double>(to) / static_cast<double>(from));
  for (int64_t i = 0; i < to; ++i) {
    const auto place = static_cast<float>((static_cast<double>(i) + 0.5) * scale - 0.5);
    const auto first = static_cast<int64_t>(std::floor(place));
    float part = place - static_cast<float>(first);
    if (whole_at_edges && (first < 0 || first >= from - 1)) part = 0;
    constexpr float kOne = 1 << kWeightBits;
    for (const int64_t at : {first, first + 1})
      all.old.push_back(std::clamp<int64_t>(at, 0, from - 1));
    all.weight.push_back(static_cast<int32_t>(std::lrint((1.0F - part) * kOne)));
    all.weight.push_back(static_cast<int32_t>(std::lrint(part * kOne)));
  }
  return all;
}

namespace {

// 11 + 11 bits of weights: four go first, so that products fit, then sixteen, then two. Bytes may
// alias whatever lies around, unless it is said that they do not: then these are vectors.
void mix_rows(const int32_t* __restrict upper, int32_t high, const int32_t* __restrict lower,
              int32_t low, uint8_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const int32_t sum = ((high * (upper[i] >> 4)) >> 16) + ((low * (lower[i] >> 4)) >> 16);
    to[i] = static_cast<uint8_t>((sum + 2) >> 2);
  }
}

void resample_linear(const uint8_t* in, int64_t channels, int64_t height, int64_t width,
                     int64_t new_height, int64_t new_width, uint8_t* out) {
  const WholeTaps rows = linear_taps(height, new_height, false);
  const WholeTaps columns = linear_taps(width, new_width, true);
  const int64_t line = new_width * channels, old_line = width * channels;
  parallel_for(
      new_height, static_cast<double>(line * 4),
      [&](int64_t begin, int64_t end) {
        // The two old rows that the last new one was made of: the next wants one of them, or both.
        const auto buffer =
            std::make_unique_for_overwrite<int32_t[]>(static_cast<std::size_t>(2 * line));
        int32_t* held[2] = {buffer.get(), buffer.get() + line};
        const auto widened =
            std::make_unique_for_overwrite<int32_t[]>(static_cast<std::size_t>(old_line));
        int64_t held_row[2] = {-1, -1};
        const auto stretched = [&](int64_t row, int64_t other) {
          for (int k = 0; k < 2; ++k)
            if (held_row[k] == row) return held[k];
          const int k = held_row[0] == other ? 1 : 0;
          convert_array(in + row * old_line, widened.get(), old_line);
          stretch_row(widened.get(), channels, width, columns.old.data(), columns.weight.data(), 2,
                      new_width, held[k]);
          held_row[k] = row;
          return held[k];
        };
        for (int64_t y = begin; y < end; ++y) {
          const auto at = static_cast<std::size_t>(2 * y);
          const int32_t* const upper = stretched(rows.old[at], rows.old[at + 1]);
          const int32_t* const lower = stretched(rows.old[at + 1], rows.old[at]);
          const int32_t high = rows.weight[at], low = rows.weight[at + 1];
          mix_rows(upper, high, lower, low, out + y * line, line);
        }
      },
      1);
}

// Each new pixel is the average of `down` x `across` old ones.
void average(const uint8_t* in, int64_t channels, int64_t down, int64_t across, int64_t new_height,
             int64_t new_width, uint8_t* out) {
  const int64_t line = new_width * channels, old_line = line * across;
  const float share = 1.0F / static_cast<float>(down * across);
  const bool halves = halves_go_up(down, across, channels);
  parallel_for(
      new_height, static_cast<double>(line * down * across),
      [&](int64_t begin, int64_t end) {
        for (int64_t y = begin; y < end; ++y) {
          for (int64_t x = 0; x < new_width; ++x) {
            const uint8_t* const first = in + y * down * old_line + x * across * channels;
            for (int64_t c = 0; c < channels; ++c) {
              int32_t sum = 0;
              for (int64_t row = 0; row < down; ++row)
                for (int64_t k = 0; k < across; ++k)
                  sum += first[row * old_line + k * channels + c];
              out[y * line + x * channels + c] = static_cast<uint8_t>(
                  halves ? (sum + 2) >> 2 : std::lrint(static_cast<float>(sum) * share));
            }
          }
        }
      },
      1);
}

}  // namespace

bool resample_bytes(Interpolation how, const uint8_t* in, int64_t channels, int64_t height,
                    int64_t width, int64_t new_height, int64_t new_width, uint8_t* out) {
  if (how == Interpolation::kLinear) {
    resample_linear(in, channels, height, width, new_height, new_width, out);
    return true;
  }
  if (how == Interpolation::kArea && height % new_height == 0 && width % new_width == 0) {
    average(in, channels, height / new_height, width / new_width, new_height, new_width, out);
    return true;
  }
  return false;
}

}  // namespace mxnet::image
