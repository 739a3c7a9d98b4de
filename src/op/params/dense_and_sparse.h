// SPDX-License-Identifier: Apache-2.0
// Parameters of operators that are implemented twice: by their family for dense arrays, by
// src/op/sparse for the others. See the families for what the fields mean.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace mxnet {

struct ScalarParams {
  double scalar;
  bool is_int;
};

struct ClipParams {
  float a_min, a_max;
};

enum class StorageChoice : int8_t { kNone, kDense, kRowSparse, kCSR };

struct DotParams {
  bool transpose_a, transpose_b;
  StorageChoice forward_stype;
  int32_t wrt;
};

struct ReduceParams {
  std::optional<Shape> axis;
  bool keepdims, exclude;
};

struct NormParams {
  int32_t ord;
  std::optional<Shape> axis;
  DType out_dtype = DType::kUnknown;
  bool keepdims;
};

struct SliceParams {
  std::vector<std::optional<int64_t>> begin, end, step;
  double scalar;  // of _slice_assign_scalar
};

struct JoinParams {
  int32_t num_args;
  int32_t dim;
  std::optional<int32_t> axis;  // of _npi_concatenate: None flattens
};

// What to do with a position that is not inside an axis.
enum class OutOfRange : uint8_t {
  kClip,      // the nearest end
  kWrap,      // modulo the extent
  kRaise,     // an error
  kFromBack,  // negative ones count from the end, others are errors
};

struct TakeParams {
  int32_t axis;
  OutOfRange mode;
};

struct EmbeddingParams {
  int32_t input_dim, output_dim;
  DType dtype;
  bool sparse_grad;
};

}  // namespace mxnet
