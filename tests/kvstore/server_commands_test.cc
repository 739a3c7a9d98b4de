// SPDX-License-Identifier: Apache-2.0
// Commands of all workers on a server: when they are obeyed, and when they fail.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "kvstore/server.h"

namespace mxnet::kvstore {
namespace {

// Of two workers, of whom a server hears what waits.
class Group final : public ProcessGroup {
 public:
  bool is_server() const override { return true; }
  int rank() const override { return 0; }
  int size() const override { return 2; }
  int servers() const override { return 1; }
  void submit(CollectiveRequest) override { FAIL() << "servers take no part"; }
  void call(ServerCall) override { FAIL() << "it is the server"; }
  bool next_call(ServedCall& call) override {
    if (waiting.empty()) return false;
    call = std::move(waiting.front());
    waiting.pop_front();
    return true;
  }
  int lost_workers() const override { return 0; }
  int lost_servers() const override { return 0; }

  std::deque<ServedCall> waiting;
};

// On a server; what each worker's call ends with.
class CommandsOfAll : public testing::Test {
 protected:
  void give(int worker, int number, const std::string& body, int32_t store = 0) {
    Request request;
    request.ask = Ask::kCommand;
    request.store = store;
    request.command = number;
    call(worker, request, body);
  }
  // Of key 'w', three numbers.
  void value(int worker, Ask ask, int32_t store = 0) {
    Request request;
    request.ask = ask;
    request.store = store;
    request.key = std::string("w");
    request.sync = true;
    request.shape = Shape{3};
    call(worker, request, ask == Ask::kPull ? "" : std::string(12, 0));
  }
  void leave(int worker) {
    ServedCall gone;
    gone.worker = worker;
    gone.left = true;
    group_.waiting.push_back(std::move(gone));
    server_.run({});
  }
  void call(int worker, const Request& request, const std::string& body) {
    ServedCall call;
    call.worker = worker;
    call.head = to_bytes(request);
    call.body = ArrivedBytes(body);
    call.answer = [this, worker](const Answer& answer) {
      said_[worker].push_back(answer.error.empty()
                                  ? std::string(static_cast<const char*>(answer.data),
                                                static_cast<std::size_t>(answer.bytes))
                                  : answer.error);
    };
    server_.handle(std::move(call), [this](int head, const std::string& text) {
      obeyed_.push_back(text);
      if (head == kFirstCommandOfAll + 13) throw Error(ErrorCode::kValue, "unlucky");
      if (head == kFirstCommandOfAll + 14) throw Error(ErrorCode::kValue, "");
      return text + "!";
    });
  }
  using Texts = std::vector<std::string>;
  Group group_;
  Server server_{group_};
  Texts said_[2], obeyed_;
};

TEST_F(CommandsOfAll, AreObeyedOnceWithTheBodyOfRankZeroWhenAllHaveGivenThem) {
  give(1, kFirstCommandOfAll, "");
  give(1, kFirstCommandOfAll + 1, "");
  EXPECT_TRUE(obeyed_.empty() && said_[1].empty());
  give(0, kFirstCommandOfAll, "first");
  EXPECT_EQ(obeyed_, Texts{"first"});
  give(0, kFirstCommandOfAll + 1, "second");
  for (const Texts& said : said_) EXPECT_EQ(said, (Texts{"first!", "second!"}));
  EXPECT_EQ(obeyed_, (Texts{"first", "second"}));
}

TEST_F(CommandsOfAll, FailForAllWhoGaveThem) {
  give(0, kFirstCommandOfAll + 13, "");
  give(1, kFirstCommandOfAll + 13, "");
  for (const Texts& said : said_) EXPECT_EQ(said, Texts{"unlucky"});
}

TEST_F(CommandsOfAll, MustBeTheSame) {
  give(0, kFirstCommandOfAll, "");
  give(1, kFirstCommandOfAll + 5, "");
  for (const Texts& said : said_)
    EXPECT_EQ(said, Texts{"rank 0 gave command 2000, rank 1 gave command 2005; expected the same "
                          "of all workers"});
  EXPECT_TRUE(obeyed_.empty());
}

TEST_F(CommandsOfAll, OneWorkerMayGiveOthersAlone) {
  give(1, kFirstCommandOfAll - 1, "mine");
  EXPECT_EQ(said_[1], Texts{"mine!"});
}

TEST_F(CommandsOfAll, AreErrorsWithoutAMessageToo) {
  for (int worker = 0; worker < 2; ++worker) give(worker, kFirstCommandOfAll + 14, "");
  for (const Texts& said : said_) EXPECT_EQ(said, Texts{"an error without a message"});
}

TEST_F(CommandsOfAll, WhoWaitsForLongHearsForWhom) {
  give(0, kWhoIsMissing, "");
  EXPECT_EQ(said_[0], Texts{""}) << "it waits for nobody";
  give(0, kFirstCommandOfAll, "");
  give(0, kWhoIsMissing, "");
  EXPECT_EQ(said_[0].back(), "command 2000 waits for rank 1");
  give(0, kWhoWaitsForMe, "");
  EXPECT_EQ(said_[0].back(), "");
  give(1, kWhoWaitsForMe, "");
  EXPECT_EQ(said_[1], Texts{"rank 0 has given command 2000, which waits for rank 1 of 2"});
}

TEST_F(CommandsOfAll, FailWhereAWorkerThatIsMissingWaitsForWhoGaveThem) {
  value(0, Ask::kInit);
  give(0, kFirstCommandOfAll, "");
  value(1, Ask::kPush);
  give(0, kWhoIsMissing, "");
  EXPECT_EQ(said_[0], (Texts{"",
                             "command 2000 waits for rank 1 of 2, which has not given it and "
                             "waits for rank 0, with a push of key 'w'; expected the same "
                             "calls of all workers",
                             ""}));
  value(0, Ask::kPush);
  Engine::get().wait_for_all();
  EXPECT_EQ(said_[1], Texts{""}) << "the push goes on";
}

TEST_F(CommandsOfAll, WaitForWhoHasPushedToAnotherStore) {
  value(0, Ask::kInit, 7);
  give(0, kFirstCommandOfAll, "body");
  value(1, Ask::kPush, 7);
  give(0, kWhoIsMissing, "");
  EXPECT_EQ(said_[0].back(), "command 2000 waits for rank 1") << "nothing keeps it from coming";
  give(1, kFirstCommandOfAll, "");
  EXPECT_EQ(said_[0].back(), "body!");
}

// Commands of two stores, each of which waits for the other's worker.
TEST_F(CommandsOfAll, OfSeveralStoresMayWaitForEachOther) {
  give(0, kFirstCommandOfAll, "");
  give(1, kFirstCommandOfAll + 1, "", 7);
  give(1, kWhoIsMissing, "");
  EXPECT_EQ(said_[1].front(),
            "command 2001 waits for rank 0 of 2, which has not given it and waits "
            "for rank 1, with command 2000; expected the same calls of all "
            "workers");
}

// Whoever has pushed before it went still counts.
TEST_F(CommandsOfAll, AndPushesOfAWorkerThatHasFinishedCountIfItGaveThem) {
  value(0, Ask::kInit);
  value(1, Ask::kPush);
  give(1, kFirstCommandOfAll, "");
  leave(1);
  give(0, kFirstCommandOfAll, "last");
  value(0, Ask::kPush);
  Engine::get().wait_for_all();
  EXPECT_EQ(said_[0], (Texts{"", "last!", ""}));
  EXPECT_EQ(said_[1], (Texts{"last!", ""}));
  give(0, kFirstCommandOfAll, "");
  EXPECT_EQ(said_[0].back(), "rank 1 of 2 has finished, but command 2000 waits for it");
  value(0, Ask::kPush);
  EXPECT_EQ(said_[0].back(), "rank 1 of 2 has finished, but key 'w' waits for it");
}

TEST_F(CommandsOfAll, AndKeysThatRankZeroHasNotGivenWhenItFinishesNeverCome) {
  value(1, Ask::kPull);
  leave(0);
  value(1, Ask::kPush);
  const std::string error = "rank 0 of 2 has finished, but the first value of key 'w' waits for it";
  EXPECT_EQ(said_[1], (Texts{error, error}));
}

}  // namespace
}  // namespace mxnet::kvstore
