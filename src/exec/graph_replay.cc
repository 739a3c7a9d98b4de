// SPDX-License-Identifier: Apache-2.0
// Recording, updating and launching; what is logged about it.
#include "exec/graph_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "device/rehearsal.h"
#include "device/sim/sim_control.h"
#include "engine/fences.h"
#include "exec/array_moves.h"

namespace mxnet {
namespace {

// One call costs less by itself than as a graph.
constexpr int kLeastSteps = 2;

// Batches come in a few places in turn: as many as loaders run ahead, and the pool's blocks.
constexpr std::size_t kMostEarlier = 7;

std::atomic<int> g_next_id{0}, g_log_entries{0};

const CudaConfig& settings() { return config().cuda; }

}  // namespace

thread_local CapturedMemory* CaptureScope::current_ = nullptr;

std::unique_ptr<GraphReplay> GraphReplay::make(const Plan& plan) {
  if (!settings().enable_cuda_graphs || !plan.options().device.is_gpu()) return nullptr;
  DeviceApi& api = device_api(DeviceType::kGPU);
  GraphCapture* capture = graph_capture(api);
  return capture == nullptr ? nullptr : std::make_unique<GraphReplay>(plan, *capture);
}

GraphReplay::GraphReplay(const Plan& plan, GraphCapture& capture)
    : plan_(plan), capture_(capture), segments_(plan.segments().size()) {}

GraphReplay::~GraphReplay() { await_launches(); }

std::vector<GraphReplay::Recording> GraphReplay::split(const Plan::Segment& segment) {
  std::vector<bool> recordable(plan_.steps().size());
  for (int s = segment.first_step; s < segment.last_step; ++s) {
    const Plan::Step& step = plan_.steps()[static_cast<std::size_t>(s)];
    const char* reason = not_recordable(step, plan_.options().training);
    recordable[static_cast<std::size_t>(s)] = reason == nullptr;
    if (reason != nullptr && settings().cuda_graphs_verbose)
      log(LogLevel::kInfo,
          fmt::format("CUDA graphs: {} is not recorded: {}", plan_.step_name(step), reason));
  }
  std::vector<Recording> recordings;
  for (const StepRun& run :
       split_runs(recordable, segment.first_step, segment.last_step, kLeastSteps)) {
    recordings.emplace_back();
    recordings.back().steps = run;
  }
  return recordings;
}

void GraphReplay::run(const Plan::Segment& segment, std::span<const NDArray> arrays,
                      const RunContext& context, const std::function<void(int)>& run_step) {
  std::vector<Recording>& recordings =
      segments_[static_cast<std::size_t>(&segment - plan_.segments().data())];
  if (recordings.empty()) recordings = split(segment);
  for (Recording& recording : recordings) {
    if (recording.steps.recorded && recording.rehearsed) {
      replay(recording, arrays, context, run_step);
    } else {
      rehearse(recording, run_step);
    }
  }
}

void GraphReplay::rehearse(Recording& recording, const std::function<void(int)>& run_step) {
  const Rehearsal rehearsal;
  for (int s = recording.steps.first; s < recording.steps.last; ++s) run_step(s);
  recording.rehearsed = rehearsal.settled();
}

template <class F>
void GraphReplay::for_each_tensor(const StepRun& steps, const F& visit) const {
  for (int s = steps.first; s < steps.last; ++s) {
    const Plan::Step& step = plan_.steps()[static_cast<std::size_t>(s)];
    const uint32_t end = step.first_tensor + step.num_in + step.num_out;
    for (uint32_t t = step.first_tensor; t < end; ++t) visit(t);
  }
}

void GraphReplay::gather(const StepRun& steps, std::span<const NDArray> arrays) {
  addresses_.clear();
  for_each_tensor(steps, [&](uint32_t t) {
    addresses_.push_back(arrays[t].is_none() ? nullptr : arrays[t].data());
  });
}

void GraphReplay::replay(Recording& recording, std::span<const NDArray> arrays,
                         const RunContext& context, const std::function<void(int)>& run_step) {
  gather(recording.steps, arrays);
  const bool in_place = recording.current.graph && recording.current.addresses == addresses_;
  if (!in_place && !recall(recording) && !move(recording) &&
      !record(recording, arrays, context, run_step)) {
    for (int s = recording.steps.first; s < recording.steps.last; ++s) run_step(s);
    return;
  }
  recording.current.graph.launch(context.stream->native());
  if (!launched_) launched_.emplace(context.stream->api(), context.stream->device());
  launched_->record(*context.stream);
  // On a simulated device errors of a launch are the operation's own: it waits for them.
  if (sim_control(context.stream->api()) == nullptr) engine::complete_by_event();
  ++stats_.launches;
  if (const int most = settings().cuda_graphs_max_log_entries;
      most > 0 && g_log_entries.fetch_add(1, std::memory_order_relaxed) < most)
    log(LogLevel::kInfo, fmt::format("CUDA graphs: launch of graph {} on {}", recording.id,
                                     to_string(context.device)));
}

void GraphReplay::await_launches() noexcept {
  try {
    if (launched_) launched_->synchronize();
  } catch (const std::exception&) {  // the device is lost, and its work with it
  }
}

void GraphReplay::remember(Recording& recording, Placed&& replaced) {
  std::vector<Placed>& earlier = recording.earlier;
  if (earlier.size() == kMostEarlier) earlier.pop_back();
  earlier.insert(earlier.begin(), std::move(replaced));
}

// Whether there is a recording for where the arrays lie; the graph is updated from it.
bool GraphReplay::recall(Recording& recording) {
  const auto found = std::find_if(recording.earlier.begin(), recording.earlier.end(),
                                  [&](const Placed& at) { return at.addresses == addresses_; });
  if (found == recording.earlier.end()) return false;
  Placed placed = std::move(*found);
  recording.earlier.erase(found);
  if (!recording.current.graph.update(placed.graph)) {
    await_launches();  // of its work, which goes with it
    return false;
  }
  placed.addresses.swap(recording.current.addresses);
  remember(recording, std::move(placed));
  ++stats_.recalls;
  return true;
}

// Whether it is known what a recording would have given: an earlier one, which gives up its place,
// is given that instead.
bool GraphReplay::move(Recording& recording) {
  if (!recording.moves || recording.earlier.empty()) return false;
  const GraphArguments* const arguments = recording.moves->arguments(addresses_);
  if (arguments == nullptr) return false;
  Placed placed = std::move(recording.earlier.back());
  recording.earlier.pop_back();
  if (!placed.graph.give(*arguments) || !recording.current.graph.update(placed.graph)) {
    recording.moves->give_up();
    await_launches();  // of its work, which goes with it
    return false;
  }
  placed.addresses = std::exchange(recording.current.addresses, addresses_);
  remember(recording, std::move(placed));
  ++stats_.moves;
  return true;
}

void GraphReplay::study(Recording& recording, std::span<const NDArray> arrays) {
  if (!recording.moves) {
    std::vector<std::size_t> bytes;
    for_each_tensor(recording.steps, [&](uint32_t t) {
      bytes.push_back(arrays[t].is_none() ? 0 : arrays[t].bytes());
    });
    recording.moves = std::make_unique<ArrayMoves>(std::move(bytes));
  }
  if (!recording.moves->learns()) return;
  GraphArguments arguments;
  if (recording.current.graph.arguments(&arguments)) {
    recording.moves->add(recording.current.addresses, std::move(arguments));
  } else {
    recording.moves->give_up();
  }
}

// False where the device cannot: the steps run one by one from then on.
bool GraphReplay::record(Recording& recording, std::span<const NDArray> arrays,
                         const RunContext& context, const std::function<void(int)>& run_step) {
  const int device = context.stream->device();
  NativeStream* const stream = context.stream->native();
  if (!recording.memory) recording.memory = std::make_unique<CapturedMemory>();
  recording.memory->rewind();
  Placed placed{addresses_, {}};
  try {
    capture_.begin_capture(device, stream);
    try {
      const CaptureScope scope(*recording.memory);
      for (int s = recording.steps.first; s < recording.steps.last; ++s) run_step(s);
    } catch (...) {
      // Ends the capture all the same; what it gives is of no use.
      const DeviceGraph unused(capture_, device, capture_.end_capture(device, stream));
      throw;
    }
    placed.graph = DeviceGraph(capture_, device, capture_.end_capture(device, stream));
  } catch (const std::exception& error) {
    recording.steps.recorded = false;
    ++stats_.failures;
    log(LogLevel::kWarning,
        fmt::format("CUDA graphs: {} steps of {} run one by one, as they cannot be recorded: {}",
                    recording.steps.last - recording.steps.first, to_string(context.device),
                    error.what()));
    return false;
  }
  await_launches();
  const bool updated = recording.current.graph && recording.current.graph.update(placed.graph);
  if (updated) {
    placed.addresses.swap(recording.current.addresses);
    remember(recording, std::move(placed));
  } else {
    recording.current = std::move(placed);
    recording.earlier.clear();
    recording.moves.reset();
    recording.id = g_next_id.fetch_add(1, std::memory_order_relaxed);
  }
  study(recording, arrays);
  ++(updated ? stats_.updates : stats_.captures);
  if (settings().cuda_graphs_verbose) describe(recording, updated);
  if (!updated) print(recording);
  return true;
}

void GraphReplay::describe(const Recording& recording, bool updated) const {
  std::string names;
  for (int s = recording.steps.first; s < recording.steps.last; ++s) {
    names += names.empty() ? "" : ", ";
    names += plan_.step_name(plan_.steps()[static_cast<std::size_t>(s)]);
  }
  log(LogLevel::kInfo,
      fmt::format("CUDA graphs: graph {} of {} ({}) {}: {} nodes, {} bytes of scratch memory: {}",
                  recording.id, to_string(plan_.options().device),
                  plan_.options().training ? "training" : "inference",
                  updated ? "updated" : "captured", recording.current.graph.nodes(),
                  recording.memory->bytes(), names));
}

void GraphReplay::print(const Recording& recording) const {
  const std::string prefix = settings().cuda_graphs_dbg_file;
  if (prefix.empty()) return;
  const std::optional<int> flags = settings().cuda_graphs_dbg_file_flags;
  constexpr unsigned kVerbose = 1;  // cudaGraphDebugDotFlagsVerbose
  try {
    recording.current.graph.print(
        fmt::format("{}-dev{}-{}.{}.dot", prefix, plan_.options().device.id,
                    plan_.options().training ? "trn" : "inf", recording.id),
        flags ? static_cast<unsigned>(*flags) : kVerbose);
  } catch (const Error& error) {
    log(LogLevel::kWarning, fmt::format("CUDA graphs: {}", error.what()));
  }
}

}  // namespace mxnet
