// SPDX-License-Identifier: Apache-2.0
// A sum over all ranks of a big array, in place: parts go around a ring, each rank adding its own,
// then the finished parts go around. Segments are added while the next ones arrive.
#pragma once
#include <mpi.h>

#include <functional>
#include <vector>

#include "plugin/mpi/mpi_types.h"

namespace mxnet::mpi {

// One thread. The order of additions depends on nothing but the number of ranks and elements.
class RingSum {
 public:
  RingSum(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}

  // `go_on` is asked while it waits; false = give up at once, with messages still under way:
  // nothing of MPI may be called afterwards. REQUIRES: count fits an int.
  void run(char* data, int64_t count, const MpiSum& sum, const std::function<bool()>& go_on);

 private:
  struct Range {
    int64_t first, last;
  };
  Range part(int64_t count, int number) const;
  bool wait(std::vector<MPI_Request>& requests);
  bool add_round(char* data, Range out, Range in, const MpiSum& sum);

  const MPI_Comm comm_;
  const int rank_, size_;
  const std::function<bool()>* go_on_ = nullptr;  // of the run at hand
  std::vector<char> arriving_;                    // two segments
};

}  // namespace mxnet::mpi
