// SPDX-License-Identifier: Apache-2.0
// Memory descriptors behind MemoryLayout.
#include "op/onednn/layout.h"

#include <functional>
#include <numeric>

#include "base/simd.h"

namespace mxnet::onednn {
namespace {

class DnnlLayout final : public MemoryLayout {
 public:
  explicit DnnlLayout(const dnnl::memory::desc& desc) : desc_(desc) {}
  std::size_t bytes() const override { return desc_.get_size(); }
  bool equals(const MemoryLayout& other) const override {
    const auto* same = dynamic_cast<const DnnlLayout*>(&other);
    return same != nullptr && same->desc_ == desc_;
  }
  LayoutRef part(int parts) const override {
    dnnl::memory::dims dims = desc_.get_dims();
    if (dims[0] % parts != 0) return nullptr;
    dims[0] /= parts;
    const dnnl::memory::desc part =
        desc_.submemory_desc(dims, dnnl::memory::dims(dims.size()), /*allow_empty=*/true);
    if (!part || part.get_size() * static_cast<std::size_t>(parts) != bytes()) return nullptr;
    return std::make_shared<const DnnlLayout>(part);
  }
  const dnnl::memory::desc& desc() const { return desc_; }

 private:
  const dnnl::memory::desc desc_;
};

}  // namespace

LayoutRef layout_of(const dnnl::memory::desc& desc, dnnl::memory::data_type own) {
  if (own == dnnl::memory::data_type::undef) own = desc.get_data_type();
  if (desc == plain_desc(desc.get_dims(), own)) return nullptr;
  return layout_of_own(desc);
}

LayoutRef layout_of_own(const dnnl::memory::desc& desc) {
  return std::make_shared<const DnnlLayout>(desc);
}

dnnl::memory::desc desc_in(const LayoutRef& layout, const Tensor& tensor) {
  if (layout == nullptr) return plain_desc(tensor);
  return static_cast<const DnnlLayout&>(*layout).desc();
}

std::vector<int64_t> words_of(const dnnl::memory::desc& desc) {
  std::vector<int64_t> words;
  if (desc.get_format_kind() != dnnl::memory::format_kind::blocked) return words;
  words.push_back(static_cast<int64_t>(desc.get_data_type()));
  for (const dnnl::memory::dims& list :
       {desc.get_dims(), desc.get_padded_dims(), desc.get_strides(), desc.get_inner_blks(),
        desc.get_inner_idxs()}) {
    words.push_back(static_cast<int64_t>(list.size()));
    words.insert(words.end(), list.begin(), list.end());
  }
  return words;
}

bool is_image(const Tensor& tensor) { return tensor.ndim() >= 3 && tensor.ndim() <= 5; }

int64_t pixels_of(const dnnl::memory::desc& image) {
  const dnnl::memory::dims dims = image.get_dims();
  return std::accumulate(dims.begin() + 2, dims.end(), int64_t{1}, std::multiplies<>());
}

dnnl::memory::desc channel_blocks(const dnnl::memory::dims& dims, dnnl::memory::data_type type) {
  using Tag = dnnl::memory::format_tag;
  constexpr Tag kTags[][2] = {
      {Tag::nCw8c, Tag::nCw16c}, {Tag::nChw8c, Tag::nChw16c}, {Tag::nCdhw8c, Tag::nCdhw16c}};
  return {dims, type, kTags[dims.size() - 3][simd_level() >= 2 ? 1 : 0]};
}

dnnl::memory::desc channels_behind(const dnnl::memory::dims& dims, dnnl::memory::data_type type) {
  dnnl::memory::dims steps(dims.size());
  steps[1] = 1;
  dnnl::memory::dim step = dims[1];
  for (std::size_t i = dims.size(); i-- > 2; step *= dims[i]) steps[i] = step;
  steps[0] = step;
  return {dims, type, steps};
}

dnnl::memory::desc images_in_training(const dnnl::memory::dims& dims,
                                      dnnl::memory::data_type type) {
  const bool in_tiles = type == dnnl::memory::data_type::bf16 && multiplies_bfloat16_in_tiles();
  return in_tiles ? channels_behind(dims, type) : channel_blocks(dims, type);
}

}  // namespace mxnet::onednn
