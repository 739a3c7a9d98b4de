// SPDX-License-Identifier: Apache-2.0
// Every function of the ABI with nulls, and with handles of another kind and freed ones: an error
// that names the function, nothing written, never a crash.
#include "function_probe.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/hooks.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "mxnet/runtime/c_runtime_api.h"
#include "signatures.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace {

// Keeps the last call of the ABI that it was told of.
class CallWatch final : public mxnet::Observer {
 public:
  void operation_begin(const char*, mxnet::Device, uint64_t) override {}
  void operation_end(const char*, mxnet::Device, uint64_t) override {}
  void memory_event(mxnet::Device, const char*, int64_t) override {}
  void span_begin(mxnet::SpanKind kind, const char* name) override {
    if (kind == mxnet::SpanKind::kCCall) last = name;
  }
  static inline thread_local const char* last = "";
};
CallWatch g_watch;

}  // namespace

void FunctionProbe::begin() {
  NNAPISetLastError("");
  mxnet::g_observer.store(&g_watch);  // each time anew: what is probed may set another
  CallWatch::last = "";
}
std::string FunctionProbe::last_error() { return MXGetLastError(); }
std::string FunctionProbe::last_seen() {
  mxnet::g_observer.store(nullptr);
  return CallWatch::last;
}

namespace {

void* new_array() {
  const uint32_t shape[] = {2};
  NDArrayHandle array = nullptr;
  EXPECT_EQ(MXNDArrayCreate(shape, 1, 1, 0, 0, &array), 0);
  return array;
}
void* new_symbol() {
  SymbolHandle symbol = nullptr;
  EXPECT_EQ(MXSymbolCreateVariable("x", &symbol), 0);
  return symbol;
}

// Handles that lived once, by type; a freed array stands for the kinds that only a network makes.
std::map<std::string, void*> freed_handles() {
  std::map<std::string, void*> freed;
  void* handle = new_array();
  EXPECT_EQ(MXNDArrayFree(handle), 0);
  freed["NDArrayHandle"] = freed[""] = handle;
  handle = new_symbol();
  CachedOpHandle op = nullptr;
  EXPECT_EQ(MXCreateCachedOp(handle, &op), 0);
  EXPECT_EQ(MXFreeCachedOp(op), 0);
  freed["CachedOpHandle"] = op;
  ExecutorHandle executor = nullptr;
  NDArrayHandle array = new_array();
  uint32_t request = 0;
  NDArrayHandle none = nullptr;
  EXPECT_EQ(MXExecutorBind(handle, 1, 0, 1, &array, &none, &request, 0, nullptr, &executor), 0);
  EXPECT_EQ(MXExecutorFree(executor), 0);
  EXPECT_EQ(MXNDArrayFree(array), 0);
  freed["ExecutorHandle"] = executor;
  EXPECT_EQ(MXSymbolFree(handle), 0);
  freed["SymbolHandle"] = handle;
  EXPECT_EQ(MXKVStoreCreate("local", &handle), 0);
  EXPECT_EQ(MXKVStoreFree(handle), 0);
  freed["KVStoreHandle"] = handle;
  EXPECT_EQ(MXRecordIOWriterCreate("freed.rec", &handle), 0);
  EXPECT_EQ(MXRecordIOWriterFree(handle), 0);
  freed["RecordIOHandle"] = handle;
  EXPECT_EQ(MXProfileCreateDomain("freed", &handle), 0);
  EXPECT_EQ(MXProfileDestroyHandle(handle), 0);
  freed["ProfileHandle"] = handle;
  EXPECT_EQ(MXEngineNewVariable(&handle), 0);
  EXPECT_EQ(MXEngineDeleteVariable(handle), 0);
  freed["EngineVarHandle"] = handle;
  return freed;
}

class EveryFunction : public ::testing::Test {
 protected:
  EveryFunction() {
    std::string folder = (std::filesystem::temp_directory_path() / "probe-XXXXXX").string();
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    std::filesystem::current_path(folder);
    folder_ = folder;
    array_ = new_array();
    symbol_ = new_symbol();
    const std::map<std::string, void*> freed = freed_handles();
    FunctionProbe probe(
        [this](const std::string& type) { return type == "NDArrayHandle" ? symbol_ : array_; },
        [&freed](const std::string& type) {
          const auto at = freed.find(type);
          return at == freed.end() ? freed.at("") : at->second;
        });
    {
#ifdef __SANITIZE_ADDRESS__
      // What a probe gets from a function that only gives handles has no owner.
      const __lsan::ScopedDisabler gifts;
#endif
      probe_every_function(probe);
    }
    outcomes_ = std::move(probe.outcomes);
  }
  ~EveryFunction() override {
    EXPECT_EQ(MXNDArrayFree(array_), 0);
    EXPECT_EQ(MXSymbolFree(symbol_), 0);
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path before_ = std::filesystem::current_path(), folder_;
  void *array_ = nullptr, *symbol_ = nullptr;
  std::vector<Outcome> outcomes_;
};

TEST_F(EveryFunction, IsCalled) {
  std::set<std::string> called;
  for (const Outcome& outcome : outcomes_) called.insert(outcome.function);
  // None of these has a pointer that could be wrong; a text may be null.
  const std::set<std::string> others{
      "MXDumpProfile",      "MXGetLastError",      "MXNDArrayWaitAll",    "MXNotifyShutdown",
      "MXProfilePause",     "MXRandomSeed",        "MXRandomSeedContext", "MXSetNumOMPThreads",
      "MXSetProfilerState", "MXStorageEmptyCache", "NNAPISetLastError",   "NNGetLastError"};
  for (const std::string& name : kReferenceFunctions)
    EXPECT_NE(called.count(name), others.count(name)) << name;
  EXPECT_GE(called.size(), 283U);
}

TEST_F(EveryFunction, RefusesNulls) {
  for (const Outcome& o : outcomes_) {
    // To free nothing is no error, as everywhere in C.
    if (!o.all_null || o.function == "MXNDArrayFree") continue;
    EXPECT_EQ(o.result, -1) << o.function << ", " << o.scenario;
    EXPECT_EQ(o.error.rfind("MXNetError: [" + o.function + "] given ", 0), 0U)
        << o.function << ": " << o.error;
  }
}

TEST_F(EveryFunction, RefusesHandlesOfAnotherKindAndFreedOnes) {
  // They give handles and take none.
  const std::set<std::string> give{
      "MXListDataIters",        "MXListFunctions",        "MXNDArrayCreate",
      "MXNDArrayCreateEx",      "MXNDArrayCreateEx64",    "MXNDArrayCreateNone",
      "MXNetFuncGetGlobal",     "MXProfileCreateDomain",  "MXProfileCreateEvent",
      "MXRecordIOWriterCreate", "MXSymbolCreateVariable", "MXSymbolListAtomicSymbolCreators",
      "NNListUniqueOps",        "NNSymbolCreateVariable"};
  for (const Outcome& o : outcomes_) {
    if (!o.wrong_handle || give.count(o.function) > 0) continue;
    EXPECT_EQ(o.result, -1) << o.function << ", " << o.scenario;
  }
}

// The profiler and other handlers of errors watch nothing of their own.
TEST_F(EveryFunction, IsSeenUnderItsOwnName) {
  int seen = 0;
  for (const Outcome& o : outcomes_) {
    if (o.seen.empty()) continue;
    ++seen;
    EXPECT_EQ(o.seen, o.function) << o.scenario;
  }
  EXPECT_GE(seen, 2000);
}

TEST_F(EveryFunction, ThatFailsSaysWhyAndWritesNothing) {
  for (const Outcome& o : outcomes_) {
    if (o.result == 0) continue;
    EXPECT_EQ(o.result, -1) << o.function << ", " << o.scenario;
    EXPECT_NE(o.error, "") << o.function << ", " << o.scenario;
    EXPECT_TRUE(o.untouched) << o.function << ", " << o.scenario << ": " << o.error;
  }
}

}  // namespace
