// SPDX-License-Identifier: Apache-2.0
// NVRTC: from CUDA C++ to PTX at run time, with a cache on disk. The library is opened when first
// used; a machine without it runs operators one by one.
#pragma once
#include <string>
#include <vector>

namespace mxnet::cuda {

struct CompileResult {
  std::string ptx;    // empty if it failed
  std::string error;  // NVRTC's log, or what is missing
};

// Thread-safe.
class FusionCompiler {
 public:
  // Opens NVRTC where the system finds it. `cache_folder` empty: nothing is kept.
  explicit FusionCompiler(std::string cache_folder);
  ~FusionCompiler();
  FusionCompiler(const FusionCompiler&) = delete;
  FusionCompiler& operator=(const FusionCompiler&) = delete;

  bool available() const { return library_ != nullptr; }
  const std::string& why_not() const { return why_not_; }
  // Numbers of architectures that it knows: 80, 90, ...; ascending.
  std::vector<int> architectures() const;
  // From the cache if it has been compiled before by this version for this architecture.
  CompileResult compile(const std::string& source, int architecture) const;
  // Where the PTX of this source is kept.
  std::string cache_file(const std::string& source, int architecture) const;

 private:
  struct Functions;
  void* library_ = nullptr;
  Functions* functions_ = nullptr;
  int major_ = 0, minor_ = 0;
  std::string cache_folder_, why_not_;
};

}  // namespace mxnet::cuda
