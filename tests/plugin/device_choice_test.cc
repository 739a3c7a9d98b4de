// SPDX-License-Identifier: Apache-2.0
// What a program that links libmxnet.so gets when it asks for a GPU: each case is a process of its
// own, with a folder that holds the library and whatever plug-in the case is about.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "paths.h"

namespace mxnet {
namespace {

namespace fs = std::filesystem;

class DeviceChoice : public testing::Test {
 protected:
  DeviceChoice() {
    std::string name = (fs::temp_directory_path() / "mxnet-choice-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fs::create_symlink(test_path("libmxnet"), folder_ / "libmxnet.so");
  }
  ~DeviceChoice() override { fs::remove_all(folder_); }

  void put_plugin(const fs::path& file) { fs::create_symlink(file, folder_ / "libmxnet_cuda.so"); }
  void put_fake(const std::string& behaviour) {
    put_plugin(fs::path(test_path("fakes")) / ("libfake_" + behaviour + ".so"));
  }

  // What gpu_probe prints.
  std::string probe(const std::string& variables = "") const {
    const std::string command =
        "env -u MXNET_SIM_GPUS -u MXNET_SIM_GPU_MEMORY_BYTES LD_LIBRARY_PATH=" + folder_.string() +
        ":$LD_LIBRARY_PATH " + variables + " " + test_path("gpu_probe");
    FILE* pipe = popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    std::string output;
    std::array<char, 256> part;
    while (fgets(part.data(), part.size(), pipe) != nullptr) output += part.data();
    EXPECT_EQ(pclose(pipe), 0) << output;
    return output;
  }

 private:
  fs::path folder_;
};

// Both answers of the probe, and the host's, which never depends on GPUs.
std::string twice(const std::string& line) { return line + "\n" + line + "\nhost cpu\n"; }

TEST_F(DeviceChoice, PluginBesideTheLibraryIsFound) {
  put_fake("ok");
  EXPECT_EQ(probe(), twice("api fake devices 3 memory 4096"));
}

TEST_F(DeviceChoice, WithoutPluginTheErrorSaysWhatToInstall) {
  const std::string output = probe();
  EXPECT_NE(output.find("error MXNetError: [plug-in]"), std::string::npos) << output;
  EXPECT_NE(output.find("libmxnet_cuda.so does not exist: install"), std::string::npos) << output;
}

TEST_F(DeviceChoice, PluginThatFindsNoDriverIsToldEveryTime) {
  put_fake("no_driver");
  EXPECT_EQ(probe(), twice("error MXNetError: [fake] no driver was found"));
}

TEST_F(DeviceChoice, ForeignExceptionOfAPluginBecomesAnError) {
  put_fake("throws_other");
  EXPECT_EQ(probe(), twice("error MXNetError: [gpu] a library's own exception"));
}

TEST_F(DeviceChoice, SimulatorComesBeforeAnyPlugin) {
  put_fake("throws_other");  // would tell if it were touched
  EXPECT_EQ(probe("MXNET_SIM_GPUS=2"), twice("api sim devices 2 memory 1073741824"));
  EXPECT_EQ(probe("MXNET_SIM_GPUS=1 MXNET_SIM_GPU_MEMORY_BYTES=2097152"),
            twice("api sim devices 1 memory 2097152"));
}

TEST_F(DeviceChoice, BadVariableFailsEveryCall) {
  const std::string output = probe("MXNET_SIM_GPUS=many");
  const std::size_t first = output.find("error ValueError");
  ASSERT_NE(first, std::string::npos) << output;
  EXPECT_NE(output.find("error ValueError", first + 1), std::string::npos) << output;
  EXPECT_NE(output.find("MXNET_SIM_GPUS"), std::string::npos) << output;
}

TEST_F(DeviceChoice, RealPluginFindsAGpuOrSaysWhyNot) {
  if (!fs::exists(test_path("cuda_plugin"))) GTEST_SKIP() << "built without a CUDA toolkit";
  put_plugin(test_path("cuda_plugin"));
  const std::string output = probe();
  const bool found = output.find("api cuda devices ") != std::string::npos;
  const bool explained = output.find("[cuda] no NVIDIA driver was found") != std::string::npos ||
                         output.find("[cuda] the NVIDIA driver ") != std::string::npos;
  EXPECT_TRUE(found || explained) << output;
}

}  // namespace
}  // namespace mxnet
