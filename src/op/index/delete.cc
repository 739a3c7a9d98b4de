// SPDX-License-Identifier: Apache-2.0
// NumPy's delete along an axis: what is not named is gathered.
#include <vector>

#include "op/index/named_places.h"

namespace mxnet {
namespace {

void delete_named(const PlaceParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Shape shape = axis_shape(params, in.shape());
  const int axis = axis_of(params, in.shape(), "_npi_delete");
  const int64_t size = shape[axis];
  std::vector<uint8_t> stays(static_cast<std::size_t>(size), 1);
  const Tensor* obj = context.num_in() > 1 ? &context.in(1) : nullptr;
  for (const int64_t position : named_places(params, obj, size, size, "_npi_delete", context))
    stays[static_cast<std::size_t>(position)] = 0;
  const HostNumbers kept(context, size);
  int64_t count = 0;
  for (int64_t i = 0; i < size; ++i) {  // what does not stay is overwritten by the next one
    kept.data()[count] = i;
    count += stays[static_cast<std::size_t>(i)];
  }
  Shape result = shape;
  result[axis] = count;
  const Tensor out = context.make_out(0, result);
  gather_places(in, shape, axis, kept, count, out.data, "_npi_delete", context);
}

bool define_delete() {
  OpBuilder<PlaceParams> op("_npi_delete");
  op.doc("The array without some slices along an axis.")
      .input("arr", "The array.")
      .input("obj", "Positions to leave out, unless parameters name them.");
  add_place_params(op);
  op.num_inputs(
        [](const PlaceParams& p) { return p.int_ind || p.start || p.stop || p.step ? 1 : 2; })
      .shape_from_values([](const PlaceParams&, int num_in) { return num_in > 1; })
      .infer([](const PlaceParams& params, Infer& infer) {
        infer.in(0).same_dtype(infer.out(0));
        check_step(params, infer);
        if (infer.num_in() > 1 || !infer.in(0).known()) return;
        Shape shape = axis_shape(params, infer.in(0).shape());
        const int axis = axis_of(params, infer.in(0).shape(), "_npi_delete");
        if (params.int_ind) checked_place(*params.int_ind, shape[axis], shape[axis], "_npi_delete");
        shape[axis] -= params.int_ind ? 1 : range_of(params, shape[axis]).count;
        infer.out(0).set_shape(shape);
      })
      .cpu(delete_named);
  return mark_portable_waiting({"_npi_delete"});
}
[[maybe_unused]] const bool defined = define_delete();

}  // namespace
}  // namespace mxnet
