// SPDX-License-Identifier: Apache-2.0
// What computing values again costs: the time of a training step with and without it, in turn, so
// that a busy machine is busy for all. The byte budgets are the same parts of the plain plan as
// those of benchmarks/graph/memory_table.cc. Batches are smaller, to be done soon, but not so small
// that reordered weights take most of the memory. The name of a network: only it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/config_table.h"
#include "exec/executor_bind.h"
#include "networks.h"

namespace {

using namespace mxnet;

constexpr int kBatch = 32, kSide = 224, kRounds = 2;

struct Setting {
  std::string title;
  const char* row;  // null = none
  std::string value;
};

class Trainer {
 public:
  Trainer(const Symbol& network, Setting setting) : setting_(std::move(setting)) {
    const std::string before = setting_.row != nullptr ? config_get(setting_.row) : "";
    if (setting_.row != nullptr) config_set(setting_.row, setting_.value);
    SimpleBind bind;
    bind.device = Device::cpu();
    bind.shapes = {{"data", {kBatch, 3, kSide, kSide}}};
    bind.default_request = Request::kWrite;
    bind.requests = {{"data", Request::kNull}};
    executor_ = simple_bind(network.graph(), bind);
    for (const NDArray& arg : executor_->arrays().args) {
      const std::vector<float> values(static_cast<std::size_t>(arg.size()), 1e-3f);
      NDArray(arg).sync_copy_from(values.data(), arg.size());
    }
    step();  // compiles
    if (setting_.row != nullptr) config_set(setting_.row, before);
  }

  void step() {
    const auto begin = std::chrono::steady_clock::now();
    executor_->forward(true);
    executor_->backward({});
    for (const NDArray& grad : executor_->arrays().grads)
      if (!grad.is_none()) grad.wait_to_read();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    best_ = std::min(best_, took.count());
  }
  void forget() { best_ = std::numeric_limits<double>::max(); }
  double milliseconds() const { return best_; }
  std::size_t bytes() const { return executor_->pool()->bytes(); }
  const std::string& title() const { return setting_.title; }

 private:
  const Setting setting_;
  std::unique_ptr<Executor> executor_;
  double best_ = std::numeric_limits<double>::max();
};

void compare(const char* name, const Symbol& network, double budget) {
  std::vector<std::unique_ptr<Trainer>> trainers;
  trainers.push_back(std::make_unique<Trainer>(network, Setting{"plain", nullptr, ""}));
  const auto part = static_cast<std::size_t>(budget * static_cast<double>(trainers[0]->bytes()));
  for (Setting setting : {Setting{"MXNET_BACKWARD_DO_MIRROR=1", "MXNET_BACKWARD_DO_MIRROR", "1"},
                          Setting{fmt::format("MXNET_BACKWARD_MIRROR_BUDGET={:.0f}%", 100 * budget),
                                  "MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(part)}})
    trainers.push_back(std::make_unique<Trainer>(network, std::move(setting)));
  for (const auto& trainer : trainers) trainer->forget();
  for (int round = 0; round < kRounds; ++round)
    for (const auto& trainer : trainers) trainer->step();
  for (const auto& trainer : trainers)
    fmt::print("{:<14} {:<36} {:>8.1f} MB {:>8.1f} ms  x{:.3f}\n", name, trainer->title(),
               static_cast<double>(trainer->bytes()) / 1e6, trainer->milliseconds(),
               trainer->milliseconds() / trainers[0]->milliseconds());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  fmt::print("Training steps, float32, batch {}, {}x{}, best of {} in turn\n", kBatch, kSide, kSide,
             kRounds);
  if (only != "vgg16") compare("ResNet-50 v1", resnet50_v1(), 900e6 / 2570e6);
  if (only != "resnet50") compare("VGG-16", vgg16(), 0.6);
  return 0;
}
