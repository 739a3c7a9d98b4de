// SPDX-License-Identifier: Apache-2.0
// Width and placement of OpenMP regions. The runtime (GNU OpenMP) keeps a thread count for each
// thread that starts regions, and a pool of its own for each; here is the one number that users
// set, and who pins the pools.
#pragma once
#include <string>
#include <string_view>

namespace mxnet {

// The machine, as far as the default width depends on it.
struct CpuShare {
  int allowed_cpus = 1;    // logical CPUs, by affinity
  int physical_cores = 1;  // distinct cores among them
  double quota = 0;        // cgroup's limit in CPUs; 0 = none
};
CpuShare this_machine();

// The width of a region. `omp_num_threads` is OMP_NUM_THREADS ("4" or, by nesting level, "4,2": the
// first counts), empty when unset; `max_threads` is MXNET_OMP_MAX_THREADS, 0 when unset.
//   set:    that number, at most max_threads
//   unset:  a thread per physical core (SMT siblings share the vector units), or all CPUs up to
//           max_threads if that is set;
//           never more than the quota, rounded up
// Throws Error(kValue) for text that is no list of numbers >= 1.
int choose_omp_threads(std::string_view omp_num_threads, int max_threads, const CpuShare& machine);

// Takes the settings of the process and applies them to the calling thread; once, from the start of
// the library. A KMP_AFFINITY that is not supported is a warning, not an error: other runtimes in
// the process may understand it.
void start_omp(std::string_view omp_num_threads, int max_threads, const std::string& kmp_affinity);

// The number of threads for a region of a wide kernel: for num_threads(...) clauses.
int omp_threads() noexcept;
// MXSetNumOMPThreads: for the whole process. Throws Error(kValue) unless >= 1.
void set_omp_threads(int threads);

// Brings the calling thread's own count, and with KMP_AFFINITY the places of its pool, up to date.
// For every thread of the library that runs kernels, before each of them: one comparison when
// nothing changed. Where the system refuses so many threads, the count is what it grants: GNU
// OpenMP ends the process instead.
void sync_omp_thread();
// The same for threads of the program, before what may begin regions on them. A count that the
// program has set for a thread before stays, nothing is pinned, and a RegionWidth says more.
void follow_omp_width();
// And makes the thread's pool, in which no other thread that asks comes between. Before a region of
// the library's own.
void hold_omp_pool();
// The calling thread and as many others as there can be, up to `threads` with it.
int granted_threads(int threads);
// Ends the pool that the calling thread's regions have left, if there is one. GNU OpenMP lets all
// its threads sleep between regions as soon as it has more of them than there are cores: a region
// of the workers then begins as late as those threads wake up (docs/engine.md). So a thread that is
// to begin no more regions for now, since it waits for workers that do, gives its pool up.
void release_omp_pool() noexcept;
// While one lives, regions that the calling thread begins are so wide; those of one thread make no
// pool.
class RegionWidth {
 public:
  RegionWidth(const RegionWidth&) = delete;
  RegionWidth& operator=(const RegionWidth&) = delete;

 protected:
  explicit RegionWidth(int threads) noexcept;
  ~RegionWidth();

 private:
  int before_ = 0;  // the thread's width; 0 = the same
  bool nested_;
};
// One thread wide, for work that is done sooner than a region ends.
class OneThread : RegionWidth {
 public:
  OneThread() noexcept : RegionWidth(1) {}
};
// As wide as those of workers, whatever the thread's program has set for its own: for choices that
// depend on the width, made by whoever calls, of what workers run.
class ProcessWidth : RegionWidth {
 public:
  ProcessWidth();
};
// For the start of a thread that the library makes: takes back the pinning inherited from its
// creator.
void unpin_inherited();

}  // namespace mxnet
