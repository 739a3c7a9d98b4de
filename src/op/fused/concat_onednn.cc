// SPDX-License-Identifier: Apache-2.0
// Arrays joined in a layout of oneDNN: without a copy where a plan has computed them in their
// place.
#include <algorithm>
#include <optional>
#include <span>

#include "op/onednn/prepared.h"
#include "op/op_def.h"
#include "op/params/dense_and_sparse.h"

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

class Join final : public PreparedKernel {
 public:
  // `is_whole`: the parts lie one behind the other in the result.
  Join(onednn::Compile compile, std::vector<onednn::Argument> arguments, std::vector<LayoutRef> in,
       LayoutRef out, bool is_whole)
      : PreparedKernel("onednn", std::move(in), {std::move(out)}),
        primitive_(std::move(compile)),
        arguments_(std::move(arguments)),
        is_whole_(is_whole) {}

  bool is_join() const override { return is_whole_; }
  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const Join& join) : join_(join), run_(join.primitive_, join.arguments_) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      if (!join_.is_whole_ || !join_.lies_in_place(context)) run_.run(context);
    }

   private:
    const Join& join_;
    onednn::PrimitiveRun run_;
  };

  bool lies_in_place(const KernelContext& context) const {
    const auto* place = static_cast<const char*>(context.out(0).data);
    for (int i = 0; i < context.num_in(); ++i) {
      if (context.in(i).data != place) return false;
      place += in()[static_cast<std::size_t>(i)]->bytes();
    }
    return true;
  }

  const onednn::SharedPrimitive primitive_;
  const std::vector<onednn::Argument> arguments_;
  const bool is_whole_;
};

// Whether blocks along the axis are what an array consists of, from its start to its end: nothing
// is outside of the axis, and no block has a part of two arrays.
bool is_sequence(std::span<const memory::desc> parts, int axis) {
  return std::ranges::all_of(parts, [&](const memory::desc& part) {
    const memory::dims dims = part.get_dims();
    return part.get_inner_nblks() == 1 && part.get_inner_idxs()[0] == axis &&
           dims[static_cast<std::size_t>(axis)] % part.get_inner_blks()[0] == 0 &&
           std::all_of(dims.begin(), dims.begin() + axis, [](auto size) { return size == 1; });
  });
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
  const auto found = onednn::implemented(describe);
  if (!found) return nullptr;
  return std::make_shared<const Join>(
      onednn::compile_found(*found, describe), std::move(arguments), std::move(in),
      onednn::layout_of(*whole, onednn::data_type(first.dtype)), is_sequence(parts, axis));
}

[[maybe_unused]] const bool added = add_prepared_kernel("Concat", prepare_concat, kAllSamples);

}  // namespace
}  // namespace mxnet
