// SPDX-License-Identifier: Apache-2.0
// Arrays of one value: zeros, ones, full and full_like.
#include <fmt/format.h>

#include "base/error.h"
#include "base/numpy_shape.h"
#include "op/create/create.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct FillParams {
  Shape shape;
  std::string ctx;
  DType dtype;
  int32_t dtype_number;
  double value;
};

template <int kValue>
void constant_cpu(const FillParams&, KernelContext& context) {
  fill_tensor(context, context.out(0), kValue);
}

void full_cpu(const FillParams& params, KernelContext& context) {
  fill_tensor(context, context.out(0), params.value);
}

// Without NumPy semantics a 0 gives way to what is known of the result already: the batch size of a
// begin state follows from who uses it. (graph/infer.h)
Shape wanted_shape(const Shape& given, const Shape& known) {
  if (is_numpy_shape() || known.ndim() != given.ndim()) return given;
  Shape shape = given;
  for (int i = 0; i < shape.ndim(); ++i)
    if (shape[i] == 0) shape[i] = known[i];
  return shape;
}

void infer_fill(const FillParams& params, Infer& infer) {
  infer.out(0).set_shape(wanted_shape(params.shape, infer.out(0).shape())).set_dtype(params.dtype);
}

template <class P>
void add_shape(OpBuilder<P>& op, const char* type) {
  op.param("shape", &P::shape, Shape::scalar(), "Shape of the result.").type_text(type);
}

constexpr const char* kEmptyShape = "Shape(tuple), optional, default=[]";

void add_dtype(OpBuilder<FillParams>& op) {
  op.dtype_param("dtype", &FillParams::dtype, kAllTypes, false, "float32", "Type of the result.");
}

void define_constant(const char* name, const char* doc,
                     void (*kernel)(const FillParams&, KernelContext&)) {
  OpBuilder<FillParams> op(name);
  op.doc(doc);
  add_shape(op, kEmptyShape);
  add_context(op);
  add_dtype(op);
  op.infer(infer_fill).cpu(kernel);
}

void define_full() {
  OpBuilder<FillParams> op("_full");
  op.alias("_npi_full").doc("An array of one value.");
  op.param("shape", &FillParams::shape, Shape(), "Shape of the result.");
  add_context(op);
  add_dtype(op);
  op.param("value", &FillParams::value, "The value.").infer(infer_fill).cpu(full_cpu);
}

// The type as the number that the C ABI knows it by; -1 is the default type.
void define_zeros_by_number() {
  OpBuilder<FillParams> op("_zeros_without_dtype");
  op.doc("Zeros; the type is given as a number.");
  op.param("shape", &FillParams::shape, Shape(), "Shape of the result.");
  add_context(op);
  op.param("dtype", &FillParams::dtype_number, -1, "Number of the type; -1 means float32.")
      .infer([](const FillParams& params, Infer& infer) {
        const auto dtype = params.dtype_number == -1 ? std::optional(DType::kFloat32)
                                                     : dtype_from_number(params.dtype_number);
        if (!dtype)
          infer.fail(fmt::format("given dtype {}, expected a type's number", params.dtype_number));
        infer.out(0).set_shape(wanted_shape(params.shape, infer.out(0).shape())).set_dtype(*dtype);
      })
      .cpu(constant_cpu<0>);
}

void define_full_like() {
  OpBuilder<FillParams> op("_npi_full_like");
  op.doc("An array of one value with the shape of another.")
      .input("a", "Its shape, and type if no other is given, are those of the result.")
      .type_only(0)
      .param("fill_value", &FillParams::value, "The value.");
  add_context(op);
  op.dtype_param("dtype", &FillParams::dtype, kAllTypes, true, "None", "Type of the result.")
      .infer([](const FillParams& params, Infer& infer) {
        infer.in(0).same_shape(infer.out(0));
        infer.out(0).set_dtype(params.dtype == DType::kUnknown ? infer.in(0).dtype()
                                                               : params.dtype);
      })
      .cpu(full_cpu)
      .zero_grad();
}

// The older function: sets all elements of its output.
void define_set_value() {
  OpBuilder<FillParams>("_set_value")
      .doc("Sets all elements of an array.")
      .param("src", &FillParams::value, 0.0, "The value.")
      .type_text("real_t")
      .lenient()
      .infer([](const FillParams&, Infer& infer) {
        if (!infer.out(0).known()) infer.fail("given no array, expected one as output");
      })
      .cpu(full_cpu);
}

bool define() {
  define_constant("_zeros", "Zeros.", constant_cpu<0>);
  define_constant("_ones", "Ones.", constant_cpu<1>);
  define_constant("_npi_zeros", "Zeros.", constant_cpu<0>);
  define_constant("_npi_ones", "Ones.", constant_cpu<1>);
  define_full();
  define_zeros_by_number();
  define_full_like();
  define_set_value();
  return mark_portable({"_zeros", "_ones", "_npi_zeros", "_npi_ones", "_full",
                        "_zeros_without_dtype", "_npi_full_like", "_set_value"});
}
[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
