// SPDX-License-Identifier: Apache-2.0
// Blocks of pixels to channels and back: each the other's reverse and gradient.
#include <fmt/format.h>

#include "op/length.h"
#include "op/op_builder.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct BlockParams {
  int32_t block_size;
};

// From deep (N, b * b * C, H, W) to wide (N, C, H * b, W * b).
StridedPlan to_wide(int64_t b, const Shape& deep) {
  const int64_t n = deep[0], c = deep[1] / (b * b), h = deep[2], w = deep[3];
  StridedPlan plan;
  plan.add(n, deep[1] * h * w, deep[1] * h * w);
  plan.add(c, h * w, h * b * w * b);
  plan.add(h, w, b * w * b);
  plan.add(b, b * c * h * w, w * b);
  plan.add(w, 1, b);
  plan.add(b, c * h * w, 1);
  return plan;
}

Shape wide_shape(int64_t b, const Shape& deep) {
  return {deep[0], length::over(deep[1], b * b), length::times(deep[2], b),
          length::times(deep[3], b)};
}
Shape deep_shape(int64_t b, const Shape& wide) {
  return {wide[0], length::times(wide[1], b * b), length::over(wide[2], b),
          length::over(wide[3], b)};
}

void check_image(InferArg arg) {
  if (arg.ndim() != 4) arg.fail("4 dimensions (batch, channels, height, width)");
}

void check_deep(int64_t b, InferArg deep) {
  check_image(deep);
  if (deep.dim(1) >= 0 && deep.dim(1) % (b * b) != 0)
    deep.fail(fmt::format("a number of channels that block_size {} squared divides", b));
}

void check_wide(int64_t b, InferArg wide) {
  check_image(wide);
  const auto divides = [&](int64_t size) { return size < 0 || size % b == 0; };
  if (!divides(wide.dim(2)) || !divides(wide.dim(3)))
    wide.fail(fmt::format("height and width that block_size {} divides", b));
}

void infer_blocks(const BlockParams& p, Infer& infer, InferArg deep, InferArg wide) {
  if (p.block_size <= 0)
    infer.fail(fmt::format("given block_size {}, expected at least 1", p.block_size));
  infer.one_dtype();
  if (deep.rank_known()) {
    check_deep(p.block_size, deep);
    wide.set_shape(wide_shape(p.block_size, deep.shape()));
  }
  if (!deep.known() && wide.rank_known()) {
    check_wide(p.block_size, wide);
    deep.set_shape(deep_shape(p.block_size, wide.shape()));
  }
}

// Between arrays of which `deep` is the deep one's shape. (The steps of an empty one may be too
// long for int64.)
void copy_blocks(int64_t b, const Shape& deep, bool to_deep, KernelContext& context) {
  if (deep.size() == 0) return;
  const StridedPlan plan = to_wide(b, deep);
  copy_strided(context, to_deep ? plan.reversed() : plan, context.in(0).data, context.out(0).data,
               dtype_size(context.in(0).dtype));
}

MX_OP(depth_to_space, BlockParams)
.doc("Rearranges channels to blocks of pixels.")
    .input("data", "Images of shape (batch, channels, height, width).")
    .param("block_size", &BlockParams::block_size, "Side of a block.")
    .infer([](const BlockParams& p, Infer& infer) {
      infer_blocks(p, infer, infer.in(0), infer.out(0));
    })
    .cpu([](const BlockParams& p, KernelContext& context) {
      copy_blocks(p.block_size, context.in(0).shape(), false, context);
    })
    .grad([](const BlockParams&, Grad& grad) {
      return Gradients{apply("space_to_depth", {grad.dout(0)}, grad.attrs())};
    });

MX_OP(space_to_depth, BlockParams)
.doc("Rearranges blocks of pixels to channels.")
    .input("data", "Images of shape (batch, channels, height, width).")
    .param("block_size", &BlockParams::block_size, "Side of a block.")
    .infer([](const BlockParams& p, Infer& infer) {
      infer_blocks(p, infer, infer.out(0), infer.in(0));
    })
    .cpu([](const BlockParams& p, KernelContext& context) {
      copy_blocks(p.block_size, context.out(0).shape(), true, context);
    })
    .grad([](const BlockParams&, Grad& grad) {
      return Gradients{apply("depth_to_space", {grad.dout(0)}, grad.attrs())};
    });

[[maybe_unused]] const bool portable = mark_portable({"depth_to_space", "space_to_depth"});

}  // namespace
}  // namespace mxnet
