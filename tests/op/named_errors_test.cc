// SPDX-License-Identifier: Apache-2.0
// What becomes of errors on their way out of an operator.
#include "op/named_errors.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "engine/engine.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

const OpDef& relu() { return Registry::get().at("relu"); }

// What relu says when a step of it throws this.
template <class E>
Error told(const E& thrown) {
  try {
    told_by(relu(), [&] { throw thrown; });
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kInternal, "nothing was thrown"};
}

TEST(NamedErrors, WhatHasNoNameGetsTheOperators) {
  const Error error = told(Error(ErrorCode::kType, "given x, expected y"));
  EXPECT_STREQ(error.what(), "TypeError: [relu] given x, expected y");
}

TEST(NamedErrors, TheOperatorsOwnNameStays) {
  const Error error = told(Error(ErrorCode::kValue, "relu", "given x, expected y"));
  EXPECT_STREQ(error.what(), "ValueError: [relu] given x, expected y");
}

TEST(NamedErrors, TheNameOfAHelperGivesWay) {
  const Error error = told(Error(ErrorCode::kIndex, "a helper", "given x, expected y"));
  EXPECT_STREQ(error.what(), "IndexError: [relu] given x, expected y");
}

TEST(NamedErrors, AnOperatorWithinThisOneIsStillNamed) {
  const Error error = told(Error(ErrorCode::kValue, "dot", "given x, expected y"));
  EXPECT_STREQ(error.what(), "ValueError: [relu] dot: given x, expected y");
}

TEST(NamedErrors, ANodeWithinThisOneIsStillNamed) {
  const Error error = told(Error(ErrorCode::kValue, "hidden(dot)", "given x, expected y"));
  EXPECT_STREQ(error.what(), "ValueError: [relu] hidden(dot): given x, expected y");
}

TEST(NamedErrors, ParenthesesAloneAreNoNode) {
  const Error error = told(Error(ErrorCode::kValue, "a helper(of nothing)", "given x, expected y"));
  EXPECT_STREQ(error.what(), "ValueError: [relu] given x, expected y");
}

TEST(NamedErrors, ANodeIsNamedOnce) {
  try {
    try {
      throw Error(ErrorCode::kValue, "hidden(relu)", "given x, expected y");
    } catch (...) {
      rethrow_told_by(relu(), "hidden(relu)");
    }
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "ValueError: [hidden(relu)] given x, expected y");
  }
}

TEST(NamedErrors, ADeviceWithoutMemoryIsStillNamed) {
  const Error error = told(Error(ErrorCode::kOutOfMemory, "cpu(0)", "out of memory"));
  EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(error.message(), "cpu(0): out of memory");
}

TEST(NamedErrors, ExceptionsOfLibrariesBecomeErrorsOfTheOperator) {
  EXPECT_STREQ(told(std::length_error("vector")).what(), "MXNetError: [relu] vector");
  EXPECT_EQ(told(std::bad_alloc()).code(), ErrorCode::kOutOfMemory);
}

TEST(NamedErrors, WhatTheEngineComplainsOfIsNotTheOperators) {
  const Error error = told(Error(ErrorCode::kGeneric, kEngineTag, "given an interrupt"));
  EXPECT_STREQ(error.what(), "MXNetError: [engine] given an interrupt");
}

TEST(NamedErrors, ANodeTellsUnderItsOwnName) {
  const auto told_by_node = [](const char* tag) {
    try {
      try {
        throw Error(ErrorCode::kValue, tag, "given x, expected y");
      } catch (...) {
        rethrow_told_by(relu(), "first(relu)");
      }
    } catch (const Error& error) {
      return error.what() + std::string();
    }
  };
  EXPECT_EQ(told_by_node("relu"), "ValueError: [first(relu)] given x, expected y");
  EXPECT_EQ(told_by_node("dot"), "ValueError: [first(relu)] dot: given x, expected y");
}

// What relu says as a node, with the circumstances of the failure behind it.
template <class E>
std::string told_with_circumstances(const E& thrown) {
  try {
    try {
      throw thrown;
    } catch (...) {
      rethrow_told_by(relu(), "first(relu)", [] { return std::string(", after 3 steps"); });
    }
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(NamedErrors, CircumstancesStandBehindWhatWasSaid) {
  EXPECT_EQ(told_with_circumstances(Error(ErrorCode::kValue, "relu", "given x, expected y")),
            "ValueError: [first(relu)] given x, expected y, after 3 steps");
  EXPECT_EQ(told_with_circumstances(std::length_error("vector")),
            "MXNetError: [first(relu)] vector, after 3 steps");
}

TEST(NamedErrors, WhatTheEngineComplainsOfHasNoCircumstances) {
  EXPECT_EQ(told_with_circumstances(Error(ErrorCode::kGeneric, kEngineTag, "given an interrupt")),
            "MXNetError: [engine] given an interrupt");
}

TEST(NamedErrors, AResultPassesThrough) {
  EXPECT_EQ(told_by(relu(), [] { return 7; }), 7);
}

}  // namespace
}  // namespace mxnet
