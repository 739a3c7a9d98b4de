// SPDX-License-Identifier: Apache-2.0
// Copies: between arrays, with host memory, across devices, in the engine's order.
#include <barrier>
#include <thread>

#include "arrays.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

TEST(Copy, MovesValuesInOrder) {
  NDArray a = counting(Shape{2, 3}), b(Shape{2, 3}, DType::kFloat32, Device::cpu());
  a.copy_to(b);
  NDArray c(Shape{2, 3}, DType::kFloat32, Device::cpu());
  b.copy_to(c);  // runs after the copy into b
  const std::vector<float> other(6, -1.0f);
  a.sync_copy_from(other.data(), 6);  // waits for the copy out of a
  EXPECT_EQ(floats(c), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(floats(a), other);
}

TEST(Copy, LargeArraysGoThroughWorkers) {
  const int64_t count = 1 << 20;
  const NDArray a = counting(Shape{count});
  NDArray chain = a;
  for (int i = 0; i < 8; ++i) {
    NDArray next(Shape{count}, DType::kFloat32, Device::cpu());
    chain.copy_to(next);
    chain = next;
  }
  EXPECT_EQ(floats(chain), floats(a));
}

TEST(Copy, WithinOneChunkMayOverlap) {
  const NDArray array = counting(Shape{6});
  array.slice(0, 5).copy_to(array.slice(1, 6));
  EXPECT_EQ(floats(array), (std::vector<float>{0, 0, 1, 2, 3, 4}));
  array.copy_to(array);
  EXPECT_EQ(floats(array), (std::vector<float>{0, 0, 1, 2, 3, 4}));
}

TEST(Copy, NeedsEqualShapesAndTypes) {
  const NDArray a = counting(Shape{2, 3});
  const NDArray other_shape(Shape{3, 2}, DType::kFloat32, Device::cpu());
  const NDArray other_type(Shape{2, 3}, DType::kInt32, Device::cpu());
  EXPECT_NE(error_of([&] { a.copy_to(other_shape); }).find("float32 (2,3) into float32 (3,2)"),
            std::string::npos);
  EXPECT_THROW(a.copy_to(other_type), Error);
  EXPECT_THROW(a.copy_to(NDArray()), Error);
  EXPECT_THROW(NDArray().copy_to(a), Error);
}

TEST(Copy, HostCopiesNeedTheRightCount) {
  NDArray a = counting(Shape{2, 3});
  float buffer[6] = {};
  EXPECT_NE(error_of([&] { a.sync_copy_from(buffer, 5); }).find("given 5 elements, expected 6"),
            std::string::npos);
  EXPECT_THROW(a.sync_copy_to(buffer, 7), Error);
}

TEST(Copy, ManyThreadsReadOneFreshArray) {
  // The first touches race for the allocation; all must see the same memory, and none keeps more.
  const auto in_use = [] { return Storage::get().stats(Device::cpu()).in_use; };
  Engine::get().wait_for_all();  // what other tests have left
  const std::size_t before = in_use();
  for (int round = 0; round < 50; ++round) {
    const NDArray array(Shape{1000}, DType::kFloat32, Device::cpu());
    std::barrier start(4);
    std::array<void*, 4> seen{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        seen[t] = array.data();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (void* address : seen) EXPECT_EQ(address, seen[0]);
    EXPECT_LE(in_use() - before, std::size_t{4096});
  }
  EXPECT_EQ(in_use(), before);
}

class CopyAcross : public ::testing::TestWithParam<std::pair<Device, Device>> {};

TEST_P(CopyAcross, KeepsValues) {
  const auto [from, to] = GetParam();
  const NDArray a = counting(Shape{3, 5}, from);
  const NDArray b = a.copy(to);
  EXPECT_EQ(b.device(), to);
  EXPECT_EQ(floats(b), floats(a));
  const NDArray c = counting(Shape{100'000}, from).copy(to).copy(Device::cpu());
  EXPECT_EQ(floats(c.slice(99'998, 100'000)), (std::vector<float>{99'998, 99'999}));
}

TEST_P(CopyAcross, ViewsAreCopiedAsTheyAreSeen) {
  const auto [from, to] = GetParam();
  const NDArray a = counting(Shape{4, 2}, from);
  const NDArray b = counting(Shape{4, 2}, to);
  a.slice(1, 3).copy_to(b.slice(2, 4));
  EXPECT_EQ(floats(b), (std::vector<float>{0, 1, 2, 3, 2, 3, 4, 5}));
}

std::vector<std::pair<Device, Device>> all_pairs() {
  const Device devices[] = {Device::cpu(),        Device::cpu(7), Device::cpu_pinned(),
                            Device::cpu_shared(), Device::gpu(0), Device::gpu(1)};
  std::vector<std::pair<Device, Device>> pairs;
  for (Device from : devices)
    for (Device to : devices) pairs.emplace_back(from, to);
  return pairs;
}
INSTANTIATE_TEST_SUITE_P(Devices, CopyAcross, ::testing::ValuesIn(all_pairs()),
                         [](const auto& info) {
                           std::string name =
                               to_string(info.param.first) + "_to_" + to_string(info.param.second);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

TEST(CopyInto, ConvertsTypesAndTakesTheShape) {
  NDArray to(Shape{2}, DType::kInt32, Device::cpu());
  const NDArray alias = to;
  sync_copy_into(to, make<float>(Shape{2}, {1.5f, -2.5f}), kValuesPart);
  EXPECT_EQ(values<int32_t>(to), (std::vector<int32_t>{1, -2}));
  sync_copy_into(to, make<float>(Shape{2, 1}, {3, 4}), kValuesPart);
  EXPECT_EQ(to.shape(), (Shape{2, 1}));
  EXPECT_EQ(values<int32_t>(alias), (std::vector<int32_t>{3, 4})) << "still the same memory";
  sync_copy_into(to, make<float>(Shape{3}, {5, 6, 7}), kValuesPart);
  EXPECT_EQ(values<int32_t>(to), (std::vector<int32_t>{5, 6, 7}));
}

TEST(CopyInto, DoesNotWriteBeyondAView) {
  const NDArray whole = counting(Shape{6});
  NDArray view = whole.slice(1, 3);
  EXPECT_THROW(sync_copy_into(view, counting(Shape{3}), kValuesPart), Error);
  sync_copy_into(view, make<float>(Shape{2}, {-1, -2}), kValuesPart);
  EXPECT_EQ(floats(whole), (std::vector<float>{0, -1, -2, 3, 4, 5}));
}

TEST(CopyInto, WorksAcrossDevicesAndTypes) {
  NDArray to(Shape{2}, DType::kFloat64, Device::gpu(0));
  sync_copy_into(to, make<float>(Shape{2}, {1.5f, 2.5f}, Device::gpu(1)), kValuesPart);
  EXPECT_EQ(values<double>(to), (std::vector<double>{1.5, 2.5}));
}

TEST(CopyInto, NeedsDataAndAnExistingPart) {
  NDArray dense = counting(Shape{2});
  NDArray none;
  EXPECT_THROW(sync_copy_into(none, dense, kValuesPart), Error);
  EXPECT_THROW(sync_copy_into(dense, none, kValuesPart), Error);
  EXPECT_NE(error_of([&] { sync_copy_into(dense, dense, 0); }).find("index array 0 of a default"),
            std::string::npos);
}

TEST(Copy, FailuresOfAnOperationComeOutOfTheWait) {
  NDArray array = counting(Shape{4});
  const std::array<Var*, 1> writes{array.var()};
  Engine::get().push(
      [](const RunContext&) { throw Error(ErrorCode::kValue, "probe", "given nothing"); },
      {.device = array.device(), .reads = {}, .writes = writes, .name = "probe"});
  const NDArray copy = array.copy(Device::cpu());
  EXPECT_NE(error_of([&] { copy.wait_to_read(); }).find("[probe] given nothing"),
            std::string::npos);
  EXPECT_THROW(array.wait_to_read(), Error);
  array.wait_to_read();
  const std::vector<float> fresh(4, 1.0f);
  array.sync_copy_from(fresh.data(), 4);
  EXPECT_EQ(floats(array), fresh);
}

}  // namespace
}  // namespace mxnet
