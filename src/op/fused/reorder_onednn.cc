// SPDX-License-Identifier: Apache-2.0
// Reorders, and the operator that stands for them in graphs.
#include "op/fused/reorder.h"

#include <optional>

#include "op/fused/weight_rows_onednn.h"
#include "op/onednn/prepared.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

using dnnl::memory;

class WeightToRows final : public PreparedKernel {
 public:
  WeightToRows(const WeightSquares& weight, LayoutRef from)
      : PreparedKernel("squares", {std::move(from)}, {nullptr}), weight_(weight) {}
  std::unique_ptr<PreparedRun> make_run() const override {
    struct Run final : PreparedRun {
      explicit Run(const WeightSquares& weight) : weight(weight) {}
      void run(const KernelContext& context, std::span<const InputOrigin>) override {
        weight_to_rows(weight, context.in(0).data, context.out(0).data);
      }
      const WeightSquares weight;
    };
    return std::make_unique<Run>(weight_);
  }

 private:
  const WeightSquares weight_;
};

}  // namespace

std::optional<WeightSquares> onednn::weight_squares_of(const memory::desc& weight) {
  const memory::dims dims = weight.get_dims();
  if (dims.size() < 3 || dims.size() > 5) return std::nullopt;
  const memory::data_type type = weight.get_data_type();
  const WeightSquares squares{dims[0], dims[1], onednn::pixels_of(weight),
                              memory::data_type_size(type)};
  using Tag = memory::format_tag;
  constexpr Tag kTags[][2] = {{Tag::OIw8i8o, Tag::OIw16i16o},
                              {Tag::OIhw8i8o, Tag::OIhw16i16o},
                              {Tag::OIdhw8i8o, Tag::OIdhw16i16o}};
  const Tag tag = kTags[dims.size() - 3][weight_square() == 16 ? 1 : 0];
  if (!turns_to_rows(squares) || weight != memory::desc(dims, type, tag)) return std::nullopt;
  return squares;
}

PreparedKernelRef prepare_reorder(const Tensor& type, const LayoutRef& from, const LayoutRef& to) {
  memory::desc a = onednn::desc_in(from, type), b = onednn::desc_in(to, type);
  if (to == nullptr && a.get_data_type() == onednn::data_type(type.dtype))
    if (const auto weight = onednn::weight_squares_of(a))
      return std::make_shared<const WeightToRows>(*weight, from);
  // Weights of groups have a dimension more in a layout than in rows, where it makes no difference.
  if (from == nullptr) a = onednn::plain_desc(b.get_dims(), a.get_data_type());
  if (to == nullptr) b = onednn::plain_desc(a.get_dims(), b.get_data_type());
  const auto describe = [a, b] {
    return dnnl::reorder::primitive_desc(onednn::engine(), a, onednn::engine(), b,
                                         onednn::attributes());
  };
  return onednn::prepared_move([describe] { return onednn::compiled<dnnl::reorder>(describe()); },
                               {{DNNL_ARG_FROM, a, 0}, {DNNL_ARG_TO, b, 1}}, {from}, {to});
}

namespace {

[[maybe_unused]] const bool defined = [] {
  OpBuilder<NoParams> reorder(kReorderOp);
  reorder.doc("The same array in another layout, in plans for inference.")
      .input("data", "The array.")
      .infer([](const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); });
  return add_prepared_kernel(kReorderOp, nullptr, kAllSamples);  // prepare_reorder makes it
}();

}  // namespace
}  // namespace mxnet
