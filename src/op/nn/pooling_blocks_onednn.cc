// SPDX-License-Identifier: Apache-2.0
// Gradients of maxima for images in channel blocks, in training plans: our own loops, since those
// of oneDNN want the places of the maxima from the way forward, another array of the map's size.
#include <algorithm>
#include <limits>

#include "op/nn/pooling_blocks.h"
#include "op/nn/pooling_onednn.h"
#include "op/onednn/layout.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

// Inputs: gradient of the map, image; output: gradient of the image.
class MaxGradient final : public PreparedKernel {
 public:
  MaxGradient(const PoolGeometry& g, const LayoutRef& map, const LayoutRef& image)
      : PreparedKernel("blocks", {map, image}, {image}),
        windows_{{g.image[1], g.image[2]},
                 {g.map[1], g.map[2]},
                 {g.kernel[1], g.kernel[2]},
                 {g.stride[1], g.stride[2]},
                 {g.pad[1], g.pad[2]}},
        blocks_(g.batch * ((g.channels + pool_block() - 1) / pool_block())),
        image_(g.image_size() * pool_block()),
        map_(g.map_size() * pool_block()) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  struct Run final : PreparedRun {
    explicit Run(const MaxGradient& kernel) : kernel(kernel) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      kernel.run(context.in(0).as<float>(), context.in(1).as<float>(), context.out(0).as<float>());
    }
    const MaxGradient& kernel;
  };

  void run(const float* dmap, const float* image, float* dimage) const {
    const double taps = static_cast<double>(windows_.kernel[0] * windows_.kernel[1]);
    parallel_for(
        blocks_, taps * static_cast<double>(map_),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i)
            pool_to_first_of_block(windows_, image + i * image_, dmap + i * map_,
                                   dimage + i * image_);
        },
        1);
  }

  const PlaneWindows windows_;
  const int64_t blocks_, image_, map_;  // numbers of blocks; of elements of one
};

}  // namespace

PreparedKernelRef prepare_max_pool_gradient(const OpDef&, const void* params,
                                            const Signature& signature,
                                            std::span<const LayoutRef> layouts) {
  const Tensor &dmap = signature.in[0], &data = signature.in[1];
  const auto& pool = *static_cast<const PoolParams*>(params);
  const bool plain = std::ranges::all_of(layouts, [](auto& layout) { return layout == nullptr; });
  if (plain || !onednn::enabled() || data.dtype != DType::kFloat32 || data.ndim() != 4 ||
      data.size() == 0 || dmap.size() == 0 || channels_last(pool.layout))
    return nullptr;
  const PoolGeometry g = pool_geometry(pool, data.shape(), dmap.shape());
  if (g.zero_padding || g.image_size() > std::numeric_limits<int32_t>::max()) return nullptr;
  const auto in_blocks = [](const Tensor& tensor) {
    return onednn::layout_of(onednn::channel_blocks(onednn::dims(tensor.shape())));
  };
  return std::make_shared<const MaxGradient>(g, in_blocks(dmap), in_blocks(data));
}

}  // namespace mxnet
