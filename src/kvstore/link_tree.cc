// SPDX-License-Identifier: Apache-2.0
// Recursive halving: the root keeps one half, and the device of the other half to which its link is
// worth most becomes the root there.
#include "kvstore/link_tree.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace mxnet::kvstore {
namespace {

using Devices = std::vector<int>;

// Devices up to which all halves can be tried: eight have 35, sixteen already 6435.
constexpr std::size_t kMostExhaustive = 8;

struct Attempt {
  double worth = 0;                        // sum over the links that are used
  std::vector<std::pair<int, int>> edges;  // child, parent
};

class Builder {
 public:
  Builder(const LinkMatrix& links, const TreeOptions& options)
      : links_(links), options_(options), usage_(links) {
    for (int a = 0; a < links.devices(); ++a)
      for (int b = 0; b < links.devices(); ++b) usage_.set(a, b, 0);
  }

  std::optional<LinkTree> build(int root) {
    Devices all;
    for (int d = 0; d < links_.devices(); ++d) all.push_back(d);
    const bool may_try_all = all.size() <= kMostExhaustive;
    std::optional<Attempt> found = halve(all, root, options_.exhaustive && may_try_all);
    if (!found && may_try_all) found = halve(all, root, true);
    if (!found) found = breadth_first(root);
    if (!found) return std::nullopt;
    LinkTree tree{root, std::vector<int>(all.size(), -1)};
    for (const auto& [child, parent] : found->edges) {
      tree.parent[static_cast<std::size_t>(child)] = parent;
      usage_.set(child, parent, usage_.at(child, parent) + 1);
    }
    return tree;
  }

 private:
  double worth(int a, int b) const {
    return links_.at(a, b) * std::pow(options_.usage_penalty, usage_.at(a, b));
  }

  std::optional<Attempt> halve(const Devices& devices, int root, bool exhaustive) const {
    if (devices.size() == 1) return Attempt{};
    std::optional<Attempt> best;
    for (const Devices& kept :
         exhaustive ? all_halves(devices, root) : near_halves(devices, root)) {
      Devices given;
      std::set_difference(devices.begin(), devices.end(), kept.begin(), kept.end(),
                          std::back_inserter(given));
      const std::optional<Attempt> own = halve(kept, root, exhaustive);
      if (!own) continue;
      for (const int other : given) {
        if (links_.at(root, other) <= 0) continue;
        std::optional<Attempt> attempt = halve(given, other, exhaustive);
        if (!attempt) continue;
        attempt->worth += own->worth + worth(root, other);
        if (best && attempt->worth <= best->worth) continue;
        attempt->edges.insert(attempt->edges.end(), own->edges.begin(), own->edges.end());
        attempt->edges.emplace_back(other, root);
        best = std::move(attempt);
      }
    }
    return best;
  }

  // Every half (the larger one, if they differ) that holds `root`, sorted within.
  static std::vector<Devices> all_halves(const Devices& devices, int root) {
    Devices others;
    std::copy_if(devices.begin(), devices.end(), std::back_inserter(others),
                 [&](int d) { return d != root; });
    const std::size_t keep = (devices.size() + 1) / 2 - 1;
    std::vector<bool> chosen(others.size());
    std::fill_n(chosen.begin(), keep, true);
    std::vector<Devices> halves;
    do {
      Devices half{root};
      for (std::size_t i = 0; i < others.size(); ++i)
        if (chosen[i]) half.push_back(others[i]);
      std::sort(half.begin(), half.end());
      halves.push_back(std::move(half));
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return halves;
  }

  // The half that holds `root` after pairs were exchanged as long as that leaves more worth within
  // the halves (Kernighan and Lin), from several beginnings: the devices in turn.
  std::vector<Devices> near_halves(const Devices& devices, int root) const {
    std::vector<Devices> halves;
    Devices order;
    std::copy_if(devices.begin(), devices.end(), std::back_inserter(order),
                 [&](int d) { return d != root; });
    const auto keep = static_cast<std::ptrdiff_t>((devices.size() + 1) / 2 - 1);
    for (std::size_t start = 0; start < order.size(); ++start) {
      Devices kept(order.begin(), order.begin() + keep), given(order.begin() + keep, order.end());
      exchange(kept, given, root);
      kept.push_back(root);
      std::sort(kept.begin(), kept.end());
      if (std::find(halves.begin(), halves.end(), kept) == halves.end())
        halves.push_back(std::move(kept));
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return halves;
  }

  void exchange(Devices& kept, Devices& given, int root) const {
    const auto pull = [&](int d, const Devices& side) {
      double sum = 0;
      for (const int other : side) sum += d == other ? 0 : worth(d, other);
      return sum;
    };
    for (bool better = true; better;) {
      better = false;
      double best = 1e-9;  // gains below are rounding
      std::pair<std::size_t, std::size_t> which;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        for (std::size_t j = 0; j < given.size(); ++j) {
          const int a = kept[i], b = given[j];
          const double gain = pull(a, given) + pull(b, kept) + worth(b, root) - pull(a, kept) -
                              worth(a, root) - pull(b, given) - 2 * worth(a, b);
          if (gain > best) {
            best = gain;
            which = {i, j};
            better = true;
          }
        }
      }
      if (better) std::swap(kept[which.first], given[which.second]);
    }
  }

  // The shallowest tree of all; of several parents the one with the link that is worth most.
  std::optional<Attempt> breadth_first(int root) const {
    Attempt tree;
    Devices level{root};
    std::vector<bool> reached(static_cast<std::size_t>(links_.devices()));
    reached[static_cast<std::size_t>(root)] = true;
    while (!level.empty()) {
      Devices next;
      for (int d = 0; d < links_.devices(); ++d) {
        if (reached[static_cast<std::size_t>(d)]) continue;
        const int parent = *std::max_element(
            level.begin(), level.end(), [&](int a, int b) { return worth(a, d) < worth(b, d); });
        if (links_.at(parent, d) <= 0) continue;
        tree.edges.emplace_back(d, parent);
        next.push_back(d);
      }
      for (const int d : next) reached[static_cast<std::size_t>(d)] = true;
      level = std::move(next);
    }
    if (tree.edges.size() + 1 < reached.size()) return std::nullopt;
    return tree;
  }

  const LinkMatrix& links_;
  const TreeOptions options_;
  LinkMatrix usage_;  // trees that use each link
};

int height(const LinkTree& tree, int device) {
  int most = 0;
  for (std::size_t d = 0; d < tree.parent.size(); ++d)
    if (tree.parent[d] == device) most = std::max(most, 1 + height(tree, static_cast<int>(d)));
  return most;
}

std::string subtree_text(const LinkTree& tree, int device) {
  std::string text = std::to_string(device), inner;
  for (const int child : tree.children(device))
    inner += (inner.empty() ? "" : " ") + subtree_text(tree, child);
  return inner.empty() ? text : text + "(" + inner + ")";
}

}  // namespace

LinkMatrix::LinkMatrix(int devices, std::vector<double> weights)
    : devices_(devices), weights_(std::move(weights)) {
  MX_ASSERT(weights_.size() ==
            static_cast<std::size_t>(devices) * static_cast<std::size_t>(devices));
}

void LinkMatrix::set(int a, int b, double weight) {
  weights_[index(a, b)] = weights_[index(b, a)] = weight;
}

int LinkTree::depth() const { return height(*this, root); }

std::vector<int> LinkTree::children(int device) const {
  std::vector<int> result;
  for (std::size_t d = 0; d < parent.size(); ++d)
    if (parent[d] == device) result.push_back(static_cast<int>(d));
  std::stable_sort(result.begin(), result.end(),
                   [&](int a, int b) { return height(*this, a) < height(*this, b); });
  return result;
}

std::string LinkTree::text() const { return subtree_text(*this, root); }

std::vector<LinkTree> make_trees(const LinkMatrix& links, const TreeOptions& options) {
  Builder builder(links, options);
  std::vector<LinkTree> trees;
  for (int root = 0; root < links.devices(); ++root) {
    std::optional<LinkTree> tree = builder.build(root);
    if (!tree) return {};
    trees.push_back(std::move(*tree));
  }
  return trees;
}

}  // namespace mxnet::kvstore
