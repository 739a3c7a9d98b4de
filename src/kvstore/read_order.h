// SPDX-License-Identifier: Apache-2.0
// Whether a call that pushes and pulls may go key by key.
#pragma once
#include <vector>

#include "kvstore/key_table.h"
#include "kvstore/keyed_arrays.h"
#include "kvstore/used_variables.h"

namespace mxnet::kvstore {

// One thread at a time. Programs give the same arrays again and again: what is known of the last
// call's is its answer as long as they do.
class ReadOrder {
 public:
  // Whether a key's value is what an earlier key writes. Both groups have the same keys.
  bool reads_what_is_written(const Groups& from, KeyedArrays values, const Groups& to,
                             KeyedArrays outs);

 private:
  bool is_last_call(const Groups& from, KeyedArrays values, const Groups& to,
                    KeyedArrays outs) const;
  bool look(KeyedArrays values, KeyedArrays outs);

  UsedVariables used_;
  // Of the last call. Memory is compared and never looked at: it may have gone, and what has come
  // to lie there gives the same answer at the same places.
  Groups from_, to_;
  std::vector<const Chunk*> arrays_;
  bool reads_ = false;
};

}  // namespace mxnet::kvstore
