// SPDX-License-Identifier: Apache-2.0
// Sums of row_sparse arrays over the processes of a job.
#pragma once
#include <string>

#include "kvstore/process_group.h"
#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

// Pushes operations after which `sum`, row_sparse and in host memory, holds every row that it holds
// on one of the ranks, added in their order. Only rows travel. `store`: its number. `group` must
// outlive them.
void sum_rows_over(ProcessGroup& group, int32_t store, std::string name, const NDArray& sum,
                   int priority);

}  // namespace mxnet::kvstore
