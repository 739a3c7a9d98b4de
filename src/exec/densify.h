// SPDX-License-Identifier: Apache-2.0
// Sparse arrays under operators that have no sparse kernel: temporary dense copies around the call.
#pragma once
#include "exec/invoke.h"

namespace mxnet {

bool any_sparse(InputRefs inputs, OutputRefs outputs);

// As invoke(). New outputs get the storage types in `layouts`, given ones keep theirs; what was
// done is logged once a combination (MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 keeps quiet).
void invoke_densified(const OpDef& op, const ParamsPtr& params, InputRefs inputs,
                      OutputRefs outputs, std::span<const StorageType> layouts,
                      const InvokeOptions& options);

}  // namespace mxnet
