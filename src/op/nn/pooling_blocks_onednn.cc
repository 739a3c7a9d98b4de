// SPDX-License-Identifier: Apache-2.0
// Gradients of maxima for images in channel blocks, in training plans: our own loops, since those
// of oneDNN want the places of the maxima from the way forward, another array of the map's size.
#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/half_bulk.h"
#include "op/nn/pooling_blocks.h"
#include "op/nn/pooling_onednn.h"
#include "op/onednn/layout.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Inputs: gradient of the map, image; output: gradient of the image.
class MaxGradient final : public PreparedKernel {
 public:
  MaxGradient(const PoolGeometry& g, DType dtype, const LayoutRef& map, const LayoutRef& image)
      : PreparedKernel("blocks", {map, image}, {image}),
        dtype_(dtype),
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
      const Tensor &dmap = context.in(0), &image = context.in(1), &dimage = context.out(0);
      if (kernel.dtype_ == DType::kBFloat16) {
        kernel.run(dmap.as<bfloat16>(), image.as<bfloat16>(), dimage.as<bfloat16>());
      } else {
        kernel.run(dmap.as<float>(), image.as<float>(), dimage.as<float>());
      }
    }
    const MaxGradient& kernel;
  };

  template <class T>
  void run(const T* dmap, const T* image, T* dimage) const {
    const double taps = static_cast<double>(windows_.kernel[0] * windows_.kernel[1]);
    parallel_for(
        blocks_, taps * static_cast<double>(map_),
        [&](int64_t first, int64_t last) {
          const Block<T> block(image_, map_);
          for (int64_t i = first; i < last; ++i)
            block.run(windows_, image + i * image_, dmap + i * map_, dimage + i * image_);
        },
        1);
  }

  // One block at a time; those of bfloat16 as float32 in memory of their own.
  template <class T>
  class Block {
   public:
    Block(int64_t image, int64_t map) : image_(image), map_(map) {
      if constexpr (!std::is_same_v<T, float>)
        numbers_ =
            std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(2 * image + map));
    }
    void run(const PlaneWindows& windows, const T* image, const T* dmap, T* dimage) const {
      if constexpr (std::is_same_v<T, float>) {
        pool_to_first_of_block(windows, image, dmap, dimage);
      } else {
        float* wide_image = numbers_.get();
        float* wide_dimage = wide_image + image_;
        float* wide_dmap = wide_dimage + image_;
        convert(image, wide_image, static_cast<std::size_t>(image_));
        convert(dmap, wide_dmap, static_cast<std::size_t>(map_));
        pool_to_first_of_block(windows, wide_image, wide_dmap, wide_dimage);
        convert(wide_dimage, dimage, static_cast<std::size_t>(image_));
      }
    }

   private:
    const int64_t image_, map_;
    std::unique_ptr<float[]> numbers_;
  };

  const DType dtype_;
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
  if (plain || !onednn::enabled() || data.dtype != dmap.dtype || data.ndim() != 4 ||
      (data.dtype != DType::kFloat32 && data.dtype != DType::kBFloat16) || data.size() == 0 ||
      dmap.size() == 0 || channels_last(pool.layout))
    return nullptr;
  const PoolGeometry g = pool_geometry(pool, data.shape(), dmap.shape());
  if (g.zero_padding || g.image_size() > std::numeric_limits<int32_t>::max()) return nullptr;
  const auto in_blocks = [](const Tensor& tensor) {
    return onednn::layout_of(
        onednn::channel_blocks(onednn::dims(tensor.shape()), onednn::data_type(tensor.dtype)));
  };
  return std::make_shared<const MaxGradient>(g, data.dtype, in_blocks(dmap), in_blocks(data));
}

}  // namespace mxnet
