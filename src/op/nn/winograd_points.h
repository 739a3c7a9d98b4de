// SPDX-License-Identifier: Apache-2.0
// Where the polynomials of a Winograd convolution are evaluated, along a row or a column: 0, pairs
// of opposite points, infinity. A product of polynomials of degrees m - 1 and r - 1 is known from
// its values at m + r - 1 points (Toom and Cook); the transposed of that is the convolution, of m
// pixels with kernels of r. The points decide about the rounding errors; docs/winograd.md has the
// comparison. Coefficients are exact in float32.
#pragma once

namespace mxnet {

template <int kPoints>
struct WinogradPoints;

template <>
struct WinogradPoints<4> {
  static constexpr double pairs[] = {1};
};

template <>
struct WinogradPoints<6> {
  static constexpr double pairs[] = {0.75, 1.5};
};

template <>
struct WinogradPoints<10> {
  static constexpr double pairs[] = {0.5, 0.875, 1.25, 2};
};

constexpr int winograd_pairs(int points) { return (points - 2) / 2; }

// Values of a polynomial of degree r - 1 at all points, each over the product of the distances of
// its point to the others: rows of the matrix G, which transforms weights.
template <int kPoints, int kTaps>
struct WinogradWeightRows {
  double at[kPoints][kTaps];
};
template <int kPoints, int kTaps>
constexpr WinogradWeightRows<kPoints, kTaps> winograd_weight_rows() {
  constexpr int kFinite = kPoints - 1;
  double points[kPoints] = {};
  for (int i = 0; i < winograd_pairs(kPoints); ++i) {
    points[2 * i + 1] = WinogradPoints<kPoints>::pairs[i];
    points[2 * i + 2] = -points[2 * i + 1];
  }
  WinogradWeightRows<kPoints, kTaps> rows{};
  for (int i = 0; i < kFinite; ++i) {
    double distances = 1, power = 1;
    for (int other = 0; other < kFinite; ++other)
      if (other != i) distances *= points[i] - points[other];
    for (int t = 0; t < kTaps; ++t, power *= points[i]) rows.at[i][t] = power / distances;
  }
  rows.at[kFinite][kTaps - 1] = 1;
  return rows;
}

// Coefficients, of rising powers of x^2, of the product of x^2 - p^2 over all pairs, and of that
// over all pairs but one.
template <int kPoints>
struct WinogradProducts {
  float all[winograd_pairs(kPoints) + 1];
  float without[winograd_pairs(kPoints)][winograd_pairs(kPoints)];
};
template <int kPoints>
constexpr WinogradProducts<kPoints> winograd_products() {
  constexpr int kPairs = winograd_pairs(kPoints);
  WinogradProducts<kPoints> products{};
  for (int left_out = 0; left_out <= kPairs; ++left_out) {
    double product[kPairs + 1] = {1};
    for (int i = 0; i < kPairs; ++i) {
      if (i == left_out) continue;
      const double square = WinogradPoints<kPoints>::pairs[i] * WinogradPoints<kPoints>::pairs[i];
      for (int k = kPairs; k >= 0; --k)
        product[k] = (k > 0 ? product[k - 1] : 0) - square * product[k];
    }
    float* to = left_out < kPairs ? products.without[left_out] : products.all;
    for (int k = 0; k < (left_out < kPairs ? kPairs : kPairs + 1); ++k)
      to[k] = static_cast<float>(product[k]);
  }
  return products;
}

}  // namespace mxnet
