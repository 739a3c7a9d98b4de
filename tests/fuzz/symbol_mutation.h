// SPDX-License-Identifier: Apache-2.0
// Symbols that are nearly right, out of right ones: another operator, attribute, wire, shape or
// graph in a graph.
#pragma once
#include <random>

#include "ir/saved_graph.h"

namespace mxnet::c_test {

// A few changes at random, of what a graph consists of; those inside of it included.
void mutate(ir::SavedGraph* graph, std::minstd_rand& random);

}  // namespace mxnet::c_test
