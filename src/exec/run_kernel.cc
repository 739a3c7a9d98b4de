// SPDX-License-Identifier: Apache-2.0
// Requests, aliasing and scratch memory around a kernel.
#include "exec/run_kernel.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/error.h"
#include "op/accumulate.h"

namespace mxnet {
namespace {

// Scratch blocks of one kernel run, returned to the pool at its end.
class PooledResources final : public KernelResources {
 public:
  explicit PooledResources(const RunContext& context) : context_(context) {}
  ~PooledResources() override {
    for (const Block& block : blocks_) Storage::get().release(block, context_.stream);
  }
  void* workspace(std::size_t bytes) override {
    blocks_.push_back(
        Storage::get().allocate(bytes, context_.device, "workspace", context_.stream));
    return blocks_.back().data;
  }

 private:
  const RunContext& context_;
  std::vector<Block> blocks_;
};

std::string type_list(std::span<const NDArray> arrays) {
  std::string text;
  for (const NDArray& array : arrays)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dtype_name(array.dtype()));
  return text;
}

bool overlaps(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.offset() < b.offset() + b.bytes() &&
         b.offset() < a.offset() + a.bytes();
}

// Whether output `o` may be written while the kernel still reads its inputs.
bool may_write_directly(const OpDef& op, std::span<const NDArray> in, const NDArray& out, int o) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!overlaps(in[i], out)) continue;
    const bool same_window = in[i].offset() == out.offset() && in[i].bytes() == out.bytes();
    const auto& pairs = op.inplace();
    if (!same_window ||
        std::find(pairs.begin(), pairs.end(), std::pair(static_cast<int>(i), o)) == pairs.end())
      return false;
  }
  return true;
}

}  // namespace

const KernelEntry& choose_kernel(const OpDef& op, const void* params, std::span<const NDArray> in,
                                 std::span<const NDArray> out, Device device, bool training) {
  std::vector<Tensor> tensors;
  tensors.reserve(in.size() + out.size());
  for (const NDArray& array : in) tensors.push_back({nullptr, &array.shape(), array.dtype()});
  for (const NDArray& array : out) tensors.push_back({nullptr, &array.shape(), array.dtype()});
  const std::span<const Tensor> all = tensors;
  const Signature signature{all.first(in.size()), all.subspan(in.size()), training};
  for (const KernelEntry& kernel : op.kernels()) {
    if ((kernel.device == DeviceType::kGPU) != device.is_gpu()) continue;
    if (kernel.accepts == nullptr || kernel.accepts(kernel.accepts_fn, params, signature))
      return kernel;
  }
  throw Error(
      ErrorCode::kType, op.name(),
      fmt::format("no kernel on {} for given input types ({})", to_string(device), type_list(in)));
}

void run_kernel(const OpDef& op, const KernelEntry& kernel, const void* params,
                std::span<const NDArray> in, std::span<const NDArray> out,
                std::span<const Request> requests, bool training, const RunContext& context) {
  PooledResources resources(context);
  std::vector<Tensor> tensors;
  tensors.reserve(in.size() + out.size());
  for (const NDArray& array : in) tensors.push_back({array.data(), &array.shape(), array.dtype()});
  bool settle = false;
  for (std::size_t o = 0; o < out.size(); ++o) {
    const Request request = requests.empty() ? Request::kWrite : requests[o];
    const bool direct = request != Request::kAdd && request != Request::kNull &&
                        may_write_directly(op, in, out[o], static_cast<int>(o));
    settle |= !direct;
    tensors.push_back({direct ? out[o].data() : resources.workspace(out[o].bytes()),
                       &out[o].shape(), out[o].dtype()});
  }
  const std::span<const Tensor> all = tensors;
  const std::span<const Tensor> results = all.subspan(in.size());
  KernelContext kernel_context(all.first(in.size()), results, context.device, context.stream,
                               training, resources);
  kernel.run(kernel.run_fn, params, kernel_context);
  if (!settle) return;
  for (std::size_t o = 0; o < out.size(); ++o) {
    const Request request = requests.empty() ? Request::kWrite : requests[o];
    if (request == Request::kNull || results[o].data == out[o].data()) continue;
    const Tensor target{out[o].data(), &out[o].shape(), out[o].dtype()};
    if (request == Request::kAdd) {
      accumulate(target, results[o]);
    } else {
      std::memcpy(target.data, results[o].data, out[o].bytes());
    }
  }
}

}  // namespace mxnet
