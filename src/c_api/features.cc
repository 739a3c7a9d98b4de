// SPDX-License-Identifier: Apache-2.0
// MXLibInfoFeatures: the names and the order are those of the reference, the values are true of
// this build and machine. Where a name is that of a library, programs ask whether what it is for
// is there (OPENCV: images are decoded), and that is what is answered.
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "base/build_type.h"
#include "base/cpu_info.h"
#include "c_api/guard.h"
#include "mxnet/c_api.h"

using namespace mxnet;

namespace {

// Installed beside this library. Asking for a device would load the driver, which no `import mxnet`
// should.
bool has_plugin(const char* file) {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&MXLibInfoFeatures), &info) == 0) return false;
  const std::string self = info.dli_fname;
  const std::size_t slash = self.rfind('/');
  const std::string folder = slash == std::string::npos ? "./" : self.substr(0, slash + 1);
  return ::access((folder + file).c_str(), R_OK) == 0;
}

constexpr std::size_t kCount = 32;

const LibFeature (&features())[kCount] {
  const CpuFeatures& cpu = cpu_features();
  // clang-format off
  static const LibFeature table[kCount] = {
      {"CUDA", has_plugin("libmxnet_cuda.so")}, {"CUDNN", false}, {"NCCL", false}, {"CUDA_RTC", false},
      {"TENSORRT", false},
      {"CPU_SSE", cpu.sse}, {"CPU_SSE2", cpu.sse2}, {"CPU_SSE3", cpu.sse3}, {"CPU_SSE4_1", cpu.sse4_1},
      {"CPU_SSE4_2", cpu.sse4_2}, {"CPU_SSE4A", cpu.sse4a}, {"CPU_AVX", cpu.avx}, {"CPU_AVX2", cpu.avx2},
      {"OPENMP", true}, {"SSE", cpu.sse}, {"F16C", cpu.f16c},
      {"JEMALLOC", false}, {"BLAS_OPEN", true}, {"BLAS_ATLAS", false}, {"BLAS_MKL", false}, {"BLAS_APPLE", false},
      {"LAPACK", true}, {"MKLDNN", true}, {"OPENCV", true}, {"CAFFE", false}, {"PROFILER", true},
      {"DIST_KVSTORE", has_plugin("libmxnet_mpi.so")}, {"CXX14", true}, {"INT64_TENSOR_SIZE", true},
      {"SIGNAL_HANDLER", true}, {"DEBUG", kDebugBuild}, {"TVM_OP", false}};
  // clang-format on
  return table;
}

}  // namespace

int MXLibInfoFeatures(const struct LibFeature** libFeature, size_t* size) {
  return c_api::guarded([&] {
    c_api::require(libFeature, "MXLibInfoFeatures", "libFeature");
    c_api::require(size, "MXLibInfoFeatures", "size");
    *libFeature = features();
    *size = kCount;
  });
}
