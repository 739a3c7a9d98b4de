// SPDX-License-Identifier: Apache-2.0
// Operators that map zero to zero, or touch only what is stored: the dense kernel runs on the
// stored values, the indices stay.
#include <numeric>

#include "ndarray/sparse_store.h"
#include "op/params/dense_and_sparse.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

template <class P>
void on_values(const P&, SparseContext& context) {
  const SparseStore& store = context.in(0).sparse();
  const Tensor in{store.values(), &store.values_shape(), store.dtype()};
  const Tensor out = context.make_like(0, 0);
  if (in.size() > 0) context.run_dense({&in, 1}, {&out, 1});
}

template <class P>
void nothing_stored(const P&, SparseContext& context) {
  context.out(0).sparse().resize(0, context.out(0).device());
}

bool is_sparse(StorageType type) { return type == kRowSparse || type == kCSR; }

template <class P>
bool keeps_layout(const P&, const StorageTypes& types) {
  return is_sparse(types.in[0]) && types.give(types.in[0]);
}

// x + 0 and x - 0 are x.
bool keeps_if_zero(const ScalarParams& params, const StorageTypes& types) {
  return params.scalar == 0.0 && keeps_layout(params, types);
}

// A range without zero would turn what is not stored into something else.
bool keeps_if_around_zero(const ClipParams& params, const StorageTypes& types) {
  return params.a_min <= 0.0f && params.a_max >= 0.0f && keeps_layout(params, types);
}

// Comparisons with a number that zero does not pass.
bool keeps_if_zero_fails(bool zero_passes, const StorageTypes& types) {
  return !zero_passes && is_sparse(types.in[0]) && types.give(types.in[0]);
}
using Compare = bool (*)(const ScalarParams&, const StorageTypes&);
struct Comparison {
  const char* op;
  Compare rule;
};
const Comparison kComparisons[] = {
    {"_equal_scalar",
     [](const ScalarParams& p, const StorageTypes& types) {
       return keeps_if_zero_fails(0.0 == p.scalar, types);
     }},
    {"_not_equal_scalar",
     [](const ScalarParams& p, const StorageTypes& types) {
       return keeps_if_zero_fails(0.0 != p.scalar, types);
     }},
    {"_greater_scalar",
     [](const ScalarParams& p, const StorageTypes& types) {
       return keeps_if_zero_fails(0.0 > p.scalar, types);
     }},
    {"_greater_equal_scalar",
     [](const ScalarParams& p, const StorageTypes& types) {
       return keeps_if_zero_fails(0.0 >= p.scalar, types);
     }},
    {"_lesser_scalar",
     [](const ScalarParams& p, const StorageTypes& types) {
       return keeps_if_zero_fails(0.0 < p.scalar, types);
     }},
    {"_lesser_equal_scalar",
     [](const ScalarParams& p, const StorageTypes& types) {
       return keeps_if_zero_fails(0.0 <= p.scalar, types);
     }},
};

// A copy in the layout of another array.
bool like_second(const AnyParams&, const StorageTypes& types) {
  return types.give(types.in[1]) && is_sparse(types.in[0]) && types.in[0] == types.in[1];
}

// Constants into a sparse array that the caller gives.
bool fills_given(const AnyParams&, const StorageTypes& types) { return is_sparse(types.out[0]); }

// Weights are drawn as those of dense arrays are: all rows are stored, zeros among them too.
bool fills_rows(const AnyParams&, const StorageTypes& types) { return types.out[0] == kRowSparse; }
void all_rows(const AnyParams&, SparseContext& context) {
  const RowsView to = context.make_rows(0, context.out(0).shape()[0]);
  std::iota(to.index, to.index + to.stored, int64_t{0});
  context.run_dense({}, {&to.values, 1});
}

[[maybe_unused]] const bool defined = [] {
  for (const char* op : {"abs",
                         "arcsin",
                         "arcsinh",
                         "arctan",
                         "arctanh",
                         "BlockGrad",
                         "cbrt",
                         "ceil",
                         "_contrib_round_ste",
                         "_contrib_sign_ste",
                         "_copy",
                         "_copyto",
                         "degrees",
                         "expm1",
                         "fix",
                         "floor",
                         "log1p",
                         "make_loss",
                         "negative",
                         "radians",
                         "relu",
                         "rint",
                         "round",
                         "sign",
                         "sin",
                         "sinh",
                         "sqrt",
                         "square",
                         "tan",
                         "tanh",
                         "trunc"})
    add_sparse<AnyParams>(op, keeps_layout, on_values, IndexCheck::kNone);
  for (const char* op : {"_mul_scalar", "_div_scalar"})
    add_sparse<AnyParams>(op, keeps_layout, on_values, IndexCheck::kNone);
  for (const char* op : {"_plus_scalar", "_minus_scalar"})
    add_sparse<ScalarParams>(op, keeps_if_zero, on_values, IndexCheck::kNone);
  for (const char* op : {"_scatter_plus_scalar", "_scatter_minus_scalar"})
    add_sparse<AnyParams>(op, keeps_layout, on_values, IndexCheck::kNone);
  for (const Comparison& comparison : kComparisons)
    add_sparse<ScalarParams>(comparison.op, comparison.rule, on_values, IndexCheck::kNone);
  add_sparse<AnyParams>("_identity_with_attr_like_rhs", like_second, on_values, IndexCheck::kNone);
  add_sparse<ClipParams>("clip", keeps_if_around_zero, on_values, IndexCheck::kNone);
  add_sparse<AnyParams>("zeros_like", keeps_layout, nothing_stored, IndexCheck::kNone);
  for (const char* op : {"_random_exponential", "_random_gamma", "_random_normal",
                         "_random_poisson", "_random_uniform"})
    add_sparse<AnyParams>(op, fills_rows, all_rows, IndexCheck::kNone);
  add_sparse<AnyParams>("_zeros", fills_given, nothing_stored, IndexCheck::kNone);
  return true;
}();

}  // namespace
}  // namespace mxnet
