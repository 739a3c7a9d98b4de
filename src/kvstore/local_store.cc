// SPDX-License-Identifier: Apache-2.0
// Checks of what users give, then a reducer for each key.
#include "kvstore/local_store.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "kvstore/array_op.h"
#include "kvstore/compressed_reducer.h"
#include "kvstore/rows.h"

namespace mxnet::kvstore {
namespace {

void check_counts(const char* call, Keys keys, KeyedArrays arrays) {
  if (keys.size() == arrays.size()) return;
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("{}: given {} keys and {} arrays, expected as many arrays as keys", call,
                          keys.size(), arrays.size()));
}

void check_shape(const char* call, const Key& key, const NDArray& given, const NDArray& stored) {
  require_data(given, call);
  if (given.shape() == stored.shape()) return;
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("{} of key {}: given shape {}, expected {}, that of its init", call,
                          to_string(key), to_string(given.shape()), to_string(stored.shape())));
}

void check_row_sparse(const char* what, const Key& key, const NDArray& array) {
  if (array.storage_type() == StorageType::kRowSparse) return;
  throw Error(ErrorCode::kType, "kvstore",
              fmt::format("row_sparse_pull of key {}: given {} that is {}, expected row_sparse",
                          to_string(key), what, storage_type_name(array.storage_type())));
}

}  // namespace

LocalStore::LocalStore(StoreType type, const KvstoreConfig& config)
    : KVStore(std::move(type)), config_(config), reducer_(make_reducer(type_, config)) {}

LocalStore::~LocalStore() = default;

void LocalStore::init(Keys keys, KeyedArrays values) {
  check_counts("init", keys, values);
  for (const NDArray& value : values) require_data(value, "kvstore init");
  keys_.add(keys);
  for (const NDArray& value : values) {
    entries_.push_back(std::make_unique<Entry>());
    entries_.back()->value = value.copy(Device::cpu());
  }
}

std::vector<NDArray> LocalStore::values_of(const KeyGroup& group, KeyedArrays values,
                                           const char* call) {
  const NDArray& stored = entry(group.index).value;
  const Key& key = keys_.key(group.index);
  std::vector<NDArray> result;
  for (const std::size_t place : group.places) {
    const NDArray& value = values[place];
    check_shape(call, key, value, stored);
    if (value.storage_type() == StorageType::kCSR) {
      throw Error(ErrorCode::kType, "kvstore",
                  fmt::format("{} of key {}: given a csr array, expected a dense or row_sparse one",
                              call, to_string(key)));
    }
    result.push_back(as_type(value.detach(), stored.dtype()));
  }
  return result;
}

std::vector<NDArray> LocalStore::outs_of(const KeyGroup& group, KeyedArrays outs,
                                         bool ignore_sparse) {
  Entry& stored = entry(group.index);
  const Key& key = keys_.key(group.index);
  std::vector<NDArray> result;
  for (const std::size_t place : group.places) {
    check_shape("pull", key, outs[place], stored.value);
    if (!ignore_sparse || !outs[place].is_sparse()) {
      result.push_back(outs[place].detach());
    } else if (!stored.warned) {
      stored.warned = true;
      log(LogLevel::kWarning,
          fmt::format("kvstore: pull of key {} leaves {} arrays alone; row_sparse_pull, or "
                      "ignore_sparse=False, writes them",
                      to_string(key), storage_type_name(outs[place].storage_type())));
    }
  }
  return result;
}

void LocalStore::move_home(Entry& entry, std::size_t index, Arrays values) {
  if (entry.value.is_sparse()) return;  // rows are summed in host memory
  const Device home = reducer_->home(index, values);
  if (entry.value.device() != home) entry.value = entry.value.copy(home);
}

// Where what an updater is given is summed. It gets rows where rows were pushed, whatever is
// stored.
NDArray& LocalStore::merged(Entry& stored, const std::vector<NDArray>& pushed) {
  const NDArray& first = pushed.front();
  const bool rows = std::all_of(pushed.begin(), pushed.end(), [](const NDArray& value) {
    return value.storage_type() == StorageType::kRowSparse;
  });
  const StorageType type = rows ? StorageType::kRowSparse : StorageType::kDense;
  NDArray& merged = stored.buffers.merged;
  if (merged.is_none() || merged.storage_type() != type ||
      merged.device() != stored.value.device()) {
    merged = rows ? empty_like(first, stored.value.device())
                  : NDArray(first.shape(), first.dtype(), stored.value.device(), "kvstore");
  }
  return merged;
}

// `outs` get what is stored then, after finish_call() at the latest. `one_of_many`: the call has
// other keys.
void LocalStore::push_group(const KeyGroup& group, KeyedArrays values, std::vector<NDArray> outs,
                            bool one_of_many, int priority) {
  Entry& stored = entry(group.index);
  const std::vector<NDArray> pushed = values_of(group, values, "push");
  move_home(stored, group.index, pushed);
  const Key& key = keys_.key(group.index);
  const bool updated = updates();
  if (updated && pushed.size() == 1 && pushed.front().device() == stored.value.device() &&
      !pushed.front().is_sparse() && !spans_processes()) {
    update(key, pushed.front(), stored.value, priority);
  } else {
    const NDArray& sum = updated ? merged(stored, pushed) : stored.value;
    if (one_of_many && sum_together(key, pushed, sum, updated ? Arrays() : outs, priority)) {
      if (updated) unfinished_.push_back({group.index, std::move(outs)});
      return;
    }
    reducer_->sum(stored.buffers, pushed, sum, priority);
    sum_over_processes(key, sum, priority);
    if (updated) update(key, sum, stored.value, priority);
  }
  if (outs.empty()) return;
  refresh(key, priority);
  reducer_->copy(stored.value, outs, priority);
}

// Where one key is found wrong, those before it still travel: other processes wait for them.
template <class Body>
void LocalStore::call_of_many(int priority, Body&& each_key) {
  try {
    each_key();
  } catch (...) {
    finish_call(priority);
    throw;
  }
  finish_call(priority);
}

void LocalStore::finish_call(int priority) {
  finish_together(priority);
  for (const Unfinished& next : std::exchange(unfinished_, {})) {
    Entry& stored = entry(next.index);
    const Key& key = keys_.key(next.index);
    update(key, stored.buffers.merged, stored.value, priority);
    if (next.outs.empty()) continue;
    refresh(key, priority);
    reducer_->copy(stored.value, next.outs, priority);
  }
}

void LocalStore::push(Keys keys, KeyedArrays values, int priority) {
  check_counts("push", keys, values);
  const std::vector<KeyGroup> groups = group_keys(keys_, keys);
  call_of_many(priority, [&] {
    for (const KeyGroup& group : groups) push_group(group, values, {}, groups.size() > 1, priority);
  });
}

void LocalStore::pull(Keys keys, KeyedArrays outs, int priority, bool ignore_sparse) {
  check_counts("pull", keys, outs);
  for (const KeyGroup& group : group_keys(keys_, keys)) {
    const std::vector<NDArray> pulled = outs_of(group, outs, ignore_sparse);
    if (pulled.empty()) continue;
    refresh(keys_.key(group.index), priority);
    reducer_->copy(entry(group.index).value, pulled, priority);
  }
}

void LocalStore::push_pull(Keys keys, KeyedArrays values, Keys out_keys, KeyedArrays outs,
                           int priority) {
  check_counts("pushpull", keys, values);
  check_counts("pushpull", out_keys, outs);
  const std::vector<KeyGroup> from = group_keys(keys_, keys), to = group_keys(keys_, out_keys);
  const bool same =
      std::equal(from.begin(), from.end(), to.begin(), to.end(),
                 [](const KeyGroup& a, const KeyGroup& b) { return a.index == b.index; });
  if (!same) {
    throw Error(ErrorCode::kValue, "kvstore",
                "pushpull: given different keys for values and for outs, expected the same ones");
  }
  call_of_many(priority, [&] {
    for (std::size_t g = 0; g < from.size(); ++g) {
      std::vector<NDArray> pulled = outs_of(to[g], outs, false);
      if (updates() || spans_processes()) {
        push_group(from[g], values, std::move(pulled), from.size() > 1, priority);
      } else {
        Entry& stored = entry(from[g].index);
        const std::vector<NDArray> pushed = values_of(from[g], values, "push");
        move_home(stored, from[g].index, pushed);
        reducer_->sum_and_copy(stored.buffers, pushed, stored.value, pulled, priority);
      }
    }
  });
}

void LocalStore::pull_rows(Keys keys, KeyedArrays outs, KeyedArrays row_ids, int priority) {
  check_counts("row_sparse_pull", keys, outs);
  check_counts("row_sparse_pull", keys, row_ids);
  for (const KeyGroup& group : group_keys(keys_, keys)) {
    const Key& key = keys_.key(group.index);
    const NDArray& stored = entry(group.index).value;
    check_row_sparse("a stored array", key, stored);
    for (const std::size_t place : group.places) {
      const NDArray& out = outs[place];
      check_shape("row_sparse_pull", key, out, stored);
      check_row_sparse("an out", key, out);
      require_dense(row_ids[place], "row_sparse_pull row_ids");
      const NDArray ids =
          in_host_memory(row_ids[place]) ? row_ids[place] : row_ids[place].copy(Device::cpu());
      const bool direct = in_host_memory(out) && out.dtype() == stored.dtype();
      const NDArray rows = direct ? out.detach() : empty_like(stored, Device::cpu());
      if (!fetch_rows(key, ids, rows, priority)) {
        push_on_host(
            {.reads = {stored, ids},
             .writes = {rows},
             .name = "KVStorePullRows",
             .priority = priority},
            [](Arrays reads, Arrays writes) { take_rows(reads[0], reads[1], writes.front()); });
      }
      if (!direct) transfer(rows, out, priority);
    }
  }
}

void LocalStore::set_compression(TextPairs params) {
  const Compression compression = Compression::parse(params);
  if (!type_.on_device) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("gradient compression: given a store of type '{}', expected 'device' "
                            "or a distributed one",
                            type()));
  }
  reducer_ = make_reducer(type_, config_);
  if (compression.type != CompressionType::kNone)
    reducer_ = std::make_unique<CompressedReducer>(compression, std::move(reducer_));
  for (const auto& entry : entries_) entry->buffers.residuals.clear();
}

}  // namespace mxnet::kvstore
