// SPDX-License-Identifier: Apache-2.0
// Versions count what the host writes: after it is there, and before the writer goes on.
#include "ndarray/host_write.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include "arrays.h"
#include "base/hooks.h"
#include "engine/engine.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

uint64_t version_of(const NDArray& array) { return Engine::get().version(array.var()); }

// The first element at the moment when the version of a write is counted.
class Witness final : public Observer {
 public:
  explicit Witness(const NDArray& array) : array_(array) {
    Engine::get().wait_for_all();
    g_observer.store(this, std::memory_order_release);
  }
  ~Witness() override {
    Engine::get().wait_for_all();
    g_observer.store(nullptr, std::memory_order_release);
  }
  void operation_begin(const char* name, Device, uint64_t) override {
    if (name != nullptr && std::string_view(name) == "HostWrite") seen_ = *array_.data_as<float>();
  }
  void operation_end(const char*, Device, uint64_t) override {}
  void memory_event(Device, const char*, int64_t) override {}
  float seen() const { return seen_; }

 private:
  const NDArray& array_;
  std::atomic<float> seen_{-1};
};

TEST(HostWrite, IsCountedWhenTheValuesAreThere) {
  const float five = 5;
  NDArray array = make<float>(Shape{1}, {1});
  const NDArray six = make<float>(Shape{1}, {6});
  const Witness witness(array);
  array.sync_copy_from(&five, 1);
  EXPECT_EQ(witness.seen(), 5);
  sync_copy_into(array, six, kValuesPart);
  EXPECT_EQ(witness.seen(), 6);
}

TEST(HostWrite, IsCountedThoughItEndsHalfWay) {
  const NDArray array = make<float>(Shape{2}, {1, 2});
  const uint64_t before = version_of(array);
  EXPECT_THROW(
      {
        const HostWrite write(array);
        EXPECT_EQ(version_of(array), before);
        array.data_as<float>()[0] = 3;
        throw Error(ErrorCode::kValue, "test", "half-way");
      },
      Error);
  EXPECT_GT(version_of(array), before);
}

// A version counted late would let another thread find what was kept of the values before.
TEST(HostWrite, DoesNotWaitInABulk) {
  const NDArray array = make<float>(Shape{1}, {1}), other = make<float>(Shape{1}, {4});
  const int size = Engine::get().set_bulk_size(16);
  other.copy_to(array);
  const uint64_t before = version_of(array);
  {
    const HostWrite write(array);
    EXPECT_EQ(*array.data_as<float>(), 4) << "what was merged before is done";
    EXPECT_EQ(version_of(array), before + 1);
    *array.data_as<float>() = 5;
  }
  EXPECT_EQ(version_of(array), before + 2);
  Engine::get().set_bulk_size(size);
}

TEST(HostWrite, RethrowsWhatTheArrayHasFailedWith) {
  const NDArray array = make<float>(Shape{1}, {1});
  Var* const writes[] = {array.var()};
  Engine::get().push(
      [](const RunContext&) { throw Error(ErrorCode::kValue, "test", "failed before"); },
      {.device = Device::cpu(), .reads = {}, .writes = writes});
  EXPECT_NE(error_of([&] { const HostWrite write(array); }).find("failed before"),
            std::string::npos);
}

}  // namespace
}  // namespace mxnet
