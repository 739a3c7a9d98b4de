// SPDX-License-Identifier: Apache-2.0
// Trees along which devices sum: each pair of devices on a tree has a direct link, and different
// trees use different links as far as there are enough.
#pragma once
#include <string>
#include <vector>

namespace mxnet::kvstore {

// How much the direct link between two devices carries; 0 = there is none. Symmetric.
class LinkMatrix {
 public:
  explicit LinkMatrix(int devices)
      : devices_(devices),
        weights_(static_cast<std::size_t>(devices) * static_cast<std::size_t>(devices)) {}
  LinkMatrix(int devices, std::vector<double> weights);

  int devices() const { return devices_; }
  double at(int a, int b) const { return weights_[index(a, b)]; }
  void set(int a, int b, double weight);

 private:
  std::size_t index(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(devices_) +
           static_cast<std::size_t>(b);
  }

  int devices_;
  std::vector<double> weights_;
};

struct LinkTree {
  int root = 0;
  std::vector<int> parent;  // of each device; -1 for the root

  // Links from the root to the farthest device.
  int depth() const;
  // The children of a device, those whose subtrees are done first in front.
  std::vector<int> children(int device) const;
  std::string text() const;  // "0(1(3) 2)"
};

struct TreeOptions {
  // Try all halves of up to eight devices, not only those of the heuristic.
  bool exhaustive = false;
  double usage_penalty = 0.7;  // factor on the worth of a link for each tree that uses it already
};

// One tree for each root, in that order. Every level of a tree halves the devices, so that the
// depth is the logarithm of their number, rounded up, wherever the links allow that; else the tree
// is the shallowest that they allow. Empty where the links do not connect all devices.
std::vector<LinkTree> make_trees(const LinkMatrix& links, const TreeOptions& options);

}  // namespace mxnet::kvstore
