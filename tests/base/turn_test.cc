// SPDX-License-Identifier: Apache-2.0
// Turns of threads at one object: one at a time, none for ever the next, and none lost by a fork.
#include "base/turn.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "hang.h"

namespace mxnet {
namespace {

// The thread sanitizer takes a thread of the child for one of its parent's.
#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadsInChildren = false;
#else
constexpr bool kThreadsInChildren = true;
#endif

Turn new_turn() { return {}; }  // zeros

// Whether a turn that this thread has goes to one that waits before this thread has it again.
bool is_promised(Turn& turn) {
  std::string order;
  std::thread other([&] {
    turn.take("test");
    order += 'b';
    turn.give();
  });
  while (!turn.is_awaited()) std::this_thread::yield();
  // Longer than others come first.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  turn.give();
  turn.take("test");
  order += 'c';
  turn.give();
  other.join();
  turn.take("test");
  return order == "bc" && !turn.is_awaited();
}

TEST(Turn, GoesToWhoWaitsBeforeItsOwnerHasItAgain) {
  Turn turn = new_turn();
  turn.take("test");
  for (int round = 0; round < 20; ++round) EXPECT_TRUE(is_promised(turn)) << round;
  turn.give();
}

TEST(Turn, IsOfOneThreadAtATimeAndOfEachInTheEnd) {
  constexpr int kThreads = 4, kTurns = 20'000;
  Turn turn = new_turn();
  int64_t taken = 0;
  int inside = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTurns; ++i) {
        turn.take("test");
        EXPECT_EQ(++inside, 1);
        EXPECT_FALSE(turn.is_nested());
        if (i % 4 == t) {
          turn.take("test");
          EXPECT_TRUE(turn.is_nested());
          turn.give();
        }
        ++taken;
        --inside;
        turn.give();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, int64_t{kThreads} * kTurns);
  EXPECT_FALSE(turn.is_awaited());
}

// The child has none of the threads that wait in its parent: a turn that were promised to them
// would be nobody's.
TEST(Turn, IsPromisedToNoThreadOfAParent) {
  Turn turn = new_turn();
  turn.take("test");
  std::thread other([&] {
    turn.take("test");
    turn.give();
  });
  while (!turn.is_awaited()) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    end_if_it_hangs();
    bool well = !turn.is_awaited();
    for (int i = 0; i < 3; ++i) {
      turn.give();
      turn.take("test");
    }
    well = well && (!kThreadsInChildren || is_promised(turn));
    ::_exit(well ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  turn.give();
  other.join();
}

int errors_of(Turn& turn, int takes) {
  int errors = 0;
  for (int i = 0; i < takes; ++i) {
    try {
      turn.take("test");
    } catch (const Error&) {
      ++errors;
    }
  }
  return errors;
}

// The second look at it and all later ones are short, those of a grandchild too: so many long ones,
// of a second each, would count as a hang.
TEST(Turn, OfALostThreadIsWaitedForOnce) {
  Turn turn = new_turn();
  std::promise<void> taken, end;
  std::thread other([&] {
    turn.take("test");
    taken.set_value();
    end.get_future().wait();
    turn.give();
  });
  taken.get_future().wait();
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr int kTakes = 300;
    end_if_it_hangs();
    const bool lost = errors_of(turn, kTakes) == kTakes && !turn.take_if_free();
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      end_if_it_hangs();
      ::_exit(errors_of(turn, kTakes) == kTakes && !turn.take_if_free() ? 0 : 1);
    }
    int status = -1;
    ::_exit(lost && ::waitpid(grandchild, &status, 0) == grandchild && status == 0 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  end.set_value();
  other.join();
}

}  // namespace
}  // namespace mxnet
