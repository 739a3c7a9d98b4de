// SPDX-License-Identifier: Apache-2.0
// How calls with sparse arrays are decided: by rules, else on dense copies, and what is logged.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "exec/sparse/sparse_arrays.h"
#include "op/sparse_op.h"
#include "setting.h"

namespace mxnet {
namespace {

using enum StorageType;

Dispatch decide(const char* name, const Attrs& attrs, std::vector<StorageType> in, StorageType* out,
                Device device = Device::cpu()) {
  const OpDef& op = Registry::get().at(name);
  std::vector<std::pair<std::string_view, std::string_view>> views(attrs.begin(), attrs.end());
  return infer_storage(op, op.parse(views).get(), device, {in, {out, 1}});
}

TEST(SparseDispatch, RulesTurnStorageTypesOfInputsIntoThoseOfOutputs) {
  struct Case {
    const char* op;
    Attrs attrs;
    std::vector<StorageType> in;
    StorageType out;
    Dispatch dispatch;
  };
  const Case cases[] = {
      {"abs", {}, {kCSR}, kCSR, Dispatch::kSparse},
      {"exp", {}, {kCSR}, kDense, Dispatch::kFallback},
      {"abs", {}, {kDense}, kDense, Dispatch::kDense},
      {"elemwise_add", {}, {kRowSparse, kDense}, kDense, Dispatch::kSparse},
      {"elemwise_mul", {}, {kDense, kCSR}, kCSR, Dispatch::kSparse},
      {"elemwise_mul", {}, {kRowSparse, kCSR}, kDense, Dispatch::kFallback},
      {"_plus_scalar", {{"scalar", "0"}}, {kRowSparse}, kRowSparse, Dispatch::kSparse},
      {"_plus_scalar", {{"scalar", "1"}}, {kRowSparse}, kDense, Dispatch::kFallback},
      {"dot", {}, {kCSR, kDense}, kDense, Dispatch::kSparse},
      {"dot", {{"transpose_a", "1"}}, {kCSR, kDense}, kRowSparse, Dispatch::kSparse},
      {"dot", {}, {kDense, kCSR}, kCSR, Dispatch::kSparse},
      {"dot", {{"forward_stype", "csr"}}, {kDense, kDense}, kCSR, Dispatch::kFallback},
      {"cast_storage", {{"stype", "csr"}}, {kDense}, kCSR, Dispatch::kSparse},
  };
  for (const Case& c : cases) {
    StorageType out = kUndefined;
    EXPECT_EQ(decide(c.op, c.attrs, c.in, &out), c.dispatch) << c.op;
    EXPECT_EQ(out, c.out) << c.op;
  }
}

TEST(SparseDispatch, GivenOutputsAreKeptOrFallBack) {
  StorageType out = kDense;
  EXPECT_EQ(decide("abs", {}, {kCSR}, &out), Dispatch::kFallback);
  EXPECT_EQ(out, kDense);
  EXPECT_EQ(decide("dot", {{"transpose_a", "1"}}, {kCSR, kDense}, &out), Dispatch::kSparse);
  EXPECT_EQ(out, kDense);
}

// Accelerators have no sparse kernels: theirs run in host memory.
TEST(SparseDispatch, ArraysOfAcceleratorsAreDispatchedAsTheCpus) {
  StorageType out = kUndefined;
  EXPECT_EQ(decide("abs", {}, {kCSR}, &out, Device::gpu(0)), Dispatch::kSparse);
  EXPECT_EQ(out, kCSR);
  EXPECT_EQ(decide("exp", {}, {kCSR}, &out, Device::gpu(0)), Dispatch::kFallback);
}

TEST(SparseDispatch, AFallbackGivesWhatTheDenseOperatorGives) {
  NDArray x = row_sparse_of({3, 2}, {1}, {2, 3});
  NDArray out = row_sparse_of({3, 2}, {0}, {9, 9});
  call_into(out, "_plus_scalar", {&x}, {{"scalar", "1"}});
  EXPECT_EQ(out.storage_type(), kRowSparse);
  EXPECT_EQ(elements_of(out), (Values{1, 1, 3, 4, 1, 1}));
  NDArray a = array_of({1, 2, 3, 4}, {2, 2});
  NDArray product = call("dot", {&a, &a}, {{"forward_stype", "row_sparse"}});
  EXPECT_EQ(product.storage_type(), kRowSparse);
  EXPECT_EQ(elements_of(product), (Values{7, 10, 15, 22}));
}

int count(const std::string& text, std::string_view part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(SparseConfig, FallbackIsLoggedOnceForACombination) {
  static bool logged_before = false;
  if (std::exchange(logged_before, true)) GTEST_SKIP() << "once in a process";
  NDArray x = row_sparse_of({3, 2}, {1}, {2, 3}), y = csr_of({1, 2}, {0, 1}, {0}, {1});
  const auto logged = [&](NDArray& array, const char* op) {
    testing::internal::CaptureStderr();
    call(op, {&array}).wait_to_read();
    return testing::internal::GetCapturedStderr();
  };
  const std::string text = logged(x, "cosh");
  EXPECT_EQ(count(text, "Storage type fallback detected"), 1) << text;
  EXPECT_EQ(count(text,
                  "operator = cosh\ninput storage types = [row_sparse]\noutput storage "
                  "types = [default]"),
            1)
      << text;
  EXPECT_EQ(logged(x, "cosh"), "");
  EXPECT_EQ(count(logged(y, "cosh"), "[csr]"), 1);
  EXPECT_EQ(logged(x, "sinh"), "");  // has a sparse kernel
  const Setting quiet("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0");
  EXPECT_EQ(logged(x, "arccosh"), "");
}

TEST(SparseConfig, VerboseLoggingShowsEveryDecision) {
  NDArray x = row_sparse_of({3, 2}, {1}, {2, 3});
  const auto logged = [&] {
    testing::internal::CaptureStderr();
    call("abs", {&x}).wait_to_read();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(logged(), "");
  const Setting verbose("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", "1");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(count(logged(),
                    "operator = abs\ninput storage types = [row_sparse]\noutput storage "
                    "types = [row_sparse]\ndevice = cpu(0)\ndispatch = sparse"),
              1);
  }
}

}  // namespace
}  // namespace mxnet
