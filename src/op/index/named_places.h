// SPDX-License-Identifier: Apache-2.0
// Places along an axis that delete and insert are told: by one position, a slice, positions in an
// array, or a mask.
#pragma once
#include <optional>
#include <vector>

#include "op/index/slice_box.h"
#include "op/op_builder.h"
#include "op/run/read_back.h"

namespace mxnet {

struct PlaceParams {
  std::optional<double> val;
  std::optional<int32_t> start, stop, step, int_ind, axis;
};

void add_place_params(OpBuilder<PlaceParams>& op);

// Without an axis the array counts as flat.
Shape axis_shape(const PlaceParams& params, const Shape& shape);
int axis_of(const PlaceParams& params, const Shape& shape, const char* tag);

SliceRange range_of(const PlaceParams& params, int64_t size);
void check_step(const PlaceParams& params, Infer& infer);

// A position from one that may count from the end. Throws Error(kIndex).
int64_t checked_place(int64_t position, int64_t size, int64_t limit, const char* tag);

// Positions that are named by the parameters, or by the array `obj` (null if there is none), in
// order of naming. `limit` is one after the last that may be named.
std::vector<int64_t> named_places(const PlaceParams& params, const Tensor* obj, int64_t size,
                                  int64_t limit, const char* tag, KernelContext& context);

// out[outer][i][inner] = in[outer][places[i]][inner] for an array that is seen as `shape`.
void gather_places(const Tensor& in, const Shape& shape, int axis, const HostNumbers& places,
                   int64_t count, void* out, const char* tag, KernelContext& context);

}  // namespace mxnet
