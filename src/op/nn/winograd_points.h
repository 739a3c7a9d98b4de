// SPDX-License-Identifier: Apache-2.0
// Where the polynomials of a Winograd convolution are evaluated: 0, +-a, (+-b,) infinity. A product
// of polynomials of degrees m - 1 and 2 is known from its values at m + 2 points (Toom and Cook);
// the transposed of that is the convolution. With m = 4 the points decide about the rounding
// errors; docs/winograd.md has the comparison.
#pragma once

namespace mxnet {

template <int kTile>
struct WinogradPoints;

template <>
struct WinogradPoints<2> {
  static constexpr double a = 1;
};

template <>
struct WinogradPoints<4> {
  static constexpr double a = 0.75, b = 1.5;
};

// Row `point` of the matrix G that transforms weights: values of w0 + w1 x + w2 x^2 over the
// product of the distances of x to the other points.
template <int kTile>
constexpr void winograd_weight_row(int point, double row[3]) {
  constexpr int kLast = kTile + 1;
  double at[5] = {0, WinogradPoints<kTile>::a, -WinogradPoints<kTile>::a};
  if constexpr (kTile == 4) {
    at[3] = WinogradPoints<kTile>::b;
    at[4] = -at[3];
  }
  if (point == kLast) {
    row[0] = row[1] = 0;
    row[2] = 1;
    return;
  }
  double distances = 1;
  for (int other = 0; other < kLast; ++other)
    if (other != point) distances *= at[point] - at[other];
  row[0] = 1 / distances;
  row[1] = at[point] / distances;
  row[2] = at[point] * at[point] / distances;
}

}  // namespace mxnet
