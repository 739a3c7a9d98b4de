// SPDX-License-Identifier: Apache-2.0
// Streams beside an operation's own, on simulated GPUs.
#include "device/side_stream.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/leaked.h"
#include "sim_fixture.h"

namespace mxnet::testing {
namespace {

class SideStreams : public ::testing::Test {
 protected:
  // Threads keep their streams of a device that is nobody's replacement, so it stays.
  static SimDeviceApi& permanent() {
    static Leaked<SimDeviceApi> api(sim_config(1));
    return *api;
  }

  SimDeviceApi& api_ = permanent();
  Stream main_{api_, 0};

  template <class F>
  void call(Stream& stream, F&& fn) {
    api_.host_call(stream.device(), stream.native(), std::forward<F>(fn));
  }
};

TEST_F(SideStreams, APartComesBehindWhatWasThereAndBeforeWhatFollows) {
  std::atomic<int> step{0};
  Gate before;
  before.close(main_);
  int part = -1, after = -1;
  call(main_, [&] { step = 1; });
  {
    SideStream side(main_);
    EXPECT_NE(side.stream().native(), main_.native());
    call(side.stream(), [&] {
      part = step;
      step = 2;
    });
  }
  call(main_, [&] { after = step; });
  before.open();
  main_.synchronize();
  EXPECT_EQ(part, 1);
  EXPECT_EQ(after, 2);
}

TEST_F(SideStreams, BothPartsRunAtTheSameTime) {
  Gate gate;
  std::atomic<bool> ran{false};
  SideStream side(main_);
  gate.close(side.stream());
  gate.wait_until_reached();
  call(main_, [&] { ran = true; });
  main_.synchronize();  // the other part still stands at its gate
  EXPECT_TRUE(ran);
  gate.open();
  side.join();
  main_.synchronize();
}

TEST_F(SideStreams, FollowsWhatTheOtherStreamWaitsForLater) {
  std::atomic<bool> there{false};
  bool seen = false;
  SideStream side(main_);
  Gate gate;
  gate.close(main_);
  call(main_, [&] { there = true; });
  side.follow();
  call(side.stream(), [&] { seen = there; });
  gate.open();
  side.join();
  main_.synchronize();
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace mxnet::testing
