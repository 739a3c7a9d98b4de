// SPDX-License-Identifier: Apache-2.0
// Runs one kernel of an operator on given arrays, and counts what it borrows.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "op/op_def.h"

namespace mxnet {

struct FloatArray {
  Shape shape;
  std::vector<float> values;
  explicit FloatArray(Shape s, float fill = 0)
      : shape(s), values(static_cast<std::size_t>(s.size()), fill) {}
  Tensor tensor() { return {values.data(), &shape, DType::kFloat32}; }
};

// Memory that counts itself.
class CountingResources final : public KernelResources {
 public:
  void* workspace(std::size_t bytes) override {
    total += bytes;
    blocks_.emplace_back(static_cast<char*>(std::aligned_alloc(64, (bytes / 64 + 1) * 64)));
    return blocks_.back().get();
  }
  Tensor make_out(int, const Shape&) override { std::abort(); }
  std::size_t total = 0;

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<char, Free>> blocks_;
};

// The kernel that takes the call, by name; runs it. `borrowed` gets its bytes of workspace.
inline std::string run_first(const char* op_name, AttrList attrs, std::vector<Tensor> in,
                             std::vector<Tensor> out, std::size_t* borrowed = nullptr) {
  const OpDef& op = Registry::get().at(op_name);
  const ParamsPtr params = op.parse(attrs);
  for (const KernelEntry& kernel : op.kernels()) {
    if (kernel.accepts && !kernel.accepts(params.get(), Signature{in, out, false})) continue;
    CountingResources resources;
    KernelContext context(in, out, Device::cpu(), nullptr, false, resources);
    kernel.run(params.get(), context);
    if (borrowed != nullptr) *borrowed = resources.total;
    return kernel.name;
  }
  return "";
}

}  // namespace mxnet
