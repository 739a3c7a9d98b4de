// SPDX-License-Identifier: Apache-2.0
// Source of GPU kernels to code for one architecture.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace mxnet::cuda {

struct CompileRequest {
  std::string source;
  std::string name = "mxnet.cu";     // for messages
  int architecture = 0;              // 90 = compute capability 9.0
  std::vector<std::string> options;  // beside those for architecture and language
  std::vector<std::string> exports;  // C++ names, of templates too, that will be looked up
  bool ptx = false;                  // else machine code

  // All that the code depends on, the toolkit included, in one text.
  std::string key() const;
};

struct CompiledCode {
  std::string image;                           // PTX or cubin
  std::map<std::string, std::string> lowered;  // per export: its name in the image

  // As one piece of text, and back. The second returns false for text that is not whole.
  std::string to_bytes() const;
  static bool from_bytes(const std::string& bytes, CompiledCode* code);
};

// Throws Error(kValue) with the compiler's log where the source is at fault. Thread-safe.
CompiledCode compile(const CompileRequest& request);

// From the disk cache of the configuration, else compiled and kept there.
CompiledCode compile_cached(const CompileRequest& request);

}  // namespace mxnet::cuda
