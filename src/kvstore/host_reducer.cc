// SPDX-License-Identifier: Apache-2.0
// Dense values go through one pass; rows and mixtures through their own sums.
#include "kvstore/host_reducer.h"

#include <algorithm>

#include "base/config.h"
#include "base/omp.h"
#include "kvstore/array_op.h"
#include "kvstore/rows.h"
#include "ndarray/sparse_convert.h"

namespace mxnet::kvstore {
namespace {

bool any_sparse(Arrays arrays) {
  return std::any_of(arrays.begin(), arrays.end(), [](const NDArray& a) { return a.is_sparse(); });
}

// The same elements of one memory, or none in common.
bool same_or_apart(const NDArray& a, const NDArray& b) {
  return a.chunk() != b.chunk() || a.offset() == b.offset() ||
         a.offset() + a.bytes() <= b.offset() || b.offset() + b.bytes() <= a.offset();
}

// Dense arrays in host memory, of the type of `like`: what one pass can write.
bool writable_in_one_pass(const NDArray& out, const NDArray& like) {
  return in_host_memory(out) && !out.is_sparse() && out.dtype() == like.dtype();
}

}  // namespace

int sum_threads(int64_t elements, const KvstoreConfig& config) {
  if (config.serial_push || elements <= config.bigarray_bound) return 1;
  return std::min<int>(config.reduction_nthreads, omp_threads());
}

// Values of GPUs are brought to the host.
std::vector<NDArray> HostReducer::gather(Buffers& buffers, Arrays values, int priority) {
  std::vector<NDArray> gathered;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (in_host_memory(values[i])) {
      gathered.push_back(values[i].detach());
    } else {
      const NDArray& copy = staged(buffers, i, values[i], Device::cpu_pinned());
      values[i].copy_to(copy, priority);
      gathered.push_back(copy);
    }
  }
  return gathered;
}

void HostReducer::sum_dense(std::vector<NDArray> values, std::vector<NDArray> outs, int priority) {
  const NDArray& like = outs.front();
  if (like.size() == 0) return;
  HostSum sum;
  sum.count = like.size();
  sum.dtype = like.dtype();
  sum.order = order_;
  sum.threads = sum_threads(like.size(), config_);
  push_dense({.reads = std::move(values),
              .writes = std::move(outs),
              .name = "KVStoreSum",
              .priority = priority,
              .serial = config_.serial_push},
             [sum](const Addresses& at) {
               HostSum now = sum;
               now.in = at.reads;
               now.out = at.writes;
               sum_on_host(now);
             });
}

void HostReducer::sum_sparse(Arrays values, const NDArray& to, int priority) {
  const bool rows = std::all_of(values.begin(), values.end(), [](const NDArray& a) {
    return a.storage_type() == StorageType::kRowSparse;
  });
  const StorageType type = rows ? StorageType::kRowSparse : StorageType::kDense;
  NDArray sum = to;
  if (to.storage_type() != type)
    sum = rows ? NDArray(type, to.shape(), to.dtype(), Device::cpu())
               : NDArray(to.shape(), to.dtype(), Device::cpu());
  if (rows) {
    push_on_host({.reads = {values.begin(), values.end()},
                  .writes = {sum},
                  .name = "KVStoreSumRows",
                  .priority = priority,
                  .serial = config_.serial_push},
                 [](Arrays reads, Arrays writes) { sum_rows(reads, writes.front()); });
  } else {
    std::vector<NDArray> dense;
    for (const NDArray& value : values) dense.push_back(cast_storage(value, StorageType::kDense));
    sum_dense(std::move(dense), {sum}, priority);
  }
  if (to.storage_type() != type) transfer(sum, to, priority);
}

void HostReducer::sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) {
  std::vector<NDArray> gathered = gather(buffers, values, priority);
  if (any_sparse(gathered) || to.is_sparse()) return sum_sparse(gathered, to, priority);
  sum_dense(std::move(gathered), {to}, priority);
}

void HostReducer::sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                               int priority) {
  const bool one_pass =
      !any_sparse(values) && std::all_of(outs.begin(), outs.end(), [&](const NDArray& out) {
        return writable_in_one_pass(out, to) &&
               std::all_of(values.begin(), values.end(),
                           [&](const NDArray& value) { return same_or_apart(value, out); });
      });
  if (!one_pass || to.is_sparse()) {
    sum(buffers, values, to, priority);
    return copy(to, outs, priority);
  }
  std::vector<NDArray> all{to};
  for (const NDArray& out : outs) all.push_back(out.detach());
  sum_dense(gather(buffers, values, priority), std::move(all), priority);
}

void HostReducer::copy(const NDArray& from, Arrays outs, int priority) {
  std::vector<NDArray> together;
  for (const NDArray& out : outs) {
    if (in_host_memory(from) && !from.is_sparse() && writable_in_one_pass(out, from)) {
      together.push_back(out.detach());
    } else {
      transfer(from, out, priority);
    }
  }
  if (!together.empty()) sum_dense({from}, std::move(together), priority);
}

}  // namespace mxnet::kvstore
