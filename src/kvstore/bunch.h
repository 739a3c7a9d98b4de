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
#include "kvstore/keyed_arrays.h"
#include "kvstore/process_group.h"
#include "kvstore/reducer.h"
#include "kvstore/used_variables.h"

namespace mxnet::kvstore {

// Gives a sum that lies among those of a bunch memory of its own, if it does: a key that travels
// alone is to wait for no other, which another rank may push later. Its values are lost.
void leave_bunch(NDArray& sum);

// One thread at a time. What was sent is remembered by its first key: keys that come again in the
// same order with the same arrays are only compared, and the operations pushed again.
//
// Keys are known by their address: callers give those of their KeyTable. The arrays of a call must
// live until send(): places are addresses, and what is pushed with a variable keeps its memory.
class Bunch {
 public:
  // `group` must outlive it and what it has pushed. `store`: its number. `order`: of the values of
  // one key.
  Bunch(ProcessGroup& group, int32_t store, SumOrder order)
      : group_(group), store_(store), order_(order) {}

  // Whether the values of a key could be added: dense, in host memory, of one type and few.
  static bool suits(Arrays values, const NDArray& to, Arrays outs);

  // `to` and every array of `outs` becomes the sum of the values over all processes; with send(),
  // `to` becomes a part of the memory in which the bunch travels, so that nothing is copied to it,
  // and must live until then. False, and nothing is added: what is there is to be sent first.
  // REQUIRES: suits(...), and no value lies where another key of the call is written.
  bool add(const Key& key, Arrays values, NDArray& to, Arrays outs);
  // The same of a key whose value all processes take over from rank 0; not both in one bunch.
  bool add_broadcast(const Key& key, const NDArray& value);
  // Adds the key if it and its arrays, of the shape of `to`, are what followed here the last time,
  // and `to` is where it became the sum; sends what is there if that was done then. False: nothing
  // is known of them, they may be wrong.
  bool repeat(const Key& key, PickedArrays values, const NDArray& to, PickedArrays outs,
              int priority);
  // Pushes the operations that do it.
  void send(int priority);
  bool empty() const { return contents_ == nullptr && repeated_ == nullptr; }

 private:
  // What is needed of an array: a tenth of it, and there are thousands.
  struct Place {
    Var* var;
    char* data;
  };
  // Of one key: so many of the places below.
  struct Piece {
    const Key* key;
    NDArray* sum;   // null: of a broadcast
    int64_t count;  // elements
    uint32_t values, targets;
  };
  struct Contents {
    CollectiveKind kind = CollectiveKind::kSum;
    DType dtype = DType::kUnknown;
    int64_t count = 0;  // elements of all
    std::vector<Piece> pieces;
    std::vector<Place> values, targets;  // of all pieces, one after the other
  };
  // What was sent, ready to be sent again.
  struct Known {
    std::shared_ptr<const Contents> contents;
    std::shared_ptr<const RequestList> list;
    NDArray packed;
    SharedPlace place;               // of `packed`
    PreparedRef collect, sum, take;  // of `priority`; the last null without targets
    std::vector<Var*> overwritten;   // written without being read
    int priority = 0;
    const Key* next = nullptr;  // what did not fit any more; null: another reason to end
  };
  // So many of what is known have come again.
  struct Matched {
    std::size_t pieces = 0, values = 0, targets = 0, bytes = 0;
  };

  // bunch.cc
  bool add(CollectiveKind kind, const Key& key, Arrays values, const NDArray& like, NDArray* sum,
           Arrays targets);
  void begin(CollectiveKind kind, DType dtype);
  void append(const Piece& piece, const Place* values, const Place* targets);
  void fill_from_matched();

  // bunch_operations.cc
  static void move_sums(const Contents& contents, const NDArray& packed);
  void take_memory(Known& known);
  PreparedRef prepare_exchange(const Known& known, const OpSpec& spec) const;
  void prepare(Known& known, int priority);
  void push(const Known& known);
  static std::shared_ptr<const RequestList> make_list(const Contents& contents);
  static bool same_list(const Contents& a, const Contents& b);
  static void gather(const Contents& contents, SumOrder order, char* to);
  static void scatter(const Contents& contents, const char* from);

  ProcessGroup& group_;
  const int32_t store_;
  const SumOrder order_;
  std::shared_ptr<Contents> contents_;  // null: empty, or all has come again so far
  Known* repeated_ = nullptr;           // which then is this one; in known_
  Matched matched_;
  const Key* refused_ = nullptr;         // by the last add()
  std::vector<Var*> reads_, writes_;     // of contents_, each once
  std::vector<Place> values_, targets_;  // of the key at hand; members, to allocate nothing
  UsedVariables used_;
  std::unordered_map<const Key*, Known> known_;  // by the first key
};

}  // namespace mxnet::kvstore
