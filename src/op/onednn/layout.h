// SPDX-License-Identifier: Apache-2.0
// Layouts of oneDNN as values of a plan have them.
#pragma once
#include "op/onednn/runtime.h"
#include "op/prepared_kernel.h"

namespace mxnet::onednn {

// Null where `desc` is plain rows of the array's own type, which is that of `desc` if none is
// given: a layout may hold an array of float32 in a narrower type.
LayoutRef layout_of(const dnnl::memory::desc& desc,
                    dnnl::memory::data_type own = dnnl::memory::data_type::undef);
// Of an array that is kept in a form of its own, as `desc` describes its memory: only kernels of
// that form read it.
LayoutRef layout_of_own(const dnnl::memory::desc& desc);
// What an array of this shape and type looks like in `layout`.
dnnl::memory::desc desc_in(const LayoutRef& layout, const Tensor& tensor);
// Numbers that two layouts have in common only where each element lies in the same place. Empty for
// those that are no blocks of rows.
std::vector<int64_t> words_of(const dnnl::memory::desc& desc);
// Whether an array has the dimensions of images: batch, channels and one to three spatial ones.
bool is_image(const Tensor& tensor);
// Of one channel of an image.
int64_t pixels_of(const dnnl::memory::desc& image);
// Images whose channels lie together in groups of a vector of float32 of this CPU. Of one to three
// spatial dimensions.
dnnl::memory::desc channel_blocks(const dnnl::memory::dims& dims,
                                  dnnl::memory::data_type type = dnnl::memory::data_type::f32);

// Channels are the second dimension in name and the last in memory.
dnnl::memory::desc channels_behind(const dnnl::memory::dims& dims, dnnl::memory::data_type type);

// Images between the layers of training plans: channels behind where matrix units multiply the
// type, which kernels for blocks do not use; else in blocks.
dnnl::memory::desc images_in_training(const dnnl::memory::dims& dims, dnnl::memory::data_type type);

}  // namespace mxnet::onednn
