// SPDX-License-Identifier: Apache-2.0
// Warnings about libraries of other versions than those of the build.
#include "plugin/cuda/toolkit/library_versions.h"
#include "base/config.h"

#include <gtest/gtest.h>

namespace mxnet::cuda {
namespace {

template <class F>
std::string log_of(const F& call) {
  ::testing::internal::CaptureStderr();
  call();
  return ::testing::internal::GetCapturedStderr();
}

TEST(LibraryVersions, OlderAndOtherMajorOnesAreToldFromNewerMinorOnes) {
  EXPECT_EQ(version_warning("X", {9, 12}, {9, 12}), "");
  EXPECT_EQ(version_warning("X", {9, 12}, {9, 14}), "");
  EXPECT_NE(version_warning("X", {9, 12}, {9, 11}).find("found 9.11"), std::string::npos);
  EXPECT_NE(version_warning("X", {9, 12}, {8, 14}).find("may lack"), std::string::npos);
  EXPECT_NE(version_warning("X", {9, 12}, {10, 0}).find("may have changed"), std::string::npos);
}

TEST(LibraryVersions, AnotherCudaThanTheBuildsIsWarnedAbout) {
  CudaConfig config;
  const auto said = [&](LibraryVersion driver) {
    return log_of([&] { check_cuda_version(config, {13, 0}, driver); });
  };
  EXPECT_NE(said({12, 8}).find("built with CUDA 13.0, found 12.8"), std::string::npos);
  EXPECT_EQ(said({13, 0}), "");
  EXPECT_EQ(said({14, 1}), "") << "drivers serve older programs";
  config.lib_checking = false;
  EXPECT_EQ(said({12, 8}), "");
}

TEST(LibraryVersions, AnotherCudnnThanTheBuildsIsWarnedAbout) {
  CudaConfig config;
  const auto said = [&](LibraryVersion found) {
    return log_of([&] { check_cudnn_version(config, {9, 12}, found); });
  };
  EXPECT_NE(said({9, 1}).find("MXNET_CUDNN_LIB_CHECKING=0"), std::string::npos);
  EXPECT_NE(said({10, 0}).find("found 10.0"), std::string::npos);
  EXPECT_EQ(said({9, 13}), "");
  config.cudnn_lib_checking = false;
  EXPECT_EQ(said({9, 1}), "");
}

}  // namespace
}  // namespace mxnet::cuda
