// SPDX-License-Identifier: Apache-2.0
// What the engine's tests share: every kind of engine as a test parameter, and short forms of its
// calls.
#pragma once
#include <gtest/gtest.h>

#include <future>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/config.h"
#include "engine/engine.h"

namespace mxnet::engine_test {

struct Kind {
  EngineType type;
  int threads;
  bool cheap;  // operations are marked cheap
};

inline std::string name_of(const Kind& kind) {
  const char* type = kind.type == EngineType::kNaive      ? "Naive"
                     : kind.type == EngineType::kThreaded ? "Threaded"
                                                          : "PerDevice";
  return type + std::to_string(kind.threads) + (kind.cheap ? "Cheap" : "");
}

inline EngineConfig config_of(const Kind& kind) {
  EngineConfig config;
  config.type = kind.type;
  config.cpu_worker_nthreads = kind.threads;
  return config;
}

inline std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds{{EngineType::kNaive, 1, false}};
  for (int threads : {1, 2, 3, 4, 8}) {
    kinds.push_back({EngineType::kThreaded, threads, false});
    kinds.push_back({EngineType::kThreadedPerDevice, threads, false});
  }
  kinds.push_back({EngineType::kThreadedPerDevice, 2, true});
  return kinds;
}

using Vars = std::vector<Var*>;

// The lists must outlive the result: temporaries only within the same expression.
inline OpSpec spec(const Vars& reads, const Vars& writes, const char* name = nullptr) {
  OpSpec spec;
  spec.reads = reads;
  spec.writes = writes;
  spec.name = name;
  return spec;
}

// An engine of each kind, with variables that end with the test.
class EveryEngine : public testing::TestWithParam<Kind> {
 protected:
  EveryEngine() : engine(make_engine(config_of(GetParam()))) {}
  ~EveryEngine() override {
    for (Var* var : vars_) engine->delete_variable(var, {});
  }
  Var* variable() { return vars_.emplace_back(engine->new_variable()); }
  void push(SyncFn fn, const Vars& reads, const Vars& writes, const char* name = nullptr) {
    OpSpec s = spec(reads, writes, name);
    s.cheap = GetParam().cheap;
    engine->push(std::move(fn), s);
  }
  bool naive() const { return GetParam().type == EngineType::kNaive; }

  std::unique_ptr<Engine> engine;

 private:
  Vars vars_;
};

// What a call throws, as text; empty if nothing.
template <class Function>
std::string thrown_by(Function function) {
  try {
    function();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

inline std::string kind_name(const testing::TestParamInfo<Kind>& info) {
  return name_of(info.param);
}

}  // namespace mxnet::engine_test
