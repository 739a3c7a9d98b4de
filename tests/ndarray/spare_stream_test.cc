// SPDX-License-Identifier: Apache-2.0
// Streams of copies that are waited for, on simulated GPUs.
#include "device/spare_stream.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mxnet {
namespace {

DeviceApi& gpus() { return device_api(DeviceType::kGPU); }

const NativeStream* used_and_finished(int device) {
  SpareStream spare(gpus(), device);
  const NativeStream* native = spare.stream().native();
  spare.finish();
  return native;
}

TEST(SpareStream, IsUsedAgainByItsThread) {
  const NativeStream* first = used_and_finished(0);
  EXPECT_EQ(used_and_finished(0), first);
  EXPECT_NE(used_and_finished(1), first);
  EXPECT_EQ(used_and_finished(0), first);
}

TEST(SpareStream, TwoAtATimeAreTwo) {
  SpareStream one(gpus(), 0), other(gpus(), 0);
  EXPECT_NE(one.stream().native(), other.stream().native());
}

TEST(SpareStream, FinishThrowsWhatWentWrongAndTheNextUserDoesNotSeeIt) {
  {
    SpareStream spare(gpus(), 0);
    gpus().host_call(0, spare.stream().native(),
                     [] { throw Error(ErrorCode::kGeneric, "test", "gone wrong"); });
    EXPECT_THROW(spare.finish(), Error);
  }
  EXPECT_NO_THROW(used_and_finished(0));
}

}  // namespace
}  // namespace mxnet
