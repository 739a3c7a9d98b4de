// SPDX-License-Identifier: Apache-2.0
// Each call is one operation of the engine, which reads and writes the arrays of all GPUs.
#include "kvstore/collective_reducer.h"

#include <algorithm>
#include <array>

#include "base/config.h"
#include "engine/engine.h"
#include "engine/fences.h"

namespace mxnet::kvstore {
namespace {

// One collective call with the arrays that it keeps alive, in the order of the team.
struct Task {
  std::shared_ptr<DeviceTeam> team;
  Collective kind;
  std::size_t root;
  std::vector<NDArray> from, to;  // none where that GPU takes no part in the reading, or writing

  void run(Stream& stream) const {
    std::vector<const void*> sources;
    std::vector<void*> targets;
    sources.reserve(from.size());
    targets.reserve(to.size());
    for (const NDArray& array : from) sources.push_back(array.is_none() ? nullptr : array.data());
    for (const NDArray& array : to) targets.push_back(array.is_none() ? nullptr : array.data());
    const NDArray& any = from[root];
    team->run({.kind = kind,
               .root = static_cast<int>(root),
               .dtype = any.dtype(),
               .count = static_cast<std::size_t>(any.size()),
               .from = sources,
               .to = targets},
              stream);
    engine::complete_by_event();
  }
};

std::vector<NDArray> by_number(const DeviceTeam& team, Arrays arrays) {
  std::vector<NDArray> result(team.gpus().size());
  for (const NDArray& array : arrays) result[team.number_of(array.device())] = array.detach();
  return result;
}

std::vector<Var*> variables_of(const std::vector<NDArray>& arrays) {
  std::vector<Var*> vars;
  for (const NDArray& array : arrays)
    if (!array.is_none()) vars.push_back(array.var());
  return vars;
}

void push(Task task, int priority) {
  const Device gpu = task.team->gpus()[task.root];
  std::vector<Var*> reads = variables_of(task.from), writes = variables_of(task.to);
  dedup_variables(&reads, &writes);
  Engine::get().push(
      [task = std::move(task)](const RunContext& context) { task.run(*context.stream); },
      {.device = gpu,
       .reads = reads,
       .writes = writes,
       .priority = priority,
       .name = "KVStoreCollective"});
}

bool like(Arrays arrays, const NDArray& one) {
  return std::all_of(arrays.begin(), arrays.end(), [&](const NDArray& array) {
    return array.dtype() == one.dtype() && array.shape() == one.shape();
  });
}

}  // namespace

CollectiveReducer::CollectiveReducer(const KvstoreConfig& config) : plain_(config) {
  require_collectives();
}

CollectiveReducer::TeamRef CollectiveReducer::team_of(Arrays arrays) {
  std::vector<Device> gpus;
  for (const NDArray& array : arrays) {
    if (!array.device().is_gpu() || array.is_sparse() || !kNumeric.contains(array.dtype()))
      return nullptr;
    gpus.push_back(array.device());
  }
  std::sort(gpus.begin(), gpus.end());
  const bool distinct = std::adjacent_find(gpus.begin(), gpus.end()) == gpus.end();
  if (!distinct || gpus.size() < 2 || arrays[0].size() == 0) return nullptr;
  TeamRef& team = teams_[gpus];
  if (team == nullptr) team = std::make_shared<DeviceTeam>(gpus);
  return team;
}

void CollectiveReducer::sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) {
  const TeamRef team = team_of(values);
  const bool whole = team != nullptr && like(values, to) && !to.is_sparse();
  if (!whole || team->number_of(to.device()) == team->gpus().size())
    return plain_.sum(buffers, values, to, priority);
  push({.team = team,
        .kind = Collective::kSumToRoot,
        .root = team->number_of(to.device()),
        .from = by_number(*team, values),
        .to = by_number(*team, std::span(&to, 1))},
       priority);
}

void CollectiveReducer::sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to,
                                     Arrays outs, int priority) {
  const TeamRef team = team_of(values);
  const bool everywhere = team != nullptr && team == team_of(outs) && like(values, to) &&
                          like(outs, to) && !to.is_sparse();
  if (!everywhere || team->number_of(to.device()) == team->gpus().size()) {
    sum(buffers, values, to, priority);
    return copy(to, outs, priority);
  }
  const std::size_t root = team->number_of(to.device());
  const std::vector<NDArray> results = by_number(*team, outs);
  push({.team = team,
        .kind = Collective::kSumToAll,
        .root = root,
        .from = by_number(*team, values),
        .to = results},
       priority);
  results[root].copy_to(to, priority);
}

void CollectiveReducer::copy(const NDArray& from, Arrays outs, int priority) {
  const TeamRef team = team_of(outs);
  const bool whole = team != nullptr && like(outs, from) && !from.is_sparse();
  if (!whole || team->number_of(from.device()) == team->gpus().size())
    return plain_.copy(from, outs, priority);
  push({.team = team,
        .kind = Collective::kCopyFromRoot,
        .root = team->number_of(from.device()),
        .from = by_number(*team, std::span(&from, 1)),
        .to = by_number(*team, outs)},
       priority);
}

}  // namespace mxnet::kvstore
