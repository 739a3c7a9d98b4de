// SPDX-License-Identifier: Apache-2.0
// How many threads run a primitive.
#pragma once
#include <optional>

#include "base/omp.h"

namespace mxnet::onednn {

// As many as there are, or one, for what one computes as soon as several have come together and
// taken the lines of the arrays from each other's caches.
enum class Width : bool { kAll, kOne };

// While one lives, primitives are compiled for one thread, and run on it, if `narrow` says so.
class OneThreadIf {
 public:
  explicit OneThreadIf(bool narrow) noexcept {
    if (narrow) one_.emplace();
  }

 private:
  std::optional<OneThread> one_;
};

}  // namespace mxnet::onednn
