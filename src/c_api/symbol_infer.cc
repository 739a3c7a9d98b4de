// SPDX-License-Identifier: Apache-2.0
// Inference of shapes and types: one body for the three widths of shapes. The thread's shape
// semantics say what 0 and -1 mean at this border (base/numpy_shape.h).
#include <fmt/format.h>

#include <array>
#include <limits>
#include <type_traits>

#include "base/numpy_shape.h"
#include "base/of_thread.h"
#include "c_api/guard.h"
#include "c_api/symbol_handle.h"
#include "graph/infer_symbol.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

// A list of shapes as the ABI gives it out: numbers of dimensions, and a pointer to each shape.
template <class Dim, class Rank>
struct ShapeList {
  std::vector<Rank> ranks;
  std::vector<Dim> dims;
  std::vector<const Dim*> pointers;

  void fill(const char* function, const std::vector<ArrayType>& types, bool numpy) {
    ranks.clear();
    dims.clear();
    for (const ArrayType& type : types) {
      // An unknown shape has no dimensions, or with NumPy semantics, where that is a scalar, -1.
      const int rank =
          type.shape.rank_known() || (numpy && std::is_signed_v<Rank>) ? type.shape.ndim() : 0;
      ranks.push_back(static_cast<Rank>(rank));
      for (int64_t dim : type.shape) dims.push_back(shown(function, dim, numpy));
    }
    pointers.clear();
    std::size_t at = 0;
    for (const ArrayType& type : types) {
      pointers.push_back(dims.data() + at);
      at += type.shape.dims().size();
    }
  }

 private:
  static Dim shown(const char* function, int64_t dim, bool numpy) {
    if (dim < 0) return numpy ? static_cast<Dim>(-1) : Dim{0};
    if (dim > static_cast<int64_t>(std::numeric_limits<int32_t>::max()) && sizeof(Dim) < 8) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given shapes that lead to a dimension of {}, expected dimensions "
                              "below 2^31: use the function that ends in Ex64",
                              dim));
    }
    return static_cast<Dim>(dim);
  }
};

// The three lists of an answer.
template <class Dim, class Rank>
struct ShapeReturns {
  ShapeList<Dim, Rank> arguments, outputs, auxiliary;
};

// Where one of them goes.
template <class Dim, class Rank, class Size>
struct ShapeTarget {
  Size* size;
  const Rank** ranks;
  const Dim*** shapes;

  void require_all(const char* function) const {
    require(size, function, "a shape_size");
    require(ranks, function, "a shape_ndim");
    require(shapes, function, "a shape_data");
  }
  void give(const ShapeList<Dim, Rank>& list) const {
    *size = static_cast<Size>(list.ranks.size());
    *ranks = list.ranks.data();
    *shapes = const_cast<const Dim**>(list.pointers.data());
  }
};

template <class Dim>
Shape known_shape(const char* function, const Dim* dims, int64_t ndim, bool numpy) {
  if (ndim < 0 || ndim > Shape::kMaxDims) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} dimensions, expected 0 to {}", ndim, Shape::kMaxDims));
  }
  Shape shape(static_cast<int>(ndim), 0);
  for (int i = 0; i < shape.ndim(); ++i) {
    shape[i] = std::is_unsigned_v<Dim> ? static_cast<int64_t>(static_cast<int32_t>(dims[i]))
                                       : static_cast<int64_t>(dims[i]);
    if (shape[i] < Shape::kUnknownDim) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given dimension {}, expected -1 or more", shape[i]));
    }
  }
  return numpy ? shape : zero_as_unknown(std::move(shape));
}

// What all these functions are asked: of which symbol, and how the types that are known are named.
struct Question {
  const char* function;
  bool partial;  // whoever asks takes what there is, hence nothing is missing
  SymbolHandle symbol;
  uint32_t num_args;
  const char** keys;  // none: by position
  int* complete;

  const Symbol& checked_symbol() const {
    require(complete, function, "complete");
    return symbol_of(symbol, function);
  }
  KnownTypes names() const {
    KnownTypes known;
    if (keys != nullptr) known.names = checked_names(function, num_args, keys);
    return known;
  }
  void answer(bool is_complete) const { *complete = partial || is_complete ? 1 : 0; }
};

template <class Dim, class Rank, class Size, class Index>
int infer_shapes(const Question& asked, const Index* arg_ind_ptr, const Dim* arg_shape_data,
                 ShapeTarget<Dim, Rank, Size> arguments, ShapeTarget<Dim, Rank, Size> outputs,
                 ShapeTarget<Dim, Rank, Size> auxiliary) {
  const char* const function = asked.function;
  return guarded(function, [&] {
    for (const auto& target : {arguments, outputs, auxiliary}) target.require_all(function);
    const Symbol& of = asked.checked_symbol();
    const bool numpy = is_numpy_shape();
    KnownTypes known = asked.names();
    if (asked.num_args > 0) require(arg_ind_ptr, function, "arg_ind_ptr");
    for (uint32_t i = 0; i < asked.num_args; ++i) {
      const auto first = static_cast<int64_t>(arg_ind_ptr[i]);
      const int64_t ndim = static_cast<int64_t>(arg_ind_ptr[i + 1]) - first;
      if (ndim > 0) require(arg_shape_data, function, "arg_shape_data");
      known.types.push_back({known_shape(function, arg_shape_data + first, ndim, numpy)});
    }
    const SymbolTypes types = infer_symbol(of, known, numpy);
    auto& returns = of_thread<ShapeReturns<Dim, Rank>>();
    returns.arguments.fill(function, types.arguments, numpy);
    returns.outputs.fill(function, types.outputs, numpy);
    returns.auxiliary.fill(function, types.auxiliary, numpy);
    arguments.give(returns.arguments);
    outputs.give(returns.outputs);
    auxiliary.give(returns.auxiliary);
    asked.answer(types.shapes_complete);
  });
}

struct TypeTarget {
  uint32_t* size;
  const int** types;

  void give(const char* function, const std::vector<ArrayType>& from,
            std::vector<int>* kept) const {
    require(size, function, "a type_size");
    require(types, function, "a type_data");
    kept->clear();
    for (const ArrayType& type : from) kept->push_back(static_cast<int>(type.dtype));
    *size = static_cast<uint32_t>(kept->size());
    *types = kept->data();
  }
};

DType known_dtype(const char* function, int number) {
  if (number == -1) return DType::kUnknown;
  if (const std::optional<DType> dtype = dtype_from_number(number)) return *dtype;
  throw Error(ErrorCode::kValue, function,
              fmt::format("given type {}, expected the number of a type or -1", number));
}

int infer_dtypes(const Question& asked, const int* arg_type_data, TypeTarget arguments,
                 TypeTarget outputs, TypeTarget auxiliary) {
  const char* const function = asked.function;
  return guarded(function, [&] {
    const Symbol& of = asked.checked_symbol();
    KnownTypes known = asked.names();
    if (asked.num_args > 0) require(arg_type_data, function, "arg_type_data");
    for (uint32_t i = 0; i < asked.num_args; ++i)
      known.types.push_back({Shape(), known_dtype(function, arg_type_data[i])});
    const SymbolTypes types = infer_symbol(of, known, is_numpy_shape());
    auto& kept = of_thread<std::array<std::vector<int>, 3>>();
    arguments.give(function, types.arguments, &kept[0]);
    outputs.give(function, types.outputs, &kept[1]);
    auxiliary.give(function, types.auxiliary, &kept[2]);
    asked.answer(types.dtypes_complete);
  });
}

}  // namespace

// The same parameters for the full and the partial call of a width.
#define MX_INFER_SHAPE(function, partial, Dim, Rank, Size, Index)                                \
  int function(SymbolHandle sym, uint32_t num_args, const char** keys, const Index* arg_ind_ptr, \
               const Dim* arg_shape_data, Size* in_shape_size, const Rank** in_shape_ndim,       \
               const Dim*** in_shape_data, Size* out_shape_size, const Rank** out_shape_ndim,    \
               const Dim*** out_shape_data, Size* aux_shape_size, const Rank** aux_shape_ndim,   \
               const Dim*** aux_shape_data, int* complete) {                                     \
    return infer_shapes<Dim, Rank, Size, Index>(                                                 \
        {#function, partial, sym, num_args, keys, complete}, arg_ind_ptr, arg_shape_data,        \
        {in_shape_size, in_shape_ndim, in_shape_data},                                           \
        {out_shape_size, out_shape_ndim, out_shape_data},                                        \
        {aux_shape_size, aux_shape_ndim, aux_shape_data});                                       \
  }

MX_INFER_SHAPE(MXSymbolInferShape, false, uint32_t, uint32_t, uint32_t, uint32_t)
MX_INFER_SHAPE(MXSymbolInferShapePartial, true, uint32_t, uint32_t, uint32_t, uint32_t)
MX_INFER_SHAPE(MXSymbolInferShapeEx, false, int, int, uint32_t, uint32_t)
MX_INFER_SHAPE(MXSymbolInferShapePartialEx, true, int, int, uint32_t, uint32_t)
MX_INFER_SHAPE(MXSymbolInferShapeEx64, false, int64_t, int, size_t, int64_t)
MX_INFER_SHAPE(MXSymbolInferShapePartialEx64, true, int64_t, int, size_t, int64_t)
#undef MX_INFER_SHAPE

int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char** keys,
                      const int* arg_type_data, uint32_t* in_type_size, const int** in_type_data,
                      uint32_t* out_type_size, const int** out_type_data, uint32_t* aux_type_size,
                      const int** aux_type_data, int* complete) {
  return infer_dtypes({"MXSymbolInferType", /*partial=*/false, sym, num_args, keys, complete},
                      arg_type_data, {in_type_size, in_type_data}, {out_type_size, out_type_data},
                      {aux_type_size, aux_type_data});
}

int MXSymbolInferTypePartial(SymbolHandle sym, uint32_t num_args, const char** keys,
                             const int* arg_type_data, uint32_t* in_type_size,
                             const int** in_type_data, uint32_t* out_type_size,
                             const int** out_type_data, uint32_t* aux_type_size,
                             const int** aux_type_data, int* complete) {
  return infer_dtypes({"MXSymbolInferTypePartial", /*partial=*/true, sym, num_args, keys, complete},
                      arg_type_data, {in_type_size, in_type_data}, {out_type_size, out_type_data},
                      {aux_type_size, aux_type_data});
}
