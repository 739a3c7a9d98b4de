// SPDX-License-Identifier: Apache-2.0
// NumPy's delete and insert along an axis: which places of the result come from where is worked out
// on positions, then slices are copied.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "op/convert.h"
#include "op/dispatch.h"
#include "op/elemwise/as_type.h"
#include "op/index/rows.h"
#include "op/index/slice_box.h"
#include "op/op_builder.h"
#include "op/primitives.h"
#include "op/read_back.h"

namespace mxnet {
namespace {

struct PlaceParams {
  std::optional<double> val;
  std::optional<int32_t> start, stop, step, int_ind, axis;
};

// Without an axis the array counts as flat.
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

// A position from one that may count from the end. Throws Error(kIndex).
int64_t checked(int64_t position, int64_t size, int64_t limit, const char* tag) {
  if (position < -size || position >= limit) {
    throw Error(ErrorCode::kIndex, tag,
                fmt::format("given index {}, expected one in [{}, {})", position, -size, limit));
  }
  return position < 0 ? position + size : position;
}

// Positions that are named by the parameters, or by the array `obj` (null if there is none), in
// order of naming. `limit` is one after the last that may be named.
std::vector<int64_t> named(const PlaceParams& params, const Tensor* obj, int64_t size,
                           int64_t limit, const char* tag, KernelContext& context) {
  if (params.int_ind) return {checked(*params.int_ind, size, limit, tag)};
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
      if (positions[i] != 0) chosen.push_back(checked(static_cast<int64_t>(i), size, limit, tag));
    return chosen;
  }
  for (int64_t& position : positions) position = checked(position, size, limit, tag);
  return positions;
}

// out[outer][i][inner] = in[outer][places[i]][inner] for an array that is seen as `shape`.
void gather_places(const Tensor& in, const Shape& shape, int axis, const HostNumbers& places,
                   int64_t count, void* out, KernelContext& context) {
  if (count == 0 || shape.size() == 0) return;
  const Shape list{count};
  // Read only.
  const Tensor positions{const_cast<int64_t*>(places.on_device(context, count)), &list,
                         DType::kInt64};
  gather_rows(in.data, shape.size(0, axis), shape[axis],
              shape.size(axis + 1, shape.ndim()) * static_cast<int64_t>(dtype_size(in.dtype)),
              Positions(positions, shape[axis], OutOfRange::kClip, "_npi_delete"), out, context);
}

int num_inputs_delete(const PlaceParams& params) {
  return params.int_ind || params.start || params.stop || params.step ? 1 : 2;
}

void delete_cpu(const PlaceParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Shape shape = axis_shape(params, in.shape());
  const int axis = axis_of(params, in.shape(), "_npi_delete");
  const int64_t size = shape[axis];
  std::vector<bool> gone(static_cast<std::size_t>(size));
  const Tensor* obj = context.num_in() > 1 ? &context.in(1) : nullptr;
  for (const int64_t position : named(params, obj, size, size, "_npi_delete", context))
    gone[static_cast<std::size_t>(position)] = true;
  const HostNumbers kept(context, size);
  int64_t count = 0;
  for (int64_t i = 0; i < size; ++i)
    if (!gone[static_cast<std::size_t>(i)]) kept.data()[count++] = i;
  Shape result = shape;
  result[axis] = count;
  const Tensor out = context.make_out(0, result);
  gather_places(in, shape, axis, kept, count, out.data, context);
}

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

// How many places are inserted, from shapes alone. `values` null: a number.
int64_t inserted_count(const PlaceParams& params, const Shape& shape, int axis, const Shape* values,
                       const Shape* obj) {
  const bool single = params.int_ind.has_value() || (obj != nullptr && obj->size() == 1);
  if (!single) return obj != nullptr ? obj->size() : range_of(params, shape[axis]).count;
  // One index takes as many values as there are along the axis.
  if (values == nullptr || values->ndim() == 0) return 1;
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

template <bool kObj>
void insert_cpu(const PlaceParams& params, KernelContext& context) {
  const InsertInputs inputs(params, kObj, context.num_in());
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  const Tensor* values = inputs.values < 0 ? nullptr : &context.in(inputs.values);
  const Tensor* obj = inputs.obj < 0 ? nullptr : &context.in(inputs.obj);
  const Shape shape = axis_shape(params, in.shape());
  const int axis = axis_of(params, in.shape(), "insert");
  const int64_t size = shape[axis], total = out.dim(axis), count = total - size;

  // Each named position, in ascending order and stable, shifted by how many come before it.
  std::vector<int64_t> at = named(params, obj, size, size + 1, "insert", context);
  if (at.size() == 1) at.assign(static_cast<std::size_t>(count), at[0]);
  std::vector<int64_t> order(at.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return at[static_cast<std::size_t>(a)] < at[static_cast<std::size_t>(b)];
  });
  constexpr int64_t kKept = -1;
  std::vector<int64_t> source(static_cast<std::size_t>(total), kKept);  // ordinal of the value
  for (std::size_t i = 0; i < order.size(); ++i)
    source[static_cast<std::size_t>(at[static_cast<std::size_t>(order[i])]) + i] = order[i];

  const int64_t outer = shape.size(0, axis), inner = shape.size(axis + 1, shape.ndim());
  Shape full = shape;
  full[axis] = count;
  // Steps of the values' own memory along the dimensions of `full`.
  const bool moves = params.int_ind && values != nullptr && values->ndim() > 0;
  Shape value_shape = values == nullptr ? Shape::scalar() : values->shape();
  Shape walked = full;
  if (moves) {  // walk in the values' order: the axis first
    walked[0] = count;
    for (int i = 0; i < axis; ++i) walked[i + 1] = full[i];
  }
  const ValueIndex index(value_shape, walked);
  if (gpu_table(context) != nullptr) {
    // The values as they are inserted, behind the array itself; then all in their order.
    const std::size_t element = dtype_size(out.dtype);
    Tensor inserted{context.workspace(static_cast<std::size_t>(full.size()) * element), &full,
                    out.dtype};
    Shape joined = shape;
    joined[axis] = total;
    const Tensor all{context.workspace(static_cast<std::size_t>(out.size()) * element), &joined,
                     out.dtype};
    if (values == nullptr) {
      fill_tensor(context, inserted, params.val.value_or(0.0));
    } else {
      const Tensor typed{context.workspace(static_cast<std::size_t>(values->size()) * element),
                         values->shape_ptr, out.dtype};
      convert_tensor(*values, typed, context);
      const RowMajorSteps steps(full);
      StridedPlan spread;
      for (int d = 0; d < walked.ndim(); ++d) {
        const int to = !moves || d > axis ? d : d == 0 ? axis : d - 1;
        spread.add(walked[d], index.step(d), steps[to]);
      }
      copy_strided(context, spread, typed.data, inserted.data, element);
    }
    const RowMajorSteps steps(joined);
    const auto put = [&](const Tensor& part, const Shape& seen, int64_t first) {
      const RowMajorSteps part_steps(seen);
      StridedPlan plan;
      plan.out_offset = first * steps[axis];
      for (int d = 0; d < seen.ndim(); ++d) plan.add(seen[d], part_steps[d], steps[d]);
      if (seen.size() > 0) copy_strided(context, plan, part.data, all.data, element);
    };
    put(in, shape, 0);
    put(inserted, full, size);
    const HostNumbers places(context, total);
    int64_t kept = 0;
    for (int64_t i = 0; i < total; ++i) {
      const int64_t ordinal = source[static_cast<std::size_t>(i)];
      places.data()[i] = ordinal == kKept ? kept++ : size + ordinal;
    }
    return gather_places(all, joined, axis, places, total, out.data, context);
  }
  dispatch_dtype(out.dtype, "insert", [&]<class T>(TypeTag<T>) {
    const auto value_at = [&](int64_t o, int64_t i, int64_t k) {
      if (values == nullptr) return convert<T>(params.val.value_or(0.0));
      const int64_t place = moves ? (i * outer + o) * inner + k : (o * count + i) * inner + k;
      const int64_t element = index(place);
      return dispatch_dtype(values->dtype, "insert", [&]<class V>(TypeTag<V>) {
        return convert<T>(values->as<const V>()[element]);
      });
    };
    const T* from = in.as<const T>();
    T* to = out.as<T>();
    for (int64_t o = 0; o < outer; ++o) {
      for (auto at = source.begin(); at != source.end();) {
        // What is kept is copied up to the next value.
        const auto next = std::find_if(at, source.end(), [](int64_t i) { return i != kKept; });
        const int64_t kept = (next - at) * inner;
        to = std::copy_n(from, kept, to);
        from += kept;
        at = next;
        for (; at != source.end() && *at != kKept; ++at, to += inner)
          for (int64_t k = 0; k < inner; ++k) to[k] = value_at(o, *at, k);
      }
    }
  });
}

template <bool kObj>
void infer_insert(const PlaceParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  check_step(params, infer);
  if (!infer.in(0).known()) return;
  const InsertInputs inputs(params, kObj, infer.num_in());
  const Shape* values = inputs.values < 0 ? nullptr : &infer.in(inputs.values).shape();
  const Shape* obj = inputs.obj < 0 ? nullptr : &infer.in(inputs.obj).shape();
  if ((values != nullptr && !values->known()) || (obj != nullptr && !obj->known())) return;
  Shape shape = axis_shape(params, infer.in(0).shape());
  const int axis = axis_of(params, infer.in(0).shape(), "insert");
  if (params.int_ind) checked(*params.int_ind, shape[axis], shape[axis] + 1, "insert");
  shape[axis] += inserted_count(params, shape, axis, values, obj);
  infer.out(0).set_shape(shape);
}

void add_params(OpBuilder<PlaceParams>& op) {
  op.param("start", &PlaceParams::start, std::nullopt, "First position of a slice.")
      .param("stop", &PlaceParams::stop, std::nullopt, "Position after the last of a slice.")
      .param("step", &PlaceParams::step, std::nullopt, "Step of a slice.")
      .param("int_ind", &PlaceParams::int_ind, std::nullopt, "One position.")
      .param("axis", &PlaceParams::axis, std::nullopt, "The axis; None: the array is flattened.");
}

template <bool kObj>
void define_insert(const char* name) {
  OpBuilder<PlaceParams> op(name);
  op.doc("The array with values inserted before positions along an axis.")
      .input("arr", "The array.")
      .input("values", "The values, unless `val` is given; they may broadcast.");
  if (kObj) op.input("obj", "The positions.");
  op.param("val", &PlaceParams::val, std::nullopt, "One value for all.");
  add_params(op);
  op.num_inputs([](const PlaceParams& p) { return (p.val ? 1 : 2) + (kObj ? 1 : 0); })
      .infer(infer_insert<kObj>)
      .cpu(insert_cpu<kObj>);
}

bool define() {
  OpBuilder<PlaceParams> op("_npi_delete");
  op.doc("The array without some slices along an axis.")
      .input("arr", "The array.")
      .input("obj", "Positions to leave out, unless parameters name them.");
  add_params(op);
  op.num_inputs(num_inputs_delete)
      .shape_from_values([](const PlaceParams&, int num_in) { return num_in > 1; })
      .infer([](const PlaceParams& params, Infer& infer) {
        infer.in(0).same_dtype(infer.out(0));
        check_step(params, infer);
        if (infer.num_in() > 1 || !infer.in(0).known()) return;
        Shape shape = axis_shape(params, infer.in(0).shape());
        const int axis = axis_of(params, infer.in(0).shape(), "_npi_delete");
        if (params.int_ind) checked(*params.int_ind, shape[axis], shape[axis], "_npi_delete");
        shape[axis] -= params.int_ind ? 1 : range_of(params, shape[axis]).count;
        infer.out(0).set_shape(shape);
      })
      .cpu(delete_cpu);
  define_insert<false>("_npi_insert_scalar");
  define_insert<false>("_npi_insert_slice");
  define_insert<true>("_npi_insert_tensor");
  return mark_portable_waiting(
      {"_npi_delete", "_npi_insert_scalar", "_npi_insert_slice", "_npi_insert_tensor"});
}
[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
