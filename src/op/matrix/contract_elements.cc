// SPDX-License-Identifier: Apache-2.0
// Copies are those of transposing, sums those of reductions, products those of broadcasting.
#include "op/matrix/contract_elements.h"

#include <algorithm>
#include <array>

#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/moving/strided_copy.h"
#include "op/products/integer_products.h"
#include "op/products/small_products.h"
#include "op/reducing/reduce_engine.h"
#include "op/rows/binary_kernel.h"
#include "op/run/dispatch.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

namespace mxnet::contraction {
namespace {

bool has(const Strides& strides, std::size_t label) { return strides[label] != 0; }

// Labels that count, of the array that is dense.
Labels order_of(Dims dims, const Strides& strides) {
  Labels labels;
  for (std::size_t l = 0; l < dims.size(); ++l)
    if (dims[l] != 1 && has(strides, l)) labels.push_back(l);
  sort_by(strides, &labels);
  return labels;
}

// Whether labels of `array` are all among those of `out`.
bool is_within(Dims dims, const Strides& array, const Strides& out) {
  for (std::size_t l = 0; l < dims.size(); ++l)
    if (dims[l] != 1 && has(array, l) && !has(out, l)) return false;
  return true;
}

bool has_all(const Labels& labels, const Strides& array) {
  return std::all_of(labels.begin(), labels.end(), [&](std::size_t l) { return has(array, l); });
}

// What elements of a type are multiplied as: bool is stored as 0 or 1.
DType type_of_products(DType type) { return type == DType::kBool ? DType::kUInt8 : type; }

// An operand with its labels in the order of the result, one where it lacks them.
Tensor in_order(Dims dims, const Labels& order, const Labelled& operand, Shape* shape,
                KernelContext& context) {
  Labels own;
  *shape = Shape::scalar();
  for (std::size_t l : order) {
    if (has(operand.strides, l)) own.push_back(l);
    shape->push_back(has(operand.strides, l) ? dims[l] : 1);
  }
  Tensor tensor{operand.tensor.data, shape, type_of_products(operand.tensor.dtype)};
  const Strides packed = packed_strides(dims, {&own});
  const bool lies_so = std::all_of(own.begin(), own.end(),
                                   [&](std::size_t l) { return packed[l] == operand.strides[l]; });
  if (lies_so) return tensor;
  const std::size_t bytes = dtype_size(tensor.dtype);
  tensor.data = context.workspace(static_cast<std::size_t>(shape->size()) * bytes);
  copy_labels(dims, operand.strides, packed, operand.tensor.data, tensor.data, bytes);
  return tensor;
}

// Signs do not matter for the low bits.
bool sum_bytes(Dims dims, const Labelled& in, const Labelled& out, KernelContext& context) {
  if (in.tensor.dtype != DType::kInt8 && in.tensor.dtype != DType::kUInt8) return false;
  const Labels labels = order_of(dims, in.strides);
  const void* bytes = in.tensor.data;
  if (joined_stride(dims, labels, in.strides, 0) != 1) {
    void* const copy = context.workspace(static_cast<std::size_t>(product(dims, labels)));
    copy_labels(dims, in.strides, packed_strides(dims, {&labels}), bytes, copy, 1);
    bytes = copy;
  }
  Labels kept;
  for (std::size_t l : labels)
    if (has(out.strides, l)) kept.push_back(l);
  void* const sums = context.workspace(static_cast<std::size_t>(product(dims, kept)));
  sum_dense(dims, labels, kept, DType::kUInt8, bytes, sums);
  copy_labels(dims, packed_strides(dims, {&kept}), out.strides, sums, out.tensor.data, 1);
  return true;
}

// Rows of bytes, which both operands have in the same places, each with its own.
bool multiply_bytes(Dims dims, std::span<const Labelled> in, const Labelled& out) {
  if (out.tensor.dtype != DType::kInt8 && out.tensor.dtype != DType::kUInt8) return false;
  const Labels labels = order_of(dims, in[0].strides);
  if (labels.empty() || joined_stride(dims, labels, in[0].strides, 0) != 1) return false;
  Labels kept, summed;
  for (std::size_t l : labels) {
    if (in[0].strides[l] != in[1].strides[l]) return false;
    if (has(out.strides, l) && !summed.empty()) return false;
    (has(out.strides, l) ? kept : summed).push_back(l);
  }
  if (summed.empty() || order_of(dims, in[1].strides) != labels ||
      order_of(dims, out.strides) != kept || joined_stride(dims, kept, out.strides, 1) != 1)
    return false;
  const auto *const a = in[0].tensor.as<uint8_t>(), *const b = in[1].tensor.as<uint8_t>();
  auto* const sums = out.tensor.as<uint8_t>();
  const int64_t depth = product(dims, summed);
  parallel_for(product(dims, kept), cost_of_moving(2.0 * static_cast<double>(depth)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i)
                   sums[i] = dot_bytes(a + i * depth, b + i * depth, depth);
               });
  return true;
}

// A column by a row of half types into a matrix whose rows lie together: a few thousand products at
// a time, as floats that stay in the first-level cache until they are rounded. False: it is
// something else.
bool multiply_halves_outer(Dims dims, std::span<const Labelled> in, const Labelled& out,
                           KernelContext& context) {
  const DType type = out.tensor.dtype;
  const OuterProductLoop<float> loop = outer_product_loop<float>();
  if ((type != DType::kFloat16 && type != DType::kBFloat16) || dims.size() != 2 || loop == nullptr)
    return false;
  const std::size_t row = out.strides[0] == 1 ? 1 : 0, column = 1 - row;
  const int64_t rows = dims[row], columns = dims[column];
  const Labelled &a = in[has(in[0].strides, row) ? 0 : 1], &b = in[&a == &in[0] ? 1 : 0];
  if (columns < kOuterRow || out.strides[row] != columns || out.strides[column] != 1 ||
      a.strides[row] != 1 || a.strides[column] != 0 || b.strides[column] != 1 ||
      b.strides[row] != 0)
    return false;
  const auto* const left = as_type(a.tensor, DType::kFloat32, context).as<const float>();
  const auto* const right = as_type(b.tensor, DType::kFloat32, context).as<const float>();
  constexpr int64_t kBlock = 4096;
  const int64_t width = std::min(columns, kBlock), together = kBlock / width;
  const double cost = cost_of_moving(static_cast<double>(columns) * sizeof(float));
  const auto multiply = [&]<class T>(TypeTag<T>) {
    T* const to = out.tensor.as<T>();
    parallel_for(rows, cost, [&](int64_t first, int64_t last) {
      std::array<float, kBlock> block;
      for (int64_t i = first; i < last; i += together) {
        const int64_t n = std::min(together, last - i);
        for (int64_t j = 0; j < columns; j += width) {
          const int64_t here = std::max(kOuterRow, std::min(width, columns - j));
          const int64_t at = std::min(j, columns - here);  // a short last one overlaps
          loop(n, here, left + i, 1, right + at, block.data(), here);
          convert_array(block.data(), to + i * columns + at, n * here);
        }
      }
    });
  };
  type == DType::kFloat16 ? multiply(TypeTag<float16>{}) : multiply(TypeTag<bfloat16>{});
  return true;
}

}  // namespace

void copy_labels(Dims dims, const Strides& from, const Strides& to, const void* in, void* out,
                 std::size_t element_bytes) {
  StridedPlan plan;
  for (std::size_t l = 0; l < dims.size(); ++l)
    if (dims[l] != 1 && has(to, l)) plan.add(dims[l], from[l], to[l]);
  copy_strided(plan, in, out, element_bytes);
}

Labels labels_of_dense(Dims dims, const Strides& strides) {
  const Labels labels = order_of(dims, strides);
  return joined_stride(dims, labels, strides, 0) == 1 ? labels : Labels{};
}

Labels labels_alike(Dims dims, const Strides& a, const Strides& b) {
  for (std::size_t l = 0; l < dims.size(); ++l)
    if (dims[l] != 1 && a[l] != b[l]) return {};
  return labels_of_dense(dims, a);
}

// Not a template, for it is long.
void sum_dense(Dims dims, const Labels& labels, const Labels& kept, DType type, const void* data,
               void* sums) {
  InlineVector<int64_t, 8> sizes;
  AxisSet summed = 0;
  for (std::size_t l : labels) {
    if (std::find(kept.begin(), kept.end(), l) == kept.end()) summed |= AxisSet{1} << sizes.size();
    sizes.push_back(dims[l]);
  }
  const Shape shape(sizes);
  const ReducePlan plan(shape, summed);
  const Tensor tensor{const_cast<void*>(data), &shape, type};
  // Of the types that may be stored, the one that is as large as `type`.
  const auto add = [&]<class Sum, class... Stored>(TypeTag<Sum>, TypeTag<Stored>...) {
    const ReduceStore<Sum> store = [&](int64_t first, const Sum* values, int64_t n) {
      const auto put = [&](auto* to) {
        if (dtype_size(type) != sizeof(*to)) return;
        for (int64_t i = 0; i < n; ++i)
          to[first + i] = static_cast<std::remove_pointer_t<decltype(to)>>(values[i]);
      };
      (put(static_cast<Stored*>(sums)), ...);
    };
    reduce<Sum>(Reduction::sum, tensor, plan, store);
  };
  const bool columns = !kept.empty() && kept.back() == labels.back();
  if (!is_floating(type)) {
    add(TypeTag<int64_t>{}, TypeTag<uint8_t>{}, TypeTag<uint32_t>{}, TypeTag<uint64_t>{});
  } else if (type == DType::kFloat32 && columns) {
    add(TypeTag<float>{}, TypeTag<float>{});
  } else {  // of floats, too: runs that lie apart are gathered to be added in float
    add(TypeTag<double>{}, TypeTag<float>{}, TypeTag<double>{});
  }
}

bool contract_elements(Dims dims, std::span<const Labelled> in, const Labelled& out,
                       KernelContext& context) {
  const Tensor& result = out.tensor;
  if (in.size() > 2 || reached(dims, out.strides) != result.size()) return false;
  for (std::size_t l = 0; l < dims.size(); ++l) {
    const bool is_met = std::any_of(
        in.begin(), in.end(), [&](const Labelled& operand) { return has(operand.strides, l); });
    if (dims[l] != 1 && !is_met) return false;  // counted
  }
  const bool summed = !std::all_of(in.begin(), in.end(), [&](const Labelled& operand) {
    return is_within(dims, operand.strides, out.strides);
  });
  if (in.size() == 1) {
    if (summed) return sum_bytes(dims, in[0], out, context);
    copy_labels(dims, in[0].strides, out.strides, in[0].tensor.data, result.data,
                dtype_size(result.dtype));
    return true;
  }
  if (summed) return multiply_bytes(dims, in, out);
  Labels order = order_of(dims, out.strides);
  const bool all[] = {has_all(order, in[0].strides), has_all(order, in[1].strides)};
  // Operands that lie alike are multiplied as they lie, and what lies otherwise are the products.
  const Labels alike = labels_alike(dims, in[0].strides, in[1].strides);
  const bool moves = all[0] && all[1] && !alike.empty() && alike != order;
  if (moves) order = alike;
  // Floating numbers of which none lies along all of the result, nor both along its rows, are outer
  // products.
  const bool exact = is_integer(result.dtype) || result.dtype == DType::kBool;
  const auto lie_along = [&](std::size_t l) {
    return has(in[0].strides, l) && has(in[1].strides, l);
  };
  if (!exact && !all[0] && !all[1] && !lie_along(order.back()))
    return multiply_halves_outer(dims, in, out, context);
  Shape shapes[3];
  const Tensor a = in_order(dims, order, in[0], &shapes[0], context);
  const Tensor b = in_order(dims, order, in[1], &shapes[1], context);
  shapes[2] = Shape::scalar();
  for (std::size_t l : order) shapes[2].push_back(dims[l]);
  const std::size_t bytes = dtype_size(result.dtype);
  void* const products =
      moves ? context.workspace(static_cast<std::size_t>(result.size()) * bytes) : result.data;
  run_binary(BinaryRow::multiply, a, b, {products, &shapes[2], type_of_products(result.dtype)},
             context);
  if (moves)
    copy_labels(dims, packed_strides(dims, {&order}), out.strides, products, result.data, bytes);
  // A product that is added to zero, as in matrix products, has another sign where it is -0.
  if (!exact && !(all[0] && all[1]))
    run_binary_scalar(BinaryRow::add, result, 0.0, false, result, context);
  return true;
}

}  // namespace mxnet::contraction
