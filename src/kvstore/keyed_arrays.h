// SPDX-License-Identifier: Apache-2.0
// The arrays of a call on a store, where they lie. Calls have thousands, and a copy of one counts
// references and takes as much memory as ten pointers.
#pragma once
#include <concepts>
#include <cstddef>
#include <span>

#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

// Of a list of arrays or of pointers to them, which must live as long.
class KeyedArrays {
 public:
  KeyedArrays() = default;  // none
  template <class List>
  requires std::convertible_to<const List&, std::span<const NDArray>> KeyedArrays(
      const List& arrays)
      : row_(std::span<const NDArray>(arrays).data()), size_(arrays.size()) {}
  template <class List>
  requires std::convertible_to<const List&, std::span<const NDArray* const>> KeyedArrays(
      const List& arrays)
      : places_(std::span<const NDArray* const>(arrays).data()), size_(arrays.size()) {}

  std::size_t size() const { return size_; }
  const NDArray& operator[](std::size_t i) const {
    return places_ != nullptr ? *places_[i] : row_[i];
  }

 private:
  const NDArray* row_ = nullptr;
  const NDArray* const* places_ = nullptr;
  std::size_t size_ = 0;
};

// Those that belong to one key.
struct PickedArrays {
  KeyedArrays all;
  std::span<const std::size_t> places;

  std::size_t size() const { return places.size(); }
  const NDArray& operator[](std::size_t i) const { return all[places[i]]; }
};

}  // namespace mxnet::kvstore
