// SPDX-License-Identifier: Apache-2.0
// Arrays joined in a layout of oneDNN.
#include <algorithm>
#include <optional>

#include "op/onednn/prepared.h"
#include "op/op_def.h"
#include "op/params.h"

namespace mxnet {
namespace {

using dnnl::memory;

// An array of these dimensions in the layout that `model` has for its own.
std::optional<memory::desc> alike(const memory::desc& model, const memory::dims& dims) {
  using enum memory::format_tag;
  for (const memory::format_tag tag :
       {nCw16c, nChw16c, nCdhw16c, nCw8c, nChw8c, nCdhw8c, nwc, nhwc, ndhwc}) {
    // Empty where the tag is for another number of dimensions.
    const memory::desc candidate(model.get_dims(), model.get_data_type(), tag, true);
    if (candidate && candidate == model) return memory::desc(dims, model.get_data_type(), tag);
  }
  return std::nullopt;
}

PreparedKernelRef prepare_concat(const OpDef&, const void* params, const Signature& signature,
                                 std::span<const LayoutRef> layouts) {
  const auto blocked = std::ranges::find_if(layouts, [](auto& l) { return l != nullptr; });
  if (blocked == layouts.end() || !onednn::takes(signature)) return nullptr;
  const Tensor& first = signature.in[static_cast<std::size_t>(blocked - layouts.begin())];
  int axis = static_cast<const JoinParams*>(params)->dim;
  if (axis < 0) axis += first.ndim();
  std::vector<memory::desc> parts;
  std::vector<LayoutRef> in;
  std::vector<onednn::Argument> arguments;
  for (std::size_t i = 0; i < signature.in.size(); ++i) {
    if (signature.in[i].dtype != first.dtype) return nullptr;
    const auto part =
        alike(onednn::desc_in(*blocked, first), onednn::dims(signature.in[i].shape()));
    if (!part) return nullptr;
    parts.push_back(*part);
    in.push_back(onednn::layout_of(*part, onednn::data_type(first.dtype)));
    const int n = static_cast<int>(i);
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + n, *part, n});
  }
  const auto whole = alike(parts[0], onednn::dims(signature.out[0].shape()));
  if (!whole) return nullptr;
  arguments.push_back({DNNL_ARG_DST, *whole, static_cast<int>(parts.size())});
  const auto describe = [parts, axis, whole = *whole] {
    return dnnl::concat::primitive_desc(onednn::engine(), whole, axis, parts, onednn::attributes());
  };
  if (!onednn::implemented(describe)) return nullptr;
  return onednn::prepared_primitive(
      [describe] { return onednn::compiled<dnnl::concat>(describe()); }, std::move(arguments),
      std::move(in), {onednn::layout_of(*whole, onednn::data_type(first.dtype))});
}

[[maybe_unused]] const bool added = add_prepared_kernel("Concat", prepare_concat);

}  // namespace
}  // namespace mxnet
