// SPDX-License-Identifier: Apache-2.0
// Operators whose output shapes follow from values: made, given and added-to outputs, errors at the
// call, devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "base/error.h"
#include "engine/engine.h"
#include "exec/invoke.h"
#include "op/params/parsed_attrs.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

template <class T>
NDArray array_of(std::vector<T> values, Device device = Device::cpu()) {
  NDArray array({static_cast<int64_t>(values.size())}, dtype_of<T>, device);
  array.sync_copy_from(values.data(), array.size());
  return array;
}

std::vector<float> values_of(const NDArray& array) {
  std::vector<float> values(static_cast<std::size_t>(array.size()));
  array.sync_copy_to(values.data(), array.size());
  return values;
}

void mask(const NDArray& data, const NDArray& index, NDArray& out,
          Request request = Request::kWrite) {
  const OpDef& op = Registry::get().at("_contrib_boolean_mask");
  const std::array<const NDArray*, 2> inputs{&data, &index};
  const std::array<NDArray*, 1> outputs{&out};
  invoke(op, parse_attrs(op, {})->params(), inputs, outputs, {.requests = {&request, 1}});
}

TEST(ShapeFromValues, OutputIsMadeWithTheShapeThatCameOut) {
  NDArray out;
  mask(array_of<float>({1, 2, 3, 4}), array_of<int32_t>({0, 1, 0, 2}), out);
  EXPECT_EQ(out.shape(), Shape{2});
  EXPECT_EQ(values_of(out), (std::vector<float>{2, 4}));
}

TEST(ShapeFromValues, NothingSelectedIsAnEmptyArray) {
  NDArray out;
  mask(array_of<float>({1, 2}), array_of<int32_t>({0, 0}), out);
  EXPECT_EQ(out.shape(), Shape{0});
}

TEST(ShapeFromValues, GivenOutputIsWrittenOrAddedTo) {
  NDArray out = array_of<float>({10, 20});
  mask(array_of<float>({1, 2, 3}), array_of<int32_t>({1, 0, 1}), out, Request::kAdd);
  EXPECT_EQ(values_of(out), (std::vector<float>{11, 23}));
  mask(array_of<float>({1, 2, 3}), array_of<int32_t>({1, 0, 1}), out);
  EXPECT_EQ(values_of(out), (std::vector<float>{1, 3}));
}

// Beside it a result would take memory for as long as it is copied.
TEST(ShapeFromValues, GivenOutputIsWrittenWhereItIs) {
  constexpr int64_t kRows = 4096;
  const NDArray data = array_of(std::vector<float>(kRows, 3));
  const NDArray index = array_of(std::vector<int32_t>(kRows, 1));
  NDArray out = array_of(std::vector<float>(kRows, 0));
  const auto in_use = [] { return Storage::get().stats(Device::cpu()); };
  Engine::get().wait_for_all();
  Storage::get().reset_peak(Device::cpu());
  const std::size_t before = in_use().in_use;
  const uint64_t version = Engine::get().version(out.var());
  mask(data, index, out);
  EXPECT_EQ(values_of(out), std::vector<float>(kRows, 3));
  EXPECT_EQ(Engine::get().version(out.var()), version + 1);
  EXPECT_LT(in_use().peak_in_use - before, kRows * sizeof(float));
}

TEST(ShapeFromValues, GivenOutputIsWrittenBehindWhoeverReadsIt) {
  const NDArray out = array_of<float>({10, 20}), seen = array_of<float>({0, 0});
  std::promise<void> go;
  Var* const reads[] = {out.var()};
  Var* const writes[] = {seen.var()};
  Engine::get().push(
      [&](const RunContext&) {
        go.get_future().wait();
        std::copy_n(out.data_as<float>(), 2, seen.data_as<float>());
      },
      {.device = Device::cpu(), .reads = reads, .writes = writes, .name = "SlowReader"});
  NDArray given = out.detach();
  mask(array_of<float>({1, 2, 3}), array_of<int32_t>({1, 0, 1}), given);
  go.set_value();
  EXPECT_EQ(values_of(seen), (std::vector<float>{10, 20}));
  EXPECT_EQ(values_of(out), (std::vector<float>{1, 3}));
}

TEST(ShapeFromValues, GivenOutputMayBeAPartOfAnArray) {
  const NDArray whole = array_of<float>({10, 20, 30, 40});
  NDArray out = whole.slice(1, 3);
  mask(array_of<float>({1, 2, 3}), array_of<int32_t>({1, 0, 1}), out);
  EXPECT_EQ(values_of(whole), (std::vector<float>{10, 1, 3, 40}));
  NDArray data = whole.slice(0, 3);
  mask(data, array_of<int32_t>({1, 0, 1}), out);  // of the values before
  EXPECT_EQ(values_of(whole), (std::vector<float>{10, 10, 3, 40}));
}

TEST(ShapeFromValues, GivenOutputOfAnotherShapeIsAnErrorAtTheCall) {
  NDArray out = array_of<float>({10, 20});
  EXPECT_THROW(mask(array_of<float>({1, 2}), array_of<int32_t>({1, 0}), out), Error);
  EXPECT_EQ(values_of(out), (std::vector<float>{10, 20}));
}

TEST(ShapeFromValues, OutputMayBeTheInput) {
  NDArray data = array_of<float>({1, 2});
  mask(data, array_of<int32_t>({1, 1}), data);
  EXPECT_EQ(values_of(data), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace mxnet
