// SPDX-License-Identifier: Apache-2.0
// How the steps of one direction of one layer are shared among threads: rows of the batch are
// independent for the whole sequence, columns (units) meet after each step.
#pragma once
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "base/cpu_relax.h"
#include "op/run/parallel.h"
#include "op/run/team.h"

namespace mxnet::rnn {

// One multiplication and addition of a product, in units of the cost model: sixteen to one.
inline constexpr double kFlop = 1.0 / 16;

struct StepShape {
  int64_t steps, batch, units;
  int64_t work;   // multiplications and additions of one unit of one sample in one step
  int64_t panel;  // units that stay together
  bool rows_only;
  int64_t together = 1;  // rows that one thread has
};

// How threads share the steps.
enum class Sharing {
  kUnits,     // each reads its own weights only; all meet after each step
  kRows,      // each reads all weights, and nobody waits
  kFullRows,  // the same, and each has rows enough for full tiles of the product
};

// Elements that the cache of all cores holds. Eight rows read them slowly enough for it, and what a
// meeting costs, with cores that others use as well, is saved.
inline constexpr int64_t kCachedWeights = 1 << 21;

// The same where rows stay together: so many of them are multiplied fast enough to wait for any
// cache but the own one.
inline constexpr int64_t kOwnWeights = 1 << 19;

inline Sharing sharing(const StepShape& shape) {
  const bool together = shape.together > 1;
  const int64_t tile = together ? 2 * shape.together : 8;  // rows
  const double cost = kFlop * static_cast<double>(shape.work * shape.units);
  const int64_t threads = threads_for(shape.batch, cost * static_cast<double>(shape.steps));
  const int64_t most = together ? kOwnWeights : kCachedWeights;
  const bool full = shape.batch >= threads * tile;
  if (full && (shape.rows_only || shape.work * shape.units <= most)) return Sharing::kFullRows;
  return shape.rows_only || shape.units < threads * shape.panel ? Sharing::kRows : Sharing::kUnits;
}

inline double cost_of_steps(const StepShape& shape) {
  return kFlop * static_cast<double>(shape.work * shape.units * shape.batch * shape.steps);
}

// Whether two directions take less time beside each other, each on a thread where nobody meets
// after each step, than one after the other on all threads.
inline bool one_thread_each(const StepShape& shape) {
  const Sharing chosen = sharing(shape);
  if (chosen == Sharing::kFullRows || shape.work * shape.units > kOwnWeights) return false;
  if (threads_for(2, cost_of_steps(shape)) < 2) return false;
  const double cost = kFlop * static_cast<double>(shape.work);
  return (chosen == Sharing::kUnits
              ? threads_for(shape.units, cost * static_cast<double>(shape.batch))
              : threads_for(shape.batch, cost * static_cast<double>(shape.units * shape.steps))) <=
         2;
}

// Where the threads of a team wait for each other after each step, many times a millisecond: they
// spin first, and let others run when one of them is late. wait() is called by all members, as
// often by each.
class Meeting {
 public:
  void wait(int members) {
    constexpr int kSpins = 1000;  // about 50 us, a step of a small network
    // Relaxed: it changes only after this thread has come.
    const uint32_t round = round_.load(std::memory_order_relaxed);
    // acq_rel: the last to come has seen what all others did, and hands it on with the new round.
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
      arrived_.store(0, std::memory_order_relaxed);  // nobody looks before the new round
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int i = 0; round_.load(std::memory_order_acquire) == round; ++i) {
      if (i < kSpins) {
        cpu_relax();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  std::atomic<int> arrived_{0};
  std::atomic<uint32_t> round_{0};
};

// fn(step, first row, last row, first unit, last unit) for steps 0, 1, ...; each is done everywhere
// before a later one needs it.
template <class F>
void each_step(const StepShape& shape, int64_t first, int64_t last, const F& fn) {
  const double cost = kFlop * static_cast<double>(shape.work);
  if (sharing(shape) != Sharing::kUnits) {
    const double row_cost = cost * static_cast<double>(shape.units * (last - first));
    parallel_for(
        shape.batch, row_cost,
        [&](int64_t begin, int64_t end) {
          for (int64_t s = first; s < last; ++s) fn(s, begin, end, 0, shape.units);
        },
        shape.together);
    return;
  }
  const int threads = threads_for(shape.units, cost * static_cast<double>(shape.batch));
  if (threads <= 1) {
    for (int64_t s = first; s < last; ++s) fn(s, 0, shape.batch, 0, shape.units);
    return;
  }
  Meeting meeting;
#pragma omp parallel num_threads(team_of(threads))
  {
    // OpenMP may give fewer threads than asked for. Those beyond `members` have no steps.
    const int members = std::min(threads, omp_get_num_threads());
    const int64_t panels = (shape.units + shape.panel - 1) / shape.panel;
    const int64_t part = (panels + members - 1) / members * shape.panel;
    const int64_t unit = std::min(shape.units, omp_get_thread_num() * part);
    const int64_t unit_end = std::min(shape.units, unit + part);
    for (int64_t s = omp_get_thread_num() < members ? first : last; s < last; ++s) {
      if (unit < unit_end) fn(s, 0, shape.batch, unit, unit_end);
      meeting.wait(members);
    }
  }
}

}  // namespace mxnet::rnn
