// SPDX-License-Identifier: Apache-2.0
// A sum over all ranks of arrays that all of them can see: each adds up a part of all arrays, and
// writes it to all of them. Nothing is sent but where they lie.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "kvstore/shared_place.h"
#include "plugin/mpi/mpi_types.h"

namespace mxnet::mpi {

// One thread. Values are added in the order of the ranks.
class SharedSum {
 public:
  SharedSum(MPI_Comm comm, int rank, int size);

  // Whether all ranks run on one machine. Without that, run() is not to be called.
  bool near() const { return near_; }
  // Sums `data`, which others find at `place`, in place. False, on all ranks: some rank's memory
  // cannot be seen by another, and nothing is done. `wait` gives up by returning false, and then so
  // does this, with what it returns of no meaning: nothing of MPI may be called afterwards.
  // `list`: what all ranks sum has this number, and lies where it did the last time or elsewhere.
  bool run(uint64_t list, const kvstore::SharedPlace& place, char* data, int64_t count,
           const MpiSum& sum, const std::function<bool(MPI_Request&)>& wait);

 private:
  // As it travels.
  struct Announced {
    int32_t maker = 0, descriptor = -1;
    uint64_t key = 0;
    friend bool operator==(const Announced&, const Announced&) = default;
  };
  // Of one list; the same on all ranks, but for where arrays lie in this process.
  struct Agreed {
    std::vector<Announced> places;
    std::vector<std::shared_ptr<char>> seen;  // by rank; null: this one's own
    bool all_see = false;
  };

  bool see_all(const std::vector<Announced>& places, std::size_t bytes, Agreed& agreed) const;
  void add_part(const Agreed& agreed, char* data, int64_t count, const MpiSum& sum);

  const MPI_Comm comm_;
  const int rank_, size_;
  bool near_ = false;
  std::map<uint64_t, Agreed> agreed_;
  std::vector<Announced> announced_;  // members: MPI may still know of them after a loss
  int all_see_ = 0;
  std::vector<char> block_;
};

}  // namespace mxnet::mpi
