// SPDX-License-Identifier: Apache-2.0
// Each thread that runs kernels follows the process's numbers when they change; a generation tells
// it so.
#include "base/omp.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/cgroup.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "base/fork_order.h"
#include "base/kmp_affinity.h"
#include "base/log.h"

namespace mxnet {
namespace {

constexpr int kMaxThreads = 65536;  // beyond it the runtime would fail to make them, with an abort

// What all threads follow. `places` and `initial_cpus` are written by start_omp before `generation`
// changes.
struct Process {
  std::atomic<int> threads{1};
  std::atomic<unsigned> generation{0};  // counts changes; 0 = not started
  std::vector<std::vector<int>> places;
  int first_place = 0;
  std::vector<int> initial_cpus;
};

// Made before any code runs: the child of a fork would wait for ever for another thread of its
// parent to have made it. Never destroyed: kernels may run while the process exits.
union Lasting {
  constexpr Lasting() : process{} {}
  ~Lasting() {}
  Process process;
};
constinit Lasting g_lasting;

Process& process() { return g_lasting.process; }

void pin_to(const std::vector<int>& cpus) noexcept {
  if (cpus.empty()) return;
  const int highest = *std::max_element(cpus.begin(), cpus.end());
  const std::size_t bytes = CPU_ALLOC_SIZE(highest + 1);
  cpu_set_t* mask = CPU_ALLOC(highest + 1);
  if (mask == nullptr) return;
  CPU_ZERO_S(bytes, mask);
  for (const int cpu : cpus) CPU_SET_S(cpu, bytes, mask);
  ::sched_setaffinity(0, bytes,
                      mask);  // a CPU taken away meanwhile: the thread stays where it may run
  CPU_FREE(mask);
}

// The calling thread's pool lives as long as the thread and keeps its members while the width stays
// the same.
void pin_pool(int threads) {
  const Process& p = process();
  const int places = static_cast<int>(p.places.size());
#pragma omp parallel num_threads(threads)
  pin_to(p.places[(omp_get_thread_num() + p.first_place) % places]);
}

// GNU OpenMP's pool does not survive fork: a region wider than one would wait for threads that are
// not there.
void after_fork_in_child() {
  Process& p = process();
  if (p.generation.load(std::memory_order_relaxed) == 0) return;
  p.threads.store(1, std::memory_order_relaxed);
  omp_set_num_threads(1);
  if (!p.places.empty()) pin_to(p.initial_cpus);
  p.places.clear();
}

[[gnu::constructor(kForkOrderConfig)]] void register_handler() {
  static_cast<void>(::pthread_atfork(nullptr, nullptr, &after_fork_in_child));
}

int parse_first(std::string_view text) {
  int first = 0;
  for (std::string_view rest = text; !rest.empty() || first == 0;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view word = rest.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1 ||
        value > kMaxThreads) {
      throw Error(ErrorCode::kValue, "OMP_NUM_THREADS",
                  fmt::format("given '{}', expected a number from 1 to {}, or a list such as 4,2",
                              text.substr(0, 100), kMaxThreads));
    }
    if (first == 0) first = value;
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) rest = " ";  // a trailing comma: an empty, hence bad, last word
  }
  return first;
}

void log_places(const Process& p) {
  std::string text;
  for (std::size_t i = 0; i < p.places.size(); ++i) {
    text += fmt::format("{}thread {} -> CPU {}", i == 0 ? "" : "; ", i,
                        fmt::join(p.places[(i + p.first_place) % p.places.size()], ","));
  }
  log(LogLevel::kInfo, "KMP_AFFINITY: " + text);
}

// False when there is nothing to pin.
bool read_affinity(const std::string& text, Process& p) {
  try {
    const KmpAffinity affinity = parse_kmp_affinity(text);
    std::vector<int> cpus = p.initial_cpus;
    if (!affinity.respect) {
      cpus.clear();
      const long configured = ::sysconf(_SC_NPROCESSORS_CONF);
      for (int cpu = 0; cpu < configured; ++cpu) cpus.push_back(cpu);
    }
    p.places = affinity_places(affinity, cpu_topology(cpus));
    p.first_place = p.places.empty() ? 0 : affinity.offset % static_cast<int>(p.places.size());
    if (affinity.verbose && !p.places.empty()) log_places(p);
  } catch (const Error& error) {
    log(LogLevel::kWarning, error.what());
  }
  return !p.places.empty();
}

}  // namespace

CpuShare this_machine() {
  const std::vector<int> allowed = allowed_cpus();
  return {static_cast<int>(allowed.size()), core_count(cpu_topology(allowed)),
          cgroup_cpu_quota().value_or(0)};
}

int choose_omp_threads(std::string_view omp_num_threads, int max_threads, const CpuShare& machine) {
  int threads = 0;
  if (!omp_num_threads.empty()) {
    threads = parse_first(omp_num_threads);
  } else {
    threads = max_threads > 0 ? machine.allowed_cpus : machine.physical_cores;
    if (machine.quota > 0) {
      threads = static_cast<int>(std::min<double>(threads, std::ceil(machine.quota)));
    }
  }
  if (max_threads > 0) threads = std::min(threads, max_threads);
  return std::max(threads, 1);
}

void start_omp(std::string_view omp_num_threads, int max_threads, const std::string& kmp_affinity) {
  Process& p = process();
  const int threads = choose_omp_threads(omp_num_threads, max_threads,
                                         omp_num_threads.empty() ? this_machine() : CpuShare{});
  p.initial_cpus = allowed_cpus();
  p.threads.store(threads, std::memory_order_relaxed);
  if (!kmp_affinity.empty()) read_affinity(kmp_affinity, p);
  // Release: whoever sees the new generation sees the places.
  p.generation.fetch_add(1, std::memory_order_release);
  sync_omp_thread();
}

int omp_threads() noexcept { return process().threads.load(std::memory_order_relaxed); }

void set_omp_threads(int threads) {
  if (threads < 1 || threads > kMaxThreads) {
    throw Error(ErrorCode::kValue, "MXSetNumOMPThreads",
                fmt::format("given {}, expected 1 to {}", threads, kMaxThreads));
  }
  process().threads.store(threads, std::memory_order_relaxed);
  process().generation.fetch_add(1, std::memory_order_release);
  sync_omp_thread();
}

void sync_omp_thread() {
  thread_local unsigned seen = 0;
  // Acquire pairs with the change of the generation: count and places are at least as new.
  const unsigned generation = process().generation.load(std::memory_order_acquire);
  if (seen == generation) return;
  seen = generation;
  const int threads = omp_threads();
  omp_set_num_threads(threads);
  if (!process().places.empty()) pin_pool(threads);
}

void release_omp_pool() noexcept {
  // The members of a new pool would all inherit the place of the thread that begins it.
  if (process().places.empty()) omp_pause_resource(omp_pause_soft, omp_get_initial_device());
}

RegionWidth::RegionWidth(int threads) noexcept {
  const int width = omp_get_max_threads();
  if (width == threads) return;
  before_ = width;
  omp_set_num_threads(threads);
}

RegionWidth::~RegionWidth() {
  if (before_ != 0) omp_set_num_threads(before_);
}

void unpin_inherited() {
  const Process& p = process();
  if (p.generation.load(std::memory_order_acquire) != 0 && !p.places.empty())
    pin_to(p.initial_cpus);
}

}  // namespace mxnet
