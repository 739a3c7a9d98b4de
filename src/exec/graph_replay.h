// SPDX-License-Identifier: Apache-2.0
// Segments of a plan as graphs of the device: recorded at their second run (the first lets kernels
// choose and prepare), or later where kernels are being compiled, then launched as a whole. Where
// arrays have moved since, the graph that there is is updated: from an earlier recording where they
// lay there before, else from what recordings have told of where calls hold addresses, else from a
// new one.
// (MXNET_ENABLE_CUDA_GRAPHS)
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/graph_capture.h"
#include "device/stream.h"
#include "exec/capture_scope.h"
#include "exec/graph_segments.h"
#include "ndarray/ndarray.h"

namespace mxnet {

class ArrayMoves;

// Belongs to one PlanInstance; used by one thread at a time.
class GraphReplay {
 public:
  struct Stats {
    int captures = 0, updates = 0, recalls = 0, moves = 0, launches = 0, failures = 0;
  };

  // Null where the configuration does not ask for it, or the plan's device has no graphs.
  static std::unique_ptr<GraphReplay> make(const Plan& plan);
  GraphReplay(const Plan& plan, GraphCapture& capture);
  ~GraphReplay();
  GraphReplay(const GraphReplay&) = delete;
  GraphReplay& operator=(const GraphReplay&) = delete;

  // Runs a segment: `run_step` puts one step on the stream; `arrays` are the plan's tensors.
  void run(const Plan::Segment& segment, std::span<const NDArray> arrays, const RunContext& context,
           const std::function<void(int)>& run_step);

  const Stats& stats() const { return stats_; }

 private:
  // What was recorded for arrays at certain places.
  struct Placed {
    std::vector<const void*> addresses;
    DeviceGraph graph;
  };
  struct Recording {
    StepRun steps;
    bool rehearsed = false;
    int id = -1;
    std::unique_ptr<CapturedMemory> memory;  // outlives the graphs
    Placed current;                          // what is launched
    std::vector<Placed> earlier;             // the last used first
    std::unique_ptr<ArrayMoves> moves;       // of recordings that the graph was updated from
  };

  std::vector<Recording> split(const Plan::Segment& segment);
  void rehearse(Recording& recording, const std::function<void(int)>& run_step);
  void replay(Recording& recording, std::span<const NDArray> arrays, const RunContext& context,
              const std::function<void(int)>& run_step);
  bool recall(Recording& recording);
  bool move(Recording& recording);
  void study(Recording& recording, std::span<const NDArray> arrays);
  bool record(Recording& recording, std::span<const NDArray> arrays, const RunContext& context,
              const std::function<void(int)>& run_step);
  static void remember(Recording& recording, Placed&& replaced);
  template <class F>
  void for_each_tensor(const StepRun& steps, const F& visit) const;
  void gather(const StepRun& steps, std::span<const NDArray> arrays);
  // Operations complete by event: their graphs may still run when others take their place.
  void await_launches() noexcept;
  void describe(const Recording& recording, bool updated) const;
  void print(const Recording& recording) const;

  const Plan& plan_;
  GraphCapture& capture_;
  std::vector<std::vector<Recording>> segments_;  // as in the plan; empty until first run
  std::vector<const void*> addresses_;            // of this run
  std::optional<Event> launched_;                 // behind the last launch
  Stats stats_;
};

}  // namespace mxnet
