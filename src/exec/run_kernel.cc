// SPDX-License-Identifier: Apache-2.0
// Requests, aliasing and scratch memory around a kernel.
#include "exec/run_kernel.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "op/accumulate.h"
#include "op/inline_vector.h"
#include "op/parallel.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

using Tensors = InlineVector<Tensor, 8>;

// Scratch blocks of one kernel run, returned to the pool at its end.
class PooledResources final : public KernelResources {
 public:
  explicit PooledResources(const RunContext& context) : context_(context) {}
  ~PooledResources() override {
    for (const Block& block : blocks_) Storage::get().release(block, context_.stream);
  }
  void* workspace(std::size_t bytes) override {
    return blocks_
        .emplace_back(Storage::get().allocate(bytes, context_.device, "workspace", context_.stream))
        .data;
  }

 private:
  const RunContext& context_;
  InlineVector<Block, 2> blocks_;
};

std::string type_list(std::span<const ArrayType> types) {
  std::string text;
  for (const ArrayType& type : types)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dtype_name(type.dtype));
  return text;
}

bool overlaps(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.offset() < b.offset() + b.bytes() &&
         b.offset() < a.offset() + a.bytes();
}

// Whether output `o` may be written while the kernel still reads its inputs.
bool may_write_directly(const OpDef& op, std::span<const NDArray> in, const NDArray& out, int o) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!overlaps(in[i], out) || op.type_only(static_cast<int>(i))) continue;
    const bool same_window = in[i].offset() == out.offset() && in[i].bytes() == out.bytes();
    const auto& pairs = op.inplace();
    if (!same_window ||
        std::find(pairs.begin(), pairs.end(), std::pair(static_cast<int>(i), o)) == pairs.end())
      return false;
  }
  return true;
}

Request request_of(std::span<const Request> requests, std::size_t o) {
  return requests.empty() ? Request::kWrite : requests[o];
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  parallel_for(static_cast<int64_t>(bytes), 0.125, [&](int64_t first, int64_t last) {
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                static_cast<std::size_t>(last - first));
  });
}

// Brings what was computed aside to where the caller wants it.
void settle_results(std::span<const NDArray> out, std::span<const Request> requests,
                    std::span<const Tensor> results) {
  for (std::size_t o = 0; o < out.size(); ++o) {
    const Request request = request_of(requests, o);
    void* data = out[o].data();
    if (request == Request::kNull || results[o].data == data) continue;
    if (request == Request::kAdd) {
      accumulate({data, &out[o].shape(), out[o].dtype()}, results[o]);
    } else {
      copy_bytes(data, results[o].data, out[o].bytes());
    }
  }
}

}  // namespace

const KernelEntry& choose_kernel(const OpDef& op, const void* params, std::span<const ArrayType> in,
                                 std::span<const ArrayType> out, Device device, bool training) {
  Tensors tensors;  // filled when a kernel asks
  for (const KernelEntry& kernel : op.kernels()) {
    if ((kernel.device == DeviceType::kGPU) != device.is_gpu()) continue;
    if (kernel.accepts == nullptr) return kernel;
    if (tensors.empty()) {
      for (const ArrayType& type : in) tensors.push_back({nullptr, &type.shape, type.dtype});
      for (const ArrayType& type : out) tensors.push_back({nullptr, &type.shape, type.dtype});
    }
    const std::span<const Tensor> all = tensors.span();
    const Signature signature{all.first(in.size()), all.subspan(in.size()), training};
    if (kernel.accepts(kernel.accepts_fn, params, signature)) return kernel;
  }
  throw Error(ErrorCode::kType, op.name(),
              fmt::format("given input types ({}), expected ones that a kernel on {} accepts",
                          type_list(in), to_string(device)));
}

void run_kernel(const OpDef& op, const KernelEntry& kernel, const void* params,
                std::span<const NDArray> in, std::span<const NDArray> out,
                std::span<const Request> requests, bool training, const RunContext& context) {
  PooledResources resources(context);
  Tensors tensors;
  for (std::size_t i = 0; i < in.size(); ++i) {
    void* data = op.type_only(static_cast<int>(i)) ? nullptr : in[i].data();
    tensors.push_back({data, &in[i].shape(), in[i].dtype()});
  }
  bool settle = false;
  for (std::size_t o = 0; o < out.size(); ++o) {
    const Request request = request_of(requests, o);
    const bool direct = request != Request::kAdd && request != Request::kNull &&
                        may_write_directly(op, in, out[o], static_cast<int>(o));
    settle |= !direct;
    tensors.push_back({direct ? out[o].data() : resources.workspace(out[o].bytes()),
                       &out[o].shape(), out[o].dtype()});
  }
  const std::span<const Tensor> all = tensors.span();
  const std::span<const Tensor> results = all.subspan(in.size());
  KernelContext kernel_context(all.first(in.size()), results, context.device, context.stream,
                               training, resources);
  kernel.run(kernel.run_fn, params, kernel_context);
  if (settle) settle_results(out, requests, results);
}

}  // namespace mxnet
