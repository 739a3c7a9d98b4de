// SPDX-License-Identifier: Apache-2.0
// Checks of what users give, then a reducer for each key.
#include "kvstore/local_store.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "kvstore/array_op.h"
#include "kvstore/bunch.h"
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

// Of a list that came before, little is done for a key but to look at its array, which lies
// anywhere: what later keys need is asked for meanwhile, an array first, then what it points to.
// Compilers drop calls of functions that do nothing else: it must be inlined.
[[gnu::always_inline]] inline void fetch_ahead(KeyedArrays arrays, const KeyGroups& groups,
                                               std::size_t at) {
  constexpr std::size_t kArray = 16, kChunk = 8, kLine = 64;
  const auto fetch = [](const void* what) {
    __builtin_prefetch(what);
    __builtin_prefetch(static_cast<const char*>(what) + kLine);
  };
  const auto array = [&](std::size_t group) { return &arrays[groups[group].places.front()]; };
  if (at + kArray >= groups.size()) return;
  fetch(array(at + kArray));
  const NDArray& nearer = *array(at + kChunk);
  if (!nearer.is_none()) fetch(nearer.chunk().get());
}

}  // namespace

LocalStore::LocalStore(StoreType type, const KvstoreConfig& config)
    : KVStore(std::move(type)), config_(config), reducer_(make_reducer(type_, config)) {}

LocalStore::~LocalStore() = default;

void LocalStore::init(Keys keys, KeyedArrays values) {
  check_counts("init", keys, values);
  for (std::size_t i = 0; i < values.size(); ++i) require_data(values[i], "kvstore init");
  const std::size_t before = entries_.size();
  keys_.add(keys);
  try {
    auto block = std::make_unique<Entry[]>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      block[i].value = values[i].copy(Device::cpu());
      entries_.push_back(&block[i]);
    }
    blocks_.push_back(std::move(block));
  } catch (...) {  // no memory for a copy, for instance: the caller may try again
    entries_.resize(before);
    keys_.forget_from(before);
    throw;
  }
}

void LocalStore::take_values(const KeyGroup& group, KeyedArrays values, const char* call) {
  const NDArray& stored = entry(group.index).value;
  const Key& key = keys_.key(group.index);
  pushed_.clear();
  for (const std::size_t place : group.places) {
    const NDArray& value = values[place];
    check_shape(call, key, value, stored);
    if (value.storage_type() == StorageType::kCSR) {
      throw Error(ErrorCode::kType, "kvstore",
                  fmt::format("{} of key {}: given a csr array, expected a dense or row_sparse one",
                              call, to_string(key)));
    }
    pushed_.push_back(value.detach());
    if (value.dtype() == stored.dtype()) continue;
    pushed_.back() = as_type(pushed_.back(), stored.dtype());
    converted_.push_back(pushed_.back());  // sum_together() is given arrays that live longer
  }
}

void LocalStore::take_outs(const KeyGroup& group, KeyedArrays outs, bool ignore_sparse) {
  Entry& stored = entry(group.index);
  const Key& key = keys_.key(group.index);
  pulled_.clear();
  for (const std::size_t place : group.places) {
    check_shape("pull", key, outs[place], stored.value);
    if (!ignore_sparse || !outs[place].is_sparse()) {
      pulled_.push_back(outs[place].detach());
    } else if (!stored.warned) {
      stored.warned = true;
      log(LogLevel::kWarning,
          fmt::format("kvstore: pull of key {} leaves {} arrays alone; row_sparse_pull, or "
                      "ignore_sparse=False, writes them",
                      to_string(key), storage_type_name(outs[place].storage_type())));
    }
  }
}

void LocalStore::move_home(Entry& entry, std::size_t index, Arrays values) {
  if (entry.value.is_sparse()) return;  // rows are summed in host memory
  const Device home = reducer_->home(index, values);
  if (entry.value.device() != home) entry.value = entry.value.copy(home);
}

// Where what an updater is given is summed. It gets rows where rows were pushed, whatever is
// stored.
NDArray& LocalStore::merged(Entry& stored) {
  const NDArray& first = pushed_.front();
  const bool rows = std::all_of(pushed_.begin(), pushed_.end(), [](const NDArray& value) {
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

// pulled_ gets what is stored then, after finish_call() at the latest. `one_of_many`: the call has
// other keys.
void LocalStore::push_group(const KeyGroup& group, KeyedArrays values, bool one_of_many,
                            int priority) {
  Entry& stored = entry(group.index);
  take_values(group, values, "push");
  move_home(stored, group.index, pushed_);
  const Key& key = keys_.key(group.index);
  const bool updated = updates();
  // An updater may call the store, which has other arrays at hand then.
  std::vector<NDArray> outs = std::move(pulled_);
  pulled_.clear();
  const NDArray first = pushed_.front();
  if (updated && pushed_.size() == 1 && first.device() == stored.value.device() &&
      !first.is_sparse() && !spans_processes() && reducer_->keeps_lone_values()) {
    update(key, first, stored.value, priority);
  } else {
    NDArray& sum = updated ? merged(stored) : stored.value;
    if (one_of_many && sum_together(key, pushed_, sum, updated ? Arrays() : outs, priority)) {
      if (updated) unfinished_.push_back({group.index, outs});
      pulled_ = std::move(outs);
      return;
    }
    if (spans_processes()) leave_bunch(sum);
    reducer_->sum(stored.buffers, pushed_, sum, priority);
    sum_over_processes(key, sum, priority);
    if (updated) update(key, sum, stored.value, priority);
  }
  if (!outs.empty()) {
    refresh(key, priority);
    reducer_->copy(stored.value, outs, priority);
  }
  outs.clear();
  pulled_ = std::move(outs);  // its memory
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
  pushed_.clear();  // users' arrays are not to live longer for it
  pulled_.clear();
  finish_together(priority);
  converted_.clear();
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
  const Groups groups = groups_.of(keys_, keys);
  call_of_many(priority, [&] {
    pulled_.clear();
    const bool many = groups->size() > 1, again = many && !updates();
    for (std::size_t g = 0; g < groups->size(); ++g) {
      const KeyGroup& group = (*groups)[g];
      if (again) fetch_ahead(values, *groups, g);
      if (again && sum_again(keys_.key(group.index), {values, group.places},
                             entry(group.index).value, {}, priority))
        continue;
      push_group(group, values, many, priority);
    }
  });
}

void LocalStore::pull(Keys keys, KeyedArrays outs, int priority, bool ignore_sparse) {
  check_counts("pull", keys, outs);
  const Groups groups = groups_.of(keys_, keys);
  for (const KeyGroup& group : *groups) {
    take_outs(group, outs, ignore_sparse);
    if (pulled_.empty()) continue;
    refresh(keys_.key(group.index), priority);
    reducer_->copy(entry(group.index).value, pulled_, priority);
  }
  pulled_.clear();
}

// In one pass, key by key, where nobody can tell that from a push of all keys before their pull.
void LocalStore::push_pull(Keys keys, KeyedArrays values, Keys out_keys, KeyedArrays outs,
                           int priority) {
  check_counts("pushpull", keys, values);
  check_counts("pushpull", out_keys, outs);
  const bool one_list = keys.data() == out_keys.data() && keys.size() == out_keys.size();
  const Groups from = groups_.of(keys_, keys), to = one_list ? from : groups_.of(keys_, out_keys);
  const bool same = from == to || std::equal(from->begin(), from->end(), to->begin(), to->end(),
                                             [](const KeyGroup& a, const KeyGroup& b) {
                                               return a.index == b.index;
                                             });
  if (!same || (from->size() > 1 && read_order_.reads_what_is_written(from, values, to, outs))) {
    push(keys, values, priority);
    return pull(out_keys, outs, priority, false);
  }
  call_of_many(priority, [&] {
    const bool many = from->size() > 1, again = many && !updates();
    for (std::size_t g = 0; g < from->size(); ++g) {
      const KeyGroup& group = (*from)[g];
      if (again) fetch_ahead(values, *from, g);
      if (again && sum_again(keys_.key(group.index), {values, group.places},
                             entry(group.index).value, {outs, (*to)[g].places}, priority))
        continue;
      take_outs((*to)[g], outs, false);
      if (updates() || spans_processes()) {
        push_group(group, values, many, priority);
      } else {
        Entry& stored = entry(group.index);
        take_values(group, values, "push");
        move_home(stored, group.index, pushed_);
        reducer_->sum_and_copy(stored.buffers, pushed_, stored.value, pulled_, priority);
      }
    }
  });
}

void LocalStore::pull_rows(Keys keys, KeyedArrays outs, KeyedArrays row_ids, int priority) {
  check_counts("row_sparse_pull", keys, outs);
  check_counts("row_sparse_pull", keys, row_ids);
  const KeyGroups groups(keys_, keys);
  for (const KeyGroup& group : groups) {
    const Key& key = keys_.key(group.index);
    const NDArray& stored = entry(group.index).value;
    check_row_sparse("a stored array", key, stored);
    for (const std::size_t place : group.places) {
      const NDArray& out = outs[place];
      check_shape("row_sparse_pull", key, out, stored);
      check_row_sparse("an out", key, out);
      require_dense(row_ids[place], "row_sparse_pull row_ids");
      const NDArray ids = in_host_memory(row_ids[place]) ? row_ids[place].detach()
                                                         : row_ids[place].copy(Device::cpu());
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
}

}  // namespace mxnet::kvstore
