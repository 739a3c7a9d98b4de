// SPDX-License-Identifier: Apache-2.0
// What rank 0 decides: a collective runs when every rank has asked for it, urgent ones first, small
// ones together. Knows nothing of messages.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mxnet::mpi {

// One rank's wish; travels as bytes.
struct Wish {
  static constexpr std::size_t kNameBytes = 96;
  uint64_t id = 0;  // of name and purpose
  int64_t count = 0;
  int32_t kind = 0, dtype = 0, priority = 0;
  int32_t element_bytes = 1;
  int32_t list = 0, unused = 0;  // list: stands for several that may also be asked for singly
  char name[kNameBytes] = {};    // cut short if need be; for messages

  bool agrees_with(const Wish& other) const {
    return count == other.count && dtype == other.dtype && kind == other.kind;
  }
};

// What all ranks are to do next, in this order on each of them.
struct Decision {
  enum Kind : int32_t { kRun, kRefuse, kSplit, kLost, kEnd } kind = kRun;
  std::vector<uint64_t> ids;  // kRun: one or a batch; kRefuse: the one; kSplit: lists
  int32_t rank = -1;          // kLost
  std::string reason;         // kRefuse
};

// One thread.
class Coordinator {
 public:
  // `batches`: small requests travel together.
  explicit Coordinator(int ranks, bool batches = true)
      : ranks_(ranks), batches_(batches), waits_(static_cast<std::size_t>(ranks)) {}

  // A rank may ask for the next round of a name before the others have ended this one.
  void ask(int rank, const Wish& wish);
  // The next decision; false if there is none.
  bool next(Decision& decision);
  // Whether somebody waits for `rank` to ask for something.
  bool lacks(int rank) const;
  // Whether every rank waits for another, and one of them with a list: perhaps the others give its
  // parts in another way. REQUIRES: next() was false.
  bool at_odds() const;
  // The lists that somebody waits for, from now on unknown here: whoever hears of this asks for
  // their parts instead, now and later.
  Decision split();
  uint64_t asked() const { return asked_; }  // wishes so far

 private:
  struct Round {
    Wish first;
    int first_rank = 0;
    std::vector<bool> asked;
    int count = 0;
    std::string refusal;
    int priority = 0;
    uint64_t order = 0;  // of completion
  };
  static const char* what(const Wish& wish);
  static std::string describe(const Wish& wish);

  const int ranks_;
  const bool batches_;
  uint64_t completed_ = 0, asked_ = 0;
  std::vector<int> waits_;  // of each rank: rounds that others have not asked for
  std::map<uint64_t, std::deque<Round>> waiting_;  // rounds of a name, the oldest in front
  std::set<uint64_t> split_;                       // lists
  std::vector<std::pair<uint64_t, Round>> ready_;
};

}  // namespace mxnet::mpi
