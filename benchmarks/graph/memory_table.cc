// SPDX-License-Identifier: Apache-2.0
// Prints the bytes that plans of well-known networks need, for each way of saving some, and how
// long it takes to find them: the first step of a training waits for it.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/config_table.h"
#include "networks.h"

namespace {

using namespace mxnet;

constexpr int kBatch = 32;
using Rows = std::vector<std::pair<const char*, const char*>>;

struct Figures {
  double megabytes = 0, seconds = 0;
};

// Those with rows of the configuration set meanwhile.
Figures figures_with(const Rows& rows, const Symbol& network, Pass pass) {
  std::vector<std::string> before;
  for (const auto& [name, value] : rows) {
    before.push_back(config_get(name));
    config_set(name, value);
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t bytes = planned_bytes(network, images(kBatch), pass).arena;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (std::size_t i = 0; i < rows.size(); ++i) config_set(rows[i].first, before[i]);
  return {static_cast<double>(bytes) / 1e6, took.count()};
}

}  // namespace

int main() {
  const std::vector<std::pair<std::string, Rows>> kinds = {
      {"training", {}},
      {"MXNET_BACKWARD_DO_MIRROR=1", {{"MXNET_BACKWARD_DO_MIRROR", "1"}}},
      {"MXNET_BACKWARD_MIRROR_BUDGET=900e6", {{"MXNET_BACKWARD_MIRROR_BUDGET", "900000000"}}},
      {"MXNET_MEMORY_OPT=1", {{"MXNET_MEMORY_OPT", "1"}}},
      {"MXNET_EXEC_ENABLE_INPLACE=0", {{"MXNET_EXEC_ENABLE_INPLACE", "0"}}},
      {"NNVM_EXEC_MATCH_RANGE=0", {{"NNVM_EXEC_MATCH_RANGE", "0"}}},
  };
  const std::pair<const char*, Symbol> networks[] = {{"ResNet-50 v1", resnet50_v1()},
                                                     {"VGG-16", vgg16()}};
  fmt::print(
      "Planned MB (10^6 bytes), float32, batch {}, 224x224, without weights; seconds "
      "to plan\n",
      kBatch);
  for (const auto& [name, network] : networks) {
    const auto show = [&name = name](const std::string& kind, const Figures& figures) {
      fmt::print("{:<14} {:<36} {:>8.1f} {:>8.3f}\n", name, kind, figures.megabytes,
                 figures.seconds);
      std::fflush(stdout);
    };
    show("inference", figures_with({}, network, Pass::kInference));
    for (const auto& [kind, rows] : kinds) show(kind, figures_with(rows, network, Pass::kTraining));
  }
  return 0;
}
