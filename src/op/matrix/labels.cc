// SPDX-License-Identifier: Apache-2.0
// From labels and shapes to sizes and strides.
#include "op/matrix/labels.h"

#include <fmt/format.h>

#include <map>

namespace mxnet {

void fail(Infer& infer, const LabelError& error) {
  if (error.argument >= 0) infer.in(error.argument).fail(error.message);
  infer.fail(error.message);
}

void infer_labelled(const LabelLists& lists, Infer& infer) {
  InferArg out = infer.out(0);
  out.set_shape(Shape::unknown(static_cast<int>(lists.out.size())));
  // Those of labels that broadcast: 1 where all are, unknown while another one may be larger.
  std::map<int, int64_t> sizes;
  const auto learn = [&](InferArg arg, const std::vector<int>& labels, bool yields) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const int64_t dim = arg.dim(static_cast<int>(i));
      int64_t& size = sizes.try_emplace(labels[i], dim).first->second;
      if (yields && labels[i] >= lists.broadcast_from) {
        size = size > 1 || dim > 1 ? std::max(size, dim) : std::min(size, dim);
      } else if (size < 0) {
        size = dim;
      }
    }
  };
  for (std::size_t i = 0; i < lists.in.size(); ++i)
    learn(infer.in(static_cast<int>(i)), lists.in[i], true);
  learn(out, lists.out, false);
  const auto tell = [&](InferArg arg, const std::vector<int>& labels, bool yields) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (!yields || labels[i] < lists.broadcast_from)
        arg.set_dim(static_cast<int>(i), sizes[labels[i]]);
    }
  };
  for (std::size_t i = 0; i < lists.in.size(); ++i)
    tell(infer.in(static_cast<int>(i)), lists.in[i], true);
  tell(out, lists.out, false);
}

LabelProblem label_problem(const LabelLists& lists, std::span<const Shape> shapes) {
  int count = 0;
  for (const auto& labels : lists.in) {
    for (int l : labels) count = std::max(count, l + 1);
  }
  for (int l : lists.out) count = std::max(count, l + 1);
  LabelProblem problem;
  problem.dims.assign(static_cast<std::size_t>(count), 1);
  std::vector<bool> seen(static_cast<std::size_t>(count), false);
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    for (std::size_t i = 0; i < lists.in[a].size(); ++i) {
      const int label = lists.in[a][i];
      const auto l = static_cast<std::size_t>(label);
      const int64_t dim = shapes[a][static_cast<int>(i)];
      const bool yields = label >= lists.broadcast_from;
      if (!seen[l] || (yields && problem.dims[l] == 1)) {
        problem.dims[l] = dim;
      } else if (problem.dims[l] != dim && !(yields && dim == 1)) {
        throw LabelError{fmt::format("{} in dimension {}", problem.dims[l], i),
                         static_cast<int>(a)};
      }
      seen[l] = true;
    }
  }
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    const Strides steps = row_major(shapes[a]);
    Strides& strides = problem.in.emplace_back(problem.dims.size(), 0);
    for (std::size_t i = 0; i < lists.in[a].size(); ++i) {
      const auto l = static_cast<std::size_t>(lists.in[a][i]);
      if (shapes[a][static_cast<int>(i)] == problem.dims[l]) strides[l] += steps[i];
    }
  }
  std::vector<int64_t> dims;
  dims.reserve(lists.out.size());
  for (int l : lists.out) dims.push_back(problem.dims[static_cast<std::size_t>(l)]);
  problem.out_shape = Shape(std::span<const int64_t>(dims));
  problem.out.assign(problem.dims.size(), 0);
  const Strides steps = row_major(problem.out_shape);
  for (std::size_t i = 0; i < lists.out.size(); ++i)
    problem.out[static_cast<std::size_t>(lists.out[i])] += steps[i];
  return problem;
}

}  // namespace mxnet
