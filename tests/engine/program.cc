// SPDX-License-Identifier: Apache-2.0
// Making random programs, the serial model, and the runner.
#include "program.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "base/error.h"

namespace mxnet::engine_test {
namespace {

constexpr uint64_t kNothing = ~uint64_t{0};
constexpr uint64_t kThrew = 1;  // wait_for_all threw: which of several is the engine's choice

uint64_t mix(uint64_t a, uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  return a * 0xff51afd7ed558ccdu;
}

// What an operation computes: every output depends on its number and on all variables it may look
// at.
void compute(uint64_t id, const Step& step, std::vector<uint64_t>& values) {
  uint64_t h = id;
  for (int v : step.reads) h = mix(h, values[static_cast<std::size_t>(v)]);
  for (int v : step.writes) h = mix(h, values[static_cast<std::size_t>(v)]);
  for (int v : step.writes) values[static_cast<std::size_t>(v)] = h = mix(h, 1);
}

// A thread that completes asynchronous operations in the order in which they started.
class Completer {
 public:
  Completer() : thread_([this] { work(); }) {}
  ~Completer() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void later(std::function<void()> completion) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(completion));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const auto completion = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      completion();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_;
};

uint64_t thrown_id(const std::function<void()>& wait) {
  try {
    wait();
    return kNothing;
  } catch (const Error& error) {
    return std::stoull(error.message());
  }
}

}  // namespace

Program random_program(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto upto = [&](uint64_t n) { return static_cast<int>(random() % n); };
  const auto chance = [&](int percent) { return upto(100) < percent; };
  Program program;
  program.variables = 2 + upto(8);
  std::vector<int> alive;
  for (int v = 0; v < program.variables; ++v) alive.push_back(v);
  const int steps = 20 + upto(60);
  const bool failing = chance(50), deleting = chance(50), bulking = chance(40);
  for (int i = 0; i < steps; ++i) {
    Step step;
    const int kind = upto(100);
    if (kind < 4) {
      step.kind = kind == 0 ? Step::kWaitForAll : kind == 1 ? Step::kWaitToRead : Step::kWaitForVar;
      step.writes = {alive[static_cast<std::size_t>(upto(alive.size()))]};
    } else if (deleting && kind < 10) {
      step.kind = Step::kDelete;
      int& victim = alive[static_cast<std::size_t>(upto(alive.size()))];
      step.writes = {victim};
      victim = program.variables++;
    } else if (bulking && kind < 15) {
      step.kind = Step::kBulkSize;
      step.bulk_size = upto(8);
    } else {
      std::shuffle(alive.begin(), alive.end(), random);
      const int writes = std::min<int>(upto(4), static_cast<int>(alive.size()));
      const int reads = std::min<int>(upto(12), static_cast<int>(alive.size()) - writes);
      step.writes.assign(alive.begin(), alive.begin() + writes);
      step.reads.assign(alive.begin() + writes, alive.begin() + writes + reads);
      step.priority = chance(80) ? 0 : upto(7) - 3;
      step.throws = failing && chance(6);
      step.asynchronous = chance(15);
      step.completes_elsewhere = chance(50);
      step.no_skip = chance(5);
      step.cheap = chance(40);
      step.prepared = chance(10);
      step.computes = chance(50);
      step.property = step.no_skip ? FnProperty::kNoSkip
                      : chance(15) ? FnProperty::kCPUPrioritized
                                   : FnProperty::kNormal;
    }
    program.steps.push_back(step);
  }
  return program;
}

Trace run_serially(const Program& program) {
  const auto n = static_cast<std::size_t>(program.variables);
  std::vector<uint64_t> values(n, 0), versions(n, 0), failed(n, kNothing);
  std::set<uint64_t> unseen;
  Trace trace(program.steps.size(), kNothing);
  for (std::size_t id = 0; id < program.steps.size(); ++id) {
    const Step& step = program.steps[id];
    const auto first = step.writes.empty() ? 0 : static_cast<std::size_t>(step.writes[0]);
    switch (step.kind) {
      case Step::kBulkSize:
        break;
      case Step::kDelete:
        trace[id] = values[first];
        failed[first] = kNothing;
        break;
      case Step::kWaitForVar:
      case Step::kWaitToRead:
        trace[id] = failed[first];
        unseen.erase(failed[first]);
        failed[first] = kNothing;
        break;
      case Step::kWaitForAll:
        if (!unseen.empty()) trace[id] = kThrew;
        unseen.clear();
        std::fill(failed.begin(), failed.end(), kNothing);
        break;
      case Step::kCompute: {
        uint64_t failure = kNothing;
        for (const auto* list : {&step.reads, &step.writes}) {
          for (int v : *list) {
            if (failure == kNothing) failure = failed[static_cast<std::size_t>(v)];
          }
        }
        if (failure == kNothing || step.no_skip) {
          if (step.throws) {
            if (failure == kNothing) unseen.insert(failure = id);
          } else {
            compute(id, step, values);
          }
        }
        for (int v : step.writes) {
          const auto w = static_cast<std::size_t>(v);
          ++versions[w];
          if (failed[w] == kNothing) failed[w] = failure;
        }
      }
    }
  }
  trace.push_back(unseen.empty() ? kNothing : kThrew);
  trace.insert(trace.end(), values.begin(), values.end());
  for (std::size_t v = 0; v < n; ++v) trace.push_back(versions[v]);
  return trace;
}

namespace {

// A program on an engine, step by step.
class Run {
 public:
  Run(Engine& engine, const Program& program)
      : engine_(engine),
        program_(program),
        values_(static_cast<std::size_t>(program.variables), 0),
        versions_(values_.size(), 0),
        gone_(values_.size(), false),
        trace_(program.steps.size(), kNothing) {
    for (std::size_t v = 0; v < values_.size(); ++v) vars_.push_back(engine.new_variable());
  }

  Trace trace() {
    for (std::size_t id = 0; id < program_.steps.size(); ++id) take(id);
    engine_.set_bulk_size(0);
    trace_.push_back(thrown_id([&] { engine_.wait_for_all(); }) == kNothing ? kNothing : kThrew);
    for (std::size_t v = 0; v < vars_.size(); ++v) {
      if (!gone_[v]) versions_[v] = engine_.version(vars_[v]);
    }
    trace_.insert(trace_.end(), values_.begin(), values_.end());
    trace_.insert(trace_.end(), versions_.begin(), versions_.end());
    for (std::size_t v = 0; v < vars_.size(); ++v) {
      if (!gone_[v]) engine_.delete_variable(vars_[v], {});
    }
    engine_.wait_for_all();
    return std::move(trace_);
  }

 private:
  Var* var(int v) const { return vars_[static_cast<std::size_t>(v)]; }

  void take(std::size_t id) {
    const Step& step = program_.steps[id];
    Var* const first = step.writes.empty() ? nullptr : var(step.writes[0]);
    switch (step.kind) {
      case Step::kBulkSize:
        engine_.set_bulk_size(step.bulk_size);
        break;
      case Step::kWaitForVar:
        trace_[id] = thrown_id([&] { engine_.wait_for_var(first); });
        break;
      case Step::kWaitToRead:
        trace_[id] = thrown_id([&] { engine_.wait_to_read(first); });
        break;
      case Step::kWaitForAll:
        if (thrown_id([&] { engine_.wait_for_all(); }) != kNothing) trace_[id] = kThrew;
        break;
      case Step::kDelete: {
        const auto v = static_cast<std::size_t>(step.writes[0]);
        gone_[v] = true;
        engine_.delete_variable(first, {}, [this, v, id](const RunContext&) {
          trace_[id] = values_[v];
          versions_[v] = engine_.version(vars_[v]);
        });
        break;
      }
      case Step::kCompute:
        step.asynchronous ? push_async(id, step) : push(id, step);
    }
  }

  // What a step computes, or throws instead.
  static Error failure(std::size_t id) { return {ErrorCode::kGeneric, std::to_string(id)}; }
  void push(std::size_t id, const Step& step) {
    SyncFn fn = [this, &step, id](const RunContext&) {
      if (step.throws) throw failure(id);
      compute(id, step, values_);
    };
    with_spec(step, [&](const OpSpec& spec) {
      step.prepared ? engine_.push(engine_.prepare(std::move(fn), spec))
                    : engine_.push(std::move(fn), spec);
    });
  }
  void push_async(std::size_t id, const Step& step) {
    AsyncFn fn = [this, &step, id](const RunContext&, OnComplete done) {
      const auto finish = [this, &step, id, done] {
        if (step.throws) return done.fail(std::make_exception_ptr(failure(id)));
        compute(id, step, values_);
        done();
      };
      step.completes_elsewhere ? completer_.later(finish) : finish();
    };
    with_spec(step, [&](const OpSpec& spec) {
      step.prepared ? engine_.push(engine_.prepare_async(std::move(fn), spec))
                    : engine_.push_async(std::move(fn), spec);
    });
  }
  template <class Push>
  void with_spec(const Step& step, const Push& push) const {
    std::vector<Var*> reads, writes;
    for (int v : step.reads) reads.push_back(var(v));
    for (int v : step.writes) writes.push_back(var(v));
    OpSpec spec;
    spec.reads = reads;
    spec.writes = writes;
    spec.priority = step.priority;
    spec.property = step.property;
    spec.cheap = step.cheap;
    spec.computes = step.computes;
    push(spec);
  }

  Engine& engine_;
  const Program& program_;
  std::vector<uint64_t> values_, versions_;
  std::vector<Var*> vars_;
  std::vector<bool> gone_;
  Trace trace_;
  Completer completer_;
};

}  // namespace

Trace run_on(Engine& engine, const Program& program) { return Run(engine, program).trace(); }

}  // namespace mxnet::engine_test
