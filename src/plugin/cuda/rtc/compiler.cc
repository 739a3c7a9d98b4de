// SPDX-License-Identifier: Apache-2.0
// One program of NVRTC a call; its log becomes the error's text.
#include "plugin/cuda/rtc/compiler.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "plugin/cuda/rtc/nvrtc.h"
#include "plugin/cuda/toolkit/disk_cache.h"

namespace mxnet::cuda {
namespace {

class Program {
 public:
  Program(const Nvrtc& nvrtc, const CompileRequest& request) : nvrtc_(nvrtc) {
    nvrtc_.check(nvrtc_.create_program(&program_, request.source.c_str(), request.name.c_str(), 0,
                                       nullptr, nullptr),
                 "nvrtcCreateProgram");
  }
  ~Program() { nvrtc_.destroy_program(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcProgram get() const { return program_; }
  // What `fill` writes into as many bytes as `size` says; a closing zero is cut off texts.
  template <class Size, class Fill>
  std::string bytes(Size size, Fill fill, const char* call, bool text) const {
    std::size_t count = 0;
    nvrtc_.check(size(program_, &count), call);
    std::string result(count, '\0');
    if (count > 0) nvrtc_.check(fill(program_, result.data()), call);
    if (text && !result.empty() && result.back() == '\0') result.pop_back();
    return result;
  }

 private:
  const Nvrtc& nvrtc_;
  nvrtcProgram program_ = nullptr;
};

std::vector<std::string> all_options(const CompileRequest& request) {
  std::vector<std::string> options = {
      fmt::format("--gpu-architecture={}_{}", request.ptx ? "compute" : "sm", request.architecture),
      "--std=c++17"};
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

// A length, then so many bytes.
void put(std::string* bytes, const std::string& text) {
  const uint64_t size = text.size();
  bytes->append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes->append(text);
}

bool take(const std::string& bytes, std::size_t* at, std::string* text) {
  uint64_t size = 0;
  if (bytes.size() - *at < sizeof(size)) return false;
  std::memcpy(&size, bytes.data() + *at, sizeof(size));
  *at += sizeof(size);
  if (bytes.size() - *at < size) return false;
  *text = bytes.substr(*at, size);
  *at += size;
  return true;
}

}  // namespace

std::string CompileRequest::key() const {
  std::string key = fmt::format("nvrtc {}", Nvrtc::get().version());
  for (const std::string& option : all_options(*this)) put(&key, option);
  for (const std::string& name : exports) put(&key, name);
  put(&key, source);
  return key;
}

std::string CompiledCode::to_bytes() const {
  std::string bytes;
  put(&bytes, image);
  for (const auto& [name, lower] : lowered) {
    put(&bytes, name);
    put(&bytes, lower);
  }
  return bytes;
}

bool CompiledCode::from_bytes(const std::string& bytes, CompiledCode* code) {
  std::size_t at = 0;
  if (!take(bytes, &at, &code->image)) return false;
  while (at < bytes.size()) {
    std::string name, lower;
    if (!take(bytes, &at, &name) || !take(bytes, &at, &lower)) return false;
    code->lowered[name] = lower;
  }
  return true;
}

CompiledCode compile(const CompileRequest& request) {
  const Nvrtc& nvrtc = Nvrtc::get();
  const Program program(nvrtc, request);
  for (const std::string& name : request.exports)
    nvrtc.check(nvrtc.add_name_expression(program.get(), name.c_str()), "nvrtcAddNameExpression");
  const std::vector<std::string> options = all_options(request);
  std::vector<const char*> pointers;
  pointers.reserve(options.size());
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const nvrtcResult result =
      nvrtc.compile_program(program.get(), static_cast<int>(pointers.size()), pointers.data());
  if (result != NVRTC_SUCCESS) {
    throw Error(ErrorCode::kValue, "rtc",
                fmt::format("given source that does not compile for compute capability {}.{} ({}): "
                            "{}",
                            request.architecture / 10, request.architecture % 10,
                            nvrtc.error_string(result),
                            program.bytes(nvrtc.log_size, nvrtc.log, "nvrtcGetProgramLog", true)));
  }
  CompiledCode code;
  code.image = request.ptx ? program.bytes(nvrtc.ptx_size, nvrtc.ptx, "nvrtcGetPTX", true)
                           : program.bytes(nvrtc.cubin_size, nvrtc.cubin, "nvrtcGetCUBIN", false);
  for (const std::string& name : request.exports) {
    const char* lowered = nullptr;
    nvrtc.check(nvrtc.lowered_name(program.get(), name.c_str(), &lowered), "nvrtcGetLoweredName");
    code.lowered[name] = lowered;
  }
  return code;
}

CompiledCode compile_cached(const CompileRequest& request) {
  const DiskCache cache = DiskCache::configured();
  const std::string key = request.key();
  CompiledCode code;
  if (const auto bytes = cache.get(key); bytes && CompiledCode::from_bytes(*bytes, &code))
    return code;
  code = compile(request);
  cache.put(key, code.to_bytes());
  return code;
}

}  // namespace mxnet::cuda
