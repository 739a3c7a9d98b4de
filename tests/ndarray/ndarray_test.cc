// SPDX-License-Identifier: Apache-2.0
// Dense arrays: what they are, when they take memory, what views share.
#include "ndarray/ndarray.h"

#include "arrays.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

TEST(NDArray, NoneHasNothing) {
  const NDArray none;
  EXPECT_TRUE(none.is_none());
  EXPECT_EQ(none.storage_type(), StorageType::kUndefined);
  EXPECT_EQ(none.dtype(), DType::kUnknown);
  EXPECT_FALSE(none.shape().rank_known());
  none.wait_to_read();
  none.wait_to_write();
  EXPECT_THROW(none.slice(0, 0), Error);
  EXPECT_THROW(none.reshape(Shape{1}), Error);
}

TEST(NDArray, TakesMemoryAtTheFirstUse) {
  const NDArray array(Shape{1 << 20, 1 << 10}, DType::kFloat64, Device::cpu());  // 8 GiB, described
  EXPECT_FALSE(array.chunk()->allocated());
  const NDArray view = array.slice(0, 4).reshape(Shape{4 << 10});
  EXPECT_FALSE(array.chunk()->allocated());
  const NDArray small(Shape{3}, DType::kInt8, Device::cpu());
  EXPECT_NE(small.data(), nullptr);
  EXPECT_TRUE(small.chunk()->allocated());
}

TEST(NDArray, HoldsEveryType){
#define MX_CHECK_TYPE(name, type, tag)                                         \
  {                                                                            \
    SCOPED_TRACE(#name);                                                       \
    std::vector<type> in(5);                                                   \
    for (int i = 0; i < 5; ++i) in[static_cast<std::size_t>(i)] = type(i % 2); \
    NDArray array(Shape{5}, DType::tag, Device::cpu());                        \
    EXPECT_EQ(array.bytes(), 5 * sizeof(type));                                \
    std::unique_ptr<type[]> out(new type[5]);                                  \
    std::unique_ptr<type[]> from(new type[5]);                                 \
    for (std::size_t i = 0; i < 5; ++i) from[i] = in[i];                       \
    array.sync_copy_from(from.get(), 5);                                       \
    array.sync_copy_to(out.get(), 5);                                          \
    for (std::size_t i = 0; i < 5; ++i)                                        \
      EXPECT_EQ(static_cast<float>(out[i]), static_cast<float>(i % 2));        \
  }
    MX_DTYPES(MX_CHECK_TYPE)
#undef MX_CHECK_TYPE
}

TEST(NDArray, ScalarHasOneElementAndEmptyNone) {
  NDArray scalar = make<float>(Shape::scalar(), {2.5f});
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(floats(scalar), std::vector<float>{2.5f});
  NDArray empty(Shape{2, 0, 3}, DType::kFloat32, Device::cpu());
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.bytes(), 0u);
  EXPECT_TRUE(floats(empty).empty());
  EXPECT_EQ(empty.reshape(Shape{0}).shape(), Shape{0});
  EXPECT_EQ(empty.slice(1, 2).shape(), (Shape{1, 0, 3}));
}

TEST(NDArray, TooManyBytesAreRefusedWhenDescribed) {
  const std::string text = error_of([] {
    NDArray(Shape{int64_t{1} << 40, int64_t{1} << 22}, DType::kFloat64, Device::cpu());
  });
  EXPECT_NE(text.find("given shape (1099511627776,4194304) of float64"), std::string::npos) << text;
}

TEST(NDArrayView, SharesMemoryBothWays) {
  NDArray array = counting(Shape{4, 3});
  NDArray rows = array.slice(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(floats(rows), (std::vector<float>{3, 4, 5, 6, 7, 8}));
  const std::vector<float> fresh{-1, -2, -3, -4, -5, -6};
  rows.sync_copy_from(fresh.data(), 6);
  EXPECT_EQ(floats(array), (std::vector<float>{0, 1, 2, -1, -2, -3, -4, -5, -6, 9, 10, 11}));
  EXPECT_EQ(floats(array.at(2)), (std::vector<float>{-4, -5, -6}));
  EXPECT_EQ(rows.var(), array.var()) << "one variable orders the whole chunk";
}

TEST(NDArrayView, OfAViewCountsFromTheView) {
  const NDArray array = counting(Shape{4, 2, 3});
  const NDArray view = array.slice(1, 4).at(1).slice(1, 2);
  EXPECT_EQ(view.shape(), (Shape{1, 3}));
  EXPECT_EQ(floats(view), (std::vector<float>{15, 16, 17}));
  EXPECT_EQ(floats(view.reshape(Shape{3}).at(2)), std::vector<float>{17});
  EXPECT_EQ(view.reshape(Shape{3}).at(2).shape(), Shape::scalar());
}

TEST(NDArrayView, KeepsTheMemoryWhenTheArrayIsGone) {
  NDArray view;
  {
    const NDArray array = counting(Shape{100});
    view = array.slice(98, 100);
  }
  EXPECT_EQ(floats(view), (std::vector<float>{98, 99}));
}

TEST(NDArrayView, OutsideIsAnErrorThatSaysWhatWasGiven) {
  const NDArray array = counting(Shape{4, 3});
  EXPECT_NE(error_of([&] { array.slice(2, 5); }).find("given [2, 5) of 4 rows"), std::string::npos);
  EXPECT_THROW(array.slice(-1, 2), Error);
  EXPECT_THROW(array.slice(3, 2), Error);
  EXPECT_THROW(array.at(4), Error);
  EXPECT_THROW(array.at(-1), Error);
  EXPECT_NE(error_of([&] { array.reshape(Shape{5}); }).find("expected 12 elements"),
            std::string::npos);
  EXPECT_THROW(array.reshape(Shape::unknown(2)), Error);
  const NDArray scalar(Shape::scalar(), DType::kFloat32, Device::cpu());
  EXPECT_THROW(scalar.slice(0, 1), Error);
  EXPECT_THROW(scalar.at(0), Error);
  EXPECT_EQ(array.slice(2, 2).size(), 0);
}

TEST(NDArrayView, AsAnotherTypeIsCheckedAgainstTheChunk) {
  const NDArray array = make<int32_t>(Shape{2}, {0x3f800000, 0x40000000});
  EXPECT_EQ(floats(array.view_as(Shape{2}, DType::kFloat32)), (std::vector<float>{1, 2}));
  EXPECT_THROW(array.view_as(Shape{3}, DType::kFloat32), Error);
  EXPECT_THROW(array.slice(1, 2).view_as(Shape{2}, DType::kFloat32), Error);
}

TEST(NDArrayView, HasNoHistory) {
  class Info final : public TapeInfo {};
  NDArray array = counting(Shape{2, 2});
  array.set_tape(make_ref<Info>());
  EXPECT_FALSE(array.slice(0, 1).tape());
  EXPECT_FALSE(array.reshape(Shape{4}).tape());
  EXPECT_FALSE(array.detach().tape());
  const NDArray same = array;
  EXPECT_TRUE(same.tape());
  EXPECT_TRUE(same.tape()->gradient().is_none());
  EXPECT_FALSE(same.tape()->fresh_gradient());
}

}  // namespace
}  // namespace mxnet
