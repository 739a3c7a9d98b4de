// SPDX-License-Identifier: Apache-2.0
// Boxes as offsets from anchors: what a network learns to predict, and back.
#include "op/detect/box_code.h"
#include "base/error.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

constexpr double kCost = 16;  // of a box: two exponentials or logarithms

void infer_box_decode(const BoxDecodeParams&, Infer& infer) {
  infer.one_dtype();
  infer.in(0).set_shape(Shape{-1, -1, 4});
  infer.in(1).set_shape(Shape{1, infer.in(0).dim(1), 4});
  infer.out(0).same_shape(infer.in(0));
}

void box_decode_cpu(const BoxDecodeParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *data = arrays.in(0), *anchors = arrays.in(1);
    T* out = arrays.out(0);
    const int64_t count = context.in(1).dim(1);
    parallel_for(context.in(0).size() / 4, kCost, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const Box<T> anchor = read_box(anchors + i % count * 4, params.format);
        write_box(decode_box(params, anchor, data + i * 4), BoxFormat::kCorner, out + i * 4);
      }
    });
  });
}

MX_OP(_contrib_box_decode, BoxDecodeParams)
.doc("Boxes (corners) from their offsets to anchors.")
    .input("data", "Offsets, (batch, anchors, 4).")
    .input("anchors", "Anchors, (1, anchors, 4).")
    .param("std0", &BoxDecodeParams::std0, 1.0f, "Factor of the first offset.")
    .param("std1", &BoxDecodeParams::std1, 1.0f, "Factor of the second offset.")
    .param("std2", &BoxDecodeParams::std2, 1.0f, "Factor of the third offset.")
    .param("std3", &BoxDecodeParams::std3, 1.0f, "Factor of the fourth offset.")
    .param("clip", &BoxDecodeParams::clip, -1.0f,
           "Largest logarithm of a box's size by its anchor's, if positive.")
    .choice("format", &BoxDecodeParams::format,
            {{"corner", BoxFormat::kCorner}, {"center", BoxFormat::kCenter}}, "center",
            "Format of the anchors.")
    .dtypes(kFloating)
    .infer(infer_box_decode)
    .cpu(box_decode_cpu)
    .zero_grad();

void infer_box_encode(const NoParams&, Infer& infer) {
  infer.one_dtype();
  infer.in(0).set_shape(Shape{-1, -1}).same_shape(infer.in(1));
  const int64_t batch = infer.in(0).dim(0), count = infer.in(0).dim(1);
  infer.in(2).set_shape(Shape{batch, count, 4});
  infer.in(3).set_shape(Shape{batch, -1, 4});
  for (int i = 4; i < 6; ++i) infer.in(i).set_shape(Shape{4});
  for (int i = 0; i < 2; ++i) infer.out(i).same_shape(infer.in(2));
}

void box_encode_cpu(const NoParams&, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *samples = arrays.in(0), *matches = arrays.in(1), *anchors = arrays.in(2),
            *refs = arrays.in(3), *means = arrays.in(4), *stds = arrays.in(5);
    T *targets = arrays.out(0), *masks = arrays.out(1);
    const int64_t count = context.in(0).dim(1), choices = context.in(3).dim(1);
    parallel_for(context.in(0).size(), kCost, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        T *target = targets + i * 4, *mask = masks + i * 4;
        const bool positive = samples[i] > T(0.5);
        std::fill_n(mask, 4, positive ? T{1} : T{0});
        std::fill_n(target, 4, T{0});
        if (!positive) continue;
        const T match = matches[i];
        if (!(match >= 0 && match < static_cast<T>(choices))) {
          throw Error(ErrorCode::kValue, "_contrib_box_encode",
                      "matches: given " + std::to_string(match) + ", expected 0 to " +
                          std::to_string(choices - 1) + " for a positive sample");
        }
        const Box<T> ref = read_box(refs + (i / count * choices + static_cast<int64_t>(match)) * 4);
        encode_box(read_box(anchors + i * 4), ref, means, stds, target);
      }
    });
  });
}

MX_OP(_contrib_box_encode, NoParams)
.doc("Offsets of matched boxes from their anchors, normalised, and masks of those that count.")
    .input("samples", "Above 0.5 for a positive sample, (batch, anchors).")
    .input("matches", "Index of the box that is matched, (batch, anchors).")
    .input("anchors", "Anchors (corners), (batch, anchors, 4).")
    .input("refs", "Boxes (corners), (batch, boxes, 4).")
    .input("means", "Subtracted from offsets, (4,).")
    .input("stds", "Divisors of offsets, (4,).")
    .outputs([](const NoParams&) { return 2; })
    .lenient()
    .dtypes(kFloating)
    .infer(infer_box_encode)
    .cpu(box_encode_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::detect
