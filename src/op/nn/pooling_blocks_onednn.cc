// SPDX-License-Identifier: Apache-2.0
// Gradients of maxima for images in channel blocks, or with channels behind, in training plans: our
// own loops, since those of oneDNN want the places of the maxima from the way forward, another
// array of the map's size.
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

BlockWindows windows_of(const PoolGeometry& g) {
  BlockWindows w;
  for (std::size_t d = 0; d < 3; ++d) {
    w.image[d] = g.image[d];
    w.map[d] = g.map[d];
    w.kernel[d] = g.kernel[d];
    w.stride[d] = g.stride[d];
    w.pad[d] = g.pad[d];
  }
  return w;
}

// Inputs: gradient of the map, image; output: gradient of the image.
class MaxGradient final : public PreparedKernel {
 public:
  MaxGradient(const PoolGeometry& g, DType dtype, const LayoutRef& map, const LayoutRef& image,
              bool behind)
      : PreparedKernel("blocks", {map, image}, {image}),
        dtype_(dtype),
        windows_(windows_of(g)),
        channels_(g.channels),
        blocks_of_image_((g.channels + pool_block() - 1) / pool_block()),
        blocks_(g.batch * blocks_of_image_),
        image_(g.image_size() * pool_block()),
        map_(g.map_size() * pool_block()),
        behind_(behind) {}

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
    const int64_t* kernel = windows_.kernel;
    const double taps = static_cast<double>(kernel[0] * kernel[1] * kernel[2]);
    parallel_for(
        blocks_, taps * static_cast<double>(map_),
        [&](int64_t first, int64_t last) {
          const Block<T> block(*this);
          for (int64_t i = first; i < last; ++i)
            block.run(windows_, image + start(i, image_), dmap + start(i, map_),
                      dimage + start(i, image_), channels_of(i));
        },
        1);
  }

  // Of block i of an array whose blocks have so many numbers.
  int64_t start(int64_t i, int64_t block) const {
    if (!behind_) return i * block;
    const int64_t pixels = block / pool_block();
    return i / blocks_of_image_ * pixels * channels_ + i % blocks_of_image_ * pool_block();
  }
  int64_t channels_of(int64_t i) const {
    const int64_t left = channels_ - i % blocks_of_image_ * pool_block();
    return behind_ ? std::min<int64_t>(left, pool_block()) : pool_block();
  }

  // One block at a time; those of bfloat16 as float32 in memory of their own.
  template <class T>
  class Block {
   public:
    explicit Block(const MaxGradient& kernel)
        : image_(kernel.image_), map_(kernel.map_), step_(kernel.behind_ ? kernel.channels_ : 0) {
      if constexpr (std::is_same_v<T, float>) return;
      numbers_ =
          std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(2 * image_ + map_));
      if (step_ > 0) block_ = std::make_unique<T[]>(static_cast<std::size_t>(image_ + map_));
    }
    // `channels`: of the block.
    void run(const BlockWindows& windows, const T* image, const T* dmap, T* dimage,
             int64_t channels) const {
      if constexpr (std::is_same_v<T, float>) {
        pool_to_first_of_block(windows, image, dmap, dimage);
      } else {
        float* wide_image = numbers_.get();
        float* wide_dimage = wide_image + image_;
        float* wide_dmap = wide_dimage + image_;
        T* together = block_.get();
        if (step_ > 0) {
          move(image, step_, together, pool_block(), image_, channels);
          move(dmap, step_, together + image_, pool_block(), map_, channels);
          image = together;
          dmap = together + image_;
        }
        convert(image, wide_image, static_cast<std::size_t>(image_));
        convert(dmap, wide_dmap, static_cast<std::size_t>(map_));
        pool_to_first_of_block(windows, wide_image, wide_dmap, wide_dimage);
        convert(wide_dimage, step_ > 0 ? together : dimage, static_cast<std::size_t>(image_));
        if (step_ > 0) move(together, pool_block(), dimage, step_, image_, channels);
      }
    }

   private:
    // Numbers of a block from pixels that lie so far apart to others.
    static void move(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t numbers,
                     int64_t channels) {
      constexpr int64_t kUsual = 16;  // a copy of known size is two instructions
      const int64_t pixels = numbers / pool_block();
      for (int64_t p = 0; p < pixels; ++p, from += from_step, to += to_step) {
        if (channels == kUsual) {
          std::copy_n(from, kUsual, to);
        } else {
          std::copy_n(from, channels, to);
        }
      }
    }

    const int64_t image_, map_;
    const int64_t step_;  // from pixel to pixel where channels lie behind, else 0
    std::unique_ptr<float[]> numbers_;
    std::unique_ptr<T[]> block_;
  };

  const DType dtype_;
  const BlockWindows windows_;
  const int64_t channels_, blocks_of_image_;
  const int64_t blocks_, image_, map_;  // numbers of blocks; of elements of one
  const bool behind_;                   // channels, instead of in blocks
};

}  // namespace

PreparedKernelRef prepare_max_pool_gradient(const OpDef&, const void* params,
                                            const Signature& signature,
                                            std::span<const LayoutRef> layouts) {
  const Tensor &dmap = signature.in[0], &data = signature.in[1];
  const auto& pool = *static_cast<const PoolParams*>(params);
  const bool plain = std::ranges::all_of(layouts, [](auto& layout) { return layout == nullptr; });
  if (plain || !onednn::enabled() || data.dtype != dmap.dtype || !onednn::is_image(data) ||
      (data.dtype != DType::kFloat32 && data.dtype != DType::kBFloat16) || data.size() == 0 ||
      dmap.size() == 0 || channels_last(pool.layout))
    return nullptr;
  const PoolGeometry g = pool_geometry(pool, data.shape(), dmap.shape());
  if (g.zero_padding || g.image_size() > std::numeric_limits<int32_t>::max()) return nullptr;
  const auto desc_of = [](const Tensor& tensor) {
    return onednn::images_in_training(onednn::dims(tensor.shape()),
                                      onednn::data_type(tensor.dtype));
  };
  return std::make_shared<const MaxGradient>(g, data.dtype, onednn::layout_of(desc_of(dmap)),
                                             onednn::layout_of(desc_of(data)),
                                             desc_of(data).get_inner_nblks() == 0);
}

}  // namespace mxnet
