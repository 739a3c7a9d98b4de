// SPDX-License-Identifier: Apache-2.0
// Between rows of a half type and a layout of float32, a piece at a time: rows of float32 are never
// in memory as a whole.
#include <array>
#include <cstddef>
#include <optional>

#include "op/fused/reorder.h"
#include "op/fused/weight_rows_onednn.h"
#include "op/loops/half_arrays.h"
#include "op/onednn/prepared.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::Argument;

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// Elements of a piece: 512 KiB of float32, which stay in a core's cache between the two steps.
constexpr int64_t kMostElements = int64_t{1} << 17;

// Slices along the first dimension, all of one size, so that one primitive serves all of them.
struct Pieces {
  memory::desc rows, laid;               // of the first one
  std::optional<WeightSquares> squares;  // of the first one too
  int64_t count, elements;
  std::size_t step;  // bytes from one to the next in the layout

  dnnl::reorder::primitive_desc describe(bool widens) const {
    const memory::desc &from = widens ? rows : laid, &to = widens ? laid : rows;
    return {onednn::engine(), from, onednn::engine(), to, onednn::attributes()};
  }
};

// None where blocks of the first dimension are not full, or hold something else than float32.
std::optional<Pieces> pieces_of(const memory::desc& whole) {
  const memory::dims dims = whole.get_dims();
  if (whole.get_format_kind() != memory::format_kind::blocked ||
      whole.get_data_type() != memory::data_type::f32 || dims.empty())
    return std::nullopt;
  int64_t block = 1, rest = 1;
  const memory::dims blocks = whole.get_inner_blks(), of = whole.get_inner_idxs();
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (of[i] == 0) block *= blocks[i];
  for (std::size_t d = 1; d < dims.size(); ++d) rest *= dims[d];
  if (dims[0] == 0 || rest == 0 || dims[0] % block != 0) return std::nullopt;
  const int64_t all = dims[0] / block;
  int64_t at_once = 1;
  for (int64_t n = 2; n <= all && n * block * rest <= kMostElements; ++n)
    if (all % n == 0) at_once = n;
  memory::dims first = dims;
  first[0] = at_once * block;
  const memory::desc laid = whole.submemory_desc(first, memory::dims(dims.size()), true);
  if (!laid) return std::nullopt;
  std::optional<WeightSquares> squares = onednn::weight_squares_of(whole);
  if (squares) squares->filters = first[0];
  return Pieces{onednn::plain_desc(first, memory::data_type::f32),
                laid,
                squares,
                all / at_once,
                first[0] * rest,
                static_cast<std::size_t>(at_once * whole.get_strides()[0]) * sizeof(float)};
}

class HalfReorder final : public PreparedKernel {
 public:
  HalfReorder(const Pieces& pieces, bool widens, DType half, std::vector<LayoutRef> in,
              LayoutRef out)
      : PreparedKernel("onednn", std::move(in), {std::move(out)}),
        pieces_(pieces),
        widens_(widens),
        half_(half),
        primitive_([pieces, widens] {
          return onednn::compiled<dnnl::reorder>(pieces.describe(widens));
        }) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const HalfReorder& kernel)
        : kernel_(kernel), primitive_(kernel.primitive_, kernel.arguments()) {}

    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      const Pieces& pieces = kernel_.pieces_;
      auto* rows = context.workspace_of<float>(pieces.elements);
      void *from = context.in(0).data, *to = context.out(0).data;
      for (int64_t p = 0; p < pieces.count; ++p) {
        auto* half = static_cast<uint16_t*>(kernel_.widens_ ? from : to) + p * pieces.elements;
        auto* laid = static_cast<std::byte*>(kernel_.widens_ ? to : from) +
                     static_cast<std::size_t>(p) * pieces.step;
        if (kernel_.widens_) {
          widen(kernel_.half_, half, rows, pieces.elements);
          primitive_.run(context, std::array<void*, 2>{rows, laid});
        } else {
          if (pieces.squares)
            weight_to_rows(*pieces.squares, laid, rows);
          else
            primitive_.run(context, std::array<void*, 2>{laid, rows});
          narrow(rows, kernel_.half_, half, pieces.elements);
        }
      }
    }

   private:
    const HalfReorder& kernel_;
    onednn::PrimitiveRun primitive_;
  };

  std::array<Argument, 2> arguments() const {
    return {Argument{DNNL_ARG_FROM, widens_ ? pieces_.rows : pieces_.laid, -1},
            Argument{DNNL_ARG_TO, widens_ ? pieces_.laid : pieces_.rows, -1}};
  }

  const Pieces pieces_;
  const bool widens_;
  const DType half_;
  const onednn::SharedPrimitive primitive_;
};

PreparedKernelRef prepare(const memory::desc& laid, bool widens, DType half,
                          std::vector<LayoutRef> in, LayoutRef out) {
  const std::optional<Pieces> pieces = pieces_of(laid);
  if (!pieces || !onednn::implemented([&] { return pieces->describe(widens); })) return nullptr;
  return std::make_shared<const HalfReorder>(*pieces, widens, half, std::move(in), std::move(out));
}

// Whatever makes a half type of what lies in a layout.
PreparedKernelRef prepare_narrowing(const OpDef&, const void*, const Signature& signature,
                                    std::span<const LayoutRef> layouts) {
  const Tensor &from = signature.in[0], &to = signature.out[0];
  if (layouts[0] == nullptr || from.dtype != DType::kFloat32 || !is_half(to.dtype)) return nullptr;
  std::vector<LayoutRef> in(signature.in.size());
  in[0] = layouts[0];
  return prepare(onednn::desc_in(layouts[0], from), false, to.dtype, std::move(in), nullptr);
}

[[maybe_unused]] const bool added = add_prepared_kernel("_cast_like", prepare_narrowing) &&
                                    add_prepared_kernel("Cast", prepare_narrowing) &&
                                    add_prepared_kernel("amp_cast", prepare_narrowing);

}  // namespace

PreparedKernelRef prepare_widening(const Tensor& half, const LayoutRef& to) {
  if (to == nullptr || !is_half(half.dtype)) return nullptr;
  return prepare(onednn::desc_in(to, half), true, half.dtype, {nullptr}, to);
}

}  // namespace mxnet
