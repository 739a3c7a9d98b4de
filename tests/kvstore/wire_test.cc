// SPDX-License-Identifier: Apache-2.0
// Requests to servers as bytes: what goes in comes out, and nothing else is accepted.
#include "kvstore/wire.h"

#include <gtest/gtest.h>

#include "kvstore/rows.h"
#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)

Request some_request() {
  Request request;
  request.ask = Ask::kPush;
  request.store = 3;
  request.key = std::string("fc1_weight");
  request.sync = true;
  request.dtype = DType::kFloat64;
  request.compression = {CompressionType::kTwoBit, 0.25f};
  request.shape = Shape{3, 0, 5};
  return request;
}

TEST(Wire, ARequestComesBackAsItWas) {
  const Request back = request_of(to_bytes(some_request()));
  EXPECT_EQ(back.ask, Ask::kPush);
  EXPECT_EQ(back.store, 3);
  EXPECT_EQ(back.key, Key(std::string("fc1_weight")));
  EXPECT_TRUE(back.sync);
  EXPECT_EQ(back.dtype, DType::kFloat64);
  EXPECT_EQ(back.compression.type, CompressionType::kTwoBit);
  EXPECT_EQ(back.compression.threshold, 0.25f);
  EXPECT_EQ(back.shape, (Shape{3, 0, 5}));
  Request numbered = some_request();
  numbered.key = -7;
  EXPECT_EQ(request_of(to_bytes(numbered)).key, Key(-7));
}

TEST(Wire, EveryShorterTextIsRefused) {
  const std::string bytes = to_bytes(some_request());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_NE(error_of([&] { request_of(std::string_view(bytes).substr(0, n)); }), "") << n;
  EXPECT_NE(error_of([&] { request_of(bytes + "x"); }), "");
}

TEST(Wire, WhatNoWorkerAsksIsRefused) {
  const auto refused = [](auto change) {
    Request request = some_request();
    change(request);
    const std::string bytes = to_bytes(request);
    try {
      request_of(bytes);
      return false;
    } catch (const Error& error) {
      return error.message().starts_with("given " + std::to_string(bytes.size()) +
                                         " bytes that are no request");
    }
  };
  EXPECT_FALSE(refused([](Request&) {}));
  EXPECT_TRUE(refused([](Request& r) { r.ask = static_cast<Ask>(0); }));
  EXPECT_TRUE(refused([](Request& r) { r.ask = static_cast<Ask>(6); }));
  for (const int dtype : {-1, 8, 11, 13, 100})
    EXPECT_TRUE(refused([dtype](Request& r) { r.dtype = static_cast<DType>(dtype); })) << dtype;
  EXPECT_TRUE(refused([](Request& r) { r.storage = StorageType::kCSR; }));
  EXPECT_TRUE(refused([](Request& r) { r.shape = Shape(); })) << "of an array";
  EXPECT_TRUE(refused([](Request& r) { r.shape = Shape{3, -1}; }));
  EXPECT_FALSE(refused([](Request& r) { r.shape = Shape::scalar(); }));
  EXPECT_TRUE(refused([](Request& r) {
    r.shape = Shape::scalar();
    r.storage = StorageType::kRowSparse;
  }));
  constexpr int64_t kHalf = int64_t{1} << 32;
  EXPECT_TRUE(refused([](Request& r) { r.shape = Shape{kHalf, kHalf}; })) << "its size";
  EXPECT_TRUE(refused([](Request& r) { r.shape = Shape{kHalf, 0, kHalf}; })) << "of a part";
  EXPECT_FALSE(refused([](Request& r) {
    r.ask = Ask::kCommand;
    r.shape = Shape();
  }));
}

TEST(Wire, RowsComeBackAndDamagedOnesAreRefused) {
  const Shape shape{6, 2};
  const NDArray rows = make_row_sparse(shape, {1, 2, 3, 4}, {1, 4});
  const NDArray back(StorageType::kRowSparse, shape, DType::kFloat32, Device::cpu());
  rows.wait_to_read();
  const std::vector<char> bytes = pack_rows(rows);
  unpack_rows({bytes.data(), bytes.size()}, back);
  EXPECT_EQ(pack_rows(back), bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_NE(error_of([&] { unpack_rows({bytes.data(), n}, back); }), "") << n;
  std::vector<char> wrong = bytes;
  wrong[8] = 9;  // a row outside of the shape
  EXPECT_NE(error_of([&] { unpack_rows({wrong.data(), wrong.size()}, back); }), "");
}

}  // namespace
}  // namespace mxnet::kvstore
