// SPDX-License-Identifier: Apache-2.0
// Each thread that runs kernels follows the process's numbers when they change; a generation tells
// it so.
#include "base/omp.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <latch>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/cgroup.h"
#include "base/cpu_info.h"
#include "base/crowd_watch.h"
#include "base/error.h"
#include "base/fork_order.h"
#include "base/kmp_affinity.h"
#include "base/leaked.h"
#include "base/lock.h"
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
  int inherited = 0;  // the width that the runtime gives to new threads; before `generation`
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

struct OfThread {
  unsigned generation = 0;  // up to which it has followed the process
  bool granted = false;     // as many threads as it is wide
  bool pool = false;        // they are there
  bool scoped = false;      // within a RegionWidth
  bool pinned = false;      // with its pool
};
[[gnu::tls_model("initial-exec")]] constinit thread_local OfThread t_own;

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

// Others may need the threads of which we only ask whether there can be so many, and one that has
// been joined counts until the system has forgotten it.
void wait_until_gone(pid_t thread) {
  constexpr int kLooks = 10'000;
  for (int i = 0; i < kLooks && ::tgkill(::getpid(), thread, 0) == 0; ++i) ::sched_yield();
}

// Held while a thread asks, and while it makes its pool: threads that are only asked for would be
// missing where others are made, and the runtime would end the process.
Mutex& asking_mutex() {
  static Leaked<Mutex> mutex;
  return *mutex;
}

int ask_for_threads(int threads) MX_REQUIRES(asking_mutex()) {
  struct Other {
    std::latch* end;
    pthread_t thread;
    pid_t name;
  };
  constexpr auto live = [](void* self) -> void* {
    auto& other = *static_cast<Other*>(self);
    other.name = ::gettid();
    other.end->wait();
    return nullptr;
  };
  const std::unique_ptr<Other[]> others(new (std::nothrow)
                                            Other[static_cast<std::size_t>(threads)]);
  std::latch end(1);
  int granted = 1;  // this one
  for (; others != nullptr && granted < threads; ++granted) {
    Other& other = others[static_cast<std::size_t>(granted)];
    other.end = &end;
    if (::pthread_create(&other.thread, nullptr, live, &other) != 0) break;
  }
  end.count_down();
  for (int i = 1; i < granted; ++i)
    ::pthread_join(others[static_cast<std::size_t>(i)].thread, nullptr);
  for (int i = 1; i < granted; ++i) wait_until_gone(others[static_cast<std::size_t>(i)].name);
  return granted;
}

void make_pool(int threads) {
  static std::atomic<unsigned> members{0};  // a region in which nothing is done would not begin
#pragma omp parallel num_threads(threads)
  members.fetch_add(1, std::memory_order_relaxed);
}

void be_granted(bool with_pool) {
  t_own.granted = true;
  t_own.pool = with_pool;
  const int wanted = omp_get_max_threads();
  if (wanted == 1) return;
  int granted;
  {
    const MutexLock lock(asking_mutex());
    granted = ask_for_threads(wanted);
    if (with_pool && granted > 1) make_pool(granted);
  }
  if (granted == wanted) return;
  omp_set_num_threads(granted);
  log(LogLevel::kWarning, fmt::format("the system refuses the {} threads of a parallel region: "
                                      "those of this thread have {}",
                                      wanted, granted));
}

void take_width(unsigned generation) {
  t_own.generation = generation;
  t_own.granted = t_own.pool = false;
  omp_set_num_threads(process().threads.load(std::memory_order_relaxed));
}

// Asking for threads takes as long as making a pool: that is left to the first region.
void take_width_or_places(unsigned generation) {
  if (!process().places.empty()) return sync_omp_thread();
  take_width(generation);
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
  hold_over_forks<asking_mutex>();
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

int granted_process_width() {
  follow_omp_width();
  const int threads = omp_threads();
  return omp_get_max_threads() >= threads ? threads : granted_threads(threads);
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
  p.inherited = omp_num_threads.empty() ? omp_get_num_procs() : parse_first(omp_num_threads);
  p.initial_cpus = allowed_cpus();
  p.threads.store(threads, std::memory_order_relaxed);
  if (!kmp_affinity.empty()) read_affinity(kmp_affinity, p);
  // Release: whoever sees the new generation sees the places.
  take_width_or_places(p.generation.fetch_add(1, std::memory_order_release) + 1);
}

int omp_threads() noexcept { return process().threads.load(std::memory_order_relaxed); }

void set_omp_threads(int threads) {
  if (threads < 1 || threads > kMaxThreads) {
    throw Error(ErrorCode::kValue, "MXSetNumOMPThreads",
                fmt::format("given {}, expected 1 to {}", threads, kMaxThreads));
  }
  process().threads.store(threads, std::memory_order_relaxed);
  take_width_or_places(process().generation.fetch_add(1, std::memory_order_release) + 1);
}

int granted_threads(int threads) {
  const MutexLock lock(asking_mutex());
  return ask_for_threads(threads);
}

void sync_omp_thread() {
  // Acquire pairs with the change of the generation: count and places are at least as new.
  const unsigned generation = process().generation.load(std::memory_order_acquire);
  if (generation == 0) return;  // nobody has given the process a width
  if (t_own.generation == generation && t_own.granted) return;
  if (t_own.generation != generation) take_width(generation);
  t_own.pinned = !process().places.empty();
  be_granted(t_own.pinned);
  if (t_own.pinned) pin_pool(omp_get_max_threads());
}

namespace {

void follow(bool with_pool) {
  const unsigned generation = process().generation.load(std::memory_order_acquire);  // as above
  if ((t_own.generation == generation && (with_pool ? t_own.pool : t_own.granted)) ||
      t_own.scoped || omp_in_parallel() != 0)
    return;
  if (t_own.pinned) return sync_omp_thread();  // new members would share its place
  if (t_own.generation != generation &&
      (t_own.generation != 0 || omp_get_max_threads() == process().inherited))
    take_width(generation);
  t_own.generation = generation;
  be_granted(with_pool);
}

}  // namespace

void follow_omp_width() { follow(false); }

void hold_omp_pool() {
  follow(true);
  look_for_crowd();  // of those who begin regions nobody looks elsewhere
}

void release_omp_pool() noexcept {
  // The members of a new pool would all inherit the place of the thread that begins it.
  if (!process().places.empty()) return;
  omp_pause_resource(omp_pause_soft, omp_get_initial_device());
  t_own.granted = t_own.pool = false;
}

RegionWidth::RegionWidth(int threads) noexcept : nested_(std::exchange(t_own.scoped, true)) {
  const int width = omp_get_max_threads();
  if (width == threads) return;
  before_ = width;
  omp_set_num_threads(threads);
}

RegionWidth::~RegionWidth() {
  if (before_ != 0) omp_set_num_threads(before_);
  t_own.scoped = nested_;
}

ProcessWidth::ProcessWidth() : RegionWidth(granted_process_width()) {}

void unpin_inherited() {
  const Process& p = process();
  if (p.generation.load(std::memory_order_acquire) != 0 && !p.places.empty())
    pin_to(p.initial_cpus);
}

}  // namespace mxnet
