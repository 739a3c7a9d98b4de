// SPDX-License-Identifier: Apache-2.0
// Which bin of a histogram an element is counted in.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/host_device.h"

namespace mxnet {

struct HistogramParams {
  std::optional<int32_t> bin_cnt;
  std::vector<double> range;
};

// Equal bins over a range, in the type of the data. The edges that are returned decide: rounding
// moves an element by no more than one bin. (Edges of integers, which are cut off, can be several
// bins apart from where they should be: there, as ever, one step is all.) The last bin has both its
// edges.
struct EqualBins {
  double low, high;
  int64_t bins;

  MX_HOST_DEVICE double edge(int64_t i) const {
    const double part = static_cast<double>(i) / static_cast<double>(bins);
    return low + part * (high - low);
  }
  // -1 where there is none; edge_at(i) is edge i in the type that elements are compared in.
  template <class C, class Edges>
  MX_HOST_DEVICE int64_t bin_of(C element, const Edges& edge_at) const {
    const double value = static_cast<double>(element);
    if (!(value >= low && value <= high)) return -1;
    const auto count = static_cast<double>(bins);
    double at = (value - low) * (count / (high - low));
    // Beside the highest edge not a number, where bins have no width or no end.
    if (!(at < count)) at = at >= count ? count - 1 : 0;
    auto bin = static_cast<int64_t>(at);
    // What is rarely so comes first: whether a bin is the first or the last cannot be foreseen.
    if (element < edge_at(bin) && bin > 0) --bin;
    if (element >= edge_at(bin + 1) && bin + 1 < bins) ++bin;
    return bin;
  }
};

// The same between any ascending edges. As many steps for each element, and none of them a branch:
// which half an element is in cannot be foreseen.
template <class C, class Edges>
MX_HOST_DEVICE int64_t bin_between(C element, int64_t bins, const Edges& edge_at) {
  if (!(element >= edge_at(0) && element <= edge_at(bins))) return -1;
  int64_t below = 0;  // the last edge that is no larger is one of the `left` from here on
  for (int64_t left = bins; left > 1;) {
    const int64_t half = left / 2;
    below += half & -static_cast<int64_t>(!(element < edge_at(below + half)));
    left -= half;
  }
  return below;
}

}  // namespace mxnet
