// SPDX-License-Identifier: Apache-2.0
// Packs each value where it lies, moves the few bits, and sums what they say.
#pragma once
#include <memory>

#include "kvstore/compression.h"
#include "kvstore/reducer.h"

namespace mxnet::kvstore {

// As Reducer. Dense float32 values only (Error(kType) otherwise); rows go uncompressed.
class CompressedReducer final : public Reducer {
 public:
  CompressedReducer(Compression compression, std::unique_ptr<Reducer> inner)
      : compression_(compression), inner_(std::move(inner)) {}

  Device home(std::size_t key, Arrays values) override { return inner_->home(key, values); }
  bool keeps_lone_values() const override { return false; }
  void sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) override;
  void sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                    int priority) override;
  void copy(const NDArray& from, Arrays outs, int priority) override {
    inner_->copy(from, outs, priority);
  }

 private:
  std::vector<NDArray> through_bits(Buffers& buffers, Arrays values, Device home, int priority);

  const Compression compression_;
  const std::unique_ptr<Reducer> inner_;
};

}  // namespace mxnet::kvstore
