// SPDX-License-Identifier: Apache-2.0
// Positions are worked out on the host, whichever device the arrays are on.
#include "op/index/named_places.h"

#include <fmt/format.h>

#include "base/error.h"
#include "op/loops/as_type.h"
#include "op/moving/rows.h"

namespace mxnet {

void add_place_params(OpBuilder<PlaceParams>& op) {
  op.param("start", &PlaceParams::start, std::nullopt, "First position of a slice.")
      .param("stop", &PlaceParams::stop, std::nullopt, "Position after the last of a slice.")
      .param("step", &PlaceParams::step, std::nullopt, "Step of a slice.")
      .param("int_ind", &PlaceParams::int_ind, std::nullopt, "One position.")
      .param("axis", &PlaceParams::axis, std::nullopt, "The axis; None: the array is flattened.");
}

Shape axis_shape(const PlaceParams& params, const Shape& shape) {
  return params.axis ? shape : Shape{shape.size()};
}

int axis_of(const PlaceParams& params, const Shape& shape, const char* tag) {
  return params.axis ? normalize_axis(*params.axis, shape.ndim(), tag) : 0;
}

SliceRange range_of(const PlaceParams& params, int64_t size) {
  return python_range(params.start, params.stop, params.step.value_or(1), size);
}

void check_step(const PlaceParams& params, Infer& infer) {
  if (params.step == 0) infer.fail("given step 0, expected a step other than 0");
}

int64_t checked_place(int64_t position, int64_t size, int64_t limit, const char* tag) {
  if (position < -size || position >= limit) {
    throw Error(ErrorCode::kIndex, tag,
                fmt::format("given index {}, expected one in [{}, {})", position, -size, limit));
  }
  return position < 0 ? position + size : position;
}

std::vector<int64_t> named_places(const PlaceParams& params, const Tensor* obj, int64_t size,
                                  int64_t limit, const char* tag, KernelContext& context) {
  if (params.int_ind) return {checked_place(*params.int_ind, size, limit, tag)};
  std::vector<int64_t> positions;
  if (obj == nullptr) {
    const SliceRange range = range_of(params, size);
    for (int64_t i = 0; i < range.count; ++i) positions.push_back(range.begin + i * range.step);
    return positions;
  }
  positions.resize(static_cast<std::size_t>(obj->size()));
  read_int64(HostCopy(context, *obj).tensor(), 0, obj->size(), positions.data());
  if (obj->dtype == DType::kBool) {  // a mask
    std::vector<int64_t> chosen;
    for (std::size_t i = 0; i < positions.size(); ++i)
      if (positions[i] != 0)
        chosen.push_back(checked_place(static_cast<int64_t>(i), size, limit, tag));
    return chosen;
  }
  for (int64_t& position : positions) position = checked_place(position, size, limit, tag);
  return positions;
}

void gather_places(const Tensor& in, const Shape& shape, int axis, const HostNumbers& places,
                   int64_t count, void* out, const char* tag, KernelContext& context) {
  if (count == 0 || shape.size() == 0) return;
  const Shape list{count};
  // Read only.
  const Tensor positions{const_cast<int64_t*>(places.on_device(context, count)), &list,
                         DType::kInt64};
  gather_rows(in.data, shape.size(0, axis), shape[axis],
              shape.size(axis + 1, shape.ndim()) * static_cast<int64_t>(dtype_size(in.dtype)),
              Positions(positions, shape[axis], OutOfRange::kClip, tag), out, context);
}

}  // namespace mxnet
