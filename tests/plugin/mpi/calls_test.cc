// SPDX-License-Identifier: Apache-2.0
// Calls and answers over MPI itself, in a job of one process that is worker and server.
#include "plugin/mpi/calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "plugin/mpi/frames.h"

namespace mxnet::mpi {
namespace {

using kvstore::Answer;
using kvstore::ServedCall;
using kvstore::ServerCall;

struct MpiJob : public testing::Environment {
  void SetUp() override {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // as that of a group
  }
  void TearDown() override { MPI_Finalize(); }
};
[[maybe_unused]] const auto* const g_job = testing::AddGlobalTestEnvironment(new MpiJob);

class CallsOverMpi : public testing::Test {
 protected:
  struct Reply {
    bool done = false;
    std::vector<char> bytes;
    std::string error;
  };

  void SetUp() override { calls_.start(MPI_COMM_WORLD, 0); }

  // What comes back lands in `reply`, which must stay.
  void call(std::string head, const std::vector<char>& body, Reply& reply, int priority = 0,
            int64_t slice = 0) {
    ServerCall call;
    call.head = std::move(head);
    call.body = body.data();
    call.bytes = static_cast<int64_t>(body.size());
    call.priority = priority;
    call.slice_bytes = slice;
    call.room = [&reply](int64_t bytes) {
      reply.bytes.resize(static_cast<std::size_t>(bytes));
      return static_cast<void*>(reply.bytes.data());
    };
    call.done = [&reply](const std::exception_ptr& error) {
      reply.done = true;
      try {
        if (error) std::rethrow_exception(error);
      } catch (const Error& caught) {
        reply.error = caught.message();
      }
    };
    calls_.submit(std::move(call));
  }

  // Turns until so many calls have come; in the order of their coming.
  std::vector<ServedCall> served(std::size_t count) {
    std::vector<ServedCall> all;
    std::thread server([&] {
      while (all.size() < count) {
        ServedCall call;
        if (!calls_.next(call)) break;
        all.push_back(std::move(call));
      }
      heard_ = true;
    });
    while (!heard_) calls_.turn();
    server.join();
    heard_ = false;
    return all;
  }
  void turn_until_idle() {
    while (!calls_.idle()) calls_.turn();
  }

  static std::vector<char> pattern(std::size_t bytes) {
    std::vector<char> body(bytes);
    std::iota(body.begin(), body.end(), static_cast<char>(bytes % 127));
    return body;
  }
  static void echo(ServedCall& call) {
    const auto body = std::make_shared<const kvstore::ArrivedBytes>(call.body);
    Answer answer;
    answer.data = body->data();
    answer.bytes = static_cast<int64_t>(body->size());
    answer.keep = body;
    call.answer(std::move(answer));
  }

  Calls calls_{[] {}};
  std::atomic<bool> heard_{false};
};

// On both sides of the size from which on a body is no longer copied behind its head, and in
// slices.
TEST_F(CallsOverMpi, BodiesOfAnySizeComeBack) {
  for (const int64_t slice : {0, 1000}) {
    const std::vector<std::size_t> sizes{0, 1, 999, 16383, 16384, 16385, 300001};
    std::vector<std::vector<char>> bodies;
    for (const std::size_t size : sizes) bodies.push_back(pattern(size));
    std::vector<Reply> replies(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i)
      call("call " + std::to_string(i), bodies[i], replies[i], 0, slice);
    std::vector<ServedCall> all = served(sizes.size());
    for (ServedCall& one : all) echo(one);
    turn_until_idle();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(replies[i].done && replies[i].error.empty());
      EXPECT_EQ(replies[i].bytes, bodies[i]) << sizes[i] << " bytes in slices of " << slice;
    }
  }
}

TEST_F(CallsOverMpi, SmallCallsComeInTheirOrderUrgentOnesFirst) {
  constexpr int kCalls = 3000;  // more than one message holds
  const std::vector<char> body = pattern(200);
  std::vector<Reply> replies(kCalls);
  for (int i = 0; i < kCalls; ++i)
    call(std::to_string(i), body, replies[static_cast<std::size_t>(i)], i % 3);
  std::vector<ServedCall> all = served(kCalls);
  int last_priority = 2, last = -1;
  for (ServedCall& one : all) {
    const int number = std::stoi(one.head), priority = number % 3;
    EXPECT_LE(priority, last_priority);
    if (priority == last_priority) {
      EXPECT_GT(number, last);
    }
    last_priority = priority;
    last = number;
    echo(one);
  }
  turn_until_idle();
  for (const Reply& reply : replies) ASSERT_EQ(reply.bytes, body);
}

TEST_F(CallsOverMpi, AnErrorComesBackAsOne) {
  Reply good, bad;
  const std::vector<char> body = pattern(20000);
  call("good", body, good);
  call("bad", body, bad);
  for (ServedCall& one : served(2)) {
    if (one.head == "good") {
      echo(one);
      continue;
    }
    Answer answer;
    answer.code = ErrorCode::kValue;
    answer.error = "no such key";
    one.answer(std::move(answer));
  }
  turn_until_idle();
  EXPECT_EQ(good.bytes, body);
  EXPECT_NE(bad.error.find("no such key"), std::string::npos) << bad.error;
}

TEST_F(CallsOverMpi, AnAnswerThatNobodyHasRoomForIsAnErrorAndTakenAll) {
  for (const std::size_t size : {10, 50000}) {
    std::string error;
    const std::vector<char> body = pattern(size);
    ServerCall narrow;
    narrow.body = body.data();
    narrow.bytes = static_cast<int64_t>(size);
    narrow.room = [](int64_t) -> void* { throw Error(ErrorCode::kGeneric, "test", "no room"); };
    narrow.done = [&](const std::exception_ptr& given) {
      try {
        if (given) std::rethrow_exception(given);
      } catch (const Error& caught) {
        error = caught.message();
      }
    };
    calls_.submit(std::move(narrow));
    for (ServedCall& one : served(1)) echo(one);
    turn_until_idle();
    EXPECT_EQ(error, "no room");
    Reply next;
    call("next", body, next);
    for (ServedCall& one : served(1)) echo(one);
    turn_until_idle();
    EXPECT_EQ(next.bytes, body);
  }
}

// The operation that gave an answer ends when all is closed, however far MPI has come; what MPI may
// still read stays, on either side.
TEST_F(CallsOverMpi, WhatIsUnderWayKeepsItsMemoryWhenAllIsClosed) {
  constexpr int kCallTag = 1, kAnswerTag = 2;
  constexpr int kAnswersBodyTag = 17, kThirdCallsBodyTag = 20;  // of the first call; of the third
  const std::vector<char> body = pattern(300001);
  std::weak_ptr<const void> kept[2], under_way[2], called_by[2];
  std::vector<Reply> replies(2);
  for (Reply& reply : replies) call("call", body, reply);
  std::vector<ServedCall> all = served(2);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto keep = std::make_shared<const int>(0), way = std::make_shared<const int>(0);
    kept[i] = keep;
    under_way[i] = way;
    Answer answer;
    answer.data = body.data();
    answer.bytes = static_cast<int64_t>(body.size());
    answer.keep = keep;
    answer.under_way = way;
    all[i].answer(std::move(answer));
    ServerCall another;  // the first of these is on its way too
    const auto caller = std::make_shared<const int>(0);
    called_by[i] = caller;
    another.body = body.data();
    another.bytes = static_cast<int64_t>(body.size());
    another.done = [caller](const std::exception_ptr&) {};
    calls_.submit(std::move(another));
    if (i == 0) calls_.turn();  // its body is on its way, and cannot arrive yet
  }
  for (const auto& some : {kept, under_way, called_by})
    EXPECT_FALSE(some[0].expired() || some[1].expired());
  calls_.close(std::make_exception_ptr(Error(ErrorCode::kGeneric, "test", "somebody is lost")));
  EXPECT_TRUE(under_way[0].expired());
  EXPECT_FALSE(kept[0].expired());
  EXPECT_FALSE(called_by[0].expired());
  EXPECT_TRUE(kept[1].expired() && under_way[1].expired() && called_by[1].expired());
  EXPECT_EQ(replies[0].error, "somebody is lost");
  std::vector<char> arrived(body.size());  // for the tests behind this one
  for (const int tag : {kAnswerTag, kAnswersBodyTag, kCallTag, kThirdCallsBodyTag})
    MPI_Recv(arrived.data(), static_cast<int>(arrived.size()), MPI_BYTE, 0, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

// As if by another process: each names who sent it, and nothing is made of it.
TEST_F(CallsOverMpi, WhatNoProcessSendsIsRefused) {
  constexpr int kCallTag = 1, kAnswerTag = 2;
  const auto send = [](int tag, const std::vector<char>& bytes) {
    MPI_Request request;
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, tag, MPI_COMM_WORLD,
              &request);
    return request;
  };
  const auto complaint = [&](int tag, const std::vector<char>& bytes) -> std::string {
    MPI_Request request = send(tag, bytes);
    std::string said;
    try {
      for (int turns = 0; turns < 1000; ++turns) calls_.turn();
    } catch (const BadMessage& bad) {
      said = std::to_string(bad.from()) + ": " + bad.what();
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return said;
  };
  EXPECT_EQ(complaint(kCallTag, std::vector<char>(5)),
            "0: given 5 bytes, expected calls or answers as this version sends them");
  EXPECT_EQ(complaint(kAnswerTag, bytes_of(AnswerHead{0, 99, 0, 1, 0, 0, 0}, "", nullptr)),
            "0: given an answer, expected none: this process did not ask");
  // Another body than its head has promised.
  constexpr int64_t kBody = 20000;
  constexpr int kFirstBodyTag = 16, kTagsOfACall = 2;
  uint64_t id = 1;
  for (const std::size_t size : {19999u, 0u, 20001u}) {
    const std::vector<char> body(size);
    MPI_Request request = send(kFirstBodyTag + kTagsOfACall * static_cast<int>(id), body);
    const std::string said = complaint(
        kCallTag, bytes_of(CallHead{0, id++, kBody, slice_of(0, kBody), 0, 0, 0}, "head", nullptr));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(said.find("0: given "), 0u) << size;
    EXPECT_NE(said.find(" bytes of a body, expected 20000"), std::string::npos) << said;
  }
  // More than there is memory for.
  constexpr int64_t kHuge = int64_t{1} << 45;
  const std::string huge = complaint(
      kCallTag, bytes_of(CallHead{0, 1, kHuge, slice_of(0, kHuge), 0, 0, 0}, "head", nullptr));
  EXPECT_NE(huge.find("0: given the news of 35184372088832 bytes"), std::string::npos) << huge;
}

}  // namespace
}  // namespace mxnet::mpi
