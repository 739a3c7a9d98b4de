// SPDX-License-Identifier: Apache-2.0
// Segments of plans as graphs of the device, on the simulated one: its graphs are the calls that a
// stream was given, run again. What hardware adds is that a graph's launch is cheap.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "device/rehearsal.h"
#include "device/sim/sim_control.h"
#include "engine/engine.h"
#include "exec/graph_replay.h"
#include "exec/plan_fixture.h"
#include "exec/plan_graph.h"

namespace mxnet {
namespace {

const Device kGpu = Device::gpu(0);

SimStats stats() {
  Engine::get().wait_for_all();
  return sim_control(device_api(DeviceType::kGPU))->stats(0);
}

std::vector<NDArray> on_gpu(const std::vector<NDArray>& arrays) {
  std::vector<NDArray> copies;
  for (const NDArray& array : arrays)
    copies.push_back(array_of(values_of(array), array.shape(), kGpu));
  return copies;
}

ExecutorArrays bound(const std::vector<NDArray>& args, bool training) {
  ExecutorArrays arrays;
  arrays.args = args;
  for (const NDArray& arg : args) {
    arrays.requests.push_back(training ? Request::kWrite : Request::kNull);
    arrays.grads.push_back(
        training ? array_of(Values(static_cast<std::size_t>(arg.size()), 0.0f), arg.shape(), kGpu)
                 : NDArray());
  }
  return arrays;
}

// What `steps` runs compute, each on other data; gradients too in training.
std::vector<Values> results(const Mlp& mlp, const std::vector<NDArray>& host, bool training,
                            int steps) {
  std::vector<Values> all;
  const std::vector<NDArray> args = on_gpu(host);
  Executor executor(mlp.graph, kGpu, bound(args, training));
  std::mt19937 random(3);
  for (int i = 0; i < steps; ++i) {
    random_array(args[0].shape(), random).copy_to(args[0]);
    executor.forward(training);
    all.push_back(values_of(executor.outputs()[0]));
    if (!training) continue;
    const NDArray head =
        array_of(Values(all.back().size(), 1.0f), executor.outputs()[0].shape(), kGpu);
    executor.backward(std::vector<const NDArray*>{&head});
    for (const NDArray& grad : executor.arrays().grads) all.push_back(values_of(grad));
  }
  return all;
}

template <class F>
std::string log_of(const F& call) {
  ::testing::internal::CaptureStderr();
  call();
  return ::testing::internal::GetCapturedStderr();
}

TEST(GraphReplay, SegmentsAreCapturedAndReplayed) {
  for (const bool training : {false, true}) {
    Mlp mlp(3, 4, 8, 11);
    const std::vector<NDArray> host = mlp.arrays();
    const SimStats start = stats();
    const std::vector<Values> expected = results(mlp, host, training, 6);
    const SimStats plain = stats();
    EXPECT_EQ(plain.graph_launches, start.graph_launches) << "not unless asked for";
    const Setting on("MXNET_ENABLE_CUDA_GRAPHS", "1");
    EXPECT_EQ(results(mlp, host, training, 6), expected) << "training " << training;
    const SimStats replayed = stats();
    // All runs but the first are launches, of one graph at least.
    EXPECT_GE(replayed.graph_launches - plain.graph_launches, 5u);
    EXPECT_LT(replayed.host_calls - plain.host_calls, plain.host_calls - start.host_calls);
  }
}

TEST(GraphReplay, RunsAreSplitAroundWhatCannotBeRecorded) {
  const std::vector<bool> steps = {true, true, false, true, true, true, false, true};
  EXPECT_EQ(split_runs(steps, 0, 8, 2),
            (std::vector<StepRun>{{0, 2, true}, {2, 3, false}, {3, 6, true}, {6, 8, false}}));
  EXPECT_EQ(split_runs(steps, 3, 6, 2), (std::vector<StepRun>{{3, 6, true}}));
  EXPECT_EQ(split_runs(steps, 3, 6, 4), (std::vector<StepRun>{{3, 6, false}}));
  EXPECT_TRUE(split_runs(steps, 2, 2, 2).empty());
}

// Steps of a plan of which the test says what they do, so that it can move arrays and fail.
class Replay {
 public:
  Replay() : args_(on_gpu(Mlp(3, 2, 4, 5).arrays())) {
    Mlp mlp(3, 2, 4, 5);
    std::map<const ir::Node*, ArrayType> known;
    const IndexedGraph indexed(mlp.graph);
    for (const int n : indexed.arguments()) {
      const ir::Node& node = indexed.node(n);
      known[&node] = {mlp.shapes[node.name], DType::kFloat32};
    }
    PlanOptions options;
    options.device = kGpu;
    TypedGraph typed = typed_graph(mlp.graph, known, options);
    plan_ = std::make_shared<const Plan>(std::move(typed.graph), std::move(typed.types), options);
    arrays_.resize(plan_->tensors().size(), args_[0]);
    replay_ = std::make_unique<GraphReplay>(*plan_, *graph_capture(api_));
  }
  // Runs all steps; each adds its number to what was done.
  std::vector<int> run() {
    stream_.synchronize();  // what a failed run has left
    done_.clear();
    replay_->run(plan_->segments()[0], arrays_, {kGpu, &stream_}, [this](int s) {
      if (s == failing) throw Error(ErrorCode::kGeneric, "test", "not while recording");
      if (s == compiling) Rehearsal::again();
      ++steps_run_;
      if (transfers) {
        api_.copy(results_[static_cast<std::size_t>(s)].data(), kGpu, arrays_[0].data(), kGpu,
                  sizeof(float), stream_.native());
        return;
      }
      api_.host_call(0, stream_.native(), [this, s, by = offset] { done_.push_back(s + by); });
    });
    stream_.synchronize();
    return done_;
  }
  // Runs all steps as copies out of an array at this place, which has that number. What they give.
  Values run_copies(int place) {
    while (results_.size() < plan_->steps().size())
      results_.push_back(array_of({-1.0f}, {1}, kGpu));
    move_arrays(place);
    transfers = true;
    run();
    Values found;
    for (NDArray& result : results_) {
      found.push_back(values_of(result)[0]);
      result.sync_copy_from(std::vector<float>{-1.0f}.data(), 1);
    }
    return found;
  }
  Values all(int place) const { return Values(plan_->steps().size(), static_cast<float>(place)); }
  int steps_run() const { return steps_run_; }
  void move_arrays() { arrays_.assign(arrays_.size(), args_[1]); }
  void move_arrays(int place) {
    const auto at = static_cast<std::size_t>(place);
    while (places_.size() <= at)
      places_.push_back(array_of({static_cast<float>(places_.size())}, {1}, kGpu));
    arrays_.assign(arrays_.size(), places_[at]);
  }
  const GraphReplay::Stats& stats() const { return replay_->stats(); }
  std::vector<int> numbers(int by) const {
    std::vector<int> all;
    for (std::size_t s = 0; s < plan_->steps().size(); ++s) all.push_back(static_cast<int>(s) + by);
    return all;
  }

  int failing = -1, compiling = -1, offset = 0;  // the first two are steps
  bool transfers = false;                        // steps are copies, of which all is seen

 private:
  DeviceApi& api_ = device_api(DeviceType::kGPU);
  Stream stream_{api_, 0};
  std::vector<NDArray> args_, arrays_, places_, results_;
  int steps_run_ = 0;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<GraphReplay> replay_;
  std::vector<int> done_;
};

TEST(GraphReplay, TheFirstRunIsPlainAndArraysThatMoveUpdateTheGraph) {
  Replay replay;
  EXPECT_EQ(replay.run(), replay.numbers(0));
  EXPECT_EQ(replay.stats().captures, 0);
  EXPECT_EQ(replay.run(), replay.numbers(0));
  EXPECT_EQ(replay.stats().captures, 1);
  replay.offset = 100;  // what is recorded does not change by itself
  EXPECT_EQ(replay.run(), replay.numbers(0));
  replay.move_arrays();
  EXPECT_EQ(replay.run(), replay.numbers(100));
  EXPECT_EQ(replay.run(), replay.numbers(100));
  EXPECT_EQ(replay.stats().captures, 1);
  EXPECT_EQ(replay.stats().updates, 1);
  EXPECT_EQ(replay.stats().launches, 4);
}

TEST(GraphReplay, ArraysThatComeBackAreNotRecordedAgain) {
  Replay replay;
  replay.run();
  for (int place = 0; place < 4; ++place) {
    replay.offset = 100 * place;
    replay.move_arrays(place);
    EXPECT_EQ(replay.run(), replay.numbers(100 * place));
  }
  EXPECT_EQ(replay.stats().captures, 1);
  EXPECT_EQ(replay.stats().updates, 3);
  replay.offset = 1000;  // would be seen if a step ran, to be recorded or by itself
  for (const int place : {0, 1, 3, 3, 0, 2}) {
    replay.move_arrays(place);
    EXPECT_EQ(replay.run(), replay.numbers(100 * place)) << "place " << place;
  }
  EXPECT_EQ(replay.stats().captures, 1);
  EXPECT_EQ(replay.stats().updates, 3);
  EXPECT_EQ(replay.stats().recalls, 5) << "one of the six runs is where the one before was";
}

TEST(GraphReplay, TheLastPlacesOfArraysAreRemembered) {
  Replay replay;
  replay.run();
  const auto visit = [&](int place) {
    replay.move_arrays(place);
    replay.run();
  };
  for (int place = 0; place < 9; ++place) visit(place);
  EXPECT_EQ(replay.stats().updates, 8);
  for (int place = 1; place < 9; ++place) visit(place);
  EXPECT_EQ(replay.stats().updates, 8) << "eight are there";
  visit(0);
  EXPECT_EQ(replay.stats().updates, 9) << "the first made room";
}

TEST(GraphReplay, ArraysInNewPlacesNeedNoRecordingOnceItIsKnownWhatMovesWithThem) {
  Replay replay;
  for (int place = 0; place < 4; ++place) EXPECT_EQ(replay.run_copies(place), replay.all(place));
  EXPECT_EQ(replay.stats().captures + replay.stats().updates, 3) << "the first run is plain";
  EXPECT_EQ(replay.stats().moves, 0);
  const int steps = replay.steps_run();
  for (int place = 4; place < 20; ++place) {
    EXPECT_EQ(replay.run_copies(place), replay.all(place)) << "place " << place;
    EXPECT_EQ(replay.run_copies(place - 1), replay.all(place - 1)) << "recalled";
  }
  EXPECT_EQ(replay.steps_run(), steps);
  EXPECT_EQ(replay.stats().moves, 16);
  EXPECT_EQ(replay.stats().captures, 1);
  EXPECT_EQ(replay.stats().launches, 3 + 32);
}

TEST(GraphReplay, CallsThatCannotBeSeenAreRecordedInEachNewPlace) {
  Replay replay;
  replay.run();
  for (int place = 0; place < 12; ++place) {
    replay.offset = 100 * place;
    replay.move_arrays(place);
    EXPECT_EQ(replay.run(), replay.numbers(100 * place));
  }
  EXPECT_EQ(replay.stats().moves, 0);
  EXPECT_EQ(replay.stats().updates, 11);
}

TEST(GraphReplay, RecordingsOfOneGraphTakeTheSameScratchMemory) {
  CapturedMemory memory;
  void* const first = memory.take(1000, kGpu, nullptr);
  void* const second = memory.take(70000, kGpu, nullptr);
  EXPECT_NE(first, second);
  const std::size_t bytes = memory.bytes();
  memory.rewind();
  EXPECT_EQ(memory.take(1000, kGpu, nullptr), first);
  EXPECT_EQ(memory.take(70000, kGpu, nullptr), second);
  EXPECT_EQ(memory.bytes(), bytes);
  memory.rewind();
  void* const larger = memory.take(1 << 20, kGpu, nullptr);  // than what was first
  void* const next = memory.take(1000, kGpu, nullptr);
  EXPECT_NE(larger, first);
  EXPECT_NE(next, larger) << "each is one request's";
}

TEST(GraphReplay, WaitsForKernelsThatAreBeingCompiled) {
  Replay replay;
  replay.compiling = 1;
  for (int run = 0; run < 3; ++run) EXPECT_EQ(replay.run(), replay.numbers(0));
  EXPECT_EQ(replay.stats().captures, 0);
  replay.compiling = -1;
  replay.offset = 100;  // the compiled kernel
  EXPECT_EQ(replay.run(), replay.numbers(100)) << "the first run that does what is to be recorded";
  EXPECT_EQ(replay.stats().captures, 0);
  EXPECT_EQ(replay.run(), replay.numbers(100));
  EXPECT_EQ(replay.stats().captures, 1);
  EXPECT_EQ(replay.run(), replay.numbers(100));
  EXPECT_EQ(replay.stats().launches, 2);
}

TEST(GraphReplay, WhatFailsToBeRecordedRunsPlainly) {
  Replay replay;
  replay.run();
  replay.failing = 2;
  ::testing::internal::CaptureStderr();
  EXPECT_THROW(replay.run(), Error) << "its own error, when run plainly";
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("one by one, as they cannot be recorded"), std::string::npos) << said;
  replay.failing = -1;
  EXPECT_EQ(replay.run(), replay.numbers(0));
  EXPECT_EQ(replay.stats().failures, 1);
  EXPECT_EQ(replay.stats().launches, 0);
}

TEST(GraphReplay, LogSaysWhatIsCaptured) {
  Mlp mlp(2, 2, 4, 5);
  const std::vector<NDArray> host = mlp.arrays();
  const Setting on("MXNET_ENABLE_CUDA_GRAPHS", "1");
  EXPECT_EQ(log_of([&] { results(mlp, host, false, 3); }), "");
  const Setting verbose("MXNET_CUDA_GRAPHS_VERBOSE", "1");
  const std::string text = log_of([&] { results(mlp, host, false, 3); });
  EXPECT_EQ(count(text, "captured"), 1) << text;
  EXPECT_NE(text.find("fc1(dot)"), std::string::npos) << text;
  EXPECT_NE(text.find("gpu(0) (inference)"), std::string::npos) << text;
}

TEST(GraphReplay, LogEndsAfterTheMostEntries) {
  static bool ended = false;
  if (std::exchange(ended, true)) GTEST_SKIP() << "once in a process";
  Mlp mlp(2, 2, 4, 5);
  const std::vector<NDArray> host = mlp.arrays();
  const Setting on("MXNET_ENABLE_CUDA_GRAPHS", "1");
  const Setting most("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", "3");
  EXPECT_EQ(count(log_of([&] { results(mlp, host, false, 9); }), "launch of graph"), 3);
  EXPECT_EQ(log_of([&] { results(mlp, host, false, 9); }), "") << "of the process";
}

class DebugFolder {
 public:
  DebugFolder()
      : path_(std::filesystem::path(::testing::TempDir()) /
              ("graphs_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~DebugFolder() { std::filesystem::remove_all(path_); }
  std::string prefix() const { return (path_ / "g").string(); }
  // Name and text of the only file.
  std::pair<std::string, std::string> only() const {
    std::pair<std::string, std::string> found;
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      std::ifstream file(entry.path());
      found = {entry.path().filename(), std::string(std::istreambuf_iterator<char>(file), {})};
      ++files;
    }
    EXPECT_EQ(files, 1);
    return found;
  }

 private:
  const std::filesystem::path path_;
};

TEST(GraphReplay, DebugFilesTellDevicePartAndGraph) {
  Mlp mlp(2, 2, 4, 5);
  const std::vector<NDArray> host = mlp.arrays();
  const Setting on("MXNET_ENABLE_CUDA_GRAPHS", "1");
  const DebugFolder folder;
  const Setting file("MXNET_CUDA_GRAPHS_DBG_FILE", folder.prefix());
  results(mlp, host, false, 4);
  const auto [name, text] = folder.only();
  EXPECT_EQ(name.substr(0, 11), "g-dev0-inf.") << name;
  EXPECT_EQ(name.substr(name.size() - 4), ".dot");
  EXPECT_GE(std::stoi(name.substr(11)), 0);
  EXPECT_NE(text.find("node1"), std::string::npos) << text;
  EXPECT_NE(text.find("flags 1\n"), std::string::npos) << text;
}

TEST(GraphReplay, DebugFlagsReachTheDevice) {
  Mlp mlp(2, 2, 4, 5);
  const std::vector<NDArray> host = mlp.arrays();
  const Setting on("MXNET_ENABLE_CUDA_GRAPHS", "1");
  const DebugFolder folder;
  const Setting file("MXNET_CUDA_GRAPHS_DBG_FILE", folder.prefix());
  const Setting flags("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", "6");
  results(mlp, host, false, 4);
  EXPECT_NE(folder.only().second.find("flags 6\n"), std::string::npos);
}

}  // namespace
}  // namespace mxnet
