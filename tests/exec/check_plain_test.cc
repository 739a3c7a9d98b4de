// SPDX-License-Identifier: Apache-2.0
// MXNET_ONEDNN_DEBUG: kernels of oneDNN beside the plain ones.
#include "exec/check_plain.h"

#include <gtest/gtest.h>

#include "exec/arrays.h"
#include "op/op_builder.h"
#include "setting.h"

namespace mxnet {
namespace {

// Doubles its input; the kernel that calls itself oneDNN's adds what the parameter says.
struct OffParams {
  float off;
};
MX_OP(_test_off, OffParams)
.doc("Twice the input, plus an error of the first kernel.")
    .input("data", "The array.")
    .param("off", &OffParams::off, 0.0f, "The error.")
    .infer([](const OffParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); })
    .inplace(0, 0)
    .cpu(
        [](const OffParams& params, KernelContext& context) {
          for (int64_t i = 0; i < context.out(0).size(); ++i)
            context.out(0).as<float>()[i] = 2 * context.in(0).as<float>()[i] + params.off;
        },
        [](const OffParams&, const Signature&) { return true; }, "onednn")
    .cpu([](const OffParams&, KernelContext& context) {
      for (int64_t i = 0; i < context.out(0).size(); ++i)
        context.out(0).as<float>()[i] = 2 * context.in(0).as<float>()[i];
    });

class OnednnDebug : public ::testing::Test {
 protected:
  const Setting debug_{"MXNET_ONEDNN_DEBUG", "1"};
};

std::string error_with(const char* off) {
  return error_of([&] {
    NDArray x = array_of({1, 2, 3});
    values_of(call("_test_off", {&x}, {{"off", off}}));
  });
}

TEST_F(OnednnDebug, AKernelThatDiffersFromThePlainOneIsAnError) {
  const std::string text = error_with("0.5");
  EXPECT_TRUE(contains(text, "_test_off")) << text;
  EXPECT_TRUE(contains(text, "element 0 of output 0 is 2.5 from oneDNN and 2 from the plain"))
      << text;
  const Setting off("MXNET_ONEDNN_DEBUG", "0");
  EXPECT_EQ(error_with("0.5"), "no error");
}

TEST_F(OnednnDebug, RoundingIsNoDifference) {
  EXPECT_EQ(error_with("0.0001"), "no error");
  NDArray x = array_of({1, 2, 3});
  EXPECT_EQ(values_of(call("_test_off", {&x})), (Values{2, 4, 6}));
}

TEST_F(OnednnDebug, InputsThatWereOverwrittenAreNotReadAgain) {
  NDArray x = array_of({1, 2, 3});
  call_into(x, "_test_off", {&x}, {{"off", "1"}});
  EXPECT_EQ(values_of(x), (Values{3, 5, 7}));
}

}  // namespace
}  // namespace mxnet
