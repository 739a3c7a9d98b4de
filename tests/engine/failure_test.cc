// SPDX-License-Identifier: Apache-2.0
// What becomes of an exception: carried, passed on, rethrown once, named; and what it leaves alone.
#include "fixture.h"

#include <array>
#include <functional>
#include <stdexcept>
#include <thread>

#include "base/error.h"

namespace mxnet::engine_test {
namespace {

class EngineFailure : public EveryEngine {
 protected:
  void push_failing(const Vars& reads, const Vars& writes, const char* message = "broken") {
    push([message](const RunContext&) { throw Error(ErrorCode::kIndex, message); }, reads, writes,
         "faulty");
  }
};
INSTANTIATE_TEST_SUITE_P(All, EngineFailure, testing::ValuesIn(all_kinds()), kind_name);

TEST_P(EngineFailure, IsRethrownOnceAtTheWaitAndNamesTheOperation) {
  Var* var = variable();
  push_failing({}, {var});
  try {
    engine->wait_for_var(var);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIndex);
    EXPECT_EQ(error.tag(), "faulty");
    EXPECT_EQ(error.message(), "broken");
  }
  engine->wait_for_var(var);
  engine->wait_for_all();  // it has been seen
}

TEST_P(EngineFailure, TravelsDownstreamAndWhatDependsOnItDoesNotRun) {
  Var *a = variable(), *b = variable(), *c = variable(), *d = variable();
  bool ran = false, unrelated = false;
  push_failing({}, {a});
  push([&](const RunContext&) { ran = true; }, {a}, {b});
  push([&](const RunContext&) { ran = true; }, {b}, {c});
  push([&](const RunContext&) { unrelated = true; }, {}, {d});
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(c); }).find("broken"), std::string::npos);
  engine->wait_for_var(d);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(unrelated);
  // Each failed variable rethrows once.
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(b); }), "");
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(a); }), "");
  EXPECT_EQ(thrown_by([&] { engine->wait_for_var(a); }), "");
  EXPECT_EQ(thrown_by([&] { engine->wait_for_all(); }), "");
}

TEST_P(EngineFailure, DoesNotTravelAlongAVariableThatOnlyOrders) {
  Var *a = variable(), *order = engine->new_order_variable();
  push_failing({}, {a, order});
  bool ran = false;
  push([&](const RunContext&) { ran = true; }, {}, {order});
  engine->wait_for_var(order);
  EXPECT_TRUE(ran);
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(a); }).find("broken"), std::string::npos);
  engine->delete_variable(order, Device::cpu());
}

TEST_P(EngineFailure, EndsAtWhatOverwritesItsVariableAsAWhole) {
  Var *a = variable(), *b = variable(), *c = variable();
  int runs = 0;
  const auto count = [&runs](const RunContext&) { ++runs; };
  const std::array<Var*, 2> writes{a, b};
  const OpSpec fresh{.device = Device::cpu(), .reads = {}, .writes = writes, .fresh = 1};
  const PreparedRef prepared = engine->prepare(count, fresh);
  const auto push_async = [&] {
    engine->push_async(
        [&](const RunContext& context, OnComplete complete) {
          count(context);
          complete();
        },
        fresh);
  };
  for (const auto& push_fresh : std::initializer_list<std::function<void()>>{
           [&] { engine->push(count, fresh); }, [&] { engine->push(prepared); }, push_async,
           [&] {
             engine->set_bulk_size(10);
             engine->push(count, fresh);
             engine->set_bulk_size(0);
           }}) {
    push_failing({}, {a});
    push_fresh();
    push(count, {a, b}, {c});
    engine->wait_for_var(c);
    engine->wait_for_var(a);
    push_failing({}, {b});  // which it does not overwrite
    push_fresh();
    EXPECT_NE(thrown_by([&] { engine->wait_for_var(a); }), "");
    EXPECT_NE(thrown_by([&] { engine->wait_for_var(b); }), "");
    EXPECT_NE(thrown_by([&] { engine->wait_for_all(); }), "");  // the first one
  }
  EXPECT_EQ(runs, 4 * 2);
}

TEST_P(EngineFailure, AClearedVariableWorksAgain) {
  Var* var = variable();
  push_failing({}, {var});
  EXPECT_THROW(engine->wait_for_var(var), Error);
  bool ran = false;
  push([&](const RunContext&) { ran = true; }, {}, {var});
  engine->wait_for_var(var);
  EXPECT_TRUE(ran);
}

TEST_P(EngineFailure, WaitForAllRaisesTheFirstUnseenOneAndClearsAll) {
  Var *a = variable(), *b = variable();
  push_failing({}, {a}, "first");
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(a); }).find("first"), std::string::npos);
  push_failing({}, {a}, "second");
  engine->flush_bulk();
  EXPECT_NE(thrown_by([&] { engine->wait_for_all(); }).find("second"), std::string::npos);
  push_failing({}, {b}, "third");
  EXPECT_NE(thrown_by([&] { engine->wait_for_all(); }).find("third"), std::string::npos);
  EXPECT_EQ(thrown_by([&] { engine->wait_for_all(); }), "");
  EXPECT_EQ(thrown_by([&] { engine->wait_for_var(b); }), "");
}

TEST_P(EngineFailure, WaitForAllRaisesAlthoughNothingCarriesItAnyMore) {
  push_failing({}, {}, "no outputs");
  EXPECT_NE(thrown_by([&] { engine->wait_for_all(); }).find("no outputs"), std::string::npos);
  Var* var = engine->new_variable();
  push_failing({}, {var}, "deleted");
  engine->delete_variable(var, {});
  EXPECT_NE(thrown_by([&] { engine->wait_for_all(); }).find("deleted"), std::string::npos);
}

TEST_P(EngineFailure, NoSkipRunsButItsOutputsStayFailed) {
  Var *a = variable(), *b = variable();
  bool ran = false;
  push_failing({}, {a});
  const Vars reads{a}, writes{b};
  OpSpec s = spec(reads, writes, "collective");
  s.property = FnProperty::kNoSkip;
  engine->push([&](const RunContext&) { ran = true; }, s);
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(b); }).find("broken"), std::string::npos);
  EXPECT_TRUE(ran);
  EXPECT_EQ(thrown_by([&] { engine->wait_for_all(); }), "");  // it has been seen, at b
}

TEST_P(EngineFailure, OfAnAsynchronousOperationTravelsTheSame) {
  Var *a = variable(), *b = variable(), *c = variable();
  const Vars in_a{a}, in_b{b}, in_c{c};
  engine->push_async(
      [](const RunContext&, OnComplete done) {
        done.fail(std::make_exception_ptr(Error(ErrorCode::kValue, "late")));
      },
      spec({}, in_a, "async"));
  engine->push_async([](const RunContext&, OnComplete done) { done(); }, spec(in_a, in_b));
  engine->push_async([](const RunContext&, OnComplete) { throw Error(ErrorCode::kValue, "early"); },
                     spec({}, in_c));
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(b); }).find("[async] late"), std::string::npos);
  EXPECT_NE(thrown_by([&] { engine->wait_for_var(c); }).find("early"), std::string::npos);
  EXPECT_THROW(engine->wait_for_var(a), Error);
}

TEST_P(EngineFailure, KeepsTheTypeAndAddsTheNameWhereItCan) {
  struct Odd {};
  Var *a = variable(), *b = variable(), *c = variable();
  push([](const RunContext&) { throw std::out_of_range("index 7"); }, {}, {a}, "take");
  push([](const RunContext&) { throw Odd(); }, {}, {b}, "odd");
  push([](const RunContext&) { throw Error(ErrorCode::kType, "inner", "tagged"); }, {}, {c},
       "outer");
  try {
    engine->wait_for_var(a);
    FAIL();
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "[take] index 7");
  }
  EXPECT_THROW(engine->wait_for_var(b), Odd);
  try {
    engine->wait_for_var(c);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "inner");
  }
}

TEST_P(EngineFailure, AWaitToReadClearsItOnlyAfterTheReadersThatWerePushedBefore) {
  for (int i = 0; i < 200; ++i) {
    Var *failed = variable(), *busy = variable(), *out = variable();
    bool ran = false;
    push([](const RunContext&) { std::this_thread::yield(); }, {}, {busy});
    push_failing({}, {failed});
    push([&](const RunContext&) { ran = true; }, {busy, failed}, {out});
    EXPECT_THROW(engine->wait_to_read(failed), Error);
    EXPECT_THROW(engine->wait_for_var(out), Error);
    EXPECT_FALSE(ran);
  }
}

TEST_P(EngineFailure, DoesNotKeepAVariableFromItsEnd) {
  bool ended = false;
  Var* var = engine->new_variable();
  push_failing({}, {var});
  engine->delete_variable(var, {}, [&](const RunContext&) { ended = true; });
  EXPECT_THROW(engine->wait_for_all(), Error);
  EXPECT_TRUE(ended);
  // The memory of the variable is used again: the next one must start clean.
  Vars fresh;
  for (int i = 0; i < 200; ++i) {
    fresh.push_back(engine->new_variable());
    engine->wait_for_var(fresh.back());
  }
  for (Var* v : fresh) engine->delete_variable(v, {});
}

}  // namespace
}  // namespace mxnet::engine_test
