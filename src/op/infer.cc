// SPDX-License-Identifier: Apache-2.0
// Merging of partial shapes and types.
#include "op/infer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "op/inline_vector.h"
#include "op/op_def.h"

namespace mxnet {

bool merge_shape(Shape* to, const Shape& from) {
  if (!from.rank_known() || *to == from) return true;
  if (!to->rank_known()) {
    *to = from;
    return true;
  }
  if (to->ndim() != from.ndim()) return false;
  for (int i = 0; i < from.ndim(); ++i) {
    if (from[i] < 0) continue;
    if ((*to)[i] < 0) {
      (*to)[i] = from[i];
    } else if ((*to)[i] != from[i]) {
      return false;
    }
  }
  return true;
}

bool broadcast_shapes(const Shape& a, const Shape& b, Shape* result) {
  if (!a.rank_known() || !b.rank_known()) {
    *result = Shape();
    return true;
  }
  Shape out(std::max(a.ndim(), b.ndim()), Shape::kUnknownDim);
  for (int i = 1; i <= out.ndim(); ++i) {
    const int64_t x = i <= a.ndim() ? a[a.ndim() - i] : 1;
    const int64_t y = i <= b.ndim() ? b[b.ndim() - i] : 1;
    int64_t& d = out[out.ndim() - i];
    if (x == y || y == 1) {
      d = x;
    } else if (x == 1) {
      d = y;
    } else if (x < 0 || y < 0) {
      d = std::max(x, y);  // the known one, which is not 1 here
    } else {
      return false;
    }
  }
  *result = std::move(out);
  return true;
}

ArrayType& InferArg::type() const {
  return output_ ? infer_->outputs_[static_cast<std::size_t>(index_)]
                 : infer_->inputs_[static_cast<std::size_t>(index_)];
}

const Shape& InferArg::shape() const { return type().shape; }
DType InferArg::dtype() const { return type().dtype; }

std::string InferArg::name() const {
  if (!infer_->named_.empty()) {
    const int first = output_ ? infer_->num_in() : 0;
    const int place = first + index_;
    return infer_->named_[static_cast<std::size_t>(place)].name();
  }
  if (output_) return fmt::format("output {}", index_);
  return fmt::format("'{}'", infer_->op_.input_name(infer_->params_, index_));
}

void InferArg::fail(const std::string& expected) const {
  infer_->fail(fmt::format("given {} of shape {} and type {}, expected {}", name(),
                           to_string(shape()), dtype_name(dtype()), expected));
}

InferArg& InferArg::set_shape(const Shape& shape) {
  if (!merge_shape(&type().shape, shape)) fail("shape " + to_string(shape));
  return *this;
}

InferArg& InferArg::set_dim(int i, int64_t dim) {
  if (dim < 0) return *this;
  int64_t& mine = type().shape[i];
  if (mine >= 0 && mine != dim) fail(fmt::format("{} in dimension {}", dim, i));
  mine = dim;
  return *this;
}

InferArg& InferArg::set_dtype(DType dtype) {
  if (dtype == DType::kUnknown) return *this;
  DType& mine = type().dtype;
  if (mine != DType::kUnknown && mine != dtype) fail(fmt::format("type {}", dtype_name(dtype)));
  mine = dtype;
  return *this;
}

// Of two that differ the earlier one says what is expected, and the later one is blamed; outputs
// come after inputs.
InferArg& InferArg::same_shape(InferArg other) {
  if (shape() == other.shape()) return *this;  // nothing to learn: the usual call
  const bool later = std::pair(output_, index_) > std::pair(other.output_, other.index_);
  InferArg &first = later ? other : *this, &second = later ? *this : other;
  second.set_shape(first.shape());
  first.set_shape(second.shape());
  return *this;
}

InferArg& InferArg::same_dtype(InferArg other) {
  const bool later = std::pair(output_, index_) > std::pair(other.output_, other.index_);
  InferArg &first = later ? other : *this, &second = later ? *this : other;
  second.set_dtype(first.dtype());
  first.set_dtype(second.dtype());
  return *this;
}

void Infer::one_dtype(DType fallback) {
  DType known = DType::kUnknown;
  for (const ArrayType& t : inputs_) known = known == DType::kUnknown ? t.dtype : known;
  for (const ArrayType& t : outputs_) known = known == DType::kUnknown ? t.dtype : known;
  if (known == DType::kUnknown) known = fallback;
  for (int i = 0; i < num_in(); ++i)
    if (in(i).dtype() != known) in(i).set_dtype(known);
  for (int i = 0; i < num_out(); ++i)
    if (out(i).dtype() != known) out(i).set_dtype(known);
}

void Infer::broadcast(int lhs, int rhs) {
  Shape result;
  if (!broadcast_shapes(in(lhs).shape(), in(rhs).shape(), &result)) {
    in(rhs).fail(fmt::format("a shape that broadcasts with {} {}", in(lhs).name(),
                             to_string(in(lhs).shape())));
  }
  out(0).set_shape(result);
}

void Infer::follow(const std::function<void(Infer&)>& rule, std::span<const InferArg> inputs,
                   std::span<const InferArg> outputs) {
  InlineVector<InferArg, 8> args;
  for (const InferArg& arg : inputs) args.push_back(arg);
  for (const InferArg& arg : outputs) args.push_back(arg);
  InlineVector<ArrayType, 8> types;
  for (const InferArg& arg : inputs) types.push_back({arg.shape(), arg.dtype()});
  for (const InferArg& arg : outputs) types.push_back({arg.shape(), DType::kUnknown});
  const std::span<ArrayType> all = types.span();
  Infer inner(op_, params_, all.first(inputs.size()), all.subspan(inputs.size()));
  inner.named_ = args.span();
  rule(inner);
  for (std::size_t i = 0; i < all.size(); ++i) args[i].set_shape(all[i].shape);
}

int Infer::axis(int64_t axis, InferArg arg) {
  return normalize_axis(axis, arg.ndim(), op_.name().c_str());
}

void Infer::fail(const std::string& message) const {
  throw Error(ErrorCode::kValue, op_.name(), message);
}

}  // namespace mxnet
