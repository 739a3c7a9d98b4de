// SPDX-License-Identifier: Apache-2.0
// Stand-ins for the two operators that views are recorded as, until the family of shapes has them.
#include "exec/view_operators.h"

#include "op/op_builder.h"

namespace mxnet {
namespace {

using Positions = std::vector<std::optional<int64_t>>;

struct SliceParams {
  Positions begin, end;
};
struct ReshapeParams {
  Shape shape;
};

void copy_rows(const SliceParams& params, KernelContext& context) {
  const int64_t width = context.in(0).size() / context.in(0).dim(0);
  std::copy_n(context.in(0).as<float>() + *params.begin[0] * width, context.out(0).size(),
              context.out(0).as<float>());
}

// Inputs: the gradient of the rows, and the array they come from.
void place_rows(const SliceParams& params, KernelContext& context) {
  const int64_t width = context.out(0).size() / context.out(0).dim(0);
  std::fill_n(context.out(0).as<float>(), context.out(0).size(), 0.0f);
  std::copy_n(context.in(0).as<float>(), context.in(0).size(),
              context.out(0).as<float>() + *params.begin[0] * width);
}

void copy_all(const ReshapeParams&, KernelContext& context) {
  std::copy_n(context.in(0).as<float>(), context.in(0).size(), context.out(0).as<float>());
}

void define_slice() {
  OpBuilder<SliceParams>("slice")
      .doc("Rows.")
      .input("data", "The array.")
      .param("begin", &SliceParams::begin, "First row.")
      .param("end", &SliceParams::end, "Row after the last.")
      .infer([](const SliceParams& params, Infer& infer) {
        Shape shape = infer.in(0).shape();
        shape[0] = *params.end[0] - *params.begin[0];
        infer.out(0).set_shape(shape).same_dtype(infer.in(0));
      })
      .cpu(copy_rows)
      .grad([](const SliceParams&, Grad& grad) {
        return Gradients{apply("_test_slice_gradient", {grad.dout(0), grad.in(0)}, grad.attrs())};
      });
  OpBuilder<SliceParams>("_test_slice_gradient")
      .doc("Rows of zeros around the gradient.")
      .input("head_grad", "Gradient of the rows.")
      .input("data", "The array they come from.")
      .type_only(1)
      .param("begin", &SliceParams::begin, "First row.")
      .param("end", &SliceParams::end, "Row after the last.")
      .infer([](const SliceParams&, Infer& infer) { infer.out(0).same_as(infer.in(1)); })
      .cpu(place_rows);
}

void define_reshape() {
  OpBuilder<ReshapeParams>("Reshape")
      .doc("The same elements in another shape.")
      .input("data", "The array.")
      .param("shape", &ReshapeParams::shape, "The shape.")
      .infer([](const ReshapeParams& params, Infer& infer) {
        infer.out(0).set_shape(params.shape).same_dtype(infer.in(0));
      })
      .cpu(copy_all)
      .grad([](const ReshapeParams&, Grad& grad) {
        return Gradients{apply("_test_reshape_like", {grad.dout(0), grad.in(0)})};
      });
  OpBuilder<NoParams>("_test_reshape_like")
      .doc("The elements of one array in the shape of another.")
      .input("data", "The elements.")
      .input("like", "The shape.")
      .type_only(1)
      .infer([](const NoParams&, Infer& infer) { infer.out(0).same_as(infer.in(1)); })
      .cpu([](const NoParams&, KernelContext& context) { copy_all({}, context); });
}

}  // namespace

void complete_view_operators() {
  if (Registry::get().find("slice") == nullptr) define_slice();
  if (Registry::get().find("Reshape") == nullptr) define_reshape();
}

}  // namespace mxnet
