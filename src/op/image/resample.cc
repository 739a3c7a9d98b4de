// SPDX-License-Identifier: Apache-2.0
// The kernels of interpolation, and sums over rows and columns.
#include "op/image/resample.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <type_traits>

#include "op/image/pixel.h"
#include "op/image/resample_row.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::image {
namespace {

// The four weights of a place `x` behind the second of four pixels. In float, in this order and
// with the last as what is left: bytes depend on the last bit.
void add_cubic(Taps& taps, float x) {
  constexpr float kA = -0.75F;  // of the family of cubic kernels, the one that images know
  const float before = x + 1, after = 1 - x;
  const float first = ((kA * before - 5 * kA) * before + 8 * kA) * before - 4 * kA;
  const float second = ((kA + 2) * x - (kA + 3)) * x * x + 1;
  const float third = ((kA + 2) * after - (kA + 3)) * after * after + 1;
  taps.weight.insert(taps.weight.end(), {first, second, third, 1.0F - first - second - third});
}

double lanczos(double t) {
  constexpr double kLobes = 4;
  if (t == 0) return 1;
  if (std::fabs(t) >= kLobes) return 0;
  const double x = std::numbers::pi * t;
  return kLobes * std::sin(x) * std::sin(x / kLobes) / (x * x);
}

// Kernels that reach `reach` pixels to each side of the place `at`; edges are repeated.
void around(Taps& taps, double at, int64_t reach, int64_t from, double (*kernel)(double)) {
  const auto base = static_cast<int64_t>(std::floor(at));
  double sum = 0;
  const std::size_t first = taps.weight.size();
  for (int64_t k = 1 - reach; k <= reach; ++k) {
    const double weight = kernel(at - static_cast<double>(base + k));
    taps.old.push_back(std::clamp<int64_t>(base + k, 0, from - 1));
    taps.weight.push_back(static_cast<float>(weight));
    sum += weight;
  }
  for (std::size_t i = first; i < taps.weight.size(); ++i)
    taps.weight[i] = static_cast<float>(taps.weight[i] / sum);
}

// The pixels that [begin, end) covers, each by what it covers of it.
void cover(Taps& taps, double begin, double end, int64_t from) {
  const auto first = static_cast<int64_t>(begin);
  for (int64_t k = 0; k < taps.width; ++k) {
    const auto low = static_cast<double>(first + k);
    const double part = std::max(0.0, std::min(end, low + 1) - std::max(begin, low));
    taps.old.push_back(std::min(first + k, from - 1));
    taps.weight.push_back(static_cast<float>(part / (end - begin)));
  }
}

double tent(double t) { return std::max(0.0, 1 - std::fabs(t)); }

// How many old pixels a new one is made of.
int64_t width_of(Interpolation how, double scale, bool shrinks) {
  switch (how) {
    case Interpolation::kNearest:
      return 1;
    case Interpolation::kLinear:
      return 2;
    case Interpolation::kCubic:
      return 4;
    case Interpolation::kLanczos:
      return 8;
    case Interpolation::kArea:
      return shrinks ? static_cast<int64_t>(std::ceil(scale)) + 1 : 2;
  }
  return 1;
}

// The four pixels around the place `centre`; edges are repeated.
void add_four(Taps& taps, double centre, int64_t from) {
  const auto at = static_cast<float>(centre);
  const auto base = static_cast<int64_t>(std::floor(at));
  for (int64_t k = base - 1; k <= base + 2; ++k)
    taps.old.push_back(std::clamp<int64_t>(k, 0, from - 1));
  add_cubic(taps, at - static_cast<float>(base));
}

// Enlarged by area old pixels are flat; only where two of them meet within the new one at `place`
// are they mixed. A new pixel is `step` old ones wide, an old one `inverse` new ones.
void add_flat(Taps& taps, double place, double step, double inverse, int64_t from) {
  const double base = std::floor(place * step);
  const auto mix = static_cast<float>(std::max(0.0, (place + 1) - (base + 1) * inverse));
  const double at = base + (mix - std::floor(mix));
  around(taps, std::min(at, static_cast<double>(from - 1)), 1, from, tent);
}

}  // namespace

Taps make_taps(Interpolation how, int64_t from, int64_t to, bool shrinks) {
  Taps taps;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  // The same number rounded as 1.x has it: places that are whole fall on either side of a pixel.
  const double inverse = static_cast<double>(to) / static_cast<double>(from), step = 1 / inverse;
  const auto end = static_cast<double>(from), last = static_cast<double>(from - 1);
  taps.width = width_of(how, scale, shrinks);
  taps.interpolates = how != Interpolation::kNearest && !(how == Interpolation::kArea && shrinks);
  for (int64_t i = 0; i < to; ++i) {
    const double place = static_cast<double>(i), centre = (place + 0.5) * scale - 0.5;
    switch (how) {
      case Interpolation::kNearest:
        taps.old.push_back(std::min(static_cast<int64_t>(place * step), from - 1));
        taps.weight.push_back(1);
        break;
      case Interpolation::kLinear:
        around(taps, std::clamp(centre, 0.0, last), 1, from, tent);
        break;
      case Interpolation::kCubic:
        add_four(taps, centre, from);
        break;
      case Interpolation::kLanczos:
        around(taps, centre, 4, from, lanczos);
        break;
      case Interpolation::kArea:
        if (shrinks)
          cover(taps, place * scale, std::min((place + 1) * scale, end), from);
        else
          add_flat(taps, place, step, inverse, from);
        break;
    }
  }
  return taps;
}

std::vector<int32_t> whole_weights(const Taps& taps) {
  std::vector<int32_t> whole;
  whole.reserve(taps.weight.size());
  for (const float weight : taps.weight)
    whole.push_back(static_cast<int32_t>(std::lrint(weight * (1 << kWeightBits))));
  return whole;
}

namespace {

template <class C>
std::vector<C> weights_of(const Taps& taps) {
  if constexpr (std::is_integral_v<C>)
    return whole_weights(taps);
  else
    return {taps.weight.begin(), taps.weight.end()};
}

// A row's part of a new pixel. Between `two` rows four bits go first and sixteen then, as where
// interpolation is linear (resample_bytes.cc).
template <class C>
C weighed(C weight, C value, bool two) {
  if constexpr (std::is_integral_v<C>) {
    if (two) return (weight * (value >> 4)) >> 16;
  }
  return weight * value;
}

// Of the sum of those.
template <class T, class C>
T pixel_of(C sum, bool two) {
  if constexpr (std::is_integral_v<C>) {
    const int bits = two ? 2 : 2 * kWeightBits;
    return static_cast<T>(std::clamp((sum + (1 << (bits - 1))) >> bits, 0, 255));
  } else {
    return to_pixel<T>(sum);
  }
}

// Bytes may alias whatever lies around, unless it is said that they do not.
template <class T, class C>
void pixels_of(const C* __restrict sum, bool two, T* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = pixel_of<T>(sum[i], two);
}

// sum[i] = what element i of the rows weighs together, from zero on and in their order. Two rows at
// a time: half as often the sums are loaded and stored.
template <class C>
void sum_rows(const C* const* rows, const C* weights, std::size_t count, bool two,
              C* __restrict sum, int64_t n) {
  const auto add_two = [&](std::size_t k, const auto& so_far) {
    const C *const first = rows[k], *const second = rows[k + 1];
    const C weight = weights[k], other = weights[k + 1];
    for (int64_t i = 0; i < n; ++i) {
      sum[i] = so_far(i) + weighed<C>(weight, first[i], two) + weighed<C>(other, second[i], two);
    }
  };
  std::size_t k = 0;
  if (count >= 2) {
    add_two(0, [](int64_t) { return C{0}; });
    k = 2;
  } else {
    std::fill_n(sum, n, C{0});
  }
  for (; k + 2 <= count; k += 2) add_two(k, [&](int64_t i) { return sum[i]; });
  if (k == count) return;
  const C *const last = rows[k], weight = weights[k];
  for (int64_t i = 0; i < n; ++i) sum[i] += weighed<C>(weight, last[i], two);
}

// A row as numbers of C: itself, or in `buffer`.
template <class C, class T>
const C* row_as(const T* row, std::vector<C>& buffer) {
  if constexpr (std::is_same_v<T, C>) {
    return row;
  } else {
    convert_array(row, buffer.data(), static_cast<int64_t>(buffer.size()));
    return buffer.data();
  }
}

// Between the same pixels nothing is weighed.
template <class T>
void pick_pixels(const T* in, int64_t channels, const Taps& rows, const Taps& columns,
                 int64_t width, T* out) {
  const auto new_width = static_cast<int64_t>(columns.old.size());
  const auto new_rows = static_cast<int64_t>(rows.old.size());
  const int64_t line = new_width * channels;
  const auto pick = [&](auto known) {
    parallel_for(
        new_rows, static_cast<double>(line),
        [&](int64_t first, int64_t last) {
          T* to = out + first * line;
          // A byte that is written may be any of what is captured, as far as the compiler knows.
          const int64_t count = known.value == 0 ? channels : known.value;
          const int64_t *const places = columns.old.data(), old_line = width * count;
          const int64_t pixels = new_width;
          for (int64_t y = first; y < last; ++y) {
            const T* const row = in + rows.old[static_cast<std::size_t>(y)] * old_line;
            for (int64_t x = 0; x < pixels; ++x, to += count) {
              const T* const from = row + places[x] * count;
              for (int64_t c = 0; c < count; ++c) to[c] = from[c];
            }
          }
        },
        1);
  };
  if (channels == 3) return pick(std::integral_constant<int64_t, 3>());
  pick(std::integral_constant<int64_t, 0>());
}

template <class T, class C>
void resample_as(const T* in, int64_t channels, const Taps& rows, const Taps& columns,
                 int64_t width, T* out) {
  const std::vector<C> row_weights = weights_of<C>(rows), column_weights = weights_of<C>(columns);
  const auto new_rows = static_cast<int64_t>(rows.old.size()) / rows.width;
  const auto new_width = static_cast<int64_t>(columns.old.size()) / columns.width;
  const int64_t line = new_width * channels, old_line = width * channels;
  const bool two = rows.width == 2;
  if (new_rows * line == 0) return;
  constexpr bool kReady = std::is_same_v<T, C>;  // neither rows nor results need another type
  const auto taps = static_cast<std::size_t>(rows.width);
  // Old rows in the new width are kept while the next new row may want them again.
  parallel_for(
      new_rows, static_cast<double>(line * (rows.width + columns.width)),
      [&](int64_t first, int64_t last) {
        const auto lines =
            std::make_unique_for_overwrite<C[]>(taps * static_cast<std::size_t>(line));
        std::vector<C> sum(static_cast<std::size_t>(kReady ? 0 : line));
        std::vector<C> converted(static_cast<std::size_t>(kReady ? 0 : old_line));
        std::vector<int64_t> held(taps, -1);
        std::vector<const C*> seen(taps);
        std::vector<C> weights(taps);
        for (int64_t y = first; y < last; ++y) {
          std::size_t count = 0;
          for (std::size_t k = 0; k < taps; ++k) {
            const auto tap = static_cast<std::size_t>(y) * taps + k;
            if (row_weights[tap] == 0) continue;
            const int64_t row = rows.old[tap], slot = row % rows.width;
            C* const to = lines.get() + slot * line;
            if (held[static_cast<std::size_t>(slot)] != row) {
              held[static_cast<std::size_t>(slot)] = row;
              stretch_row(row_as(in + row * old_line, converted), channels, width,
                          columns.old.data(), column_weights.data(), columns.width, new_width, to);
            }
            seen[count] = to;
            weights[count++] = row_weights[tap];
          }
          if constexpr (kReady) {
            sum_rows(seen.data(), weights.data(), count, two, out + y * line, line);
          } else {
            sum_rows(seen.data(), weights.data(), count, two, sum.data(), line);
            pixels_of(sum.data(), two, out + y * line, line);
          }
        }
      },
      1);
}

}  // namespace

template <class T>
void resample(const T* in, int64_t channels, const Taps& rows, const Taps& columns, int64_t width,
              T* out) {
  if (rows.width == 1 && columns.width == 1)
    return pick_pixels(in, channels, rows, columns, width, out);
  if constexpr (std::is_same_v<T, uint8_t>) {
    if (rows.interpolates && columns.interpolates)
      return resample_as<T, int32_t>(in, channels, rows, columns, width, out);
  }
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  resample_as<T, C>(in, channels, rows, columns, width, out);
}

#define MX_RESAMPLE(name, T, tag) \
  template void resample(const T*, int64_t, const Taps&, const Taps&, int64_t, T*);
MX_DTYPES(MX_RESAMPLE)
#undef MX_RESAMPLE

}  // namespace mxnet::image
