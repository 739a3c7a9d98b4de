// SPDX-License-Identifier: Apache-2.0
// The run-time compiler by itself.
#include "plugin/cuda/rtc/compiler.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "plugin/cuda/rtc/chain_kernels.h"
#include "plugin/cuda/rtc/nvrtc.h"
#include "plugin/cuda/toolkit/library.h"

namespace mxnet::cuda {
namespace {

template <class F>
std::string error_of(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

CompileRequest request(const std::string& source, int architecture, bool ptx) {
  return {.source = source,
          .name = "test.cu",
          .architecture = architecture,
          .options = {},
          .exports = {},
          .ptx = ptx};
}

TEST(Compiler, MakesPtxAndMachineCode) {
  const std::string source = "extern \"C\" __global__ void twice(float* x) { x[0] *= 2; }";
  const CompiledCode ptx = compile(request(source, 90, true));
  EXPECT_NE(ptx.image.find(".target sm_90"), std::string::npos);
  EXPECT_NE(ptx.image.find(".entry twice"), std::string::npos);
  const CompiledCode cubin = compile(request(source, 80, false));
  EXPECT_EQ(cubin.image.substr(1, 3), "ELF");
}

TEST(Compiler, NamesOfExportsAreLookedUp) {
  CompileRequest asked =
      request("template <class T> __global__ void scale(T* x, T by) { x[0] *= by; }", 90, true);
  asked.exports = {"scale<float>", "scale<double>"};
  CompiledCode code = compile(asked);
  EXPECT_NE(code.image.find(code.lowered.at("scale<float>")), std::string::npos);
  EXPECT_NE(code.lowered.at("scale<float>"), code.lowered.at("scale<double>"));
  CompiledCode again;
  ASSERT_TRUE(CompiledCode::from_bytes(code.to_bytes(), &again));
  EXPECT_EQ(again.image, code.image);
  EXPECT_EQ(again.lowered, code.lowered);
  const std::string bytes = code.to_bytes();
  EXPECT_FALSE(CompiledCode::from_bytes(bytes.substr(0, bytes.size() - 1), &again));
  EXPECT_FALSE(CompiledCode::from_bytes("", &again));
}

TEST(Compiler, ErrorsHoldTheLog) {
  const std::string message =
      error_of([] { compile(request("__global__ void f() { nonsense; }", 90, true)); });
  EXPECT_NE(message.find("test.cu(1)"), std::string::npos) << message;
  EXPECT_NE(message.find("nonsense"), std::string::npos) << message;
  EXPECT_NE(message.find("compute capability 9.0"), std::string::npos) << message;
}

TEST(Compiler, KeysTellRequestsApart) {
  const CompileRequest base = request("a", 90, true);
  CompileRequest other = base;
  EXPECT_EQ(base.key(), other.key());
  other.source = "b";
  EXPECT_NE(base.key(), other.key());
  other = base;
  other.architecture = 80;
  EXPECT_NE(base.key(), other.key());
  other = base;
  other.ptx = false;
  EXPECT_NE(base.key(), other.key());
  other = base;
  other.options = {"--fmad=false"};
  EXPECT_NE(base.key(), other.key());
  EXPECT_NE(base.key().find(std::to_string(Nvrtc::get().version())), std::string::npos);
}

TEST(Compiler, TargetsAreTheNewestThatIsKnown) {
  const std::vector<int> known = {75, 80, 90, 120};
  EXPECT_EQ(compile_target(90, known).architecture, 90);
  EXPECT_FALSE(compile_target(90, known).ptx);
  EXPECT_EQ(compile_target(89, known).architecture, 80);
  EXPECT_TRUE(compile_target(89, known).ptx);
  EXPECT_EQ(compile_target(130, known).architecture, 120);
  const std::string message = error_of([&] { compile_target(61, known); });
  EXPECT_NE(message.find("6.1"), std::string::npos) << message;
  EXPECT_NE(message.find("7.5"), std::string::npos) << message;
}

TEST(Compiler, AMissingLibrarySaysWhatItWasFor) {
  const std::string message = error_of([] {
    Library("a purpose", {"libnone.so.1", "libnone.so"});
  });
  for (const char* part :
       {"a purpose", "libnone.so.1, libnone.so", "cannot open", "LD_LIBRARY_PATH"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

}  // namespace
}  // namespace mxnet::cuda
