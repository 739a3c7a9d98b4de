// SPDX-License-Identifier: Apache-2.0
// Key by key, what is read before what is written.
#include "kvstore/read_order.h"

namespace mxnet::kvstore {
namespace {

// Calls `value`, then `out` with each array of a key, key after key, as long as they return true.
template <class Value, class Out>
bool all_of_keys(const KeyGroups& from, KeyedArrays values, const KeyGroups& to, KeyedArrays outs,
                 Value&& value, Out&& out) {
  for (std::size_t g = 0; g < from.size(); ++g) {
    for (const std::size_t place : from[g].places)
      if (!value(values[place])) return false;
    for (const std::size_t place : to[g].places)
      if (!out(outs[place])) return false;
  }
  return true;
}

}  // namespace

bool ReadOrder::reads_what_is_written(const Groups& from, KeyedArrays values, const Groups& to,
                                      KeyedArrays outs) {
  if (is_last_call(from, values, to, outs)) return reads_;
  from_ = from;
  to_ = to;
  reads_ = look(values, outs);
  return reads_;
}

bool ReadOrder::is_last_call(const Groups& from, KeyedArrays values, const Groups& to,
                             KeyedArrays outs) const {
  if (from != from_ || to != to_ || values.size() + outs.size() != arrays_.size()) return false;
  auto last = arrays_.begin();
  const auto same = [&](const NDArray& array) { return array.chunk().get() == *last++; };
  return all_of_keys(*from, values, *to, outs, same, same);
}

bool ReadOrder::look(KeyedArrays values, KeyedArrays outs) {
  used_.clear();
  arrays_.clear();
  bool reads = false;
  all_of_keys(
      *from_, values, *to_, outs,
      [&](const NDArray& value) {
        arrays_.push_back(value.chunk().get());
        reads = reads || (!value.is_none() && used_[value.var()].written);
        return true;
      },
      [&](const NDArray& out) {
        arrays_.push_back(out.chunk().get());
        if (!out.is_none()) used_[out.var()].written = true;
        return true;
      });
  return reads;
}

}  // namespace mxnet::kvstore
