// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other about collectives, as bytes.
#pragma once
#include <cstdint>
#include <vector>

#include "kvstore/process_group.h"
#include "plugin/mpi/coordinator.h"

namespace mxnet::mpi {

// Of name and purpose: equal on all ranks.
uint64_t id_of(const kvstore::CollectiveRequest& request);
Wish wish_of(const kvstore::CollectiveRequest& request);

std::vector<char> bytes_of(const std::vector<Wish>& wishes);
std::vector<char> bytes_of(const Decision& decision);
// The reverse. Throw BadMessage.
std::vector<Wish> wishes_of(const std::vector<char>& bytes);
Decision decision_of(const std::vector<char>& bytes);

}  // namespace mxnet::mpi
