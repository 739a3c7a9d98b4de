// SPDX-License-Identifier: Apache-2.0
// cast_storage: the same array in another layout.
#include <algorithm>

#include "base/error.h"
#include "ndarray/sparse_convert.h"
#include "op/op_builder.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

struct CastStorageParams {
  StorageType stype;
};

// row_sparse and csr are not turned into each other in one step: existing programs get an error.
bool layouts(const CastStorageParams& params, const StorageTypes& types) {
  const StorageType from = types.in[0];
  if (from == kDense && params.stype == kDense) return false;
  if (from != kDense && params.stype != kDense && from != params.stype) {
    throw Error(ErrorCode::kValue, "cast_storage",
                std::string("given a ") + std::string(storage_type_name(from)) +
                    " array and stype " + std::string(storage_type_name(params.stype)) +
                    ", expected default on one side: cast to default first");
  }
  return types.give(params.stype);
}

void cast(const CastStorageParams&, SparseContext& context) {
  convert_storage(context.in(0), context.out(0));
}

MX_OP(cast_storage, CastStorageParams)
.alias("_sparse_cast_storage")
    .doc("The same array in another storage type. Elements equal to zero are not stored.")
    .input("data", "The array.")
    .choice("stype", &CastStorageParams::stype,
            Choices<StorageType>{{"csr", kCSR}, {"default", kDense}, {"row_sparse", kRowSparse}},
            nullptr, "Storage type of the result.")
    .infer([](const CastStorageParams& params, Infer& infer) {
      infer.in(0).same_as(infer.out(0));
      if (!infer.in(0).rank_known()) return;
      if (params.stype == kCSR && infer.in(0).ndim() != 2)
        infer.in(0).fail("a matrix for stype csr");
      if (params.stype == kRowSparse && infer.in(0).ndim() == 0)
        infer.in(0).fail("at least one dimension for stype row_sparse");
    })
    .cpu([](const CastStorageParams&, KernelContext& context) {
      const Tensor &in = context.in(0), &out = context.out(0);
      std::copy_n(in.as<const char>(), static_cast<std::size_t>(in.size()) * dtype_size(in.dtype),
                  out.as<char>());
    })
    .makes_sparse([](const CastStorageParams& params) { return params.stype != kDense; })
    .grad([](const CastStorageParams&, Grad& grad) { return Gradients{grad.dout(0)}; });

[[maybe_unused]] const bool defined = [] {
  // convert_storage looks at the indices itself.
  add_sparse<CastStorageParams>("cast_storage", layouts, cast, IndexCheck::kNone);
  return true;
}();

}  // namespace
}  // namespace mxnet
