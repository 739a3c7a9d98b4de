// SPDX-License-Identifier: Apache-2.0
// What was found in indices is not looked for again, until somebody may have written there.
#include <atomic>
#include <numeric>
#include <thread>

#include "arrays.h"
#include "ndarray/host_write.h"
#include "ndarray/sparse_check.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

template <class Body>
bool refuses(const Body& body) {
  try {
    body();
  } catch (const Error&) {
    return true;
  }
  return false;
}

constexpr int64_t kStored = 1000;

// A matrix with the numbers 0 to 999 on its diagonal; row_sparse: all rows of a column.
NDArray diagonal(StorageType type) {
  std::vector<float> data(kStored);
  std::vector<int64_t> indices(kStored), ends(kStored + 1);
  std::iota(data.begin(), data.end(), 0.0f);
  std::iota(indices.begin(), indices.end(), 0);
  std::iota(ends.begin(), ends.end(), 0);
  return type == StorageType::kCSR ? make_csr(Shape{kStored, kStored}, data, ends, indices)
                                   : make_row_sparse(Shape{kStored, 1}, data, indices);
}

int64_t* last_index(const NDArray& array) {
  const SparseStore& store = array.sparse();
  const int part = store.num_aux() - 1;
  return static_cast<int64_t*>(store.own_aux(part)) + store.aux_shape(part)[0] - 1;
}

bool is_refused(const NDArray& array) {
  const bool unsafe = refuses([&] { require_safe_format(array); });
  EXPECT_EQ(unsafe, refuses([&] { require_distinct_format(array); }));
  EXPECT_EQ(unsafe, refuses([&] { check_format(array, true); }));
  return unsafe;
}

class Findings : public ::testing::TestWithParam<StorageType> {
 protected:
  const NDArray array_ = diagonal(GetParam());
  void SetUp() override { ASSERT_FALSE(is_refused(array_)); }
};

// The only write that is not noticed is one that nobody may do.
TEST_P(Findings, AreKeptUntilAWriteIsCounted) {
  *last_index(array_) = kStored;
  EXPECT_FALSE(is_refused(array_));
  { const HostWrite write(array_); }
  EXPECT_TRUE(is_refused(array_));
  EXPECT_TRUE(is_refused(array_));  // nothing is kept of what was refused
}

TEST_P(Findings, EndWithAWriteFromTheHost) {
  {
    const HostWrite write(array_);
    *last_index(array_) = -1;
  }
  EXPECT_TRUE(is_refused(array_));
  {
    const HostWrite write(array_);
    *last_index(array_) = kStored - 1;
  }
  EXPECT_FALSE(is_refused(array_));
}

TEST_P(Findings, EndWithAnOperationThatWrites) {
  for (const bool fails : {false, true}) {
    const NDArray array = diagonal(GetParam());
    ASSERT_FALSE(is_refused(array));
    const std::array<Var*, 1> writes{array.var()};
    Engine::get().push(
        [&array, fails](const RunContext&) {
          *last_index(array) = int64_t{1} << 40;
          if (fails) throw Error(ErrorCode::kValue, "test", "half a write");
        },
        {.device = Device::cpu(), .reads = {}, .writes = writes, .name = "WritesIndices"});
    EXPECT_EQ(refuses([&] { array.wait_to_read(); }), fails);
    EXPECT_TRUE(is_refused(array));
  }
}

TEST_P(Findings, EndWithTheCopyOfAPart) {
  NDArray array = array_;
  std::vector<int64_t> indices = aux(array, array.sparse().num_aux() - 1);
  indices.back() = kStored;
  sync_copy_into(array, make(Shape{kStored}, indices), array.sparse().num_aux() - 1);
  EXPECT_TRUE(is_refused(array));
}

TEST_P(Findings, EndWithACopyOfTheWhole) {
  const NDArray bad = diagonal(GetParam());
  *last_index(bad) = kStored;
  bad.copy_to(array_);
  array_.wait_to_read();
  EXPECT_TRUE(is_refused(array_));
}

TEST_P(Findings, AreNotCopied) {
  *last_index(array_) = kStored;
  ASSERT_FALSE(is_refused(array_));
  const NDArray copy = array_.copy(Device::cpu());
  copy.wait_to_read();
  EXPECT_TRUE(is_refused(copy));
}

TEST_P(Findings, AreNotOfMemoryWhoseAddressOthersHave) {
  array_.chunk()->hand_out();
  EXPECT_FALSE(is_refused(array_));
  *last_index(array_) = kStored;
  EXPECT_TRUE(is_refused(array_));
  *last_index(array_) = kStored - 1;
  EXPECT_FALSE(is_refused(array_));
}

TEST_P(Findings, AreTheSameForThreads) {
  for (int turn = 0; turn < 50; ++turn) {
    const bool bad = turn % 2 == 1;
    {
      const HostWrite write(array_);
      *last_index(array_) = bad ? kStored : kStored - 1;
    }
    array_.wait_to_read();
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        refused += refuses(
            [&] { t == 0 ? require_safe_format(array_) : require_distinct_format(array_); });
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(refused, bad ? 3 : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Findings,
                         ::testing::Values(StorageType::kCSR, StorageType::kRowSparse),
                         [](const auto& info) {
                           return info.param == StorageType::kCSR ? "csr" : "row_sparse";
                         });

// A weaker finding does not stand for a stronger one.
TEST(FindingsOfCSR, TellOfOrderWithoutAnotherLook) {
  const NDArray array = diagonal(StorageType::kCSR);
  EXPECT_FALSE(is_known_ascending(array));  // nobody has looked
  require_safe_format(array);
  EXPECT_TRUE(is_known_ascending(array));
  { const HostWrite write(array); }
  EXPECT_FALSE(is_known_ascending(array));
  require_safe_format(array);
  array.chunk()->hand_out();
  EXPECT_FALSE(is_known_ascending(array));
}

TEST(FindingsOfCSR, AreAsStrongAsTheLook) {
  std::vector<int64_t> ends(501), columns(1000);
  for (std::size_t row = 0; row < 500; ++row) {
    ends[row + 1] = static_cast<int64_t>(2 * row + 2);
    columns[2 * row + 1] = 1;
  }
  const std::vector<float> data(1000, 1.0f);
  const auto refusals = [&](const NDArray& array) {
    std::string text;
    for (const auto check : {require_rows_format, require_safe_format, require_distinct_format})
      text += refuses([&] { check(array); }) ? 'x' : '.';
    return text + (refuses([&] { check_format(array, true); }) ? 'x' : '.');
  };
  const Shape shape{500, 3};
  EXPECT_EQ(refusals(make_csr(shape, data, ends, columns)), "....");
  columns[998] = 2;  // descends
  EXPECT_EQ(refusals(make_csr(shape, data, ends, columns)), "...x");
  columns[998] = 1;  // twice
  EXPECT_EQ(refusals(make_csr(shape, data, ends, columns)), "..xx");
  columns[998] = 3;
  EXPECT_EQ(refusals(make_csr(shape, data, ends, columns)), ".xxx");
  ends[499] = 1001;
  EXPECT_EQ(refusals(make_csr(shape, data, ends, columns)), "xxxx");
}

}  // namespace
}  // namespace mxnet
