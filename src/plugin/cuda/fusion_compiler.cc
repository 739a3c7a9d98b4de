// SPDX-License-Identifier: Apache-2.0
// The calls of NVRTC, and files named by a hash of everything that the result depends on.
#include "plugin/cuda/fusion_compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <cuda_runtime_api.h>
#include <nvrtc.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace mxnet::cuda {
namespace {

// FNV-1a: names files, protects nothing.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Whole or not at all: other processes may read and write the same name. A cache that cannot be
// written only costs time.
void write_file(const std::string& path, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string draft = fmt::format("{}.{}", path, getpid());
  {
    std::ofstream file(draft, std::ios::binary);
    file << text;
    if (!file) return;
  }
  std::filesystem::rename(draft, path, ignored);
}

}  // namespace

struct FusionCompiler::Functions {
  decltype(&nvrtcVersion) version;
  decltype(&nvrtcGetNumSupportedArchs) count_archs;
  decltype(&nvrtcGetSupportedArchs) archs;
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetPTXSize) ptx_size;
  decltype(&nvrtcGetPTX) ptx;
  decltype(&nvrtcGetErrorString) error_text;
};

FusionCompiler::FusionCompiler(std::string cache_folder) : cache_folder_(std::move(cache_folder)) {
  const std::string versioned = fmt::format("libnvrtc.so.{}", CUDART_VERSION / 1000);
  void* library = nullptr;
  for (const std::string& name :
       {versioned, std::string("/usr/local/cuda/lib64/") + versioned, std::string("libnvrtc.so")})
    if (library == nullptr) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why_not_ = fmt::format("{} was not found (it comes with the CUDA toolkit)", versioned);
    return;
  }
  auto functions = std::make_unique<Functions>();
  bool complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete &= function != nullptr;
  };
  find(functions->version, "nvrtcVersion");
  find(functions->count_archs, "nvrtcGetNumSupportedArchs");
  find(functions->archs, "nvrtcGetSupportedArchs");
  find(functions->create, "nvrtcCreateProgram");
  find(functions->compile, "nvrtcCompileProgram");
  find(functions->destroy, "nvrtcDestroyProgram");
  find(functions->log_size, "nvrtcGetProgramLogSize");
  find(functions->log, "nvrtcGetProgramLog");
  find(functions->ptx_size, "nvrtcGetPTXSize");
  find(functions->ptx, "nvrtcGetPTX");
  find(functions->error_text, "nvrtcGetErrorString");
  if (!complete || functions->version(&major_, &minor_) != NVRTC_SUCCESS) {
    why_not_ = versioned + " lacks functions that this build needs";
    dlclose(library);
    return;
  }
  library_ = library;
  functions_ = functions.release();
}

FusionCompiler::~FusionCompiler() {
  delete functions_;
  if (library_ != nullptr) dlclose(library_);
}

std::vector<int> FusionCompiler::architectures() const {
  int count = 0;
  if (functions_ == nullptr || functions_->count_archs(&count) != NVRTC_SUCCESS) return {};
  std::vector<int> result(static_cast<std::size_t>(count));
  if (functions_->archs(result.data()) != NVRTC_SUCCESS) return {};
  return result;
}

std::string FusionCompiler::cache_file(const std::string& source, int architecture) const {
  const std::string all = fmt::format("{}|{}.{}|{}", architecture, major_, minor_, source);
  return fmt::format("{}/{:016x}-{:x}.ptx", cache_folder_, hash_of(all), source.size());
}

CompileResult FusionCompiler::compile(const std::string& source, int architecture) const {
  CompileResult result;
  if (functions_ == nullptr) {
    result.error = why_not_;
    return result;
  }
  const bool cached = !cache_folder_.empty();
  const std::string file = cached ? cache_file(source, architecture) : "";
  // What was cut short by a full disk does not end as PTX does.
  if (cached) result.ptx = read_file(file);
  if (result.ptx.find("\n}") != std::string::npos) return result;
  result.ptx.clear();

  nvrtcProgram program;
  nvrtcResult status =
      functions_->create(&program, source.c_str(), "fused.cu", 0, nullptr, nullptr);
  if (status != NVRTC_SUCCESS) {
    result.error = functions_->error_text(status);
    return result;
  }
  const std::string arch = fmt::format("--gpu-architecture=compute_{}", architecture);
  const char* options[] = {arch.c_str(), "--std=c++17", "-default-device"};
  status = functions_->compile(program, 3, options);
  std::size_t size = 0;
  if (status == NVRTC_SUCCESS && functions_->ptx_size(program, &size) == NVRTC_SUCCESS) {
    result.ptx.resize(size);
    functions_->ptx(program, result.ptx.data());
    while (!result.ptx.empty() && result.ptx.back() == '\0') result.ptx.pop_back();
  } else {
    functions_->log_size(program, &size);
    result.error.resize(size);
    functions_->log(program, result.error.data());
  }
  functions_->destroy(&program);
  if (cached && !result.ptx.empty()) write_file(file, result.ptx);
  return result;
}

}  // namespace mxnet::cuda
