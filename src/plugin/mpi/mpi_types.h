// SPDX-License-Identifier: Apache-2.0
// Element types and their sums, as MPI knows them and as loops.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace mxnet::mpi {

struct MpiSum {
  MPI_Datatype type;
  MPI_Op op;
  std::size_t item;                                           // bytes of an element
  void (*add)(void* to, const void* from, int64_t elements);  // to += from
};

// REQUIRES: MPI is initialised; the thread that calls it.
MpiSum mpi_sum(DType dtype);

}  // namespace mxnet::mpi
