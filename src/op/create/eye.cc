// SPDX-License-Identifier: Apache-2.0
// Ones on a diagonal, and grids of indices.
#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "op/create/create.h"
#include "op/moving/strided_copy.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/single_shape.h"

namespace mxnet {
namespace {

struct EyeParams {
  int64_t rows, columns, diagonal;
  std::optional<int64_t> maybe_columns;
  Shape shape;
  std::string ctx;
  DType dtype;
};

// Row i has its one in column i + k.
void eye(KernelContext& context, int64_t k) {
  const Tensor& out = context.out(0);
  const int64_t rows = out.dim(0), columns = out.dim(1);
  if (gpu_table(context) != nullptr) {
    fill_tensor(context, out, 0.0);
    const int64_t first = std::max<int64_t>(0, -k), last = std::min(rows, columns - k);
    if (first >= last) return;
    const Tensor one{context.workspace(dtype_size(out.dtype)), &single_shape(), out.dtype};
    fill_tensor(context, one, 1.0);
    StridedPlan diagonal;
    diagonal.out_offset = first * columns + first + k;
    diagonal.add(last - first, 0, columns + 1);
    return copy_strided(context, diagonal, one.data, out.data, dtype_size(out.dtype));
  }
  dispatch_dtype(out.dtype, "eye", [&]<class T>(TypeTag<T>) {
    parallel_for(
        rows, static_cast<double>(columns) * 0.5 + 1,
        [&](int64_t first, int64_t last) {
          std::fill(out.as<T>() + first * columns, out.as<T>() + last * columns, convert<T>(0.0));
          for (int64_t i = std::max(first, -k); i < std::min(last, columns - k); ++i)
            out.as<T>()[i * columns + i + k] = convert<T>(1.0);
        },
        1);
  });
}

void eye_cpu(const EyeParams& params, KernelContext& context) { eye(context, params.diagonal); }

void check_size(Infer& infer, int64_t size) {
  if (size < 0)
    infer.fail("given " + std::to_string(size) + " rows or columns, expected at least 0");
}

// Along each axis the numbers once, each of which stands beside itself, and all of them again and
// again.
void indices_cpu(const EyeParams& params, KernelContext& context) {
  const Shape& grid = params.shape;
  const Tensor& out = context.out(0);
  const int64_t size = grid.size(), bytes = static_cast<int64_t>(dtype_size(out.dtype));
  if (size == 0) return;
  char* to = out.as<char>();
  for (int axis = 0; axis < grid.ndim(); ++axis, to += size * bytes) {
    const Shape count{grid[axis]};
    const int64_t n = count[0], inner = grid.size(axis + 1, grid.ndim()),
                  times = size / (n * inner);
    const bool first_there = inner == 1;
    void* const numbers = first_there ? to : context.workspace_of<char>(n * bytes);
    count_up({numbers, &count, out.dtype}, 0, 1, 1);
    StridedPlan plan;
    plan.out_offset = first_there ? n : 0;
    plan.add(first_there ? times - 1 : times, 0, n * inner);
    plan.add(n, 1, inner);
    plan.add(inner, 0, 1);
    copy_strided(plan, numbers, to, static_cast<std::size_t>(bytes));
  }
}

void define_eye() {
  OpBuilder<EyeParams> op("_eye");
  op.doc("Ones on a diagonal of a matrix, zeros elsewhere.")
      .param("N", &EyeParams::rows, "Number of rows.")
      .param("M", &EyeParams::columns, int64_t{0}, "Number of columns; 0 means as many as rows.")
      .param("k", &EyeParams::diagonal, int64_t{0},
             "The diagonal: 0 the main one, positive ones above it.");
  add_context(op);
  // The set of types leaves out bfloat16.
  constexpr DTypeSet kTypes =
      kIntegers | DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64);
  op.dtype_param("dtype", &EyeParams::dtype, kTypes, false, "float32", "Type of the result.")
      .infer([](const EyeParams& params, Infer& infer) {
        check_size(infer, std::min(params.rows, params.columns));
        infer.out(0)
            .set_shape({params.rows, params.columns > 0 ? params.columns : params.rows})
            .set_dtype(params.dtype);
      })
      .cpu(eye_cpu);
}

void define_numpy_eye() {
  OpBuilder<EyeParams> numpy("_npi_eye");
  numpy.doc("Ones on a diagonal of a matrix, zeros elsewhere.")
      .param("N", &EyeParams::rows, "Number of rows.")
      .param("M", &EyeParams::maybe_columns, std::nullopt,
             "Number of columns; None: as many as rows.")
      .type_text(", optional, default=None")
      .param("k", &EyeParams::diagonal, int64_t{0},
             "The diagonal: 0 the main one, positive ones above it.");
  add_context(numpy);
  numpy
      .dtype_param("dtype", &EyeParams::dtype, kNumbersOnly, false, "float32",
                   "Type of the result.")
      .infer([](const EyeParams& params, Infer& infer) {
        const int64_t columns = params.maybe_columns.value_or(params.rows);
        check_size(infer, std::min(params.rows, columns));
        infer.out(0).set_shape({params.rows, columns}).set_dtype(params.dtype);
      })
      .cpu(eye_cpu);
}

void define_identity() {
  OpBuilder<EyeParams> identity("_npi_identity");
  identity.doc("The identity matrix.")
      .param("shape", &EyeParams::shape, Shape::scalar(), "Rows and columns, equal.")
      .type_text("Shape(tuple), optional, default=[]");
  add_context(identity);
  identity
      .dtype_param("dtype", &EyeParams::dtype, kAllTypes, false, "float32", "Type of the result.")
      .infer([](const EyeParams& params, Infer& infer) {
        if (params.shape.ndim() != 2 || params.shape[0] != params.shape[1])
          infer.fail("given shape " + to_string(params.shape) + ", expected a square");
        infer.out(0).set_shape(params.shape).set_dtype(params.dtype);
      })
      .cpu([](const EyeParams&, KernelContext& context) { eye(context, 0); });
}

void define_indices() {
  OpBuilder<EyeParams> indices("_npi_indices");
  indices.doc("The index of each place of a grid along each of its axes.")
      .param("dimensions", &EyeParams::shape, "Shape of the grid.")
      .dtype_param("dtype", &EyeParams::dtype, kNumbersOnly, false, "int32", "Type of the result.");
  add_context(indices)
      .infer([](const EyeParams& params, Infer& infer) {
        Shape shape{params.shape.ndim()};
        for (const int64_t dim : params.shape.dims()) shape.push_back(dim);
        infer.out(0).set_shape(shape).set_dtype(params.dtype);
      })
      .cpu(indices_cpu);
}

[[maybe_unused]] const bool defined = [] {
  define_eye();
  define_numpy_eye();
  define_identity();
  define_indices();
  return mark_portable({"_eye", "_npi_eye", "_npi_identity"});
}();

}  // namespace
}  // namespace mxnet
