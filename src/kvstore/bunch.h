// SPDX-License-Identifier: Apache-2.0
// Small keys of one call as one request: they are copied together, summed over all processes at
// once, and copied to where they belong.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kvstore/host_sum.h"
#include "kvstore/key_table.h"
#include "kvstore/process_group.h"
#include "kvstore/reducer.h"

namespace mxnet::kvstore {

// A table of variables that is filled and cleared for each bunch, and allocates only while it
// grows. One thread at a time.
class UsedVariables {
 public:
  struct Use {
    const Var* var = nullptr;
    uint64_t bunch = 0;  // other than the present one: the place is free
    bool read = false, written = false;
    std::size_t first = 0, last = 0;  // bytes that are written, and what lies between
  };

  Use& operator[](const Var* var);
  void clear() {
    ++bunch_;
    count_ = 0;
  }

 private:
  Use& place(const Var* var);

  std::vector<Use> uses_;  // a power of two
  uint64_t bunch_ = 1;
  std::size_t count_ = 0;
};

// One thread at a time. Keys that come again in the same order cost neither names nor hashes.
class Bunch {
 public:
  // `group` must outlive it and what it has pushed. `store`: its number. `order`: of the values of
  // one key.
  Bunch(ProcessGroup& group, int32_t store, SumOrder order)
      : group_(group), store_(store), order_(order) {}

  // Whether the values of a key could be added: dense, in host memory, of one type and few.
  static bool suits(Arrays values, const NDArray& to, Arrays outs);

  // Every array of `to` and `outs` becomes the sum of the values over all processes. False, and
  // nothing is added: what is there is to be sent first. REQUIRES: suits(...).
  bool add(const Key& key, Arrays values, const NDArray& to, Arrays outs);
  // The same of a key whose value all processes take over from rank 0; not both in one bunch.
  bool add_broadcast(const Key& key, const NDArray& value);
  // Pushes the operations that do it.
  void send(int priority);
  bool empty() const { return contents_ == nullptr; }

 private:
  // Of one key: so many of the arrays below.
  struct Piece {
    int64_t count;  // elements
    uint32_t values, targets;
  };
  // What is needed of an array: a tenth of it, and there are thousands.
  struct Place {
    Ref<Chunk> chunk;
    std::size_t offset;  // bytes
    char* data() const { return static_cast<char*>(chunk->data()) + offset; }
  };
  struct Contents {
    CollectiveKind kind = CollectiveKind::kSum;
    DType dtype = DType::kUnknown;
    int64_t count = 0;  // elements of all
    std::vector<Piece> pieces;
    std::vector<Place> values, targets;  // of all pieces, one after the other
    std::vector<Var*> reads, writes;     // theirs, each once
  };
  struct Known {
    std::vector<Key> keys;
    std::shared_ptr<const RequestList> list;
  };

  bool add(CollectiveKind kind, const Key& key, Arrays values, const NDArray& to, Arrays outs);
  bool reads_what_is_written(Arrays values);
  std::shared_ptr<const RequestList> list_of(const Contents& contents);
  static void gather(const Contents& contents, SumOrder order, char* to);
  static void scatter(const Contents& contents, const char* from);

  ProcessGroup& group_;
  const int32_t store_;
  const SumOrder order_;
  std::shared_ptr<Contents> contents_;  // null: empty
  std::vector<Key> keys_;
  UsedVariables used_;
  std::unordered_map<uint64_t, Known> known_;  // by a hash of keys, type and sizes
};

}  // namespace mxnet::kvstore
