// SPDX-License-Identifier: Apache-2.0
// Memory for other processes, seen by this one through a mapping of its own.
#include "kvstore/shared_place.h"

#include <gtest/gtest.h>

#include <vector>

namespace mxnet::kvstore {
namespace {

constexpr int64_t kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(float);

TEST(SharedPlace, WhatIsWrittenThereIsInTheArray) {
  SharedPlace place;
  const NDArray array = make_shared_array(Shape{kCount}, DType::kFloat32, place);
  ASSERT_TRUE(place.known());
  EXPECT_EQ(array.device(), Device::cpu());
  const std::shared_ptr<char> seen = see_shared_place(place, kBytes);
  ASSERT_NE(seen, nullptr);
  EXPECT_NE(seen.get(), array.data_as<char>()) << "another mapping of the same memory";
  for (int64_t i = 0; i < kCount; ++i)
    reinterpret_cast<float*>(seen.get())[i] = static_cast<float>(i);
  std::vector<float> values(kCount);
  array.sync_copy_to(values.data(), kCount);
  for (int64_t i = 0; i < kCount; ++i)
    ASSERT_EQ(values[static_cast<std::size_t>(i)], static_cast<float>(i));
}

TEST(SharedPlace, WhatIsSeenOutlivesTheArray) {
  SharedPlace place;
  std::shared_ptr<char> seen;
  {
    const NDArray array = make_shared_array(Shape{kCount}, DType::kFloat32, place);
    const std::vector<float> values(kCount, 7);
    NDArray(array).sync_copy_from(values.data(), kCount);
    seen = see_shared_place(place, kBytes);
  }
  Engine::get().wait_for_all();
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(reinterpret_cast<const float*>(seen.get())[kCount - 1], 7.0F);
}

TEST(SharedPlace, WhatIsNotThereIsNotSeen) {
  EXPECT_EQ(see_shared_place({}, 1), nullptr);
  SharedPlace place;
  const NDArray array = make_shared_array(Shape{kCount}, DType::kFloat32, place);
  EXPECT_EQ(see_shared_place({place.segment, place.key + 1}, kBytes), nullptr)
      << "the descriptor of another segment";
  EXPECT_EQ(see_shared_place(place, std::size_t{1} << 40), nullptr) << "more than there is";
}

}  // namespace
}  // namespace mxnet::kvstore
