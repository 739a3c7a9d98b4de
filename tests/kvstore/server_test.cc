// SPDX-License-Identifier: Apache-2.0
// A server and its workers without a network: calls are handled at once, on the worker's thread.
#include "kvstore/server.h"
#include "base/config.h"
#include "kvstore/served.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/lock.h"
#include "kvstore/reducer.h"
#include "kvstore/servers.h"
#include "kvstore/stores.h"
#include "ndarray/sparse_store.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)

// Of two workers and two servers. Thread-safe as far as engine operations of one thread at a time
// need it.
class Wires final : public ProcessGroup {
 public:
  explicit Wires(int rank) : rank_(rank) {}
  bool is_server() const override { return false; }
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  int servers() const override { return 2; }
  void submit(CollectiveRequest request) override { request.done(nullptr); }
  bool next_call(ServedCall&) override { return false; }
  int lost_workers() const override { return 0; }
  int lost_servers() const override { return 0; }
  void call(ServerCall call) override {
    const MutexLock lock(*mutex);
    sent.push_back({call.server, call.bytes, call.priority});
    remote->at(static_cast<std::size_t>(call.server))
        .handle(served_as(call, rank_), [](int head, const std::string& text) {
          if (head == 13) throw Error(ErrorCode::kValue, "unlucky");
          return text + "!";
        });
  }

  struct Sent {
    int server;
    int64_t bytes;
    int priority;
  };
  std::vector<Sent> sent;
  std::vector<Server>* remote = nullptr;
  Mutex* mutex = nullptr;

 private:
  const int rank_;
};

struct Served {
  explicit Served(bool sync) {
    servers.emplace_back(wires[0]);
    servers.emplace_back(wires[0]);
    for (int r = 0; r < 2; ++r) {
      wires[r].remote = &servers;
      wires[r].mutex = &mutex;
      workers.emplace_back(wires[r], config, 0, sync, false);
    }
  }
  ~Served() {
    try {
      Engine::get().wait_for_all();
    } catch (const Error&) {  // the test's business
    }
  }
  KvstoreConfig config;
  Mutex mutex;
  Wires wires[2]{Wires(0), Wires(1)};
  std::vector<Server> servers;
  std::vector<Servers> workers;
};

TEST(Server, WithoutAnUpdaterWhatWasPushedIsHeld) {
  Served job(false);
  const NDArray mine = filled({3}, 1), other = filled({3}, 0);
  job.workers[0].init("a", mine);
  job.workers[1].pull("a", other, 0);
  EXPECT_EQ(floats(other), std::vector<float>(3, 1));
  job.workers[1].push("a", filled({3}, 7), other, 0);
  other.wait_to_write();
  job.workers[0].pull("a", mine, 0);
  EXPECT_EQ(floats(mine), std::vector<float>(3, 7));
}

TEST(Server, ARoundIsAppliedWhenAllWorkersHavePushed) {
  Served job(true);
  const NDArray mine = filled({3}, 1), other = filled({3}, 0);
  job.workers[0].init(5, mine);
  job.workers[0].push(5, filled({3}, 10), mine, 0);
  job.workers[1].pull(5, other, 0);
  EXPECT_EQ(floats(other), std::vector<float>(3, 1)) << "the other push is missing";
  job.workers[1].push(5, filled({3}, 4), other, 0);
  job.workers[0].pull(5, mine, 0);
  EXPECT_EQ(floats(mine), std::vector<float>(3, 14));
}

TEST(Server, CallsForAKeyThatIsNotThereYetWaitForIt) {
  Served job(false);
  const NDArray mine = filled({2}, 6), other = filled({2}, 0);
  job.workers[1].pull("late", other, 0);
  job.workers[0].init("late", mine);
  EXPECT_EQ(floats(other), std::vector<float>(2, 6));
}

TEST(Server, BigArraysLieOnAllServers) {
  Served job(false);
  job.config.bigarray_bound = 64;
  std::vector<float> numbers(200);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const NDArray mine = make(Shape{200}, numbers), other = filled({200}, 0);
  job.workers[0].init("a", mine);
  job.workers[1].pull("a", other, 0);
  EXPECT_EQ(floats(other), numbers);
  ASSERT_EQ(job.wires[0].sent.size(), 2U);
  EXPECT_NE(job.wires[0].sent[0].server, job.wires[0].sent[1].server);
  EXPECT_EQ(job.wires[0].sent[0].bytes + job.wires[0].sent[1].bytes, 800);
}

TEST(Server, RowsTravelAsRows) {
  Served job(false);
  const Shape shape{1000, 2};
  const NDArray mine = make_row_sparse(shape, {1, 2, 3, 4}, {10, 500});
  const NDArray other(StorageType::kRowSparse, shape, DType::kFloat32, Device::cpu());
  const NDArray out(StorageType::kRowSparse, shape, DType::kFloat32, Device::cpu());
  job.workers[0].init("e", mine);
  job.workers[1].pull_rows("e", make(Shape{2}, std::vector<float>{500, 3}), other, out, 0);
  out.wait_to_read();
  EXPECT_EQ(out.sparse().stored(), 2);
  const auto* values = static_cast<const float*>(out.sparse().values());
  EXPECT_EQ(std::vector<float>(values, values + 4), (std::vector<float>{0, 0, 3, 4}));
  EXPECT_LT(job.wires[0].sent.back().bytes, 100);
  EXPECT_LT(job.wires[1].sent.back().bytes, 100);
}

TEST(Server, CompressedPushesTravelInFewBits) {
  Served job(false);
  Compression compression;
  compression.type = CompressionType::kTwoBit;
  const NDArray mine = filled({160}, 0);
  job.workers[0].init("a", mine);
  job.workers[0].set_compression(compression);
  job.workers[0].push("a", filled({160}, 0.75f), mine, 0);
  job.workers[0].pull("a", mine, 0);
  EXPECT_EQ(floats(mine), std::vector<float>(160, 0.5f));
  EXPECT_EQ(job.wires[0].sent[1].bytes, 40);
}

TEST(Server, WhatIsWrongIsAnAnswerThatNamesIt) {
  Served job(false);
  const NDArray mine = filled({3}, 1), longer = filled({4}, 1);
  job.workers[0].init("a", mine);
  mine.wait_to_write();
  job.workers[1].push("a", longer, longer, 0);
  const std::string error = error_of([&] { longer.wait_to_write(); });
  EXPECT_NE(error.find("given float32 of (4,) by rank 1, expected float32 of (3,)"),
            std::string::npos)
      << error;
  EXPECT_EQ(job.workers[0].command(1, "hear"), (std::vector<std::string>{"hear!", "hear!"}));
  EXPECT_NE(error_of([&] { job.workers[0].command(13, ""); }).find("unlucky"), std::string::npos);
}

// Of a synchronous push it is the last worker's that meets it.
TEST(Server, WhatAnUpdaterRefusesAllWhoPushedHearOnce) {
  for (const bool sync : {true, false}) {
    Served job(sync);
    for (Server& server : job.servers)
      server.set_updater([](const Key&, const NDArray& pushed, const NDArray& stored) {
        if (pushed.is_sparse()) throw Error(ErrorCode::kType, "no rows");
        transfer(pushed, stored, 0);
      });
    const Shape shape{4, 2};
    const NDArray mine = make_row_sparse(shape, {1, 2}, {0});
    const NDArray other(StorageType::kRowSparse, shape, DType::kFloat32, Device::cpu());
    job.workers[0].init("e", mine);
    mine.wait_to_write();
    job.workers[0].push("e", make_row_sparse(shape, {1, 2}, {0}), mine, 0);
    job.workers[1].push("e", make_row_sparse(shape, {1, 2}, {0}), other, 0);
    for (const NDArray& array : {mine, other}) {
      const std::string error = error_of([&] { array.wait_to_write(); });
      EXPECT_NE(error.find("no rows"), std::string::npos) << error;
    }
    job.workers[0].pull("e", mine, 0);
    mine.wait_to_write();
    EXPECT_EQ(mine.sparse().stored(), 1) << "the key is as it was";
  }
}

// An updater's operations run later than it returns: what fails there is told as well, and the key
// goes on.
TEST(Server, WhatFailsInAnOperationOfAnUpdaterIsToldToAllWhoPushed) {
  for (const bool sync : {true, false}) {
    Served job(sync);
    for (Server& server : job.servers)
      server.set_updater([](const Key&, const NDArray& pushed, const NDArray& stored) {
        const std::array<Var*, 1> reads{pushed.var()}, writes{stored.var()};
        Engine::get().push(
            [=](const RunContext&) {
              if (*pushed.data_as<float>() > 100)
                throw Error(ErrorCode::kValue, "given 101, expected 100 at most");
              *stored.data_as<float>() += *pushed.data_as<float>();
            },
            {.device = Device::cpu(), .reads = reads, .writes = writes, .name = "some_update"});
      });
    const NDArray mine = filled({2}, 1), other = filled({2}, 1);
    job.workers[0].init("w", mine);
    mine.wait_to_write();
    const auto push_both = [&](float value) {
      job.workers[0].push("w", filled({2}, value), mine, 0);
      job.workers[1].push("w", filled({2}, value), other, 0);
    };
    push_both(200);
    for (const NDArray& array : {mine, other}) {
      const std::string error = error_of([&] { array.wait_to_write(); });
      EXPECT_NE(error.find("key 'w': [some_update] given 101, expected 100 at most"),
                std::string::npos)
          << error;
    }
    push_both(3);
    for (const NDArray& array : {mine, other}) array.wait_to_write();
    job.workers[1].pull("w", other, 0);
    EXPECT_EQ(floats(other)[0], 7);
    error_of([] { Engine::get().wait_for_all(); });  // which shows it once more
  }
}

// Calls as bytes, which may be anything.
class ServerOfBytes : public testing::Test {
 protected:
  std::string answer_to(const Request& request, const std::string& body, int worker = 0) {
    return answer_to(to_bytes(request), body, worker);
  }
  std::string answer_to(const std::string& head, const std::string& body, int worker = 0) {
    std::string said = "nothing";
    ServedCall call;
    call.worker = worker;
    call.head = head;
    call.body = ArrivedBytes(body);
    call.answer = [&](const Answer& answer) { said = answer.error; };
    server_.handle(std::move(call), [](int, const std::string& text) { return text; });
    Engine::get().wait_for_all();
    return said;
  }
  static Request request(Ask ask, Shape shape, StorageType storage = StorageType::kDense) {
    Request request;
    request.ask = ask;
    request.key = std::string("w");
    request.shape = std::move(shape);
    request.storage = storage;
    return request;
  }
  static void expect_in(const std::string& text, const std::string& all) {
    EXPECT_NE(all.find(text), std::string::npos) << all;
  }

  Wires wires_{0};
  Server server_{wires_};
};

TEST_F(ServerOfBytes, BodiesOfAnotherSizeAreRefusedBeforeAnythingIsMadeOfThem) {
  expect_in("given 8 bytes, expected 12 for shape (3,)",
            answer_to(request(Ask::kInit, {3}), std::string(8, 0)));
  expect_in("given 8 bytes, expected 4611686018427387904 for shape",
            answer_to(request(Ask::kInit, {int64_t{1} << 60}), std::string(8, 0)));
  Request packed = request(Ask::kInit, {int64_t{1} << 60});
  packed.compression.type = CompressionType::kTwoBit;
  expect_in("given 8 bytes", answer_to(packed, std::string(8, 0)));
  packed = request(Ask::kInit, {32});
  packed.compression.type = CompressionType::kTwoBit;
  packed.dtype = DType::kFloat64;
  expect_in("given compressed values of float64", answer_to(packed, std::string(8, 0)));
}

TEST_F(ServerOfBytes, AKeyHasOneFirstValue) {
  EXPECT_EQ(answer_to(request(Ask::kInit, {3}), std::string(12, 0)), "");
  expect_in("given a first value by rank 1, expected none",
            answer_to(request(Ask::kInit, {2}), std::string(8, 0), 1));
}

TEST_F(ServerOfBytes, OnlyWorkersCall) {
  for (const int worker : {-1, 2, 1000})
    expect_in("given a call by rank " + std::to_string(worker),
              answer_to(request(Ask::kInit, {3}), std::string(12, 0), worker));
}

TEST_F(ServerOfBytes, RowsThatAreNoneAreRefused) {
  const StorageType rows = StorageType::kRowSparse;
  const auto words = [](std::initializer_list<int64_t> numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.begin()), numbers.size() * 8);
  };
  EXPECT_EQ(answer_to(request(Ask::kInit, {6, 2}, rows), words({2, 1, 4, 0, 0})), "");
  for (const auto& body :
       {words({}), words({1}), words({2, 1, 0}), words({1, 6, 0}), words({1, -1, 0}),
        words({2, 4, 1, 0, 0}), words({-1}), words({int64_t{1} << 61, 1, 0}), std::string("odd")})
    expect_in("key 'w': given " + std::to_string(body.size()) + " bytes that are no rows",
              answer_to(request(Ask::kPush, {6, 2}, rows), body));
  EXPECT_EQ(answer_to(request(Ask::kPullRows, {6, 2}, rows), words({0, 5})), "");
  for (const auto& body : {words({6}), words({-1}), words({1, 1}), words({2, 1})})
    expect_in("rows, expected ascending numbers from 0 to 5",
              answer_to(request(Ask::kPullRows, {6, 2}, rows), body));
  expect_in("given a request of rows",
            answer_to(request(Ask::kPullRows, {6, 2}, rows), std::string("odd")));
}

}  // namespace
}  // namespace mxnet::kvstore
