// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression: of boxes that overlap, the one with the best score stays.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/stable_order.h"
#include "op/detect/box_columns.h"
#include "op/detect/box_nms.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

// Boxes in half types have numbers beside them that tell thousands of rows apart.
void infer_sources(InferArg boxes, InferArg sources) {
  if (boxes.dtype() == DType::kUnknown) return;
  sources.set_dtype(boxes.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
}

// Whether a number of a box has two meanings. (A class of -1 is none.)
bool meanings_collide(const BoxNmsParams& params) {
  const auto is_coordinate = [&](int32_t i) {
    return i >= params.coord_start && i < params.coord_start + 4;
  };
  return is_coordinate(params.score_index) || is_coordinate(params.id_index) ||
         params.id_index == params.score_index;
}

void infer_box_nms(const BoxNmsParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  infer_sources(infer.in(0), infer.out(1));
  infer.out(0).same_shape(infer.in(0));
  if (!infer.in(0).known()) return;
  const Shape& shape = infer.in(0).shape();
  if (shape.ndim() < 2) infer.in(0).fail("boxes in the last two dimensions");
  const int64_t width = shape.back();
  if (params.coord_start < 0 || int64_t{params.coord_start} + 4 > width || params.score_index < 0 ||
      params.score_index >= width || params.id_index >= width) {
    infer.fail(
        fmt::format("given coord_start {}, score_index {}, id_index {}, expected them within "
                    "the {} numbers of a box",
                    params.coord_start, params.score_index, params.id_index, width));
  }
  if (meanings_collide(params)) {
    infer.fail(fmt::format(
        "given coord_start {}, score_index {}, id_index {}, expected coordinates, score "
        "and class beside each other",
        params.coord_start, params.score_index, params.id_index));
  }
  Shape rows = shape;
  rows[shape.ndim() - 1] = 1;
  infer.out(1).set_shape(rows);
}

// One set of boxes. Places of those that stay, in order of score.
template <class T>
std::vector<int64_t> suppress(const BoxNmsParams& params, const T* data, int64_t count,
                              int64_t width) {
  std::vector<int64_t> members;
  std::vector<double> scores;
  const auto id = [&](int64_t i) { return data[i * width + params.id_index]; };
  for (int64_t i = 0; i < count; ++i) {
    if (!takes_part(params, data + i * width)) continue;
    members.push_back(i);
    scores.push_back(data[i * width + params.score_index]);
  }
  std::vector<std::size_t> order = places_by_descending(scores);
  if (params.topk > 0 && static_cast<int64_t>(order.size()) > params.topk)
    order.resize(static_cast<std::size_t>(params.topk));
  const auto size = static_cast<int64_t>(order.size());
  const auto place = [&](int64_t i) { return members[order[static_cast<std::size_t>(i)]]; };
  const BoxColumns<T> boxes(size, [&](int64_t i) {
    return read_box(data + place(i) * width + params.coord_start, params.in_format);
  });
  const bool any_class = params.force_suppress || params.id_index < 0;
  std::vector<T> overlaps(order.size());
  std::vector<char> covered(order.size());
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < size; ++i) {
    if (covered[static_cast<std::size_t>(i)] != 0) continue;
    kept.push_back(place(i));
    boxes.iou(boxes.box(i), i + 1, size, overlaps.data());
    for (int64_t j = i + 1; j < size; ++j) {
      if (overlaps[static_cast<std::size_t>(j - i - 1)] > static_cast<T>(params.overlap_thresh) &&
          (any_class || id(place(i)) == id(place(j))))
        covered[static_cast<std::size_t>(j)] = 1;
    }
  }
  return kept;
}

void box_nms_cpu(const BoxNmsParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  const int64_t width = shape.back(), count = shape[shape.ndim() - 2];
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = arrays.in(0);
    T *out = arrays.out(0), *sources = arrays.out(1);
    parallel_for(
        shape.size(0, shape.ndim() - 2), 16.0 * static_cast<double>(count),
        [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) {
            const T* boxes = data + b * count * width;
            T *to = out + b * count * width, *source = sources + b * count;
            if (leaves_all(params)) {
              if (to != boxes) std::copy_n(boxes, count * width, to);
              for (int64_t i = 0; i < count; ++i) source[i] = static_cast<T>(i);
              continue;
            }
            std::fill_n(to, count * width, T{-1});
            std::fill_n(source, count, T{-1});
            for (const int64_t i : suppress(params, boxes, count, width)) {
              std::copy_n(boxes + i * width, width, to);
              write_box(read_box(boxes + i * width + params.coord_start, params.in_format),
                        params.out_format, to + params.coord_start);
              *source++ = static_cast<T>(i);
              to += width;
            }
          }
        },
        1);
  });
}

// Inputs: gradient of the output, and where its rows came from.
void box_nms_backward_cpu(const BoxNmsParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  const int64_t width = shape.back(), count = shape[shape.ndim() - 2];
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *sources = arrays.in(1);
    T* dx = arrays.out(0);
    std::fill_n(dx, shape.size(), T{0});
    const int64_t rows = context.in(1).size();
    for (int64_t i = 0; i < rows; ++i) {
      if (sources[i] < 0) continue;
      if (!(sources[i] < static_cast<T>(count))) {
        throw Error(ErrorCode::kIndex,
                    fmt::format("given row {} in 'sources', expected one below {}",
                                static_cast<double>(sources[i]), count));
      }
      const T* from = dout + i * width;
      T* to = dx + (i / count * count + static_cast<int64_t>(sources[i])) * width;
      std::copy_n(from, width, to);
      turn_gradient(params, from + params.coord_start, to + params.coord_start);
    }
  });
}

OpBuilder<BoxNmsParams> with_params(const char* name) {
  const Choices<BoxFormat> formats{{"corner", BoxFormat::kCorner}, {"center", BoxFormat::kCenter}};
  OpBuilder<BoxNmsParams> op(name);
  op.param("overlap_thresh", &BoxNmsParams::overlap_thresh, 0.5f,
           "Boxes that overlap a better one by more are suppressed.")
      .param("valid_thresh", &BoxNmsParams::valid_thresh, 0.0f,
             "Boxes without a higher score are dropped before.")
      .param("topk", &BoxNmsParams::topk, -1,
             "Boxes that take part, the best ones; all if negative. 0 leaves everything as it is.")
      .param("coord_start", &BoxNmsParams::coord_start, 2, "Where the coordinates of a box begin.")
      .param("score_index", &BoxNmsParams::score_index, 1, "Where its score is.")
      .param("id_index", &BoxNmsParams::id_index, -1, "Where its class is, if not negative.")
      .param("background_id", &BoxNmsParams::background_id, -1,
             "Boxes of this class are dropped: -1 marks those that are none.")
      .param("force_suppress", &BoxNmsParams::force_suppress, false,
             "Whether boxes of other classes suppress too.")
      .choice("in_format", &BoxNmsParams::in_format, formats, "corner", "Format of the input.")
      .choice("out_format", &BoxNmsParams::out_format, formats, "corner", "Format of the output.");
  return op;
}

[[maybe_unused]] const OpBuilder<BoxNmsParams> forward_op =
    with_params("_contrib_box_nms")
        .alias("_contrib_box_non_maximum_suppression")
        .doc("Boxes in order of score without those that a better one overlaps; the rest is -1.")
        .input("data", "Boxes, (..., boxes, numbers of a box).")
        .outputs([](const BoxNmsParams&) { return 2; })
        .visible_outputs([](const BoxNmsParams&) { return 1; })
        .output("output0")
        .output("output1")
        .dtypes(kFloating)
        .infer(infer_box_nms)
        .cpu(box_nms_cpu)
        .grad([](const BoxNmsParams&, Grad& grad) {
          return Gradients{
              apply("_backward_contrib_box_nms", {grad.dout(0), grad.out(1)}, grad.attrs())};
        });

[[maybe_unused]] const OpBuilder<BoxNmsParams> backward_op =
    with_params("_backward_contrib_box_nms")
        .doc("Gradient of _contrib_box_nms.")
        .input("dout", "Gradient of the boxes.")
        .input("sources", "Rows of the input that they are.")
        .dtypes(kFloating)
        .infer([](const BoxNmsParams& params, Infer& infer) {
          infer.in(0).same_dtype(infer.out(0));
          infer_sources(infer.in(0), infer.in(1));
          infer.follow(infer_box_nms, params, {infer.in(0)}, {infer.in(0), infer.in(1)});
          infer.in(0).same_shape(infer.out(0));
        })
        .cpu(box_nms_backward_cpu);

}  // namespace
}  // namespace mxnet::detect
