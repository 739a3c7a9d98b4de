// SPDX-License-Identifier: Apache-2.0
// Arrays that two processes see.
#include "ndarray/shared_array.h"

#include <sys/wait.h>
#include <unistd.h>

#include "arrays.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

TEST(SharedArray, IsTheSameMemoryBehindTheHandle) {
  const NDArray array = counting(Shape{2, 3}, Device::cpu_shared());
  NDArray other = from_shared_handle(shared_handle(array), Shape{3, 2}, DType::kFloat32);
  EXPECT_EQ(other.device().type, DeviceType::kCPUShared);
  EXPECT_EQ(floats(other), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const std::vector<float> fresh(6, 9.0f);
  other.sync_copy_from(fresh.data(), 6);
  EXPECT_EQ(floats(array), fresh);
}

TEST(SharedArray, OutlivesItsMakerWhenAttached) {
  NDArray other;
  {
    const NDArray array = counting(Shape{4}, Device::cpu_shared());
    other = from_shared_handle(shared_handle(array), Shape{4}, DType::kFloat32);
  }
  Engine::get().wait_for_all();
  EXPECT_EQ(floats(other), (std::vector<float>{0, 1, 2, 3}));
}

TEST(SharedArray, AChildProcessWritesIntoIt) {
  const NDArray array = counting(Shape{4}, Device::cpu_shared());
  const SharedHandle handle = shared_handle(array);
  Engine::get().wait_for_all();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int status = 1;
    try {
      NDArray mine = from_shared_handle(handle, Shape{4}, DType::kFloat32);
      const float sent[] = {4, 3, 2, 1};
      mine.sync_copy_from(sent, 4);
      status = 0;
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(floats(array), (std::vector<float>{4, 3, 2, 1}));
}

TEST(SharedArray, OthersHaveNoHandle) {
  const auto refused = [](const NDArray& array) {
    return error_of([&] { shared_handle(array); }).find("expected a whole array") !=
           std::string::npos;
  };
  EXPECT_TRUE(refused(counting(Shape{2})));
  EXPECT_TRUE(refused(counting(Shape{4}, Device::cpu_shared()).slice(1, 2)));
  EXPECT_TRUE(refused(NDArray(Shape{0}, DType::kFloat32, Device::cpu_shared())));
  EXPECT_THROW(shared_handle(NDArray()), Error);
}

TEST(SharedArray, BadHandlesAreErrors) {
  EXPECT_THROW(from_shared_handle({.pid = ::getpid(), .fd = 9999}, Shape{1}, DType::kFloat32),
               Error);
  EXPECT_THROW(from_shared_handle({.pid = ::getpid(), .fd = 0}, Shape{0}, DType::kFloat32), Error);
  const NDArray small = counting(Shape{2}, Device::cpu_shared());
  const SharedHandle handle = shared_handle(small);
  EXPECT_THROW(from_shared_handle(handle, Shape{int64_t{1} << 40}, DType::kFloat32), Error);
}

}  // namespace
}  // namespace mxnet
