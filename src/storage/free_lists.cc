// SPDX-License-Identifier: Apache-2.0
// See free_lists.h. Nodes are linked by index, so that they may move when their vector grows.
#include "storage/free_lists.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace mxnet {
namespace {
constexpr std::size_t kFirstBins = 64;
}  // namespace

FreeLists::FreeLists() : bins_(kFirstBins), shift_(64 - std::countr_zero(kFirstBins)) {}

void FreeLists::push(const FreeBlock& block, uint64_t stamp) {
  // All that may throw comes first.
  std::size_t place = probe(block.raw.capacity);
  if (bins_[place].capacity == 0 && (used_bins_ + 1) * 2 > bins_.size()) [[unlikely]] {
    rebuild();
    place = probe(block.raw.capacity);
  }
  uint32_t index = spare_;
  if (index != kNone) {
    spare_ = nodes_[index].older;
  } else {
    index = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }

  Bin& bin = bins_[place];
  if (bin.capacity == 0) {
    bin.capacity = block.raw.capacity;
    ++used_bins_;
  }
  nodes_[index] = {block, stamp, bin.newest, kNone, newest_, kNone};
  if (bin.newest != kNone) nodes_[bin.newest].newer_same = index;
  bin.newest = index;
  ++bin.count;
  (newest_ != kNone ? nodes_[newest_].newer : oldest_) = index;
  newest_ = index;
  bytes_ += block.raw.capacity;
}

void FreeLists::take(uint32_t index, Bin& bin, FreeBlock* out) {
  Node& node = nodes_[index];
  *out = node.block;
  (node.newer_same != kNone ? nodes_[node.newer_same].older_same : bin.newest) = node.older_same;
  --bin.count;
  if (node.older_same != kNone) nodes_[node.older_same].newer_same = node.newer_same;
  (node.newer != kNone ? nodes_[node.newer].older : newest_) = node.older;
  (node.older != kNone ? nodes_[node.older].newer : oldest_) = node.newer;
  bytes_ -= node.block.raw.capacity;
  node.older = std::exchange(spare_, index);
}

bool FreeLists::pop_oldest(FreeBlock* out) {
  if (empty()) return false;
  take(oldest_, bins_[probe(nodes_[oldest_].block.raw.capacity)], out);
  return true;
}

// Drops the bins that have run empty and grows only if the others need it: sizes that come once and
// never again do not make the table grow for ever.
void FreeLists::rebuild() {
  std::size_t live = 0;
  for (const Bin& bin : bins_) live += bin.count != 0;
  std::vector<Bin> old(std::max(kFirstBins, std::bit_ceil((live + 1) * 4)));
  old.swap(bins_);
  shift_ = 64 - std::countr_zero(bins_.size());
  used_bins_ = live;
  for (const Bin& bin : old) {
    if (bin.count != 0) bins_[probe(bin.capacity)] = bin;
  }
}

}  // namespace mxnet
