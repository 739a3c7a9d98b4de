// SPDX-License-Identifier: Apache-2.0
// GPUs that are not there, as cuDNN's own text describes them: it offers engines and makes plans
// for them as for any other.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "plugin/cuda/dnn/cudnn.h"

namespace mxnet::cuda {

struct DescribedGpu {
  const char* name;
  int architecture;  // 900 = sm_90
  int processors;
  int shared_bytes;  // at most, of a block
  int cache_bytes;   // of the second level
  int blocks;        // at most, of a processor
  int clock_khz, memory_khz;
  int64_t memory_bytes;

  std::string json() const {
    return fmt::format(
        R"({{"version":1,"cudaDeviceId":0,"deviceVer":{},"driverVer":13000,"totalGlobalMem":{},)"
        R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
        R"("regsPerBlock":65536,"multiProcessorCount":{},"warpSize":32,)"
        R"("maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":{},)"
        R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":{},)"
        R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
        R"("supportCoopLaunch":1,"smClockRateKHz":{},"memClockRateKHz":{},"l2CacheSize":{},)"
        R"("deviceName":"{}"}})",
        architecture, memory_bytes, processors, shared_bytes, blocks, clock_khz, memory_khz,
        cache_bytes, name);
  }
};

inline const std::vector<DescribedGpu>& described_gpus() {
  static const std::vector<DescribedGpu> gpus{
      {"NVIDIA A100-SXM4-80GB", 800, 108, 166912, 41943040, 32, 1410000, 1593000, 84987740160},
      {"NVIDIA H100 80GB HBM3", 900, 132, 232448, 52428800, 32, 1980000, 2619000, 84942979072},
      {"NVIDIA B200", 1000, 148, 232448, 132644864, 32, 1965000, 3996000, 191514607616}};
  return gpus;
}

// Only where cuDNN is new enough to take such texts.
class OnDescribedGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (CUDNN_VERSION < 91300) GTEST_SKIP() << "built with cuDNN " << CUDNN_VERSION;
    try {
      if (const auto version = Cudnn::get().version(); version < 91300)
        GTEST_SKIP() << "cuDNN " << version << ", expected 9.13 or later";
    } catch (const Error& error) {
      GTEST_SKIP() << error.message();
    }
  }
};

}  // namespace mxnet::cuda
