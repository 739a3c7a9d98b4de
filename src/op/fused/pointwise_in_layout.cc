// SPDX-License-Identifier: Apache-2.0
// The operator's own kernel on the memory as it lies.
#include "op/fused/pointwise_in_layout.h"

#include "base/error.h"
#include "op/inline_vector.h"
#include "op/lent_resources.h"
#include "op/pointwise.h"

namespace mxnet {
namespace {

class PointwiseInLayout final : public PreparedKernel {
 public:
  PointwiseInLayout(const OpDef& op, const ParamsPtr& params, int num_inputs, DType dtype,
                    const LayoutRef& layout)
      : PreparedKernel(pointwise_kernel(op)->name,
                       std::vector<LayoutRef>(static_cast<std::size_t>(num_inputs), layout),
                       {layout}),
        kernel_(*pointwise_kernel(op)),
        params_(params),
        dtype_(dtype),
        shape_{static_cast<int64_t>(layout->bytes() / dtype_size(dtype))} {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

  void run(const KernelContext& whole) const {
    InlineVector<Tensor, 8> tensors;
    for (int i = 0; i < whole.num_in(); ++i) tensors.push_back({whole.in(i).data, &shape_, dtype_});
    tensors.push_back({whole.out(0).data, &shape_, dtype_});
    const std::span<const Tensor> all = tensors.span();
    LentResources resources(whole);
    KernelContext context(all.first(all.size() - 1), all.last(1), whole.device(), whole.stream(),
                          whole.training(), resources);
    kernel_.run(params_.get(), context);
  }

 private:
  struct Run final : PreparedRun {
    explicit Run(const PointwiseInLayout& kernel) : kernel(kernel) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      kernel.run(context);
    }
    const PointwiseInLayout& kernel;
  };

  const KernelEntry& kernel_;
  const ParamsPtr params_;
  const DType dtype_;
  const Shape shape_;
};

// Memory of one call.
class OwnResources final : public KernelResources {
 public:
  void* workspace(std::size_t bytes) override {
    blocks_.push_back(std::make_unique<Block[]>(bytes / sizeof(Block) + 1));
    return blocks_.back().get();
  }
  Tensor make_out(int, const Shape&) override { MX_ASSERT(false); }

 private:
  struct alignas(64) Block {
    std::byte bytes[64];
  };
  std::vector<std::unique_ptr<Block[]>> blocks_;
};

bool keeps_zero(const OpDef& op, const void* params, int num_inputs) {
  const Shape one{1};
  std::vector<float> numbers(static_cast<std::size_t>(num_inputs) + 1, 0.0F);
  numbers.back() = 1;
  std::vector<Tensor> tensors;
  tensors.reserve(numbers.size());
  for (float& number : numbers) tensors.push_back({&number, &one, DType::kFloat32});
  const std::span<const Tensor> all = tensors;
  OwnResources resources;
  KernelContext context(all.first(all.size() - 1), all.last(1), Device::cpu(), nullptr, true,
                        resources);
  const KernelEntry& kernel = *pointwise_kernel(op);
  kernel.run(params, context);
  return numbers.back() == 0;
}

}  // namespace

PreparedKernelRef prepare_pointwise_in_layout(const OpDef& op, const ParamsPtr& params,
                                              int num_inputs, DType dtype,
                                              const LayoutRef& layout) {
  if (!keeps_zero(op, params.get(), num_inputs)) return nullptr;
  return std::make_shared<const PointwiseInLayout>(op, params, num_inputs, dtype, layout);
}

}  // namespace mxnet
