// SPDX-License-Identifier: Apache-2.0
// What operators do with sparse arrays: a rule from the storage types of inputs to those of
// outputs, and a kernel that takes them as they are. Kept beside OpDef, not in it: an operator's
// own family knows dense arrays only, src/op/sparse adds the rest by name.
#pragma once
#include <span>
#include <string_view>
#include <type_traits>

#include "base/device.h"
#include "ndarray/storage_type.h"
#include "op/op_def.h"
#include "op/sparse_context.h"

namespace mxnet {

// Storage types of one call. An output that is kUndefined takes what the rule says; a known one was
// given by the caller, and the rule has to live with it or to refuse.
struct StorageTypes {
  std::span<const StorageType> in;
  std::span<StorageType> out;

  bool in_are(std::initializer_list<StorageType> types) const {
    return std::equal(in.begin(), in.end(), types.begin(), types.end());
  }
  bool all_in(StorageType type) const;
  // Sets output 0; false where the caller has given another.
  bool give(StorageType type) const;
};

// What a kernel needs to know about indices before it may follow them.
enum class IndexCheck : uint8_t {
  kNone,      // looks at values only, or copies indices
  kInside,    // every index lies inside the array
  kRows,      // as kDistinct, but the kernel looks at columns of csr itself
  kDistinct,  // and rows ascend; those of a row of csr are different ones, in any order
};

struct SparseOp {
  // Whether the kernel handles these types; sets all outputs if so. What it sets and then refuses
  // is the type that the result is converted to.
  OfParams<bool(const StorageTypes&)> rule = {};
  OfParams<void(SparseContext&)> run = {};
  IndexCheck check = IndexCheck::kDistinct;
  // The kernel may write an output that is input 0 too: of other inputs it always gets an empty one
  // that replaces them.
  bool in_place = false;
};

// Before main, by the files of src/op/sparse; the operator itself may be declared later. A second
// addition to one operator is an error of ours.
void add_sparse(std::string_view op, const SparseOp& sparse);
// Null where the operator knows dense arrays only.
const SparseOp* find_sparse(const OpDef& op);

// P is the parameter type that the operator is declared with, or a base of it.
template <class P>
void add_sparse(std::string_view op, bool (*rule)(const P&, const StorageTypes&),
                void (*run)(const P&, SparseContext&), IndexCheck check = IndexCheck::kDistinct,
                bool in_place = false) {
  add_sparse(op, SparseOp{rule, run, check, in_place});
}

// Stands for parameters that neither rule nor kernel looks at, whatever their type.
struct AnyParams {};

// How a call is run.
enum class Dispatch : uint8_t {
  kDense,     // all arrays are dense
  kSparse,    // by the operator's sparse kernel
  kFallback,  // on temporary dense copies
};

// The one place where storage types are decided, for eager calls and for graphs: fills outputs that
// are kUndefined. Logs each decision under MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING.
Dispatch infer_storage(const OpDef& op, const void* params, Device device,
                       const StorageTypes& types);

}  // namespace mxnet
