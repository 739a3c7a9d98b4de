// SPDX-License-Identifier: Apache-2.0
// NumPy's insert along an axis: which places of the result come from where is worked out on
// positions, then slices are copied.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/stable_order.h"
#include "op/index/named_places.h"
#include "op/length.h"
#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

// The element of the values that belongs to (outer o, inserted i, inner k) of the result; values
// broadcast to the result's shape with `count` along the axis.
class ValueIndex {
 public:
  ValueIndex(const Shape& value, const Shape& full) : full_(full) {
    if (value.ndim() > full.ndim()) fail(value, full);
    int64_t step = 1;
    for (int i = 1; i <= value.ndim(); ++i) {
      const int64_t dim = value[value.ndim() - i];
      if (dim != 1 && dim != full[full.ndim() - i]) fail(value, full);
      steps_[static_cast<std::size_t>(full.ndim() - i)] = dim == 1 ? 0 : step;
      step *= dim;
    }
  }
  int64_t step(int dim) const { return steps_[static_cast<std::size_t>(dim)]; }
  int64_t operator()(int64_t place) const {
    int64_t at = 0;
    for (int d = full_.ndim() - 1; d >= 0; --d) {
      at += place % full_[d] * steps_[static_cast<std::size_t>(d)];
      place /= full_[d];
    }
    return at;
  }

 private:
  [[noreturn]] static void fail(const Shape& value, const Shape& full) {
    throw Error(ErrorCode::kValue, "insert",
                fmt::format("given values of shape {}, expected one that broadcasts to {}",
                            to_string(value), to_string(full)));
  }
  const Shape full_;
  std::array<int64_t, Shape::kMaxDims> steps_{};
};

// How many places are inserted, from shapes alone; -1 where they do not say. `values` null: a
// number.
int64_t inserted_count(const PlaceParams& params, const Shape& shape, int axis, const Shape* values,
                       const Shape* obj) {
  const auto slice = [&] { return shape[axis] < 0 ? -1 : range_of(params, shape[axis]).count; };
  const int64_t named = params.int_ind   ? 1
                        : obj != nullptr ? (obj->known() ? obj->size() : -1)
                                         : slice();
  if (named != 1) return named;
  // One index takes as many values as there are along the axis.
  if (values == nullptr || values->ndim() == 0) return 1;
  if (!values->rank_known()) return -1;
  if (params.int_ind) return values->ndim() == shape.ndim() ? (*values)[0] : 1;
  const int at = values->ndim() - (shape.ndim() - axis);
  return at >= 0 ? (*values)[at] : 1;
}

// Inputs: array, values unless `val`, positions unless parameters name them.
struct InsertInputs {
  InsertInputs(const PlaceParams& params, bool with_obj, int num_in)
      : values(params.val ? -1 : 1), obj(with_obj ? num_in - 1 : -1) {}
  int values, obj;
};

// The result of an insertion before anything is copied.
struct Insertion {
  // A place of the result that is no inserted one.
  static constexpr int64_t kKept = -1;

  const Tensor* values;  // null: the number `fill` everywhere
  double fill;
  Shape shape;  // of the array
  int axis;
  Shape inserted;   // `shape` with as many along the axis as are inserted
  bool axis_first;  // the values count places of the result along the axis before all others
  ValueIndex index;
  std::vector<int64_t> source;  // for each place along the axis the ordinal of its value, or kKept

  int64_t count() const { return inserted[axis]; }
};

// Each named position, in ascending order and stable, shifted by how many come before it.
std::vector<int64_t> places_of_values(const std::vector<int64_t>& at, int64_t total) {
  const std::vector<std::size_t> order = places_by_ascending(at);
  std::vector<int64_t> source(static_cast<std::size_t>(total), Insertion::kKept);
  for (std::size_t i = 0; i < order.size(); ++i)
    source[static_cast<std::size_t>(at[order[i]]) + i] = static_cast<int64_t>(order[i]);
  return source;
}

// The shape in whose order the values are counted.
Shape order_of_values(const Shape& inserted, int axis, bool axis_first) {
  Shape order = inserted;
  if (!axis_first) return order;
  order[0] = inserted[axis];
  for (int i = 0; i < axis; ++i) order[i + 1] = inserted[i];
  return order;
}

Insertion plan_insertion(const PlaceParams& params, const Tensor* values, const Tensor* obj,
                         KernelContext& context) {
  const Shape& given = context.in(0).shape();
  const Shape shape = axis_shape(params, given);
  const int axis = axis_of(params, given, "insert");
  const int64_t size = shape[axis], total = context.out(0).dim(axis);
  Shape inserted = shape;
  inserted[axis] = total - size;
  std::vector<int64_t> at = named_places(params, obj, size, size + 1, "insert", context);
  if (at.size() == 1) at.assign(static_cast<std::size_t>(total - size), at[0]);
  const bool axis_first = params.int_ind && values != nullptr && values->ndim() > 0;
  return {values,
          params.val.value_or(0.0),
          shape,
          axis,
          inserted,
          axis_first,
          ValueIndex(values == nullptr ? Shape::scalar() : values->shape(),
                     order_of_values(inserted, axis, axis_first)),
          places_of_values(at, total)};
}

// The values as they are inserted, in memory of the device.
Tensor spread_values(const Insertion& insertion, DType dtype, KernelContext& context) {
  const std::size_t element = dtype_size(dtype);
  const Shape& shape = insertion.inserted;
  const Tensor spread{context.workspace(static_cast<std::size_t>(shape.size()) * element), &shape,
                      dtype};
  const Tensor* values = insertion.values;
  if (values == nullptr) {
    fill_tensor(context, spread, insertion.fill);
    return spread;
  }
  const Tensor typed{context.workspace(static_cast<std::size_t>(values->size()) * element),
                     values->shape_ptr, dtype};
  convert_tensor(*values, typed, context);
  const int axis = insertion.axis;
  const Shape order = order_of_values(shape, axis, insertion.axis_first);
  const RowMajorSteps steps(shape);
  StridedPlan plan;
  for (int d = 0; d < order.ndim(); ++d) {
    const int to = !insertion.axis_first || d > axis ? d : d == 0 ? axis : d - 1;
    plan.add(order[d], insertion.index.step(d), steps[to]);
  }
  copy_strided(context, plan, typed.data, spread.data, element);
  return spread;
}

// By primitives of the device: the values behind the array itself, then all in their order.
void insert_by_gathering(const Insertion& insertion, const Tensor& in, const Tensor& out,
                         KernelContext& context) {
  const int axis = insertion.axis;
  const int64_t size = insertion.shape[axis], total = size + insertion.count();
  const Tensor inserted = spread_values(insertion, out.dtype, context);
  const std::size_t element = dtype_size(out.dtype);
  Shape joined = insertion.shape;
  joined[axis] = total;
  const Tensor all{context.workspace(static_cast<std::size_t>(out.size()) * element), &joined,
                   out.dtype};
  const RowMajorSteps steps(joined);
  const auto put = [&](const Tensor& part, const Shape& seen, int64_t first) {
    const RowMajorSteps part_steps(seen);
    StridedPlan plan;
    plan.out_offset = first * steps[axis];
    for (int d = 0; d < seen.ndim(); ++d) plan.add(seen[d], part_steps[d], steps[d]);
    if (seen.size() > 0) copy_strided(context, plan, part.data, all.data, element);
  };
  put(in, insertion.shape, 0);
  put(inserted, insertion.inserted, size);
  const HostNumbers places(context, total);
  int64_t kept = 0;
  for (int64_t i = 0; i < total; ++i) {
    const int64_t ordinal = insertion.source[static_cast<std::size_t>(i)];
    places.data()[i] = ordinal == Insertion::kKept ? kept++ : size + ordinal;
  }
  gather_places(all, joined, axis, places, total, out.data, "insert", context);
}

// In host memory: what is kept is copied up to the next value.
template <class T>
void insert_in_order(const Insertion& insertion, const T* from, T* to) {
  const Shape& shape = insertion.shape;
  const int axis = insertion.axis;
  const int64_t outer = shape.size(0, axis), inner = shape.size(axis + 1, shape.ndim());
  const auto value_at = [&](int64_t o, int64_t i, int64_t k) {
    const Tensor* values = insertion.values;
    if (values == nullptr) return convert<T>(insertion.fill);
    const int64_t place = insertion.axis_first ? (i * outer + o) * inner + k
                                               : (o * insertion.count() + i) * inner + k;
    const int64_t element = insertion.index(place);
    return dispatch_dtype(values->dtype, "insert", [&]<class V>(TypeTag<V>) {
      return convert<T>(values->as<const V>()[element]);
    });
  };
  // Once for all: how many are kept before the next values, and where these end.
  struct Stretch {
    int64_t kept, values_end;
  };
  std::vector<Stretch> stretches;
  const std::vector<int64_t>& source = insertion.source;
  const auto size = static_cast<int64_t>(source.size());
  const auto is_value = [&](int64_t i) {
    return source[static_cast<std::size_t>(i)] != Insertion::kKept;
  };
  for (int64_t i = 0; i < size;) {
    const int64_t begin = i;
    while (i < size && !is_value(i)) ++i;
    const int64_t kept = i - begin;
    while (i < size && is_value(i)) ++i;
    stretches.push_back({kept, i});
  }
  for (int64_t o = 0; o < outer; ++o) {
    int64_t at = 0;
    for (const Stretch& stretch : stretches) {
      to = std::copy_n(from, stretch.kept * inner, to);
      from += stretch.kept * inner;
      for (at += stretch.kept; at < stretch.values_end; ++at, to += inner)
        for (int64_t k = 0; k < inner; ++k)
          to[k] = value_at(o, source[static_cast<std::size_t>(at)], k);
    }
  }
}

template <bool kObj>
void insert(const PlaceParams& params, KernelContext& context) {
  const InsertInputs inputs(params, kObj, context.num_in());
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  const Insertion insertion =
      plan_insertion(params, inputs.values < 0 ? nullptr : &context.in(inputs.values),
                     inputs.obj < 0 ? nullptr : &context.in(inputs.obj), context);
  if (gpu_table(context) != nullptr) return insert_by_gathering(insertion, in, out, context);
  dispatch_dtype(out.dtype, "insert", [&]<class T>(TypeTag<T>) {
    insert_in_order(insertion, in.as<const T>(), out.as<T>());
  });
}

template <bool kObj>
void infer_insert(const PlaceParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  check_step(params, infer);
  InferArg in = infer.in(0), out = infer.out(0);
  if (!params.axis) {
    out.set_shape({-1});
  } else if (!in.rank_known() && out.rank_known()) {
    in.set_shape(Shape::unknown(out.ndim()));
  }
  if (!in.rank_known() || (!params.axis && !in.known())) return;
  const InsertInputs inputs(params, kObj, infer.num_in());
  const Shape* values = inputs.values < 0 ? nullptr : &infer.in(inputs.values).shape();
  const Shape* obj = inputs.obj < 0 ? nullptr : &infer.in(inputs.obj).shape();
  Shape shape = axis_shape(params, in.shape());
  const int axis = axis_of(params, in.shape(), "insert");
  int64_t& size = shape[axis];
  if (params.int_ind && size >= 0) checked_place(*params.int_ind, size, size + 1, "insert");
  const int64_t count = inserted_count(params, shape, axis, values, obj);
  size = length::plus(size, count);
  out.set_shape(shape);
  if (!params.axis) return;
  for (int i = 0; i < shape.ndim(); ++i)
    if (i != axis) in.set_dim(i, out.dim(i));
}

template <bool kObj>
void define_insert(const char* name) {
  OpBuilder<PlaceParams> op(name);
  op.doc("The array with values inserted before positions along an axis.")
      .input("arr", "The array.")
      .input("values", "The values, unless `val` is given; they may broadcast.");
  if (kObj) op.input("obj", "The positions.");
  op.param("val", &PlaceParams::val, std::nullopt, "One value for all.");
  add_place_params(op);
  op.num_inputs([](const PlaceParams& p) { return (p.val ? 1 : 2) + (kObj ? 1 : 0); })
      .infer(infer_insert<kObj>)
      .cpu(insert<kObj>);
}

bool define_all() {
  define_insert<false>("_npi_insert_scalar");
  define_insert<false>("_npi_insert_slice");
  define_insert<true>("_npi_insert_tensor");
  return mark_portable_waiting({"_npi_insert_scalar", "_npi_insert_slice", "_npi_insert_tensor"});
}
[[maybe_unused]] const bool defined = define_all();

}  // namespace
}  // namespace mxnet
