// SPDX-License-Identifier: Apache-2.0
// What libmxnet_mpi.so exports, and its end with the process.
#include <cstdlib>

#include "base/export.h"
#include "plugin/mpi/mpi_group.h"

namespace {
mxnet::mpi::MpiGroup* g_group = nullptr;  // never destroyed: other threads may still ask it
}

extern "C" MX_PLUGIN_API mxnet::kvstore::ProcessGroup* mxnet_process_group(
    const mxnet::kvstore::ProcessGroupOptions& options) {
  g_group = new mxnet::mpi::MpiGroup(options);
  // Registered after what MPI itself registers, hence run before.
  std::atexit([] { g_group->leave(); });
  return g_group;
}
