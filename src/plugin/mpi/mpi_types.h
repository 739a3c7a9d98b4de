// SPDX-License-Identifier: Apache-2.0
// Element types and their sums, as MPI knows them.
#pragma once
#include <mpi.h>

#include "base/dtype.h"

namespace mxnet::mpi {

struct MpiSum {
  MPI_Datatype type;
  MPI_Op op;
};

// REQUIRES: MPI is initialised; the thread that calls it.
MpiSum mpi_sum(DType dtype);

}  // namespace mxnet::mpi
