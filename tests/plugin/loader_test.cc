// SPDX-License-Identifier: Apache-2.0
// The loader against plug-ins that are right and wrong in every way that a user may meet.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/plugin_loader.h"
#include "no_resources.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

std::string fake(const std::string& behaviour) {
  return path_beside_this_library("libfake_" + behaviour + ".so");
}

// The message with which loading `path` fails; empty if it does not.
std::string failure_of(const std::string& path) {
  try {
    load_plugin(path);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kGeneric);
    EXPECT_EQ(e.tag(), "plug-in");
    return e.message();
  }
  return "";
}

testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (message.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "no '" << part << "' in: " << message;
    }
  }
  return testing::AssertionSuccess();
}

TEST(PluginLoader, LooksBesideItself) {
  const std::string path = path_beside_this_library("libx.so");
  EXPECT_TRUE(path.ends_with("/libx.so"));
  EXPECT_TRUE(path_beside_this_library("").ends_with("/"));
}

TEST(PluginLoader, LoadsARightOne) {
  const PluginTable& table = load_plugin(fake("ok"));
  EXPECT_EQ(table.abi_version, kPluginAbiVersion);
  EXPECT_STREQ(table.description, "fake");
  EXPECT_EQ(&load_plugin(fake("ok")), &table);
}

TEST(PluginLoader, MissingFileSaysWhatToInstall) {
  EXPECT_TRUE(says(failure_of(fake("nowhere")),
                   {fake("nowhere"), "does not exist", "install", "MXNET_BUILD_CUDA"}));
}

TEST(PluginLoader, FileThatIsNoLibraryIsAnError) {
  EXPECT_TRUE(says(failure_of("/proc/self/status"), {"cannot load", "/proc/self/status"}));
}

TEST(PluginLoader, UnresolvedNameIsAnErrorAtOnce) {
  EXPECT_TRUE(
      says(failure_of(fake("unresolved")), {"cannot load", "mxnet_name_that_does_not_exist"}));
}

TEST(PluginLoader, LibraryWithoutEntryIsAnError) {
  EXPECT_TRUE(says(failure_of(fake("not_a_plugin")), {"not a plug-in", kPluginEntry}));
}

TEST(PluginLoader, PluginWithoutTableIsAnError) {
  EXPECT_TRUE(says(failure_of(fake("no_table")), {"no table"}));
}

TEST(PluginLoader, OtherAbiVersionIsAnErrorThatNamesBoth) {
  EXPECT_TRUE(says(
      failure_of(fake("wrong_abi")),
      {std::to_string(kPluginAbiVersion), std::to_string(kPluginAbiVersion + 1), "same build"}));
}

TEST(PluginLoader, PluginFromOtherHeadersIsAnError) {
  EXPECT_TRUE(says(failure_of(fake("wrong_tree")), {"built from headers", "same build"}));
}

TEST(PluginBorder, CreateMayThrowError) {
  try {
    load_plugin(fake("no_driver")).create();
    FAIL() << "expected the plug-in's error";
  } catch (const Error& e) {
    EXPECT_EQ(e.tag(), "fake");
    EXPECT_EQ(e.message(), "no driver was found");
  }
}

TEST(PluginBorder, VirtualCallsLandInThePlugin) {
  const std::unique_ptr<DeviceApi> api(load_plugin(fake("ok")).create());
  EXPECT_STREQ(api->name(), "fake");
  EXPECT_EQ(api->device_count(), 3);
  EXPECT_EQ(api->properties(0).name, "Fake GPU");
  EXPECT_EQ(api->memory_info(0).total, 4096u);
  int ran = 0;
  api->host_call(0, nullptr, [&ran] { ran = 7; });  // a closure of ours, run over there
  EXPECT_EQ(ran, 7);
}

TEST(PluginBorder, ErrorKeepsItsCodeAndTagOnTheWay) {
  const std::unique_ptr<DeviceApi> api(load_plugin(fake("ok")).create());
  try {
    api->synchronize(0, static_cast<NativeStream*>(nullptr));
    FAIL() << "expected the plug-in's error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kIndex);
    EXPECT_EQ(e.tag(), "fake");
    EXPECT_NE(std::string(e.where().file_name()).find("fake_plugin.cc"), std::string::npos);
  }
}

TEST(PluginBorder, FailedAssertionInThePluginIsAnInternalError) {
  const std::unique_ptr<DeviceApi> api(load_plugin(fake("ok")).create());
  try {
    api->synchronize(0, static_cast<NativeEvent*>(nullptr));
    FAIL() << "expected an assertion";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInternal);
  }
}

TEST(PluginBorder, ErrorOfOursCrossesThePluginsFrames) {
  const std::unique_ptr<DeviceApi> api(load_plugin(fake("ok")).create());
  EXPECT_THROW(
      api->host_call(0, nullptr, [] { throw Error(ErrorCode::kType, "kernel", "from our side"); }),
      Error);
}

TEST(PluginBorder, KernelsAreListedByOperatorAndRunLikeOurs) {
  const GpuTable* table = load_plugin(fake("ok")).kernels;
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->kernels.size(), 1u);
  EXPECT_STREQ(table->kernels[0].op, "negative");
  EXPECT_EQ(table->binary, nullptr);  // a primitive that it lacks
  float x[] = {1, -2, 3}, y[3] = {};
  const Shape shape{3};
  const Tensor in{x, &shape, DType::kFloat32}, out{y, &shape, DType::kFloat32};
  NoResources resources;
  KernelContext context({&in, 1}, {&out, 1}, Device::gpu(0), nullptr, false, resources);
  table->kernels[0].run(nullptr, context);
  EXPECT_EQ(y[0], -1);
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[2], -3);
}

}  // namespace
}  // namespace mxnet
